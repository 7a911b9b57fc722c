"""Redirects that lead nowhere, in circles, or where they should not."""

from __future__ import annotations

import functools

from honeyguide.lab.webs.hostile.case import Talk, case
from honeyguide.model import Outcome

_case = functools.partial(case, group="redirect")
_BAD = (Outcome.BAD_REDIRECT,)
_GONE = (Outcome.REDIRECTED,)


async def _to(talk: Talk, location: str, status: str = "302 Found") -> None:
    await talk.answer(b"", f"Location: {location}", status=status)


@_case("redirect-self", "redirects to itself", _GONE)
async def _self(talk: Talk) -> None:
    await _to(talk, talk.path)


@_case("redirect-loop", "two pages that redirect to each other", _GONE)
async def _loop(talk: Talk) -> None:
    await _to(talk, "/b" if talk.path == "/a" else "/a")


@_case("redirect-endless", "a new page every time", _GONE)
async def _endless(talk: Talk) -> None:
    await _to(talk, f"/{int('0' + talk.path.strip('/')) + 1}", "301 Moved")


@_case("redirect-hosts", "a new host every time", _GONE)
async def _hosts(talk: Talk) -> None:
    number = int("0" + talk.path.strip("/")) + 1
    await _to(talk, f"http://redirect-hosts.h{number}.localhost/{number}", "307 Temporary Redirect")


@_case("redirect-scheme", "to https and back to http", _GONE)
async def _scheme(talk: Talk) -> None:
    await _to(talk, f"https://tls-plain.localhost{talk.path}again", "308 Permanent Redirect")


@_case("redirect-nowhere", "a redirect without Location", _BAD)
async def _nowhere(talk: Talk) -> None:
    await talk.answer(b"", status="302 Found")


@_case("redirect-private", "to the address of a cloud's secrets", _GONE)
async def _private(talk: Talk) -> None:
    await _to(talk, "http://169.254.169.254/latest/meta-data/")


for _name, _target in {
    "redirect-file": "file:///etc/passwd",
    "redirect-data": "data:text/html,owl",
    "redirect-script": "javascript:alert(1)",
    "redirect-garbage": "http://[::owl]:x/\\",
}.items():
    _case(_name, f"to {_target}", _BAD)(functools.partial(_to, location=_target))


@_case("redirect-long", "to an address of 20,000 characters", (*_GONE, *_BAD, Outcome.BAD_HTTP))
async def _long(talk: Talk) -> None:
    await _to(talk, "/" + "owl" * 6667)


@_case("redirect-answer", "a redirect header smuggled into a header", (*_GONE, *_BAD, Outcome.BAD_HTTP))
async def _smuggled(talk: Talk) -> None:
    await talk.send(
        b"HTTP/1.1 302 Found\r\nLocation: /a\rLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
    )
