"""Link types: where a link leads, seen from the page it stands on, by the two addresses alone."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from honeyguide.web.domain import registered_domain
from honeyguide.web.url import host_key

LinkType: TypeAlias = Literal["downward", "sibling", "crosswise", "outward", "upward"]
LINK_TYPES: Final[tuple[LinkType, ...]] = get_args(LinkType)
Site: TypeAlias = Literal["host", "domain"]


class LinkSource:
    """A page as the source of links: its site and its directory, worked out once.

    Example:
        >>> LinkSource("http://a.example/birds/owls/").link_type("http://a.example/birds/")
        'upward'
    """

    __slots__ = ("_directory", "_host", "_name", "_site")

    def __init__(self, url: str, *, site: Site = "host") -> None:
        self._site = site
        self._host, self._directory = _split(url)
        self._name = _site_name(self._host, site)

    def link_type(self, target: str) -> LinkType:
        """The type of a link to an address."""
        host, directory = _split(target)
        if host != self._host and _site_name(host, self._site) != self._name:
            return "outward"
        here = self._directory
        if directory == here:
            return "sibling"
        if directory.startswith(here):
            return "downward"
        return "upward" if here.startswith(directory) else "crosswise"


def link_type(source: str, target: str, *, site: Site = "host") -> LinkType:
    """The type of a link.

    *Downward*: the target's directory lies below the source's. *Upward*: it is above. *Sibling*: it is the
    same. *Crosswise*: elsewhere on the site. *Outward*: another site. A site is a host (with or without
    `www.`), or with `site="domain"` a registered domain.

    Example:
        >>> link_type("http://a.example/birds/index.html", "http://a.example/birds/owls/barn.html")
        'downward'
        >>> link_type("http://a.example/birds/owl.html", "http://www.a.example/birds/eagle.html")
        'sibling'
    """
    return LinkSource(source, site=site).link_type(target)


def _split(url: str) -> tuple[str, str]:
    """Host and directory: what stands before the last `/` of the path."""
    rest = url.partition("://")[2]
    authority, slash, path = rest.partition("/")
    folder = path.partition("?")[0].rpartition("/")
    return authority, f"{folder[0]}/" if slash and folder[1] else ""


def _site_name(host: str, site: Site) -> str:
    if site == "domain":
        return registered_domain(host_key(f"http://{host}/"))
    return host.removeprefix("www.")
