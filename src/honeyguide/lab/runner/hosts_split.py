"""A recorded web of few hosts as one of many: where there are no hosts to share out, folders stand in.

Each folder of a site becomes a host of its own: pages of `http://site/a/b/` move to `http://x1f.site/a/b/`,
where `1f` is a hash of the host and folder. A crawl sees nothing else of it; its answers come from the
recording under their own addresses.
"""

from __future__ import annotations

import msgspec
import xxhash

from honeyguide.engine.visit import Visit, Visitor
from honeyguide.frontier import Waiting
from honeyguide.model import Link, Page
from honeyguide.web.url import host_key, url_id

HOSTS = 256
"""Hosts that a site may become at most."""


def split(url: str) -> str:
    """The address of a page on the host of its folder.

    Example:
        >>> split("http://a.example/docs/owl.html"), joined(split("http://a.example/docs/owl.html"))
        ('http://xa1.a.example/docs/owl.html', 'http://a.example/docs/owl.html')
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    place = rest.partition("?")[0]
    folder = place.rpartition("/")[0] or place
    return f"{scheme}://x{xxhash.xxh64_intdigest(folder.encode()) % HOSTS:02x}.{rest}"


def joined(url: str) -> str:
    """The address that the web has it under."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('.')[2]}"


class SplitVisits:
    """Visits of the web as it was recorded, told as visits of the split one."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._links: dict[str, tuple[str, int]] = {}

    async def visit(self, waiting: Waiting) -> Visit:
        """Ask the recording, and translate."""
        own = joined(waiting.url)
        asked = msgspec.structs.replace(waiting, url=own, id=url_id(own), host=host_key(own))
        visit = await self._visitor.visit(asked)
        page = visit.page
        return msgspec.structs.replace(
            visit,
            page=self._page(page) if page is not None else None,
            redirect=split(visit.redirect) if visit.redirect else "",
            listing=tuple(map(split, visit.listing)),
            sitemaps=tuple(map(split, visit.sitemaps)),
            indexes=tuple(map(split, visit.indexes)),
        )

    async def close(self) -> None:
        """Close the recording."""
        await self._visitor.close()

    def _page(self, page: Page) -> Page:
        url = split(page.url)
        return msgspec.structs.replace(
            page,
            url=url,
            id=url_id(url),
            canonical=split(page.canonical) if page.canonical else "",
            links=tuple(map(self._link, page.links)),
        )

    def _link(self, link: Link) -> Link:
        held = self._links.get(link.url)
        if held is None:
            url = split(link.url)
            held = self._links[link.url] = (url, url_id(url))
        return msgspec.structs.replace(link, url=held[0], id=held[1])
