"""Traps that only show when a part of a site is seen as a whole.

A zone is the part of a registered domain under one top folder, pages with and without a query apart:
`example.org/blog/`, `example.org/catalogue/?`. Four signs tell that a zone is generated without end:

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

A sign is not yet a trap. Pages on topic count as copies only where their words are the same; a chain of pages
on topic, each leading to one more, is read to its end, as are facets and dates that keep bringing pages on
topic. What branches without end is closed whatever it says, so babble that reads like the topic does not help
a trap. What was given from outside (seeds, answers of sources) counts as linked to from elsewhere.

Besides, a zone may be dead: many requests and never a page (pictures whose pages are gone, downloads).
Links to it are taken as ever, but its URLs are not asked for until one of the sample brings a page.

A closed zone is not closed for good: one URL in `sample` is fetched all the same, and when those turn out to
be pages on topic that no sign speaks against, the zone is opened again, and more is needed to close it.

What the rules know follows from the fetched pages in their order alone; a resumed crawl loads what was saved,
feeds them the pages fetched since, and goes on the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.web.domain import registered_domain
from honeyguide.web.url import url_id

FACETS: Final = "zone-of-facets"
CALENDAR: Final = "zone-of-dates"
SAMENESS: Final = "zone-of-copies"
TREE: Final = "zone-without-end"
FAILURES: Final = "zone-without-pages"
COPY_LENGTH: Final = 150
"""Pages with less text are not taken for copies of each other."""


class ZoneLimits(msgspec.Struct, frozen=True):
    """Where the rules draw their lines."""

    close: bool = True
    """Whether any zone is closed at all."""
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
    topical: float = 0.5
    """Share of pages on topic from which a zone is worth reading although it shows a sign."""
    sample: int = 100
    """One URL in so many of a closed zone is fetched; 0 for none."""
    good: int = 3
    """Good pages among those, and half of them, open the zone again."""
    failures: int = 24
    """Requests without a page, in a zone that never had one, before it is dead."""
    chain: int = 2
    """Pages of the zone in a row, each linked to by the one before it only."""


_DATE = re.compile(r"/[12][0-9]{3}(?:[-/][0-9]{1,2}){1,2}/?$")
_CALENDAR_WORD = re.compile(r"/[a-z_-]*(?:calend|kalender|event|agenda)[a-z_-]*/", re.IGNORECASE)
_PAGES: Final = frozenset(("page", "p", "pg", "paged", "offset", "start", "from"))
_MOST_VALUES: Final = 256
_NONE: Final[frozenset[str]] = frozenset()
_COUNTS: Final = (
    "single", "fetched", "copies", "chained", "dates", "forks", "topical", "sampled", "good", "pardons",
)  # fmt: skip
_SEVERAL: Final = -1
"""In place of the only page that links to a row: there are more."""
_PAGES_FROM: Final = -2
"""In place of it for a fetched page: its place among the pages, counted downwards from here."""


class _Pages(NamedTuple):
    """What is known of each fetched page, in the order they came in."""

    source: NDArray[np.int32]
    """The first page that linked to it; `_SEVERAL` when another one does too, 0 for none."""
    zone: NDArray[np.int32]
    depth: NDArray[np.uint8]
    """Folders in its address."""
    down: NDArray[np.bool_]
    """Whether it was reached from one with fewer folders."""
    chain: NDArray[np.uint8]
    """Pages of the zone in a row up to this one that only the one before links to."""
    parent_of_one: NDArray[np.bool_]
    """Whether such a page was fetched that only this one links to."""


def _new_pages(size: int) -> _Pages:
    return _Pages(
        np.zeros(size, np.int32),
        np.zeros(size, np.int32),
        np.zeros(size, np.uint8),
        np.zeros(size, np.bool_),
        np.zeros(size, np.uint8),
        np.zeros(size, np.bool_),
    )


class _Kept(msgspec.Struct, frozen=True):
    """What `Zones.save` keeps besides arrays."""

    keys: list[str]
    """Zones by number, from 1 on."""
    filters: dict[int, tuple[list[str], list[str]]]
    """Names and values of the zones that have any."""
    queries: dict[str, list[int]]
    """Counts of a domain's pages with a query."""
    traps: dict[str, str]
    failed: dict[str, int] = {}
    """By zone: requests without a page, where there never was one."""


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


def _queries_of(key: str) -> str:
    """The zone of all queries of a zone's domain."""
    return key[: key.index("/")] + "?"


class _Zone:
    __slots__ = (*_COUNTS, "calendar", "domain", "names", "values")
    single: int
    """Pages that only the page before them links to."""
    fetched: int
    copies: int
    chained: int
    """Pages at the end of a chain of such pages."""
    dates: int
    forks: int
    """Such pages whose parent has led to another one before."""
    topical: int
    """Pages on topic."""
    sampled: int
    """Pages fetched since the zone was closed."""
    good: int
    """Those of them that speak for the zone."""
    pardons: int
    """How often it was opened again."""

    def __init__(self, domain: str = "") -> None:
        self.domain = domain
        self.calendar = False
        for name in _COUNTS:
            setattr(self, name, 0)
        self.names: Set[str] = _NONE
        self.values: Set[str] = _NONE
        """`name=value` of filters, up to a number that no zone of facets has. Most zones have none, and
        there can be a million zones."""

    @property
    def patience(self) -> int:
        """How many times as much it takes to close the zone."""
        return int(4 ** min(self.pardons, 8))

    def counts(self) -> list[int]:
        """Everything that is counted, in order."""
        return [getattr(self, name) for name in _COUNTS]

    def pardon(self) -> None:
        """Start again, with one more pardon."""
        pardons = self.pardons + 1
        for name in _COUNTS:
            setattr(self, name, 0)
        self.pardons = pardons
        self.names = self.values = _NONE

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
        self._failed: dict[str, int] = {}
        self.unsaved_failures = False
        """Whether requests have failed since `save`: the pages alone do not tell."""
        self._source: NDArray[np.int32] = np.zeros(1024, np.int32)
        """By row, the first page that linked to it; see `_SEVERAL` and `_PAGES_FROM`. Ten million URLs may be
        known and few of them fetched: of the others nothing else is kept."""
        self._pages = _new_pages(1024)
        self._fetched = 0

    @property
    def rows(self) -> int:
        """Number of URLs that there is room for: no fewer than are known, and at most half as many again."""
        return len(self._source)

    @property
    def has_traps(self) -> bool:
        """Whether any zone is closed."""
        return bool(self._traps) and self._limits.close

    def reason(self, url: str) -> str | None:
        """Why a URL is not worth a request, or None."""
        if not self.has_traps:
            return None
        why = self.reason_of(zone_of(url))
        if why is None or (why == CALENDAR and not _DATE.search(url)):
            return None
        sample = self._limits.sample
        return None if sample and url_id(url) % sample == 0 else why

    def failed(self, url: str) -> None:
        """Note a request that brought no page and would bring none later: not found, gone, a file."""
        key = zone_of(url)
        number = self._numbers.get(key)
        if number is None or not self._all[number].fetched:
            self._failed[key] = self._failed.get(key, 0) + 1
            self.unsaved_failures = True

    def reason_to_drop(self, url: str) -> str | None:
        """Why a URL that waits is not worth its request after all, or None."""
        why = self.reason(url)
        if why is None and self._failed and self._limits.close:
            sample = self._limits.sample
            if self._failed.get(zone_of(url), 0) >= self._limits.failures:
                return None if sample and url_id(url) % sample == 0 else FAILURES
        return why

    def fetched(
        self,
        row: int,
        url: str,
        *,
        targets: Sequence[int] | NDArray[np.int32],
        twin: int = 0,
        on_topic: bool = False,
        given: bool = False,
    ) -> None:
        """Note a fetched page.

        Args:
            row: The page.
            url: Its URL.
            targets: Everything it links to.
            twin: An earlier page that it copies (`twin_of`); 0 for none.
            on_topic: Whether it is on topic.
            given: Whether it was given from outside (a seed, say) rather than found by a link alone.
        """
        named = np.asarray(targets, np.int32)
        self._make_room(max(row, twin, int(named.max(initial=0))))
        key = zone_of(url)
        number = self._number(key)
        zone = self._all[number]
        if self._failed:
            self._failed.pop(key, None)
        closed = self.reason_of(key)
        closed = None if closed == CALENDAR and not _DATE.search(url) else closed
        zone.fetched += 1
        zone.topical += on_topic
        if key[-1] == "?":
            zone.query(url[url.index("?") + 1 :])
        elif _DATE.search(url):
            zone.dates += 1
        place, pages = self._place(row), self._pages
        pages.zone[place] = number
        copied = self._all[self._zone_of(twin)].domain == zone.domain
        self._count_copy(key, zone, copied)
        depth = pages.depth[place] = min(url.partition("?")[0].rstrip("/").count("/"), 255)
        if given:
            pages.source[place] = _SEVERAL
        parent = int(pages.source[place])
        if parent > 0 and self._zone_of(parent) == number:
            before = self._place(parent)
            down = depth > pages.depth[before]
            pages.down[place] = down
            if not down or pages.down[before]:
                chain = min(int(pages.chain[before]) + 1, 255)
                pages.chain[place] = chain
                zone.single += 1
                zone.chained += chain >= self._limits.chain
                zone.forks += bool(pages.parent_of_one[before])
                pages.parent_of_one[before] = True
        self._link(row, named)
        if closed is None:
            self._judge(key, zone)
        else:
            self._sampled(key, zone, good=on_topic and not copied and not pages.chain[place])

    def reason_of(self, key: str) -> str | None:
        """Why a zone is closed, or None."""
        return self._traps.get(key) or (self._traps.get(_queries_of(key)) if key[-1] == "?" else None)

    def _sampled(self, key: str, zone: _Zone, *, good: bool) -> None:
        """Note a page of a closed zone; enough good ones open it again."""
        zone.sampled += 1
        zone.good += good
        if zone.good >= self._limits.good and 2 * zone.good >= zone.sampled:
            zone.pardon()
            self._traps.pop(key, None)
            if key[-1] == "?" and _queries_of(key) in self._traps:
                del self._traps[_queries_of(key)]
                self._queries[_queries_of(key)].pardon()

    def save(self) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
        """Everything that is known, as values and arrays; 4 bytes a URL, 12 a page and some 60 a zone."""
        zones = self._all
        kept = _Kept(
            keys=list(self._numbers),
            filters={n: (sorted(z.names), sorted(z.values)) for n, z in enumerate(zones) if z.values},
            queries={key: zone.counts() for key, zone in self._queries.items()},
            traps=self._traps,
            failed=self._failed,
        )
        self.unsaved_failures = False
        counts = [zone.counts() for zone in zones]
        known = int(np.flatnonzero(self._source).max(initial=0)) + 1
        arrays: dict[str, NDArray[np.generic]] = {
            "counts": np.array(counts, np.int32),
            "source": self._source[:known],
        }
        arrays |= {f"page_{name}": each[: self._fetched] for name, each in self._pages._asdict().items()}
        return msgspec.to_builtins(kept, str_keys=True), arrays

    def load(self, values: dict[str, object], arrays: dict[str, NDArray[Any]]) -> None:
        """Take over what `save` gave.

        Raises:
            ValueError: it does not fit together.
        """
        try:
            kept = msgspec.convert(values, _Kept, strict=False)
            counts, source = arrays["counts"], arrays["source"]
            pages = _Pages(**{name: arrays[f"page_{name}"] for name in _Pages._fields})
        except (msgspec.ValidationError, KeyError) as error:
            raise ValueError(f"zones lack something: {error}") from error
        size, zones, fetched = len(source), len(counts), len(pages.zone)
        places = _PAGES_FROM - source[source <= _PAGES_FROM]
        fits = (
            counts.shape == (len(kept.keys) + 1, len(_COUNTS))
            and counts.dtype == np.int32
            and source.dtype == np.int32
            and all(array.shape == (fetched,) for array in pages)
            and all(getattr(pages, name).dtype == each.dtype for name, each in self._pages._asdict().items())
            and pages.zone.min(initial=0) >= 0
            and pages.zone.max(initial=0) < zones
            and np.array_equal(np.sort(places), np.arange(fetched))
            and pages.source.min(initial=0) >= _SEVERAL
            and max(source.max(initial=0), pages.source.max(initial=0)) < max(size, 1)
            and all("/" in key for key in kept.keys)
            and all(0 < number < zones for number in kept.filters)
            and all(len(numbers) == len(_COUNTS) for numbers in kept.queries.values())
            and all("/" in key and number > 0 for key, number in kept.failed.items())
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
        for key, numbers in kept.queries.items():
            together = self._queries[key] = _Zone()
            for name, number in zip(_COUNTS, numbers, strict=True):
                setattr(together, name, number)
        self._traps = dict(kept.traps)
        self._failed = dict(kept.failed)
        self._source, self._pages, self._fetched = source, pages, fetched
        self._make_room(size)

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
        enough = self._limits.copies * zone.patience
        if zone.copies >= enough and zone.copies >= self._limits.copy_share * zone.fetched:
            self._traps.setdefault(key, SAMENESS)

    def _link(self, row: int, targets: NDArray[np.int32]) -> None:
        pages = self._pages
        for place in linked(self._source, (pages.source, pages.chain), targets, row):
            zone = self._all[pages.zone[place]]
            zone.single -= 1
            zone.chained -= int(pages.chain[place]) >= self._limits.chain
            pages.chain[place] = 0

    def _zone_of(self, row: int) -> int:
        """The number of a fetched page's zone; 0 for other rows."""
        place = _PAGES_FROM - int(self._source[row])
        return int(self._pages.zone[place]) if place >= 0 else 0

    def _place(self, row: int) -> int:
        """The place of a page among those that were fetched; it gets one if it has none."""
        source = int(self._source[row])
        if source <= _PAGES_FROM:
            return _PAGES_FROM - source
        place = self._fetched
        self._fetched += 1
        self._pages.source[place] = source
        self._source[row] = _PAGES_FROM - place
        return place

    def _judge(self, key: str, zone: _Zone) -> None:
        if key in self._traps:
            return
        limits, patience = self._limits, zone.patience
        topical = zone.topical >= limits.topical * zone.fetched
        branches = 8 * zone.forks >= zone.single
        few = len(zone.values) <= limits.facet_share * zone.fetched
        single = zone.single >= limits.tree_share * zone.fetched
        if zone.chained >= limits.tree * patience and single and (branches or not topical):
            self._traps[key] = TREE
        elif topical:
            return
        elif zone.fetched >= limits.facets * patience and len(zone.names) > 1 and few:
            self._traps[key] = FACETS
        elif zone.dates >= limits.dates * patience * (1 if zone.calendar else 5):
            self._traps[key] = CALENDAR

    def _make_room(self, row: int) -> None:
        """For rows up to this one, and for another page."""
        if row >= len(self._source):
            self._source = _grown(self._source, max(row + 1, len(self._source) * 3 // 2))
        if self._fetched >= len(self._pages.zone):
            size = max(1024, self._fetched * 3 // 2)
            self._pages = _Pages(**{name: _grown(each, size) for name, each in self._pages._asdict().items()})


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def linked(
    source: NDArray[np.int32],
    pages: tuple[NDArray[np.int32], NDArray[np.uint8]],
    targets: NDArray[np.int32],
    row: int,
) -> list[int]:
    """Note that a page links to others; places of those in a chain that more than one page links to now.

    Args:
        source: By row, the only page that links to it, 0 for none, -1 for several; of a fetched page its
            place, counted downwards from -2. Changed.
        pages: By place, the same of the page, and how long its chain is. The first is changed.
        targets: What the page links to, each once.
        row: The page.
    """
    own, chain = pages
    again: list[int] = []
    for target in targets.tolist():
        before = int(source[target])
        place = _PAGES_FROM - before
        if place >= 0:
            before = int(own[place])
            if before == 0:
                own[place] = row
            elif before > 0 and before != row:
                own[place] = _SEVERAL
                if chain[place]:
                    again.append(place)
        elif before == 0:
            source[target] = row
        elif before > 0 and before != row:
            source[target] = _SEVERAL
    return again


def twin_of(copied: int, length: int, *, same_words: bool, same_title: bool, on_topic: bool) -> int:
    """The page that one copies, as `Zones.fetched` takes it; 0 for none.

    Pages of a few words are alike by nature. Pages that are merely alike (a catalogue, a series) are copies
    only where they bring nothing: the same title again, and off topic.

    Args:
        copied: Row of the page that it repeats, exactly or nearly; 0 for none.
        length: Its characters of text.
        same_words: Whether both have the same words.
        same_title: Whether both have the same title.
        on_topic: Whether it is on topic.
    """
    if length < COPY_LENGTH:
        return 0
    return copied if same_words or (same_title and not on_topic) else 0
