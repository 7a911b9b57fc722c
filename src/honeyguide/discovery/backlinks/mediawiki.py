"""A MediaWiki's "what links here" and external-link search as backlink service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote, urlencode, urlsplit

from honeyguide.discovery.backlinks.base import Parents
from honeyguide.discovery.http import Http
from honeyguide.discovery.json_api import JsonProblem, decode_json, follow
from honeyguide.errors import TopicError
from honeyguide.web import canonical

PAGE: Final = 500
"""Most answers of one request, for programs without special rights."""
MOST_REQUESTS: Final = 10


class MediaWiki:
    """Pages of a wiki that link to a page: its own pages by `list=backlinks`, others by `list=exturlusage`.

    Args:
        http: Asks.
        api: Address of `api.php`.
        articles: What addresses of the wiki's pages begin with; by default `/wiki/` on the same host.
        namespace: Number of the namespace that linking pages must be in; 0 is articles.
        rate: Requests a second at most.

    References:
        https://www.mediawiki.org/wiki/API:Backlinks, https://www.mediawiki.org/wiki/API:Exturlusage
    """

    remote = True

    def __init__(
        self, http: Http, *, api: str, articles: str = "", namespace: int = 0, rate: float = 1.0
    ) -> None:
        parts = urlsplit(api)
        address = canonical(api)
        if address is None or not parts.scheme:
            raise TopicError(
                f"service 'mediawiki': api {api!r} is not a valid URL; write it as https://.../api.php"
            )
        self.rate = rate
        self._http = http
        self._api = address
        self._articles = canonical(articles or f"{parts.scheme}://{parts.netloc}/wiki/") or ""
        self._namespace = namespace

    async def parents(self, url: str, limit: int) -> Parents:
        """Pages of the wiki that link to the URL; more requests when there are many."""
        kind, prefix, query = self._question(url)
        query |= {f"{prefix}namespace": str(self._namespace), f"{prefix}limit": str(min(limit, PAGE))}
        found: list[str] = []
        requests = 0
        while len(found) < limit and requests < MOST_REQUESTS:
            answer = await self._http.get(f"{self._api}?{urlencode(query)}")
            requests += 1
            values = decode_json(answer)
            if isinstance(values, JsonProblem):
                return Parents(tuple(found), requests, values.note, True, values.retry_after)
            if isinstance(values, dict) and "error" in values:
                said = next(iter(follow(values, ("error", "info"))), "no reason given")
                note = f"the wiki refused: {str(said)[:200]}"
                return Parents(tuple(found), requests, note, True, answer.retry_after)
            if not isinstance(values, dict) or not list(follow(values, ("query", kind))):
                return Parents(tuple(found), requests, "the answer is not from a MediaWiki", True)
            found += self._pages(follow(values, ("query", kind, "*")), url)
            more = values.get("continue")
            if not isinstance(more, dict):
                break
            query |= {str(name): str(value) for name, value in more.items()}
        return Parents(tuple(dict.fromkeys(found))[:limit], requests)

    def _pages(self, rows: Iterable[object], asked: str) -> list[str]:
        """Addresses of the pages in an answer; the wiki finds all links that begin as the one asked for."""
        found = []
        for row in rows:
            if not isinstance(row, dict) or not isinstance(row.get("title"), str):
                continue
            link = row.get("url", asked)
            if isinstance(link, str) and _bare(link) == _bare(asked):
                found.append(self._address(row["title"]))
        return found

    def _question(self, url: str) -> tuple[str, str, dict[str, str]]:
        query = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
        if self._articles and url.startswith(self._articles):
            title = unquote(urlsplit(url).path[len(urlsplit(self._articles).path) :]).replace("_", " ")
            return "backlinks", "bl", query | {"list": "backlinks", "bltitle": title}
        scheme, _, rest = url.partition("://")
        return "exturlusage", "eu", query | {"list": "exturlusage", "euquery": rest, "euprotocol": scheme}

    def _address(self, title: str) -> str:
        return self._articles + quote(title.replace(" ", "_"), safe="/:@!$&'()*,;~-._")


def _bare(url: str) -> str:
    """An address without its protocol, which pages may leave out."""
    text = f"http:{url}" if url.startswith("//") else url
    return (canonical(text) or "").partition("://")[2]
