"""What a crawl knows of the URLs that wait: who links to them, and what became of their like.

Everything is sums that grow by a few additions a page. A waiting URL holds its latest links; a link names the
page it stands on and its place there; places (a page, a tag path on it, a few neighbouring links) hold how many
of their targets were fetched and what those were worth. Scores are read off these sums when they are asked for.

Memory is bounded: of a URL the latest `LINKS` links count, places are kept for the latest pages only (a ring),
words, hosts, folders and tag paths of sites share tables of fixed size by hash, and when `MOST` URLs are held,
those with the lowest priorities are let go (they wait on with the priority they have).
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


@compiled
def add_outcome(
    urls: Urls, pages: Pages, sums: Sums, at: int, worth: float, count: float, oldest: int
) -> None:
    """Add a fetched URL's worth (or a change of it, with `count` 0) wherever it is evidence for others."""
    mask = len(sums.place) - 1
    for j in range(min(urls.links[at], LINKS)):
        base = pages.base[urls.parent[at, j]]
        if base >= oldest:
            for offset in (0, urls.path[at, j], urls.near[at, j]):
                place = (base + offset) & mask
                sums.place[place] += worth
                sums.places[place] += count
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
def add_links(
    urls: Urls,
    pages: Pages,
    sums: Sums,
    page: int,
    targets: NDArray[np.int64],
    paths: NDArray[np.int32],
    nears: NDArray[np.int32],
    site_paths: NDArray[np.int32],
) -> None:
    """Take in the links of a new page: evidence for targets that wait, and from those that were fetched."""
    mask = len(sums.place) - 1
    base = pages.base[page]
    for i in range(len(targets)):
        at = targets[i]
        if urls.state[at] == FETCHED:
            worth = pages.worth[urls.page[at]]
            for offset in (0, paths[i], nears[i]):
                place = (base + offset) & mask
                sums.place[place] += worth
                sums.places[place] += 1.0
        elif urls.state[at] == GONE:
            continue
        j = urls.links[at] % LINKS
        urls.links[at] += 1
        urls.parent[at, j] = page
        urls.path[at, j] = paths[i]
        urls.near[at, j] = nears[i]
        urls.site_path[at, j] = site_paths[i]


@compiled
def _rate(total: float, count: float, mean: float, prior: float) -> float:
    return (total + prior * mean) / (count + prior)


@compiled
def read_scores(
    urls: Urls,
    pages: Pages,
    sums: Sums,
    chosen: NDArray[np.int64],
    mean: float,
    deviation: float,
    fetched: int,
    oldest: int,
    by_host: float,
    by_folder: float,
) -> None:
    """Work out the scores of some URLs, and what exploring them is worth.

    Args:
        urls: All that are held.
        pages: Fetched pages.
        sums: The evidence.
        chosen: Which URLs.
        mean: Mean worth of the fetched pages.
        deviation: Standard deviation of it.
        fetched: How many there are.
        oldest: Places before this one are gone from the ring.
        by_host: How much a host is explored.
        by_folder: How much a folder is explored.
    """
    mask = len(sums.place) - 1
    spread = deviation * math.sqrt(math.log(fetched + 2.0))
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
        said = liked = 0.0
        words = 0
        for j in range(WORDS):
            word = urls.anchor_words[at, j]
            if word >= 0:
                said += math.log(_rate(sums.anchor[word], sums.anchors[word], mean, 2.0) / mean)
                liked += sums.like[word]
                words += 1
        row[4] = said / math.sqrt(max(1, words))
        row[8] = liked / math.sqrt(words + 3.0)
        said = 0.0
        words = 0
        for j in range(WORDS):
            word = urls.url_words[at, j]
            if word >= 0:
                said += math.log(_rate(sums.url[word], sums.urls[word], mean, 2.0) / mean)
                words += 1
        row[5] = said / math.sqrt(max(1, words))
        row[6] = _rate(near, nears, mean, PRIOR)
        row[7] = _rate(page, on_page, mean, PRIOR)
        row[9] = _rate(path, paths, mean, PRIOR)
        row[10] = on_site * share if n else mean
        row[11] = grand * share
        host, folder = urls.host[at], urls.folder[at]
        row[12] = _rate(sums.host[host], sums.hosts[host], mean, 2.0)
        row[13] = _rate(sums.folder[folder], sums.folders[folder], row[12], 2.0)
        urls.explore[at] = spread * (
            by_host / math.sqrt(sums.hosts[host] + 1.0) + by_folder / math.sqrt(sums.folders[folder] + 1.0)
        )


@compiled
def set_priorities(
    urls: Urls,
    chosen: NDArray[np.int64],
    middle: NDArray[np.float64],
    scale: NDArray[np.float64],
    weights: NDArray[np.float64],
    start: float,
    clip: float,
) -> None:
    """Join the scores of some URLs: each standardised, weighed and added, with what exploring is worth."""
    for i in range(len(chosen)):
        at = chosen[i]
        value = start + urls.explore[at]
        for j in range(COLUMNS):
            z = (urls.scores[at, j] - middle[j]) / scale[j]
            value += weights[j] * min(clip, max(-clip, z))
        urls.priority[at] = value
