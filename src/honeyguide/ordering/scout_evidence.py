"""What a crawl knows of the URLs that wait: who links to them, and what became of their like.

Everything is sums that grow by a few additions a page. A waiting URL holds its latest links; a link names
the page it stands on and its place there; places (a page, a tag path on it, a few neighbouring links) hold
how many of their targets were fetched and what those were worth. Scores are read off when asked for.

Memory is bounded: of a URL the latest `LINKS` links count; places are kept for the latest pages only (a
ring); words, hosts, folders and tag paths of sites share tables of fixed size by hash; when `MOST` URLs are
held, those with the lowest priorities are let go (they wait on with the priority they have).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

LINKS: Final = 8
WORDS: Final = 8
TOPICS: Final = 6
MOST: Final = 150_000
PLACES: Final = 1 << 22
TABLE: Final = 1 << 16
NEIGHBOURS: Final = 4
"""Links to one side that count as near; sums are kept for runs of so many links."""
PRIOR: Final = 3.0
"""Pages of average worth that every place starts with."""
FEW: Final = 2.0
"""The same for words, hosts and folders."""
REVEALED: Final = 3
"""New URLs of promise that a page must lead to, to count in full as a hub."""

WAITING: Final = 1
FETCHED: Final = 2
AWAY: Final = 3
"""It waits in another shard."""

SCORES: Final = (
    "best parent",
    "parents",
    "parents' likeness",
    "topic in anchor",
    "words of anchors",
    "words of address",
    "neighbours",
    "same page",
    "anchor's likeness",
    "same list",
    "same place on site",
    "grandparents",
    "host",
    "folder",
    "topic in context",
    "topic in address",
    "topic in list",
    "list's likeness",
    "pages it links to",
    "topic in block",
)
"""The scores of a URL, in the order of their columns."""
COLUMNS: Final = len(SCORES)
CLIP: Final = 5.0
"""Deviations from the mean that a score may be worth at most."""


LINK: Final = ("parent", "path", "near", "site_path")
ENTRY: Final = np.dtype(
    [
        *((name, np.int32) for name in ("links", "host", "folder", "above", "page", "turn")),
        ("explore", np.float32),
        ("topic", np.float32, (TOPICS,)),
        ("link", np.dtype([(name, np.int32) for name in LINK]), (LINKS,)),
        *((name, np.int32, (WORDS,)) for name in ("anchor_words", "url_words", "list_words")),
        ("scores", np.float32, (COLUMNS,)),
    ]
)
"""All that is read of a URL to score it, in one place: six lines of the cache instead of seventeen."""


class Urls(NamedTuple):
    """One entry a URL that is held. What is asked of many at once is in arrays, the rest in `entries`."""

    id: NDArray[np.int64]
    state: NDArray[np.uint8]
    priority: NDArray[np.float64]
    told: NDArray[np.float64]
    """The priority that the frontier was told last."""
    entries: NDArray[np.void]
    """Everything below, of type `ENTRY`."""
    host: Ints
    folder: Ints
    above: Ints
    """Folder that its folder lies in."""
    page: Ints
    """Its number among the pages once it is fetched; -1 before."""
    turn: Ints
    """1 when it had, or has, its turn as the longest known."""
    links: Ints
    """How many links to it were seen."""
    parent: Ints
    """Page of each of the latest links."""
    path: Ints
    """Place of the links of the same tag path there."""
    near: Ints
    """Place of the neighbouring links there."""
    site_path: Ints
    """Entry of the tag path on the page's host."""
    anchor_words: Ints
    url_words: Ints
    """Entries of its words, -1 for none."""
    list_words: Ints
    """Entries of the words that most anchors have of the list in which it was first found."""
    topic: Floats
    """Scores by the page model: of its anchors (the highest), of the text around the first, of its address,
    and of the anchors of the list in which it was first found (the mean); the worth of the fetched pages that
    it is said to link to; and the score of the best content block that links to it."""
    scores: Floats
    explore: Floats


OWN: Final = Urls._fields.index("entries") + 1
"""Arrays of `Urls`; those behind them are fields of the last."""


class Pages(NamedTuple):
    """One entry a fetched page."""

    known: Floats
    """Its worth, its likeness to the best pages, the mean worth of the pages that link to it."""
    base: NDArray[np.int64]
    """Where its places begin in the ring, counted from the first page on; -1 before its links are in."""
    outcome: NDArray[np.int64]
    """Its number among the outcomes that weights are learned from; -1 for one that no link led to."""
    hub: Floats
    """What the URLs it led to add to that outcome."""


class Sums(NamedTuple):
    """Worth and number of fetched pages (two columns): by place, and in tables by hash."""

    place: Floats
    site_path: Floats
    anchor: Floats
    url: Floats
    host: Floats
    folder: Floats
    above: Floats
    like: Floats
    """What a word says for likeness to the best pages so far (see `scout_words`); one column."""


class Held(NamedTuple):
    """All evidence."""

    urls: Urls
    pages: Pages
    sums: Sums


def new_urls(size: int) -> Urls:
    """Room for so many URLs, which takes memory only where it is used."""
    entries = np.zeros(size, ENTRY)
    named = {name: (entries["link"] if name in LINK else entries)[name] for name in Urls._fields[OWN:]}
    return Urls(
        id=np.zeros(size, np.int64),
        state=np.zeros(size, np.uint8),
        priority=np.zeros(size, np.float64),
        told=np.zeros(size, np.float64),
        entries=entries,
        **named,
    )


def fields(urls: Urls) -> dict[str, NDArray[Any]]:
    """Everything by name, and once."""
    return {name: each for name, each in urls._asdict().items() if name != "entries"}


def new_pages(size: int) -> Pages:
    """Room for so many pages."""
    return Pages(
        known=np.zeros((size, 3), np.float32),
        base=np.full(size, -1, np.int64),
        outcome=np.full(size, -1, np.int64),
        hub=np.zeros(size, np.float32),
    )


def new_sums() -> Sums:
    """Empty sums."""
    sizes = dict.fromkeys(Sums._fields, TABLE) | {"place": PLACES}
    tables = {name: np.zeros((size, 2), np.float32) for name, size in sizes.items() if name != "like"}
    return Sums(**tables, like=np.zeros(TABLE, np.float32))


class NewLinks(NamedTuple):
    """The links of a page that was just fetched."""

    page: int
    targets: NDArray[np.int64]
    """Entries; -1 where there was no room for one."""
    paths: Ints
    """Numbers of their lists on the page, from 1 on."""
    places: NDArray[np.int64]
    """Which links of the page they are, counted from 0 on."""
    sites: Ints
    """By numbers of lists, their entries on the page's site; the first of them is nobody's."""
    first_near: int
    """Where the places for runs of neighbouring links begin."""


class Standing(NamedTuple):
    """Where the crawl stands."""

    fetched: int
    mean: float
    """Worth of the fetched pages."""
    oldest: int
    """Places before this one are gone from the ring."""
    by_host: float
    """How much hosts are explored."""
    by_folder: float


class Joining(NamedTuple):
    """How scores become a priority."""

    start: float
    weight: NDArray[np.float64]
    middle: NDArray[np.float64]
    scale: NDArray[np.float64]


@compiled
def add_outcome(held: Held, at: int, change: Sequence[float] | Floats, oldest: int) -> None:
    """Add a fetched URL's worth and number (or a change of them) wherever it is evidence for others."""
    urls, sums = held.urls, held.sums
    change = np.array(change, np.float32)  # sums are added up in single precision, as in C
    links = min(int(urls.links[at]), LINKS)
    base = held.pages.base[urls.parent[at, :links]]
    kept = base >= max(0, oldest)
    first = base[kept]
    places = (first, first + urls.path[at, :links][kept], first + urls.near[at, :links][kept])
    np.add.at(sums.place, np.concatenate(places) & (PLACES - 1), change)
    sums.site_path[np.unique(urls.site_path[at, :links])] += change
    for table, words in ((sums.anchor, urls.anchor_words[at]), (sums.url, urls.url_words[at])):
        table[words[words >= 0]] += change
    sums.host[urls.host[at]] += change
    sums.folder[urls.folder[at]] += change
    sums.above[urls.above[at]] += change


def add_outcome_elsewhere(held: Held, at: int, change: tuple[float, float], oldest: int) -> None:
    """The same of a URL of another shard: for its neighbours on the pages here; all else that shard adds."""
    urls = held.urls
    links = min(int(urls.links[at]), LINKS)
    base = held.pages.base[urls.parent[at, :links]]
    kept = base >= max(0, oldest)
    first = base[kept]
    places = (first, first + urls.path[at, :links][kept], first + urls.near[at, :links][kept])
    np.add.at(held.sums.place, np.concatenate(places) & (PLACES - 1), change)


@compiled
def add_links(held: Held, new: NewLinks) -> None:
    """Take in the links of a new page: evidence for targets that wait, and from those that were fetched.

    A target that the page names again counts once.
    """
    urls, pages, sums = held.urls, held.pages, held.sums
    named = np.sort(np.unique(new.targets, return_index=True)[1])
    named = named[new.targets[named] >= 0]
    targets, paths = new.targets[named], new.paths[named]
    nears, site_paths = new.first_near + new.places[named] // NEIGHBOURS, new.sites[paths]
    state = urls.state[targets]
    base = int(pages.base[new.page])
    ended = np.flatnonzero(state == FETCHED)
    if len(ended):
        told = np.ones((len(ended), 2), np.float32)
        told[:, 0] = pages.known[urls.page[targets[ended]], 0]
        for places in (np.zeros(len(ended), np.int64), paths[ended], nears[ended]):
            np.add.at(sums.place, (base + places) & (PLACES - 1), told)
        for row, worth in zip(ended.tolist(), told, strict=True):
            at, entry = targets[row], site_paths[row]
            known = int(urls.links[at])
            if known < LINKS and entry not in urls.site_path[at, :known]:
                sums.site_path[entry] += worth
    # Of one that was fetched, the links that were told its worth stay, so that it can be corrected.
    taken = np.flatnonzero((state != FETCHED) | (urls.links[targets] < LINKS))
    at = targets[taken]
    j = urls.links[at] % LINKS
    urls.links[at] += 1
    urls.parent[at, j] = new.page
    urls.path[at, j] = paths[taken]
    urls.near[at, j] = nears[taken]
    urls.site_path[at, j] = site_paths[taken]


def found_beside(held: Held, at: int, standing: Standing, told: float | None = None) -> float:
    """What the pages found on the pages that link to a URL are worth; itself left out.

    Args:
        held: All evidence.
        at: The URL.
        standing: Where the crawl stands.
        told: Its own worth where that is in the sums already.
    """
    urls, base_of, place = held.urls, held.pages.base, held.sums.place
    worth = number = 0.0
    for parent in urls.parent[at, : min(int(urls.links[at]), LINKS)].tolist():
        base = int(base_of[parent])
        if base >= max(0, standing.oldest):
            known = place[base & (PLACES - 1)]
            worth += float(known[0]) - (told or 0.0)
            number += float(known[1]) - (told is not None)
    return (max(0.0, worth) + PRIOR * standing.mean) / (max(0.0, number) + PRIOR)


def _rate(found: Floats, mean: np.float32 | Floats, prior: float) -> Floats:
    """Worth a page, with some of average worth from the start."""
    rate: Floats = (found[..., 0] + np.float32(prior) * mean) / (found[..., 1] + np.float32(prior))
    return rate


def _said(words: Ints, sums: Floats, mean: np.float32) -> Floats:
    """What words say together: log ratios of their rates to the mean, as if half of them were independent."""
    known = words >= 0
    ratios = _log(_rate(sums, mean, FEW) / mean).astype(np.float32)
    said: Floats = _in_turn(ratios * known) / np.sqrt(np.maximum(1, known.sum(axis=1)).astype(np.float32))
    return said


def _alike(words: Ints, like: Floats) -> Floats:
    """How much words resemble the best pages so far."""
    known = words >= 0
    heard = np.sqrt(known.sum(axis=1).astype(np.float32) + np.float32(3.0))
    alike: Floats = _in_turn(like[words] * known) / heard
    return alike


_log: Final = np.vectorize(math.log, otypes=[np.float64])
"""As C has it; numpy's own differs in the last bit."""


def _in_turn(values: Floats) -> Floats:
    """Sums of rows, added up one after the other, as in C: `sum` takes several at once."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


def _bound(rate: Floats, tried: Floats, spread: float) -> NDArray[np.float64]:
    """How much more than its rate a host or folder may be worth, by how little it was tried.

    The upper confidence bound with the variance of a rate (UCB-V): of a folder whose like all failed,
    nothing is hoped for.
    """
    variance = np.maximum(0.0, rate.astype(np.float64) * (1.0 - rate.astype(np.float64)))
    return spread * np.sqrt(variance / (tried.astype(np.float64) + 1.0))


@compiled
def read_scores(held: Held, chosen: NDArray[np.int64], standing: Standing, joining: Joining) -> None:
    """Work out the scores of some URLs, what exploring them is worth, and their priorities."""
    if not len(chosen):
        return
    urls, sums = held.urls, held.sums
    scores = _scores_of(held, chosen, standing)
    urls.scores[chosen] = scores
    spread = math.sqrt(math.log(standing.fetched + 2.0))
    tried = sums.host[urls.host[chosen], 1], sums.folder[urls.folder[chosen], 1]
    urls.explore[chosen] = standing.by_host * _bound(
        scores[:, 12], tried[0], spread
    ) + standing.by_folder * _bound(scores[:, 13], tried[1], spread)
    set_priorities(urls, chosen, joining)


def scores_without(held: Held, chosen: NDArray[np.int64], standing: Standing) -> Floats:
    """Scores of fetched URLs by all that is known today, but for what they turned out to be themselves."""
    own = np.ones((len(chosen), 2), np.float32)
    own[:, 0] = held.pages.known[held.urls.page[chosen], 0]
    return _scores_of(held, chosen, standing, own)


def _scores_of(
    held: Held, chosen: NDArray[np.int64], standing: Standing, own: Floats | None = None
) -> Floats:
    """Scores of some URLs.

    Args:
        held: All evidence.
        chosen: The URLs.
        standing: Where the crawl stands.
        own: Worth and number that each has added to the sums and that are not to count; nothing for URLs
            that wait.
    """
    urls, pages, sums = held.urls, held.pages, held.sums
    mean = np.float32(standing.mean)
    links = np.minimum(urls.links[chosen], LINKS)
    # Most URLs have few links: columns that nobody uses are not looked at.
    width = max(1, int(links.max()))
    valid = np.arange(width) < links[:, None]
    share = (1.0 / np.maximum(1, links)).astype(np.float32)
    parents = urls.parent[chosen, :width]
    known = pages.known[parents] * valid[..., None]
    scores = np.empty((len(chosen), COLUMNS), np.float32)
    scores[:, 0] = known[..., 0].max(axis=1)
    averages = known.sum(axis=1) * share[:, None]
    scores[:, 1], scores[:, 2], scores[:, 11] = averages[:, 0], averages[:, 1], averages[:, 2]
    base = pages.base[parents]
    there = valid & (base >= max(0, standing.oldest))
    base = np.where(there, base, 0)
    seen = there[..., None]

    def of_others(found: Floats) -> Floats:
        """Sums without the URL's own part in them."""
        if own is None:
            return found
        less: Floats = np.maximum(found - (own if found.ndim == own.ndim else own[:, None]), np.float32(0.0))
        return less

    path, near = base + urls.path[chosen, :width], base + urls.near[chosen, :width]
    mask = PLACES - 1
    on_page = (of_others(sums.place[base & mask]) * seen).sum(axis=1)
    in_list = (of_others(sums.place[path & mask]) * seen).sum(axis=1)
    beside = (
        sums.place[(near - 1) & mask] + of_others(sums.place[near & mask]) + sums.place[(near + 1) & mask]
    )
    scores[:, 6] = _rate((beside * seen).sum(axis=1), mean, PRIOR)
    scores[:, 7] = _rate(on_page, mean, PRIOR)
    scores[:, 9] = _rate(in_list, mean, PRIOR)
    on_site = _rate(of_others(sums.site_path[urls.site_path[chosen, :width]]), mean, PRIOR)
    scores[:, 10] = np.where(links > 0, _in_turn(on_site * valid) * share, mean)
    scores[:, [3, 14, 15, 16]] = urls.topic[chosen, :4]
    scores[:, 18] = _log(1.0 + urls.topic[chosen, 4].astype(np.float64))
    scores[:, 19] = urls.topic[chosen, 5]
    words = urls.anchor_words[chosen], urls.url_words[chosen]
    scores[:, 4] = _said(words[0], of_others(sums.anchor[words[0]]), mean)
    scores[:, 5] = _said(words[1], of_others(sums.url[words[1]]), mean)
    scores[:, 8] = _alike(words[0], sums.like)
    scores[:, 17] = _alike(urls.list_words[chosen], sums.like)
    scores[:, 12] = _rate(of_others(sums.host[urls.host[chosen]]), mean, FEW)
    # A folder is like the folder it lies in, and that like its host, until it has pages of its own.
    above = of_others(sums.above[urls.above[chosen]])
    folder = of_others(sums.folder[urls.folder[chosen]])
    scores[:, 13] = _rate(folder, _rate(above, scores[:, 12], FEW), FEW)
    return scores


@compiled
def set_priorities(urls: Urls, chosen: NDArray[np.int64], joining: Joining) -> None:
    """Join the scores of some URLs: each standardised, weighed and added, with what exploring is worth."""
    z = np.clip((urls.scores[chosen] - joining.middle) / joining.scale, -CLIP, CLIP)
    # Not a matrix product: its last bits depend on how many rows there are. In double precision, as in C.
    explore = urls.explore[chosen].astype(np.float64)
    urls.priority[chosen] = joining.start + explore + np.cumsum(z * joining.weight, axis=1)[:, -1]


@compiled
def tell(
    urls: Urls,
    told: NDArray[np.float64],
    at: NDArray[np.int64],
    tolerance: float,
    changed: NDArray[np.int64],
) -> int:
    """How many of some URLs wait with another priority than was told; `changed` gets them, `told` theirs."""
    moved = np.abs(urls.priority[at] - told[at]) > tolerance
    found = at[moved & (urls.state[at] == WAITING)]
    changed[: len(found)] = found
    told[found] = urls.priority[found]
    return len(found)


@compiled
def that_wait(urls: Urls, targets: NDArray[np.int64], waiting: NDArray[np.int64]) -> int:
    """How many of some targets (-1 for none) wait; `waiting` gets them."""
    held = targets[targets >= 0]
    found = held[urls.state[held] == WAITING]
    waiting[: len(found)] = found
    return len(found)


@compiled
def promise(urls: Urls, waiting: NDArray[np.int64]) -> float:
    """What the best `REVEALED` of the URLs that one link leads to so far are worth together; -1 for none."""
    new = waiting[urls.links[waiting] == 1]
    if not len(new):
        return -1.0
    best = np.sort(np.clip(urls.priority[new], 0.0, 1.0))[-REVEALED:]
    return float(np.cumsum(best)[-1])
