"""One page, several addresses: which recorded page a link means.

A recording has each page under one address, but its pages link to it as the server allowed: with and
without `www.`, with `/` or `/index.html`, with and without the last slash, by another host of the same
site, by an address that redirects. A live server would answer or redirect all of them, so a replay has to
join them, or a large part of an old web cannot be reached. Only addresses are compared, never contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from honeyguide.web import registered_domain

INDEX_NAMES = ("index.html", "index.htm", "home.html", "Welcome.html", "default.html")

MAX_REDIRECTS = 10


class Aliases:
    """Resolves any address to the recorded one that stands for it.

    Args:
        sites: Recorded addresses, each with its site (empty when it has none).
        mounts: Path prefixes to take off, such as `/en-US`.
        redirects: Recorded redirects with their targets.

    Example:
        >>> aliases = Aliases({"http://www.a.example/x/": "a", "http://b.a.example/~u/cv.html": "a"})
        >>> aliases.resolve("http://a.example/x/index.html")
        'http://www.a.example/x/'
        >>> aliases.resolve("http://www.a.example/~u/cv.html")
        'http://b.a.example/~u/cv.html'
        >>> aliases.resolve("http://c.example/") is None
        True
    """

    def __init__(
        self,
        sites: Mapping[str, str],
        *,
        mounts: tuple[str, ...] = (),
        redirects: Mapping[str, str] | None = None,
    ) -> None:
        self._known = sites
        self._redirects = redirects or {}
        self._mounts = tuple(mount.rstrip("/") + "/" for mount in mounts)
        self._bare: dict[str, str] = {}
        # (registered domain, path) to the page of a site; empty when several hosts have the path.
        self._by_path: dict[tuple[str, str], str] = {}
        self._site_of: dict[str, str] = {}
        for url, site in sites.items():
            host, path = _split(url)
            self._site_of.setdefault(host, site)
            self._bare.setdefault(_bare(host) + path, url)
            if site and path.count("/") > 1:
                key = (_domain(host), path)
                self._by_path[key] = "" if key in self._by_path else url
        self._memo: dict[str, str | None] = {}

    def resolve(self, url: str) -> str | None:
        """The recorded address that a canonical URL stands for, or None."""
        if url in self._known:
            return url
        if url not in self._memo:
            final = url
            for _ in range(MAX_REDIRECTS):
                final = self._redirects.get(final, final)
            self._memo[url] = final if final in self._known else self._look(final)
        return self._memo[url]

    def _look(self, url: str) -> str | None:
        host, path = _split(url)
        for way in self._ways(path):
            found = self._bare.get(_bare(host) + way)
            if found:
                return found
        for way in self._ways(path):
            if way.count("/") > 1:
                found = self._by_path.get((_domain(host), way))
                if found and self._site_of.get(host, self._known[found]) == self._known[found]:
                    return found
        return None

    def _ways(self, path: str) -> Iterator[str]:
        """Spellings of a path, the given one first."""
        for mount in self._mounts:
            if path.startswith(mount):
                path = path[len(mount) - 1 :]
        yield path
        if "?" in path:
            return
        folder, _, last = path.rpartition("/")
        if not last:
            yield from (path + name for name in INDEX_NAMES)
            if folder:
                yield folder
        elif last in INDEX_NAMES:
            yield folder + "/"
            yield from (f"{folder}/{name}" for name in INDEX_NAMES if name != last)
            if folder:
                yield folder
        elif "." not in last:
            yield path + "/"
            yield from (f"{path}/{name}" for name in INDEX_NAMES)


def _split(url: str) -> tuple[str, str]:
    """Host with port, and the rest from the first slash on."""
    host, slash, rest = url.partition("://")[2].partition("/")
    return host, slash + rest


def _bare(host: str) -> str:
    return host.removeprefix("www.").removesuffix(":80")


def _domain(host: str) -> str:
    return registered_domain(host.partition(":")[0])
