"""robots.txt that is huge, wrong, slow or goes round."""

from __future__ import annotations

import functools

from honeyguide.lab.webs.hostile.bombs import bomb
from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_case = functools.partial(case, group="robots", scope="robots")
_FINE = (Outcome.FETCHED,)
_CLOSED = (Outcome.HOST_GIVEN_UP, Outcome.ROBOTS, Outcome.TIMEOUT, Outcome.SERVER_ERROR)
"""Nothing may be fetched while robots.txt cannot be read (RFC 9309)."""


@_case("robots-large", "robots.txt of 2 MB with the rule for us at its start", (Outcome.ROBOTS,))
async def _large(talk: Talk) -> None:
    rules = b"".join(b"Disallow: /%d\n" % n for n in range(120_000))
    await talk.answer(b"User-agent: *\nDisallow: /\n" + rules, kind="text/plain")


@_case("robots-one-line", "robots.txt of one line of 2 MB", _FINE)
async def _one_line(talk: Talk) -> None:
    await talk.answer(b"User-agent: *\nDisallow: /" + b"x" * 2_000_000, kind="text/plain")


@_case("robots-stars", "patterns made to take for ever", _FINE)
async def _stars(talk: Talk) -> None:
    await talk.answer(b"User-agent: *\n" + b"Disallow: /" + b"*a" * 500 + b"$\n", kind="text/plain")


@_case("robots-html", "an HTML page instead of robots.txt", _FINE)
async def _html(talk: Talk) -> None:
    await talk.answer(owls())


@_case("robots-garbage", "random bytes instead of robots.txt", _FINE)
async def _garbage(talk: Talk) -> None:
    await talk.answer(bytes(range(256)) * 1000, kind="text/plain")


@_case("robots-endless", "robots.txt without end", _FINE)
async def _endless(talk: Talk) -> None:
    await talk.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nUser-agent: owl\n"
    )
    await talk.flood(b"Disallow: /owl\n" * 4096)


@_case("robots-bomb", "robots.txt as a gzip bomb", _FINE)
async def _bomb(talk: Talk) -> None:
    await talk.answer(bomb("gzip"), "Content-Encoding: gzip", kind="text/plain")


@_case("robots-loop", "robots.txt that redirects to itself", _FINE)
async def _loop(talk: Talk) -> None:
    await talk.answer(b"", "Location: /robots.txt", status="301 Moved")


@_case("robots-chain", "robots.txt that redirects for ever", _FINE)
async def _chain(talk: Talk) -> None:
    number = int("0" + talk.path.partition("?")[2]) + 1
    await talk.answer(b"", f"Location: /robots.txt?{number}", status="302 Found")


@_case("robots-drip", "robots.txt at a byte a second", _CLOSED)
async def _drip(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
    await talk.drip(b"User-agent: *\nDisallow:\n" * 100)


@_case("robots-silent", "robots.txt that never answers", _CLOSED)
async def _silent(talk: Talk) -> None:
    await talk.silence()


@_case("robots-error", "robots.txt that always fails", _CLOSED)
async def _error(talk: Talk) -> None:
    await talk.answer(b"", status="500 Oops")


@_case("robots-delay", "a Crawl-delay of thirty years", _FINE)
async def _delay(talk: Talk) -> None:
    await talk.answer(b"User-agent: *\nCrawl-delay: 1000000000\nCrawl-delay: nan\n", kind="text/plain")
