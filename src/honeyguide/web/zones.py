"""Traps that only show when a part of a site is seen as a whole.

A zone is the part of a registered domain under one top folder, pages with and without a query apart:
`example.org/blog/`, `example.org/catalogue/?`. Four signs tell that a zone is made by a machine for ever:

- **Sameness**: most of its pages are near-duplicates of other pages of the domain. For pages with a query
  the whole domain is one zone here, since session ids and parameters that change nothing are everywhere.
- **Tree**: nearly every page was reached through pages that nothing else links to, many of them in chains
  (mazes of generated text, wildcard host names). Pages that people write get a second link sooner or
  later: from a list, a menu, a neighbour, a link back. Pages made on the fly get exactly the one that led
  to them. The first step down into a folder does not count: that is how lists lead to pages.
- **Facets**: many pages whose addresses combine few values of several parameters. An address that names
  things has a value of its own for each (`?f=3&t=5501`); one that filters uses the same few again.
- **Calendar**: many pages named by nothing but a date. What stands on a date is found under its own name;
  a year of lists (without a word such as `calendar` in the address: five) is enough to find it.

They need no word of the text, so babble that reads like the topic does not help a trap. What the rules know
follows from the fetched pages in their order alone; a resumed crawl loads what was saved, feeds them the
pages fetched since, and goes on the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.web.domain import registered_domain

FACETS: Final = "zone-of-facets"
CALENDAR: Final = "zone-of-dates"
SAMENESS: Final = "zone-of-copies"
TREE: Final = "zone-without-end"
COPY_LENGTH: Final = 150
"""Pages with less text are not taken for copies of each other."""


class ZoneLimits(msgspec.Struct, frozen=True):
    """Where the rules draw their lines."""

    copies: int = 8
    """Near-duplicate pages before a zone can be one of copies."""
    copy_share: float = 0.6
    tree: int = 8
    """Pages at the end of a chain before a zone can be one without end."""
    tree_share: float = 0.8
    """Pages with a single link to them, of all."""
    dates: int = 12
    """Pages named by a date only, in a zone with a word such as `calendar`; five times as many in others."""
    facets: int = 12
    """Pages with a query before a zone can be one of facets."""
    facet_share: float = 0.75
    """Different values per page, at most."""
    chain: int = 2
    """Pages of the zone in a row, each linked to by the one before it only."""


_DATE = re.compile(r"/[12][0-9]{3}(?:[-/][0-9]{1,2}){1,2}/?$")
_CALENDAR_WORD = re.compile(r"/[a-z_-]*(?:calend|kalender|event|agenda)[a-z_-]*/", re.IGNORECASE)
_PAGES: Final = frozenset(("page", "p", "pg", "paged", "offset", "start", "from"))
_MOST_VALUES: Final = 256
_NONE: Final[frozenset[str]] = frozenset()
_COUNTS: Final = ("single", "fetched", "copies", "chained", "dates")
_BY_ROW: Final = ("_source", "_zone", "_depth", "_down", "_chain")


class _Kept(msgspec.Struct, frozen=True):
    """What `Zones.save` keeps besides arrays."""

    keys: list[str]
    """Zones by number, from 1 on."""
    filters: dict[int, tuple[list[str], list[str]]]
    """Names and values of the zones that have any."""
    queries: dict[str, tuple[int, int]]
    """Pages and copies among a domain's pages with a query."""
    traps: dict[str, str]


@lru_cache(maxsize=65_536)
def _domain(authority: str) -> str:
    name, colon, port = authority.rpartition(":")
    return registered_domain(name) if colon and port.isdigit() else registered_domain(authority)


def zone_of(url: str) -> str:
    """The zone of a canonical URL.

    Example:
        >>> zone_of("https://www.example.org/blog/2024/owls.html"), zone_of("https://example.org/?id=3")
        ('example.org/blog/', 'example.org/?')
    """
    start = url.index("/", 8)
    path, question, _ = url[start:].partition("?")
    end = path.find("/", 1) + 1
    return _domain(url[url.index("//") + 2 : start]) + (path[:end] if end else "/") + question


class _Zone:
    __slots__ = ("calendar", "chained", "copies", "dates", "domain", "fetched", "names", "single", "values")

    def __init__(self, domain: str = "") -> None:
        self.domain = domain
        self.calendar = False
        self.single = 0
        self.fetched = 0
        self.copies = 0
        self.chained = 0
        self.dates = 0
        self.names: Set[str] = _NONE
        self.values: Set[str] = _NONE
        """`name=value` of filters, up to a number that no zone of facets has. Most zones have none, and
        there can be a million zones."""

    def query(self, query: str) -> None:
        names, values = set(self.names), set(self.values)
        for part in query.split("&"):
            name = part.partition("=")[0]
            if len(values) < _MOST_VALUES and name.lower() not in _PAGES:
                names.add(name)
                values.add(part)
        if len(values) > len(self.values):
            self.names, self.values = names, values


class Zones:
    """What is known of all zones. URLs are named by row, 1, 2, 3, … as in the frontier.

    Example:
        >>> zones = Zones(ZoneLimits(tree=3))
        >>> for row in range(1, 16):
        ...     zones.fetched(row, f"https://m.example/maze/{row}", targets=[row + 1, row + 1000])
        >>> zones.reason("https://m.example/maze/99")
        'zone-without-end'
    """

    def __init__(self, limits: ZoneLimits | None = None) -> None:
        self._limits = limits or ZoneLimits()
        self._all: list[_Zone] = [_Zone()]
        self._numbers: dict[str, int] = {}
        self._queries: dict[str, _Zone] = {}
        """By domain: its pages with a query."""
        self._traps: dict[str, str] = {}
        size = 1024
        self._source: NDArray[np.int32] = np.zeros(size, np.int32)
        """The first page that linked to a row; -1 when another one does too."""
        self._zone: NDArray[np.int32] = np.zeros(size, np.int32)
        """Zone of a fetched page; 0 for others."""
        self._depth: NDArray[np.uint8] = np.zeros(size, np.uint8)
        """Folders in the address of a fetched page."""
        self._down: NDArray[np.bool_] = np.zeros(size, np.bool_)
        """Whether a page was reached from one with fewer folders."""
        self._chain: NDArray[np.uint8] = np.zeros(size, np.uint8)
        """Pages of the zone in a row up to this one that only the one before links to."""

    @property
    def rows(self) -> int:
        """Number of URLs that there is room for: no fewer than are known, and at most half as many again."""
        return len(self._source)

    @property
    def has_traps(self) -> bool:
        """Whether any zone is a trap."""
        return bool(self._traps)

    def reason(self, url: str) -> str | None:
        """Why a URL is not worth a request, or None."""
        if not self._traps:
            return None
        key = zone_of(url)
        why = self._traps.get(key)
        if why is None and key[-1] == "?":
            why = self._traps.get(key[: key.index("/")] + "?")
        return None if why == CALENDAR and not _DATE.search(url) else why

    def fetched(
        self, row: int, url: str, *, targets: Sequence[int] | NDArray[np.int32], twin: int = 0
    ) -> None:
        """Note a fetched page.

        Args:
            row: The page.
            url: Its URL.
            targets: Everything it links to.
            twin: An earlier page with the same or nearly the same text; 0 for none.
        """
        named = np.asarray(targets, np.int32)
        self._fit(max(row, twin, int(named.max(initial=0))))
        key = zone_of(url)
        number = self._number(key)
        zone = self._all[number]
        zone.fetched += 1
        if key[-1] == "?":
            zone.query(url[url.index("?") + 1 :])
        elif _DATE.search(url):
            zone.dates += 1
        self._zone[row] = number
        self._count_copy(key, zone, self._all[self._zone[twin]].domain == zone.domain)
        depth = self._depth[row] = min(url.partition("?")[0].rstrip("/").count("/"), 255)
        parent = int(self._source[row])
        if parent > 0 and self._zone[parent] == number:
            down = depth > self._depth[parent]
            self._down[row] = down
            if not down or self._down[parent]:
                chain = min(int(self._chain[parent]) + 1, 255)
                self._chain[row] = chain
                zone.single += 1
                zone.chained += chain >= self._limits.chain
        self._link(row, named)
        self._judge(key, zone)

    def save(self) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
        """Everything that is known, as plain values and arrays; 11 bytes a URL and some 60 a zone."""
        zones = self._all
        kept = _Kept(
            keys=list(self._numbers),
            filters={n: (sorted(z.names), sorted(z.values)) for n, z in enumerate(zones) if z.values},
            queries={key: (zone.fetched, zone.copies) for key, zone in self._queries.items()},
            traps=self._traps,
        )
        counts = [[getattr(zone, name) for name in _COUNTS] for zone in zones]
        known = int(np.flatnonzero(self._source | self._zone).max(initial=0)) + 1
        arrays: dict[str, NDArray[np.generic]] = {"counts": np.array(counts, np.int32)}
        arrays |= {name.strip("_"): getattr(self, name)[:known] for name in _BY_ROW}
        return msgspec.to_builtins(kept, str_keys=True), arrays

    def load(self, values: dict[str, object], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `save` gave.

        Raises:
            ValueError: it does not fit together.
        """
        try:
            kept = msgspec.convert(values, _Kept, strict=False)
            by_row = {name: arrays[name.strip("_")] for name in _BY_ROW}
            counts = arrays["counts"]
        except (msgspec.ValidationError, KeyError) as error:
            raise ValueError(f"zones lack something: {error}") from error
        size, zones = len(by_row["_source"]), len(counts)
        zone, source = by_row["_zone"], by_row["_source"]
        fits = (
            counts.shape == (len(kept.keys) + 1, len(_COUNTS))
            and counts.dtype == np.int32
            and all(array.shape == (size,) for array in by_row.values())
            and all(array.dtype == getattr(self, name).dtype for name, array in by_row.items())
            and zone.min(initial=0) >= 0
            and zone.max(initial=0) < zones
            and source.min(initial=0) >= -1
            and source.max(initial=0) < max(size, 1)
            and all("/" in key for key in kept.keys)
            and all(0 < number < zones for number in kept.filters)
        )
        if not fits:
            raise ValueError("zones and pages do not agree")
        self._all, self._numbers = [_Zone()], {}
        for key in kept.keys:
            self._number(key)
        for one, numbers in zip(self._all, counts.tolist(), strict=True):
            for name, number in zip(_COUNTS, numbers, strict=True):
                setattr(one, name, number)
        for place, (names, filters) in kept.filters.items():
            self._all[place].names, self._all[place].values = set(names), set(filters)
        self._queries = {}
        for key, (fetched, copies) in kept.queries.items():
            together = self._queries[key] = _Zone()
            together.fetched, together.copies = fetched, copies
        self._traps = dict(kept.traps)
        for name, array in by_row.items():
            setattr(self, name, array)
        self._fit(size)

    def _number(self, key: str) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._all)
            zone = _Zone(key[: key.index("/")])
            zone.calendar = _CALENDAR_WORD.search(key) is not None
            self._all.append(zone)
        return number

    def _count_copy(self, key: str, zone: _Zone, copied: bool) -> None:
        if key[-1] == "?":  # counted for all queries of the domain together
            key = zone.domain + "?"
            zone = self._queries.setdefault(key, _Zone())
            zone.fetched += 1
        zone.copies += copied
        if zone.copies >= self._limits.copies and zone.copies >= self._limits.copy_share * zone.fetched:
            self._traps.setdefault(key, SAMENESS)

    def _link(self, row: int, targets: NDArray[np.int32]) -> None:
        before = self._source[targets]
        self._source[targets[before == 0]] = row
        again = targets[(before > 0) & (before != row)]
        self._source[again] = -1
        for page in again[self._chain[again] > 0].tolist():
            zone = self._all[self._zone[page]]
            zone.single -= 1
            zone.chained -= int(self._chain[page]) >= self._limits.chain
            self._chain[page] = 0

    def _judge(self, key: str, zone: _Zone) -> None:
        if key in self._traps:
            return
        limits = self._limits
        few = len(zone.values) <= limits.facet_share * zone.fetched
        if zone.chained >= limits.tree and zone.single >= limits.tree_share * zone.fetched:
            self._traps[key] = TREE
        elif zone.fetched >= limits.facets and len(zone.names) > 1 and few:
            self._traps[key] = FACETS
        elif zone.dates >= limits.dates * (1 if zone.calendar else 5):
            self._traps[key] = CALENDAR

    def _fit(self, row: int) -> None:
        if row < len(self._source):
            return
        size = max(row + 1, len(self._source) * 3 // 2)
        for name in _BY_ROW:
            old = getattr(self, name)
            new = np.zeros(size, old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)


def twin_of(copied: int, length: int) -> int:
    """The page that one copies, as `Zones.fetched` takes it; pages of a few words are alike by nature.

    Args:
        copied: Row of the page it repeats; 0 for none.
        length: Its characters of text.
    """
    return copied if length >= COPY_LENGTH else 0
