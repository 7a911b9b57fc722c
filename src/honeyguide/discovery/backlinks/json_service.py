"""Any HTTP service with answers in JSON as backlink service."""

from __future__ import annotations

from honeyguide.discovery.backlinks.base import Parents
from honeyguide.discovery.http import Http
from honeyguide.discovery.json_api import JsonApi, JsonProblem
from honeyguide.errors import TopicError
from honeyguide.web import host_key


class JsonService:
    """Asks an address made from a template, where `{url}` stands for the page, `{host}` for its host.

    Args:
        http: Asks.
        template: Address of the service; see `JsonApi`. `{limit}` stands for how many answers are wanted.
        path: Where the addresses are in its answer, such as `results.*.source.url`.
        key_env: Environment variable that holds the key; empty for none.
        key_header: Header that carries the key, such as `Authorization`; the template may do so instead.
        rate: Questions a second at most.
    """

    remote = True

    def __init__(
        self,
        http: Http,
        *,
        template: str,
        path: str,
        key_env: str = "",
        key_header: str = "",
        rate: float = 1.0,
    ) -> None:
        self._api = JsonApi(
            http,
            "service 'http'",
            template=template,
            path=path,
            placeholders=("url", "host", "limit"),
            key_env=key_env,
            key_header=key_header,
        )
        if not {"url", "host"} & self._api.named:
            raise TopicError("service 'http': its template names neither {url} nor {host}; add one of them")
        self.rate = rate

    async def parents(self, url: str, limit: int) -> Parents:
        """What the service says links to the URL."""
        found = await self._api.ask(url=url, host=host_key(url), limit=limit)
        if isinstance(found, JsonProblem):
            return Parents(requests=1, note=found.note, failed=True, retry_after=found.retry_after)
        return Parents(found[:limit], requests=1)
