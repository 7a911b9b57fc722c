"""A page's links as scout takes them in, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.model import Link, UrlId
from honeyguide.ordering.scout_evidence import WAITING, WORDS, Floats, Ints, Urls

SPEAKING: Final = 24
"""Links of a group whose anchors speak for it: its first ones."""


class Read(NamedTuple):
    """Gets a number for each link of a page."""

    targets: NDArray[np.int64]
    """The entry of its target; -1 where there was no room."""
    said: NDArray[np.int64]
    """The number of its anchor; -1 where it has none or its target no entry."""
    paths: Ints
    """The number of its list: the same tag path in the same group of links; from 1 on."""
    groups: Ints
    """The number of its group of links, from 0 on."""


def new_read(size: int) -> Read:
    """For so many links."""
    longs, ints = np.empty((2, size), np.int64), np.empty((2, size), np.int32)
    return Read(longs[0], longs[1], ints[0], ints[1])


@compiled
def read_links(
    links: Sequence[Link], slots: dict[UrlId, int], anchors: dict[str, int], room: tuple[int, int], read: Read
) -> tuple[list[Link], list[str], list[str]]:
    """Give entries to targets and numbers to anchors that have none, and numbers to lists and groups.

    Returns first links to URLs that were not held before, anchors not met before, and the tag path of each
    list.

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
    paths: dict[tuple[int, str], int] = {}
    groups: dict[int, int] = {}
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
        read.targets[place], read.said[place] = at, said
        read.paths[place] = paths.setdefault((link.group, link.tag_path), len(paths) + 1)
        read.groups[place] = groups.setdefault(link.group, len(groups))
    return new, texts, [path for _, path in paths]


@compiled
def note_anchors(
    urls: Urls,
    read: Read,
    known: tuple[Floats, Ints],
) -> None:
    """Note what the anchors of a page say of their targets.

    The best score counts. The first anchor that has words speaks for the URL; what a fetched one was worth is
    told already.

    Args:
        urls: All that are held.
        read: The links.
        known: Topic and words of all anchors.
    """
    topic, words = urls.topic, urls.anchor_words
    spoken = read.said >= 0
    at, said = read.targets[spoken], read.said[spoken]
    np.maximum.at(topic[:, 0], at, known[0][said])
    wordless = ((words[at, 0] < 0) & (urls.state[at] == WAITING)).nonzero()[0]
    words[at[wordless]] = known[1][said[wordless]]


@compiled
def note_groups(urls: Urls, read: Read, known: tuple[Floats, Ints], first: int) -> None:
    """Note what the anchors around a new target say: those of the group of links it was found in.

    A box of links is about something, and many a title in it says nothing by itself.

    Args:
        urls: All that are held.
        read: The links.
        known: Topic and words of all anchors.
        first: Entries from this one on are new with this page.
    """
    topic, words = urls.topic, urls.list_words
    members: dict[int, list[int]] = {}
    for place, group in enumerate(read.groups.tolist()):
        members.setdefault(group, []).append(place)
    for places in members.values():
        new = [int(read.targets[place]) for place in places if read.targets[place] >= first]
        if not new:
            continue
        said = [int(read.said[place]) for place in places]
        total = 0.0
        often: dict[int, int] = {}
        for number in said:
            total += float(known[0][number]) if number >= 0 else 0.0
        for number in said[:SPEAKING]:
            for word in known[1][number].tolist() if number >= 0 else ():
                if word >= 0:
                    often[word] = often.get(word, 0) + 1
        best = sorted(often, key=lambda word: -often[word])[:WORDS]
        topic[new, 3] = total / len(places)
        words[new] = best + [-1] * (WORDS - len(best))
