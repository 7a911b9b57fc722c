"""Manners towards backlink services: a budget, a rate, patience, and an end to asking in vain."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from honeyguide.discovery.backlinks.base import BacklinkService, Parents
from honeyguide.web import canonical

GIVE_UP_AFTER: Final = 3
"""Failures in a row after which the service is left alone for the rest of the session."""
DEADLINE: Final = 30.0
"""Seconds for one question, further requests for the same answer included."""


class Timekeeper(Protocol):
    """What is needed of the crawl's clock."""

    def now(self) -> float:
        """The time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Rationed:
    """Asks a service, but no page twice, not too fast, and not more often than agreed.

    Args:
        service: Who is asked.
        clock: The crawl's.
    """

    def __init__(self, service: BacklinkService, clock: Timekeeper) -> None:
        self._service = service
        self._clock = clock
        self._next = 0.0
        self._failures = 0
        self.kept: dict[str, tuple[str, ...]] = {}
        """Answers so far."""

    @property
    def given_up(self) -> bool:
        """Whether it failed too often."""
        return self._failures >= GIVE_UP_AFTER

    async def ask(self, url: str, limit: int, *, patience: float) -> Parents:
        """Pages that link to a URL, canonical and each once.

        Args:
            url: The page.
            limit: Most answers.
            patience: Seconds to wait for one's turn (rate, Retry-After) at most; beyond it the question is
                left out.
        """
        if url in self.kept:
            return Parents(self.kept[url])
        if self.given_up:
            return Parents(note="left alone after failing too often")
        answer = await self._turn(url, limit, patience)
        if answer.failed and answer.retry_after is not None and answer.retry_after <= patience:
            again = await self._turn(url, limit, patience)
            answer = Parents(
                again.urls, answer.requests + again.requests, again.note, again.failed, again.retry_after
            )
        if not answer.requests and answer.note and not answer.failed:
            return answer
        self._failures = self._failures + 1 if answer.failed else 0
        found = (canonical(text) for text in answer.urls)
        urls = tuple(dict.fromkeys(one for one in found if one and one != url))[:limit]
        if not answer.failed:
            self.kept[url] = urls
        note = f"{answer.note}; from now on the crawl goes on without it" if self.given_up else answer.note
        return Parents(urls, answer.requests, note, answer.failed, answer.retry_after)

    async def _turn(self, url: str, limit: int, patience: float) -> Parents:
        now = self._clock.now()
        wait = max(0.0, self._next - now)
        if wait > patience:
            return Parents(note="not asked: too soon after the last question")
        if self._service.remote:
            self._next = now + wait + 1.0 / self._service.rate
        if wait:
            await self._clock.sleep(wait)
        try:
            # What is on our own disk may take minutes to index, and is there afterwards.
            async with asyncio.timeout(DEADLINE if self._service.remote else None):
                answer = await self._service.parents(url, limit)
        except TimeoutError:
            answer = Parents(requests=1, note=f"no answer within {DEADLINE:.0f} seconds", failed=True)
        if self._service.remote:  # a long answer took several requests
            self._next = max(self._next, now + wait + answer.requests / self._service.rate)
        if answer.retry_after is not None:
            self._next = max(self._next, self._clock.now() + min(answer.retry_after, 86_400.0))
        return answer
