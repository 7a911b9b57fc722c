"""A SearXNG instance as search engine."""

from __future__ import annotations

from urllib.parse import urlencode

from honeyguide.discovery.http import Http
from honeyguide.discovery.json_api import JsonProblem, decode_json
from honeyguide.discovery.search.base import Hits, SearchResult
from honeyguide.errors import TopicError
from honeyguide.web import canonical

_MAX_TITLE = 300


class Searxng:
    """Asks a SearXNG instance for JSON (`search?q=…&format=json`).

    The instance must offer that format (`search.formats` in its settings). One on this machine is not
    a public address: open its network with `allow_net = ["127.0.0.0/8"]` under `[network]`.

    Args:
        http: Asks, through the egress guard.
        url: Address of the instance.
        engines: Engines it should use; empty: its own choice.
        language: Of the results, such as `en`; empty: any.
        rate: Queries a second at most.
    """

    remote = True

    def __init__(
        self, http: Http, *, url: str, engines: tuple[str, ...] = (), language: str = "", rate: float = 0.5
    ) -> None:
        base = canonical(url)
        if base is None:
            raise TopicError(f"engine 'searxng': {url!r} is not a valid URL; write https://...")
        self.name = "searxng"
        self.rate = rate
        self._http = http
        self._search = base.rstrip("/").removesuffix("/search") + "/search"
        self._options = {"format": "json"}
        if engines:
            self._options["engines"] = ",".join(engines)
        if language:
            self._options["language"] = language

    async def search(self, query: str, limit: int) -> Hits:
        """The instance's first results."""
        address = f"{self._search}?{urlencode({'q': query, **self._options})}"
        answer = await self._http.get(address)
        if answer.status == 403:
            said = "it answered HTTP 403: add json to search.formats in its settings"
            return Hits(requests=1, note=said, failed=True)
        values = decode_json(answer)
        if isinstance(values, JsonProblem):
            return Hits(requests=1, note=values.note, failed=True, retry_after=values.retry_after)
        results = values.get("results") if isinstance(values, dict) else None
        if not isinstance(results, list):
            return Hits(requests=1, note="the answer has no results", failed=True)
        hits = [
            SearchResult(one["url"], str(one.get("title") or "")[:_MAX_TITLE])
            for one in results
            if isinstance(one, dict) and isinstance(one.get("url"), str)
        ]
        return Hits(tuple(hits[:limit]), requests=1)
