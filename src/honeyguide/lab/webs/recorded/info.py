"""What a recorded web is like: size, labels, what can be reached, how topical its links are."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from honeyguide.lab.webs.recorded.home import WebError
from honeyguide.lab.webs.recorded.web import Recorded
from honeyguide.web import host_key

_FRONT = re.compile(r"(?i)/(?:(?:index|home|main|welcome|default)[^/]*(?:/[^/]*)?)?$")
CANDIDATES = 8
"""Pages of a site that are tried as its front page."""


class RecordedTopic(msgspec.Struct, frozen=True):
    """One label (the first step of it, in a tree of labels)."""

    label: str
    pages: int
    reachable: float
    """Share of its pages that can be reached from the start pages."""
    stay: float
    """Share of the links of its pages, to labelled pages, that lead to the same label."""


class Locality(msgspec.Struct, frozen=True):
    """Topical locality: whether links join pages of one label more often than chance would."""

    links: int
    """Links among labelled pages."""
    same: float
    """Share of them that join pages with a label in common."""
    chance: float
    """The same share if each link led to a labelled page drawn at random."""


class Info(msgspec.Struct, frozen=True):
    """Facts about a recorded web."""

    name: str
    origin: str
    digest: str
    pages: int
    hosts: int
    sites: int
    links: int
    unparsed: int
    collisions: int
    unfetchable: int
    labelled: int
    labels: int
    starts: tuple[str, ...]
    reachable: float
    top: Locality
    """By the first step of the labels."""
    full: Locality
    """By whole labels."""
    topics: tuple[RecordedTopic, ...]


def reach(links: Mapping[str, Sequence[str]], starts: Iterable[str]) -> dict[str, int]:
    """Pages that can be reached, each with its distance in links.

    Example:
        >>> reach({"a": ["b"], "b": ["c"], "c": [], "d": ["a"]}, ["a"])
        {'a': 0, 'b': 1, 'c': 2}
    """
    distance = {url: 0 for url in starts if url in links}
    queue = deque(distance)
    while queue:
        url = queue.popleft()
        for target in links[url]:
            if target not in distance and target in links:
                distance[target] = distance[url] + 1
                queue.append(target)
    return distance


def front_page(recorded: Recorded, links: Mapping[str, Sequence[str]], site: str) -> str:
    """Where a visitor of a site would start: of its shortest addresses, the one that leads furthest."""
    pages = [url for url in recorded.urls if recorded.sites[url] == site]
    inside = set(pages)
    among = {url: [target for target in links[url] if target in inside] for url in pages if url in links}
    shortest = sorted((url for url in among if among[url]), key=_plainness)
    candidates = shortest[:CANDIDATES] or pages[:1]
    return max(candidates, key=lambda url: len(reach(among, [url])))


def _plainness(url: str) -> tuple[bool, int, int, str]:
    return not _FRONT.search(url), url.count("/"), len(url), url


def describe(recorded: Recorded, *, starts: Sequence[str] = ()) -> Info:
    """All facts.

    Args:
        recorded: The web.
        starts: Where crawls would start; by default each site's front page.

    Raises:
        WebError: A start page is not recorded.
    """
    links = recorded.graph()
    begin: list[str] = []
    for text in starts:
        url = recorded.resolve(text)
        if url is None:
            raise WebError(f"{text} is not a page of {recorded.name}; choose another --start")
        begin.append(url)
    sites = sorted(set(recorded.sites.values()))
    begin = begin or [front_page(recorded, links, site) for site in sites]
    reached = reach(links, begin)
    top = {url: frozenset(label.split("/")[0] for label in found) for url, found in recorded.labels.items()}
    full = {url: frozenset(found) for url, found in recorded.labels.items()}
    catalogue = recorded.archive.catalogue
    return Info(
        name=recorded.name,
        origin=recorded.archive.sources.origin,
        digest=recorded.digest,
        pages=len(recorded),
        hosts=len({host_key(url) for url in recorded.urls}),
        sites=len(sites),
        links=sum(map(len, links.values())),
        unparsed=len(recorded) - len(links),
        collisions=catalogue.collisions,
        unfetchable=catalogue.unfetchable,
        labelled=len(recorded.labels),
        labels=len({label for found in recorded.labels.values() for label in found}),
        starts=tuple(begin),
        reachable=len(reached) / len(recorded),
        top=_locality(links, top),
        full=_locality(links, full),
        topics=tuple(_topics(links, top, reached)),
    )


def _locality(links: Mapping[str, Sequence[str]], labels: Mapping[str, frozenset[str]]) -> Locality:
    pages = Counter(label for found in labels.values() for label in found)
    total = same = 0
    expected = 0.0
    share: dict[frozenset[str], float] = {}
    for source, targets in links.items():
        own = labels.get(source)
        if own is None:
            continue
        if own not in share:
            share[own] = sum(not own.isdisjoint(found) for found in labels.values()) / len(labels)
        for target in targets:
            other = labels.get(target)
            if other is not None:
                total += 1
                same += not own.isdisjoint(other)
                expected += share[own]
    if not total or not pages:
        return Locality(0, 0.0, 0.0)
    return Locality(total, same / total, expected / total)


def _topics(
    links: Mapping[str, Sequence[str]], labels: Mapping[str, frozenset[str]], reached: Mapping[str, int]
) -> list[RecordedTopic]:
    pages: Counter[str] = Counter()
    found: Counter[str] = Counter()
    out: Counter[str] = Counter()
    stay: Counter[str] = Counter()
    for url, own in labels.items():
        others = [labels[target] for target in links.get(url, ()) if target in labels]
        for label in own:
            pages[label] += 1
            found[label] += url in reached
            out[label] += len(others)
            stay[label] += sum(label in other for other in others)
    return [
        RecordedTopic(label, count, found[label] / count, stay[label] / out[label] if out[label] else 0.0)
        for label, count in sorted(pages.items(), key=lambda item: (-item[1], item[0]))
    ]
