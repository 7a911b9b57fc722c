"""What the scouts of several shards tell each other of pages whose links wait in more than one of them.

A link that leaves for another shard is held there without the rest of its page. What became of the other
links of that page (near it, in its list, on the whole page) is known to the shards that own their targets,
so each tells of the links to its own fetched pages where they stand: on which page, in which list, at which
place. Whoever holds other links of the same page adds that up. A page is also worth something as a hub, by
the new URLs it leads to: each shard tells what those are worth that wait there.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Link, UrlId
from honeyguide.ordering.scout_evidence import (
    FETCHED,
    LINKS,
    NEIGHBOURS,
    PLACES,
    REVEALED,
    WORDS,
    Held,
    NewLinks,
    Urls,
)
from honeyguide.store.models import Saved

BESIDE: Final = ("page", "list", "near", "worth")
"""What is told of a link to a fetched page: the page it stands on, where, and what its target is worth."""
OF_PAGE: Final = [1, 3, 5]
"""Scores of `Urls.topic` that take the rest of a link's page: context, list and block."""
LIST_NAME: Final = 200
"""Characters of a tag path that are looked at: as many as travel."""
MOST_LISTS: Final = 20_000
"""Pages whose lists of links can be told from each other."""
MOST_TOLD: Final = 2048
"""Links to pages with many, and pages as hubs, that are remembered."""
ROUNDED: Final = 6
A_PAGE: Final = 1e-11
LATEST: Final = 40_000
A_PLACE: Final = 1e-15
MOST_PLACES: Final = 9_999
"""Digits of priorities that shards tell, and what is taken off for each page that was fetched before a URL
was found, up to so many, and for each link before it on its page: less than the last digit."""


class Lists(NamedTuple):
    """Where a page's links stand, in names that are the same in every shard."""

    keys: NDArray[np.int64]
    """Of its lists, in the order of their numbers here."""
    nears: int
    """Places for runs of neighbouring links."""


class Elsewhere:
    """What a scout keeps for the others, of the pages it knows."""

    def __init__(self, urls: int) -> None:
        self.late = np.zeros(urls)
        """What is taken off the priorities of URLs for being found late, so that equal ones have an order."""
        self.page_ids = np.zeros(256, np.int64)
        """URLs by numbers of pages."""
        self.lists: dict[int, Lists] = {}
        """By numbers of pages."""
        self.crowded: deque[tuple[int, int, int, int]] = deque(maxlen=MOST_TOLD)
        """Links to fetched pages that have too many to hold another: target, page, list and neighbours."""
        self.promised: dict[UrlId, list[float]] = {}
        """What the best new URLs here are worth that pages of other shards lead to."""
        self.promising: dict[UrlId, list[float]] = {}
        """The same of own pages that lead to other shards as well."""
        self.of_links: Mapping[UrlId, str] = {}
        """What the other shard knows of the links of that page."""
        self.met = 0.0
        """Pages of the crawl when the page of another shard was fetched that was met last."""

    def name_page(self, number: int, page: UrlId) -> None:
        """Note which URL a page has."""
        if number >= len(self.page_ids):
            larger = np.zeros(2 * number, np.int64)
            larger[: len(self.page_ids)] = self.page_ids
            self.page_ids = larger
        self.page_ids[number] = page

    def page_of(self, number: int) -> UrlId:
        """Which URL a page has; 0 where that is not known."""
        return int(self.page_ids[number]) if number < len(self.page_ids) else 0

    def note_order(self, new: NewLinks, first: int, pages: float) -> None:
        """Note in which order the targets of a page were found.

        Args:
            new: The links.
            first: Entries from this one on are new with this page.
            pages: Of the crawl, when it was fetched.
        """
        fresh = np.flatnonzero(new.targets >= first)[::-1]  # the first link to each has the last word
        places = np.minimum(new.places[fresh], MOST_PLACES)
        self.late[new.targets[fresh]] = A_PAGE * min(pages, LATEST) + A_PLACE * places

    def note_lists(self, new: NewLinks, links: Sequence[Link]) -> None:
        """Note what the lists of a page are called."""
        _, first = np.unique(new.paths, return_index=True)
        keys = np.array([_key(links[place]) for place in first.tolist()], np.int64)
        self.lists[new.page] = Lists(keys, (int(new.places.max()) + 1) // NEIGHBOURS + 2)
        while len(self.lists) > MOST_LISTS:
            del self.lists[next(iter(self.lists))]

    def note_crowded(self, new: NewLinks, urls: Urls, is_own: Callable[[int], bool]) -> None:
        """Note links to fetched pages of its own that are not held with these: they have too many."""
        named = np.sort(np.unique(new.targets, return_index=True)[1])
        at = new.targets[named]
        full = (at >= 0) & (urls.state[at] == FETCHED) & (urls.links[at] >= LINKS)
        for place in named[full].tolist():
            target = int(new.targets[place])
            if is_own(int(urls.page[target])):
                near = int(new.places[place]) // NEIGHBOURS
                self.crowded.append((target, new.page, int(new.paths[place]), near))

    def rows_beside(self, held: Held, at: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Where links to some fetched pages stand."""
        urls, worths = held.urls, held.pages.known
        found: list[tuple[int, int, int, int]] = []
        for each in at.tolist():
            for link in range(min(int(urls.links[each]), LINKS)):
                number = int(urls.parent[each, link])
                lists = self.lists.get(number)
                if lists is not None:
                    near = int(urls.near[each, link]) - len(lists.keys) - 2
                    found.append((each, number, int(urls.path[each, link]), near))
        rows: list[tuple[int, int, int, float]] = []
        for each, number, path, near in (*found, *self.crowded):
            lists, page = self.lists.get(number), self.page_of(number)
            if lists is not None and page:
                rows.append((page, int(lists.keys[path - 1]), near, float(worths[urls.page[each], 0])))
        columns = zip(*rows, strict=True) if rows else ((), (), (), ())
        kinds = (np.int64, np.int64, np.int32, np.float32)
        return {
            f"rows beside {name}": np.array(column, kind)
            for name, column, kind in zip(BESIDE, columns, kinds, strict=True)
        }

    def hear_beside(
        self,
        held: Held,
        number_of: Callable[[UrlId], int],
        told: Saved,
        *,
        sign: float,
        oldest: int,
        only: UrlId = 0,
    ) -> None:
        """Add what became of links in other shards that stand on pages beside links here, or take it off.

        Args:
            held: All evidence.
            number_of: Of a page of another shard; -1 for any other.
            told: By the other shards.
            sign: 1 or -1.
            oldest: Places before this one are gone.
            only: One page; 0 for all.
        """
        if "rows beside page" not in told.arrays:
            return
        pages, keys, nears, worths = (np.asarray(told.arrays[f"rows beside {name}"]) for name in BESIDE)
        chosen = np.flatnonzero(pages == only) if only else np.argsort(pages, kind="stable")
        if not len(chosen):
            return
        places: list[int] = []
        changes: list[float] = []
        for rows in np.split(chosen, np.flatnonzero(np.diff(pages[chosen])) + 1):
            number = number_of(int(pages[rows[0]]))
            lists = self.lists.get(number)
            if number < 0 or lists is None or held.pages.base[number] < max(0, oldest):
                continue
            base = int(held.pages.base[number])
            numbers = {key: place for place, key in enumerate(lists.keys.tolist(), 1)}
            first_near = len(lists.keys) + 2
            for key, near, worth in zip(
                keys[rows].tolist(), nears[rows].tolist(), worths[rows].tolist(), strict=True
            ):
                here = [base]
                if key in numbers:
                    here.append(base + numbers[key])
                if 0 <= near < lists.nears:
                    here.append(base + first_near + near)
                places += here
                changes += [worth] * len(here)
        change = np.ones((len(places), 2), np.float32)
        change[:, 0] = changes
        np.add.at(held.sums.place, np.array(places, np.int64) & (PLACES - 1), np.float32(sign) * change)

    def rows_promised(self) -> dict[str, NDArray[Any]]:
        """What the URLs here are worth that other shards' pages lead to; -1 where there are fewer."""
        best = [([-1.0] * REVEALED + worths)[-REVEALED:] for worths in self.promised.values()]
        return {
            "rows promise page": np.array(list(self.promised), np.int64),
            "rows promise worth": np.array(best, np.float32).reshape(-1, REVEALED),
        }

    def promises(self, told: Saved) -> dict[UrlId, float]:
        """What its own pages lead to in all shards is worth, of those that others tell of."""
        pages = np.asarray(told.arrays.get("rows promise page", ())).tolist()
        worths = np.asarray(told.arrays.get("rows promise worth", ())).tolist()
        found: dict[UrlId, list[float]] = {}
        for page, worth in zip(pages, worths, strict=True):
            if page in self.promising:
                found.setdefault(page, list(self.promising[page])).extend(worth)
        return {
            page: sum(each for each in sorted(worth)[-REVEALED:] if each >= 0.0)
            for page, worth in found.items()
        }

    def check(self, told: Saved) -> None:
        """Look at what others tell.

        Raises:
            ValueError: It is not what `rows_beside` and `rows_promised` give.
        """
        sizes = {len(told.arrays.get(f"rows beside {name}", ())) for name in BESIDE}
        promised = [len(told.arrays.get(f"rows promise {name}", ())) for name in ("page", "worth")]
        if len(sizes) > 1 or promised[0] != promised[1]:
            raise ValueError("links of other shards do not fit")


def told_of_link(urls: Urls, at: int) -> str:
    """What the rest of its page says of a URL: text around it, other anchors of its list, its block."""
    words = urls.list_words[at]
    topics = urls.topic[at, OF_PAGE]
    known = words[words >= 0].astype("<u2").tobytes()
    return b64encode(topics.astype("<f4").tobytes() + known).decode() if known or topics.any() else ""


def hear_of_link(urls: Urls, at: int, told: str, *, new: bool) -> None:
    """Take that in; what is not what `told_of_link` says is left out.

    Args:
        urls: All that are held.
        at: The URL.
        told: By the shard that has the page.
        new: Whether the page is the first that links to it: the block alone may be another's.
    """
    try:
        data = b64decode(told, validate=True)
        topics = np.frombuffer(data[: 4 * len(OF_PAGE)], "<f4")
        words = np.frombuffer(data[4 * len(OF_PAGE) :], "<u2")[:WORDS]
    except ValueError:
        return
    if len(topics) != len(OF_PAGE) or not np.isfinite(topics).all():
        return
    if new:
        urls.topic[at, OF_PAGE[:-1]] = topics[:-1]
        urls.list_words[at] = -1
        urls.list_words[at, : len(words)] = words
    urls.topic[at, OF_PAGE[-1]] = max(urls.topic[at, OF_PAGE[-1]], topics[-1])


def note_promise(
    known: dict[UrlId, list[float]], page: UrlId, urls: Urls, waiting: NDArray[np.int64]
) -> None:
    """Note what the best new ones are worth of the URLs that a page leads to."""
    new = waiting[urls.links[waiting] == 1]
    known.pop(page, None)
    known[page] = np.sort(np.clip(urls.priority[new], 0.0, 1.0))[-REVEALED:].tolist()
    while len(known) > MOST_TOLD:
        del known[next(iter(known))]


def _key(link: Link) -> int:
    """What a list of links is called in every shard."""
    return zlib.crc32(f"{link.group} {link.tag_path[:LIST_NAME]}".encode("utf-8", "surrogatepass"))
