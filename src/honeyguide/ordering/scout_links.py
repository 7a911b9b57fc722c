"""A page's links as scout takes them in, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.model import Link, UrlId
from honeyguide.ordering.scout_evidence import WAITING, Floats, Ints


class Read(NamedTuple):
    """Gets a number for each link of a page."""

    targets: NDArray[np.int64]
    """The entry of its target; -1 where there was no room."""
    said: NDArray[np.int64]
    """The number of its anchor; -1 where it has none or its target no entry."""
    paths: Ints
    """The number of its tag path on the page, from 1 on."""


def new_read(size: int) -> Read:
    """For so many links."""
    return Read(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int32))


@compiled
def read_links(
    links: Sequence[Link], slots: dict[UrlId, int], anchors: dict[str, int], room: tuple[int, int], read: Read
) -> tuple[list[Link], list[str], list[str]]:
    """Give entries to targets and numbers to anchors that have none, and numbers to tag paths.

    Returns first links to URLs that were not held before, anchors not met before, and the page's different
    tag paths.

    Args:
        links: Of a page.
        slots: Entries by URL.
        anchors: Numbers of anchors, from 0 on.
        room: The first entry that is free, and how many there are.
        read: Gets what there is of each link.
    """
    first, most = room
    new: list[Link] = []
    texts: list[str] = []
    paths: dict[str, int] = {}
    for place, link in enumerate(links):
        at = slots.get(link.id, -1)
        if at < 0 and len(new) < most:
            at = slots[link.id] = first + len(new)
            new.append(link)
        said = -1
        if at >= 0 and link.anchor:
            said = anchors.get(link.anchor, -1)
            if said < 0:
                said = anchors[link.anchor] = len(anchors)
                texts.append(link.anchor)
        path = paths.setdefault(link.tag_path, len(paths) + 1)
        read.targets[place], read.said[place], read.paths[place] = at, said, path
    return new, texts, list(paths)


@compiled
def note_anchors(
    urls: tuple[NDArray[np.uint8], Floats, Ints],
    read: Read,
    known: tuple[Floats, Ints],
) -> None:
    """Note what the anchors of a page say of their targets.

    The best score counts. The first anchor that has words speaks for the URL; what a fetched one was worth is
    told already.

    Args:
        urls: State, topic and words of anchors of all that are held.
        read: The links.
        known: Topic and words of all anchors.
    """
    state, topic, words = urls
    spoken = read.said >= 0
    at, said = read.targets[spoken], read.said[spoken]
    np.maximum.at(topic[:, 0], at, known[0][said])
    wordless = ((words[at, 0] < 0) & (state[at] == WAITING)).nonzero()[0]
    words[at[wordless]] = known[1][said[wordless]]
