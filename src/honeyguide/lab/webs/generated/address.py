"""URL to place and back, by arithmetic: what a page is can be read off its address and the seed."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.lab.webs.generated.draws import fingerprint
from honeyguide.lab.webs.generated.sites import Site, Sites

_TRAP_FOLDERS = {"calendar": "/calendar/", "facets": "/catalogue/", "path": "/archive/", "maze": "/maze/"}
_PATHS = {"/": "home", "/robots.txt": "robots", "/sitemap.xml": "sitemap", "/about.html": "about"}
_TITLES = (
    "{} and {}",
    "About {} and {}",
    "The {} {}",
    "{}: notes on {}",
    "A first {} with {}",
    "{}, {} and the rest",
    "Choosing {} for {}",
    "{} questions about {}",
)


class Article(NamedTuple):
    """One article: everything that others need to link to it."""

    number: int
    section: int
    key: int
    topic: int
    path: str
    title: str


class Place(NamedTuple):
    """What a URL stands for."""

    kind: str
    site: Site
    """Where the content comes from."""
    host: Site
    """The host in the URL: another one than `site` for mirrors."""
    number: int = 0
    """Section, article or tunnel, by kind."""
    path: str = "/"
    query: str = ""
    step: int = 0


class Addresses:
    """Names pages and finds them again."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._seed = sites.spec.seed
        self._wander = sites.spec.wander * 256
        self._topics = len(sites.vocabularies)

    def article(self, site: Site, number: int) -> Article:
        """The article with this number on a host."""
        key = fingerprint(self._seed, site.key & 0x7FFFFFFFFFFFFFFF, number)
        section = number % len(site.slugs)
        topic = site.topics[section]
        if (key & 0xFF) < self._wander:
            topic = (key >> 8 & 0xFF) % self._topics
        titles = self._sites.vocabularies[topic].titles
        first, second = titles[key >> 16 & 63], titles[key >> 22 & 63]
        slug = site.slugs[section]
        # One article in eight has an address that says nothing.
        name = "item" if key >> 59 & 7 == 0 else f"{first}-{second}"
        title = _TITLES[key >> 56 & 7].format(first, second)
        return Article(number, section, key, topic, f"/{slug}/{name}-{number}.html", title)

    def guide(self, target: Site, step: int) -> str:
        """Path of one page of the tunnel to a host; it is on the host's bridge."""
        words = self._sites.vocabularies[target.topic].gateway
        return f"/guide/{words[3 * step - 3]}-{target.index}-{step}.html"

    def locate(self, url: str) -> Place | None:
        """What the URL stands for, or None for a host or scheme that does not exist."""
        if not url.startswith("http://"):
            return None
        rest, _, _ = url[7:].partition("#")
        name, slash, path = rest.partition("/")
        if not slash:
            name, mark, tail = name.partition("?")
            path = mark + tail
        host = self._sites.by_name.get(name.partition(":")[0].lower())
        if host is None:
            return None
        path, _, query = ("/" + path).partition("?")
        site = self._sites.all[host.source] if host.role == "mirror" else host
        return self._place(site, host, path, query)

    def _place(self, site: Site, host: Site, path: str, query: str) -> Place:
        place = Place("missing", site, host, 0, path, query)
        _, folder, *names = path.split("/")
        if path in _PATHS:
            place = place._replace(kind=_PATHS[path])
        elif path.startswith(_TRAP_FOLDERS.get(site.role, "\0")):
            place = place._replace(kind="trap")
        elif folder == "private":
            place = place._replace(kind="private")
        elif len(names) == 1:
            if folder == "go" and site.role == "redirecting":
                place = place._replace(kind="go", path=names[0])
            elif folder == "guide":
                place = self._tunnel(place, names[0])
            elif folder in site.slugs:
                place = self._in_section(place, folder, names[0])
        return place

    def _in_section(self, place: Place, slug: str, name: str) -> Place:
        if not name:
            return place._replace(kind="section", number=place.site.slugs.index(slug))
        number = _trailing_number(name)
        if 0 <= number < place.site.articles and self.article(place.site, number).path == place.path:
            return place._replace(kind="article", number=number)
        return place

    def _tunnel(self, missing: Place, name: str) -> Place:
        parts = name.removesuffix(".html").split("-")
        if len(parts) == 3 and parts[1].isascii() and parts[1].isdigit() and parts[2] in ("1", "2", "3"):
            index, step = int(parts[1]), int(parts[2])
            if index in missing.site.guides and step <= self._sites.all[index].tunnel:
                return missing._replace(kind="tunnel", number=index, step=step)
        return missing


def _trailing_number(name: str) -> int:
    """The number of `some-words-12.html`, or -1."""
    digits = name.removesuffix(".html").rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1
