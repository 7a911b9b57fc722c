"""The crawl's fetcher as discovery sources use it."""

from __future__ import annotations

from honeyguide.discovery.http import HttpAnswer
from honeyguide.fetch.base import Failure, Fetcher, Request
from honeyguide.fetch.politeness import parse_retry_after


class ServiceHttp:
    """Questions to web services go over the same fetcher as pages, so the same limits hold for them.

    robots.txt is for crawlers and does not apply to an interface that its operator offers to programs.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def get(
        self, url: str, *, headers: tuple[tuple[str, str], ...] = (), max_bytes: int = 4 << 20
    ) -> HttpAnswer:
        """The answer to one GET; redirects are not followed."""
        result = await self._fetcher.fetch(
            Request(url, purpose="discovery", max_bytes=max_bytes, headers=headers)
        )
        if isinstance(result, Failure):
            return HttpAnswer(
                problem=f"{result.outcome.name.lower()}: {result.detail}", seconds=result.seconds
            )
        wait = result.header("retry-after")
        return HttpAnswer(
            status=result.status,
            body=result.body,
            problem=f"the answer is cut ({result.truncated})" if result.truncated else "",
            retry_after=parse_retry_after(wait, result.started_at) if wait else None,
            seconds=result.seconds,
        )
