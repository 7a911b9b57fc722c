"""A generated web that lives: its pages change, appear and vanish by laws that are known.

Each page changes at the times of a Poisson process with a rate of its own: rates are lognormal, since some
pages change within hours and some never, and pages of a host are alike. Some articles appear later, uniformly
over the time of the experiment; until then they are not there and nobody links to them. Some vanish, at a
constant rate. All of it is drawn from the seed and the address, so a page's life is the same for every
policy.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from math import exp, inf
from random import Random
from typing import Protocol
from urllib.parse import urljoin, urlsplit

import msgspec

from honeyguide.lab.webs.generated.web import GeneratedWeb
from honeyguide.lab.webs.served import Served

DAY = 86400.0
_ANCHOR = re.compile(rb'<a href="([^"]*)"[^>]*>[^<]*</a>')
_TITLE = b"</title>"
_HTML = (("Content-Type", "text/html; charset=utf-8"),)


class Time(Protocol):
    """The part of a clock that a web needs."""

    def now(self) -> float:
        """The time in seconds."""
        ...


class Laws(msgspec.Struct, frozen=True):
    """How pages live."""

    seed: int = 1
    horizon: float = 100 * DAY
    """Seconds from the beginning over which pages appear and vanish."""
    median: float = 1 / (14 * DAY)
    """Changes a second of a page in the middle."""
    spread: float = 1.2
    """Standard deviation of the logarithm of a page's rate around that of its host."""
    host_spread: float = 0.8
    """The same for hosts."""
    appear: float = 0.12
    """Share of articles that appear later."""
    vanish: float = 0.1
    """Share of articles that vanish within the horizon."""


class Life(msgspec.Struct, frozen=True):
    """The life of one page, in seconds of the clock."""

    rate: float
    """Changes a second."""
    born: float
    """When it appears; minus infinity for one that was always there."""
    died: float
    changes: tuple[float, ...]
    """When it changed, within the horizon."""

    def edition(self, at: float) -> int:
        """Which edition is there at a time; -1 when none is."""
        return bisect_right(self.changes, at) if self.born <= at < self.died else -1

    def stale_since(self, seen: float, at: float) -> float | None:
        """When what was seen at one time stopped to be true, if it did until another; None: it is fresh."""
        moments = [*self.changes[bisect_right(self.changes, seen) : bisect_right(self.changes, at)]]
        moments += [moment for moment in (self.born, self.died) if seen < moment <= at]
        moments = [moment for moment in moments if moment <= self.died]
        return min(moments, default=None)


class LivingWeb:
    """A generated web at the time of a clock.

    Args:
        web: What the pages are about and how they link.
        clock: Tells the time.
        laws: How pages live.
        start: The beginning of the experiment on that clock.
    """

    def __init__(self, web: GeneratedWeb, clock: Time, laws: Laws, *, start: float) -> None:
        self.web = web
        self.laws = laws
        self._clock = clock
        self._start = start
        self._lives: dict[str, Life] = {}
        self._hosts: dict[str, float] = {}
        self._answers: dict[str, Served] = {}
        """As the web writes them, before they live."""

    def get(self, url: str) -> Served:
        """The answer now."""
        if url.endswith("/robots.txt"):
            return self.web.get(url)
        life, now = self.life(url), self._clock.now()
        edition = life.edition(now)
        if url not in self._answers:
            self._answers[url] = self.web.get(url)
        answer = self._answers[url]
        if edition < 0:
            return Served(404, _HTML, b"<title>Not found</title>")
        if answer.status != 200 or _TITLE not in answer.body:
            return answer
        body = _ANCHOR.sub(lambda match: self._shown(match, url, now), answer.body)
        note = f" (edition {edition})".encode()
        body = body.replace(_TITLE, note + _TITLE, 1).replace(b"</h1>", note + b"</h1>", 1)
        return Served(200, answer.headers, body)

    def _shown(self, match: re.Match[bytes], url: str, now: float) -> bytes:
        """A link, unless what it leads to has not appeared yet."""
        target = urljoin(url, match[1].decode("utf-8", "replace"))
        return match[0] if self.life(target).born <= now else b""

    def life(self, url: str) -> Life:
        """How a page lives."""
        found = self._lives.get(url)
        if found is None:
            found = self._lives[url] = self._drawn(url)
        return found

    def _drawn(self, url: str) -> Life:
        laws = self.laws
        host = urlsplit(url).hostname or ""
        if host not in self._hosts:
            draw = Random(f"{laws.seed} {host}")  # noqa: S311 - for the lab
            self._hosts[host] = draw.gauss(0.0, laws.host_spread)
        chance = Random(f"{laws.seed} {url}")  # noqa: S311 - for the lab
        rate = laws.median * exp(self._hosts[host] + chance.gauss(0.0, laws.spread))
        article = self.web.truth(url).kind in ("article", "hub")
        born = died = inf
        born = self._start + laws.horizon * chance.random() if chance.random() < laws.appear else -inf
        if chance.random() < laws.vanish:
            died = self._start + laws.horizon * chance.random()
        if not article or died <= born:
            born, died = (born if article else -inf), inf
        moment, changes = max(self._start, born), []
        while (moment := moment + chance.expovariate(rate)) < self._start + laws.horizon:
            changes.append(moment)
        return Life(rate, born, died, tuple(changes))
