"""Rate limit for one outside service, and giving up after repeated failures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

GIVE_UP_AFTER: Final = 3
"""Failures in a row after which a service is not asked again in this session."""
DEADLINE: Final = 30.0
"""Seconds for one question, further requests for the same answer included."""
LONGEST_WAIT: Final = 86_400.0
"""Seconds of a Retry-After that are believed."""


class Timekeeper(Protocol):
    """What is needed of the crawl's clock."""

    def now(self) -> float:
        """The time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class Service(Protocol):
    """Anything that answers questions, a search engine or a backlink service."""

    @property
    def remote(self) -> bool:
        """Whether each question is a request to somebody's server."""
        ...

    @property
    def rate(self) -> float:
        """Questions a second at most, where it is remote."""
        ...


class Reply(Protocol):
    """What every answer of a service tells."""

    @property
    def requests(self) -> int:
        """Requests that it took."""
        ...

    @property
    def failed(self) -> bool:
        """Whether something went wrong."""
        ...

    @property
    def retry_after(self) -> float | None:
        """Seconds the service asked us to stay away."""
        ...


AnyReply = TypeVar("AnyReply", bound=Reply)


class RateLimit:
    """Spaces out the questions to one service and counts its failures.

    Args:
        service: Who is asked.
        clock: The crawl's.
    """

    def __init__(self, service: Service, clock: Timekeeper) -> None:
        self._service = service
        self._clock = clock
        self._next = 0.0
        self._failures = 0

    @property
    def given_up(self) -> bool:
        """Whether the service failed too often."""
        return self._failures >= GIVE_UP_AFTER

    def count(self, *, failed: bool) -> None:
        """Note how a question ended."""
        self._failures = self._failures + 1 if failed else 0

    async def ask(
        self,
        question: Callable[[], Awaitable[AnyReply]],
        no_answer: Callable[[str, int], AnyReply],
        *,
        patience: float,
    ) -> AnyReply:
        """The answer to a question, asked when its turn has come.

        Args:
            question: Asks.
            no_answer: Makes an answer from a note and the number of requests when there is none.
            patience: Seconds the question may wait for its turn; beyond it, it is not asked.
        """
        service = self._service
        now = self._clock.now()
        wait = max(0.0, self._next - now)
        if wait > patience:
            return no_answer("not asked: too soon after the last request", 0)
        spacing = 1.0 / service.rate if service.remote and service.rate > 0 else 0.0
        self._next = max(self._next, now + wait + spacing)
        if wait:
            await self._clock.sleep(wait)
        try:
            # What is on our own disk may take minutes to index, and is there afterwards.
            async with asyncio.timeout(DEADLINE if service.remote else None):
                answer = await question()
        except TimeoutError:
            answer = no_answer(f"no answer within {DEADLINE:.0f} seconds", 1)
        self._next = max(self._next, now + wait + answer.requests * spacing)  # long answers take several
        if answer.retry_after is not None:
            self._next = max(self._next, self._clock.now() + min(answer.retry_after, LONGEST_WAIT))
        return answer
