"""Any search engine with answers in JSON."""

from __future__ import annotations

from honeyguide.discovery.http import Http
from honeyguide.discovery.json_api import JsonApi, JsonProblem
from honeyguide.discovery.search.base import Hits, SearchResult
from honeyguide.errors import TopicError


class HttpEngine:
    """Asks an address made from a template, where `{query}` stands for the words.

    Args:
        http: Asks, through the egress guard.
        template: Address of the engine; see `JsonApi`. `{limit}` stands for how many results are wanted.
        path: Where the addresses are in its answer, such as `web.results.*.url`.
        name: What the journal calls it.
        key_env: Environment variable that holds the key; empty for none.
        key_header: Header that carries the key, such as `X-Subscription-Token`; the template may do so
            instead.
        rate: Queries a second at most.
    """

    remote = True

    def __init__(
        self,
        http: Http,
        *,
        template: str,
        path: str,
        name: str = "http",
        key_env: str = "",
        key_header: str = "",
        rate: float = 1.0,
    ) -> None:
        self._api = JsonApi(
            http,
            f"engine {name!r}",
            template=template,
            path=path,
            placeholders=("query", "limit"),
            key_env=key_env,
            key_header=key_header,
        )
        if "query" not in self._api.named:
            raise TopicError(f"engine {name!r}: its template does not name {{query}}; add it")
        self.name = name
        self.rate = rate

    async def search(self, query: str, limit: int) -> Hits:
        """The engine's first results."""
        found = await self._api.ask(query=query, limit=limit)
        if isinstance(found, JsonProblem):
            return Hits(requests=1, note=found.note, failed=True, retry_after=found.retry_after)
        return Hits(tuple(SearchResult(one) for one in found[:limit]), requests=1)
