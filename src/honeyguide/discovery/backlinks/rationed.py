"""Questions to a backlink service: no page twice, and not faster than its rate limit allows."""

from __future__ import annotations

from functools import partial

from honeyguide.discovery.backlinks.base import BacklinkService, Parents
from honeyguide.discovery.rate_limit import RateLimit, Timekeeper
from honeyguide.web import canonical


class Rationed:
    """Asks a service, but no page twice, not too fast, and not after repeated failures.

    Args:
        service: Who is asked.
        clock: The crawl's.
    """

    def __init__(self, service: BacklinkService, clock: Timekeeper) -> None:
        self._service = service
        self._limit = RateLimit(service, clock)
        self.kept: dict[str, tuple[str, ...]] = {}
        """Answers so far."""

    @property
    def given_up(self) -> bool:
        """Whether it failed too often."""
        return self._limit.given_up

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
            return Parents(note="no longer asked, after repeated failures")
        question = partial(self._service.parents, url, limit)
        answer = await self._limit.ask(question, _no_answer, patience=patience)
        if answer.failed and answer.retry_after is not None and answer.retry_after <= patience:
            again = await self._limit.ask(question, _no_answer, patience=patience)
            answer = Parents(
                again.urls, answer.requests + again.requests, again.note, again.failed, again.retry_after
            )
        if not answer.requests and answer.note and not answer.failed:
            return answer
        self._limit.count(failed=answer.failed)
        found = (canonical(text) for text in answer.urls)
        urls = tuple(dict.fromkeys(one for one in found if one and one != url))[:limit]
        if not answer.failed:
            self.kept[url] = urls
        note = f"{answer.note}; from now on the crawl goes on without it" if self.given_up else answer.note
        return Parents(urls, answer.requests, note, answer.failed, answer.retry_after)


def _no_answer(note: str, requests: int) -> Parents:
    return Parents(requests=requests, note=note, failed=requests > 0)
