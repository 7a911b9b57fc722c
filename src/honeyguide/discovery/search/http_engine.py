"""Any search engine with answers in JSON, by a template for its addresses and a path into them."""

from __future__ import annotations

import os
import string
from typing import Final
from urllib.parse import quote

from honeyguide.discovery.backlinks.json_service import follow, reaches
from honeyguide.discovery.http import Http
from honeyguide.discovery.search.base import Hit, Hits
from honeyguide.discovery.search.searxng import MAX_BYTES, decoded
from honeyguide.errors import TopicError

PLACEHOLDERS: Final = ("query", "limit", "key")


class HttpEngine:
    """Asks `template` and takes the addresses that `path` leads to.

    In the template `{query}` stands for the words (percent-encoded), `{limit}` for how many results are
    wanted and `{key}` for the key. The path names keys and positions with dots between them; `*` stands
    for every member: `web.results.*.url`.

    Parameters:
        http: Asks, through the egress guard.
        template: Address of the engine.
        path: Where the addresses are in its answer.
        name: What the journal calls it.
        key_env: Environment variable that holds the key; empty: there is none.
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
        names = _placeholders(template, name)
        if "query" not in names:
            raise TopicError(f"engine {name!r}: its template does not name {{query}}; add it")
        if bool(key_env) != ("key" in names or bool(key_header)):
            raise TopicError(
                f"engine {name!r}: a key needs both key_env and a place ({{key}} in the template, or"
                " key_header); give both or neither"
            )
        key = os.environ.get(key_env, "") if key_env else ""
        if key_env and not key:
            raise TopicError(f"engine {name!r}: the environment has no {key_env}; set it to the engine's key")
        if not (key.isascii() and key.isprintable()):
            raise TopicError(f"engine {name!r}: {key_env} holds more than a key; set it to one line of ASCII")
        self.name = name
        self.rate = rate
        self._http = http
        self._template = template
        self._path = tuple(path.split("."))
        self._key = key
        self._headers = ((key_header, key),) if key_header else ()

    async def search(self, query: str, limit: int) -> Hits:
        """The engine's first results."""
        address = self._template.format(
            query=quote(query, safe=""), limit=limit, key=quote(self._key, safe="")
        )
        answer = await self._http.get(address, headers=self._headers, max_bytes=MAX_BYTES)
        values = decoded(answer)
        if isinstance(values, Hits):
            return values
        found = [one for one in follow(values, self._path) if isinstance(one, str)]
        if not found and not reaches(values, self._path):
            return Hits(requests=1, note=f"its answer has nothing at {'.'.join(self._path)}", failed=True)
        return Hits(tuple(Hit(one) for one in found[:limit]), requests=1)


def _placeholders(template: str, name: str) -> set[str]:
    try:
        names = {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}
    except ValueError as error:
        raise TopicError(f"engine {name!r}: bad template ({error}); write {{query}} for the words") from None
    unknown = names - set(PLACEHOLDERS)
    if unknown:
        known = ", ".join(f"{{{field}}}" for field in PLACEHOLDERS)
        raise TopicError(f"engine {name!r}: unknown {{{min(unknown)}}} in the template; choose from: {known}")
    return names
