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
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

LINKS: Final = 8
WORDS: Final = 8
MOST: Final = 150_000
PLACES: Final = 1 << 22
TABLE: Final = 1 << 16
NEIGHBOURS: Final = 4
"""Links to one side that count as near; sums are kept for runs of so many links."""
PRIOR: Final = 3.0
"""Pages of average worth that every place starts with."""

WAITING: Final = 1
FETCHED: Final = 2
GONE: Final = 3

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
)
"""The scores of a URL, in the order of their columns."""
COLUMNS: Final = len(SCORES)
CLIP: Final = 5.0
"""Deviations from the mean that a score may be worth at most."""


class Urls(NamedTuple):
    """One entry a URL that is held."""

    id: NDArray[np.int64]
    state: NDArray[np.uint8]
    host: Ints
    folder: Ints
    page: Ints
    """Its number among the pages once it is fetched; -1 before."""
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
    topic: Floats
    """Highest score of its anchors by the page model."""
    scores: Floats
    explore: Floats
    priority: NDArray[np.float64]


class Pages(NamedTuple):
    """One entry a fetched page."""

    worth: Floats
    likeness: Floats
    grand: Floats
    base: NDArray[np.int64]
    """Where its places begin in the ring, counted from the first page on."""


class Sums(NamedTuple):
    """Worth and number of fetched pages: by place, and in tables by hash."""

    place: Floats
    places: Floats
    site_path: Floats
    site_paths: Floats
    anchor: Floats
    anchors: Floats
    url: Floats
    urls: Floats
    host: Floats
    hosts: Floats
    folder: Floats
    folders: Floats
    like: Floats
    """What a word says for likeness to the best pages so far (see `scout_words`)."""


class Held(NamedTuple):
    """All evidence."""

    urls: Urls
    pages: Pages
    sums: Sums


def new_urls(size: int) -> Urls:
    """Room for so many URLs."""
    return Urls(
        id=np.zeros(size, np.int64),
        state=np.zeros(size, np.uint8),
        host=np.zeros(size, np.int32),
        folder=np.zeros(size, np.int32),
        page=np.full(size, -1, np.int32),
        links=np.zeros(size, np.int32),
        parent=np.zeros((size, LINKS), np.int32),
        path=np.zeros((size, LINKS), np.int32),
        near=np.zeros((size, LINKS), np.int32),
        site_path=np.zeros((size, LINKS), np.int32),
        anchor_words=np.full((size, WORDS), -1, np.int32),
        url_words=np.full((size, WORDS), -1, np.int32),
        topic=np.zeros(size, np.float32),
        scores=np.zeros((size, COLUMNS), np.float32),
        explore=np.zeros(size, np.float32),
        priority=np.zeros(size, np.float64),
    )


def new_pages(size: int) -> Pages:
    """Room for so many pages."""
    return Pages(
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.full(size, -1, np.int64),
    )


def new_sums(places: int = PLACES) -> Sums:
    """Empty sums."""
    return Sums(
        np.zeros(places, np.float32),
        np.zeros(places, np.float32),
        *(np.zeros(TABLE, np.float32) for _ in range(11)),
    )


class NewLinks(NamedTuple):
    """The links of a page that was just fetched."""

    page: int
    targets: NDArray[np.int64]
    paths: Ints
    nears: Ints
    site_paths: Ints


class Standing(NamedTuple):
    """Where the crawl stands."""

    fetched: int
    mean: float
    """Worth of the fetched pages."""
    deviation: float
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
def _count(sums: Sums, place: int, worth: float, count: float) -> None:
    place &= len(sums.place) - 1
    sums.place[place] += worth
    sums.places[place] += count


@compiled
def add_outcome(held: Held, at: int, worth: float, count: float, oldest: int) -> None:
    """Add a fetched URL's worth (or a change of it, with `count` 0) wherever it is evidence for others."""
    urls, pages, sums = held.urls, held.pages, held.sums
    for j in range(min(urls.links[at], LINKS)):
        base = pages.base[urls.parent[at, j]]
        if base >= max(0, oldest):
            _count(sums, base, worth, count)
            _count(sums, base + urls.path[at, j], worth, count)
            _count(sums, base + urls.near[at, j], worth, count)
        entry = urls.site_path[at, j]
        first = True
        for k in range(j):
            if urls.site_path[at, k] == entry:
                first = False
        if first:
            sums.site_path[entry] += worth
            sums.site_paths[entry] += count
    for j in range(WORDS):
        word = urls.anchor_words[at, j]
        if word >= 0:
            sums.anchor[word] += worth
            sums.anchors[word] += count
        word = urls.url_words[at, j]
        if word >= 0:
            sums.url[word] += worth
            sums.urls[word] += count
    sums.host[urls.host[at]] += worth
    sums.hosts[urls.host[at]] += count
    sums.folder[urls.folder[at]] += worth
    sums.folders[urls.folder[at]] += count


@compiled
def add_links(held: Held, new: NewLinks) -> None:
    """Take in the links of a new page: evidence for targets that wait, and from those that were fetched."""
    urls, pages, sums = held.urls, held.pages, held.sums
    base = pages.base[new.page]
    for i in range(len(new.targets)):
        at = new.targets[i]
        if urls.state[at] == FETCHED:
            worth = pages.worth[urls.page[at]]
            _count(sums, base, worth, 1.0)
            _count(sums, base + new.paths[i], worth, 1.0)
            _count(sums, base + new.nears[i], worth, 1.0)
            if urls.links[at] >= LINKS:
                continue  # what the oldest of its links were told would be lost
        elif urls.state[at] == GONE:
            continue
        j = urls.links[at] % LINKS
        urls.links[at] += 1
        urls.parent[at, j] = new.page
        urls.path[at, j] = new.paths[i]
        urls.near[at, j] = new.nears[i]
        urls.site_path[at, j] = new.site_paths[i]


@compiled
def _rate(total: float, count: float, mean: float, prior: float) -> float:
    return (total + prior * mean) / (count + prior)


@compiled
def _said(words: Ints, total: Floats, count: Floats, mean: float) -> float:
    """What words say together: log ratios of their rates to the mean, as if half of them were independent."""
    said = 0.0
    known = 0
    for word in words:
        if word >= 0:
            said += math.log(_rate(total[word], count[word], mean, 2.0) / mean)
            known += 1
    return said / math.sqrt(max(1, known))


@compiled
def _liked(words: Ints, like: Floats) -> float:
    """How much words resemble those of the best pages."""
    liked = 0.0
    known = 0
    for word in words:
        if word >= 0:
            liked += like[word]
            known += 1
    return liked / math.sqrt(known + 3.0)


@compiled
def read_scores(held: Held, chosen: NDArray[np.int64], standing: Standing) -> None:
    """Work out the scores of some URLs, and what exploring them is worth."""
    urls, pages, sums = held.urls, held.pages, held.sums
    mask = len(sums.place) - 1
    mean, oldest = standing.mean, max(0, standing.oldest)
    spread = standing.deviation * math.sqrt(math.log(standing.fetched + 2.0))
    for i in range(len(chosen)):
        at = chosen[i]
        n = min(urls.links[at], LINKS)
        best = total = like = grand = on_site = 0.0
        near = nears = page = on_page = path = paths = 0.0
        for j in range(n):
            parent = urls.parent[at, j]
            worth = pages.worth[parent]
            best = max(best, worth)
            total += worth
            like += pages.likeness[parent]
            grand += pages.grand[parent]
            entry = urls.site_path[at, j]
            on_site += _rate(sums.site_path[entry], sums.site_paths[entry], mean, PRIOR)
            base = pages.base[parent]
            if base >= oldest:
                place = base & mask
                page += sums.place[place]
                on_page += sums.places[place]
                place = (base + urls.path[at, j]) & mask
                path += sums.place[place]
                paths += sums.places[place]
                for side in range(-1, 2):
                    place = (base + urls.near[at, j] + side) & mask
                    near += sums.place[place]
                    nears += sums.places[place]
        row = urls.scores[at]
        share = 1.0 / max(1, n)
        row[0] = best
        row[1] = total * share
        row[2] = like * share
        row[3] = urls.topic[at]
        row[4] = _said(urls.anchor_words[at], sums.anchor, sums.anchors, mean)
        row[5] = _said(urls.url_words[at], sums.url, sums.urls, mean)
        row[8] = _liked(urls.anchor_words[at], sums.like)
        row[6] = _rate(near, nears, mean, PRIOR)
        row[7] = _rate(page, on_page, mean, PRIOR)
        row[9] = _rate(path, paths, mean, PRIOR)
        row[10] = on_site * share if n else mean
        row[11] = grand * share
        host, folder = urls.host[at], urls.folder[at]
        row[12] = _rate(sums.host[host], sums.hosts[host], mean, 2.0)
        row[13] = _rate(sums.folder[folder], sums.folders[folder], row[12], 2.0)
        urls.explore[at] = spread * (
            standing.by_host / math.sqrt(sums.hosts[host] + 1.0)
            + standing.by_folder / math.sqrt(sums.folders[folder] + 1.0)
        )


@compiled
def set_priorities(urls: Urls, chosen: NDArray[np.int64], joining: Joining) -> None:
    """Join the scores of some URLs: each standardised, weighed and added, with what exploring is worth."""
    for i in range(len(chosen)):
        at = chosen[i]
        value = joining.start + urls.explore[at]
        for j in range(COLUMNS):
            z = (urls.scores[at, j] - joining.middle[j]) / joining.scale[j]
            value += joining.weight[j] * min(CLIP, max(-CLIP, z))
        urls.priority[at] = value
