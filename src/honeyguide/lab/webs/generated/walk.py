"""Walks over a generated web: what can be reached, where to start, which pages to show as examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.generated.spec import PageTruth, WebSpec


class Walkable(Protocol):
    """The part of a generated web that walks need."""

    spec: WebSpec

    def truth(self, url: str) -> PageTruth:
        """What is true of the URL."""
        ...

    def out_links(self, url: str) -> list[str]:
        """Every URL that a polite crawler may follow from this page."""
        ...

    def targets(self, topic: str) -> Iterator[str]:
        """URLs of all pages on the topic."""
        ...

    def hosts(self) -> list[str]:
        """Names of all hosts."""
        ...

    def role(self, host: str) -> str:
        """What is special about a host."""
        ...

    def topic_number(self, topic: str) -> int:
        """Number of a topic."""
        ...


def graph(web: Walkable, starts: Iterable[str], *, limit: int = 1_000_000) -> dict[str, list[str]]:
    """Followable links of every page that can be reached, breadth-first; copies are joined.

    Mirrors, session-id copies and print versions stand under their original's URL. Redirects are pages
    with one link. Traps are left out, since they have no end.
    """
    links: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    waiting = [name for url in starts if (name := _name(web, url, names))]
    for url in waiting:
        if url in links:
            continue
        found = dict.fromkeys(_name(web, link, names) for link in web.out_links(url))
        found.pop("", None)
        links[url] = list(found)
        if len(links) >= limit:
            break
        waiting.extend(name for name in found if name not in links)
    return links


def reachable(web: Walkable, topic: str, starts: Iterable[str]) -> set[str]:
    """The topic's targets that a polite crawler can reach from these pages."""
    return graph(web, starts).keys() & set(web.targets(topic))


def seeds(web: Walkable, topic: str, *, distance: int = 1, count: int = 5) -> list[str]:
    """Home pages or articles from which the nearest page on the topic is so many links away.

    Distance 0 gives pages on the topic. Where the web has too few pages that far away, nearer ones
    (the farthest first) fill the list.
    """
    number = web.topic_number(topic)
    if distance <= 0:
        return examples(web, topic, count)
    draws = Draws(fingerprint(web.spec.seed, 41, number))
    hosts = web.hosts()
    found: dict[int, list[str]] = {}
    for index in draws.shuffled(len(hosts))[:400]:
        if web.role(hosts[index]) or len(found.get(distance, ())) >= count:
            continue
        url = f"http://{hosts[index]}/"
        found.setdefault(_distance(web, url, topic, limit=distance + 1), []).append(url)
    found.pop(0, None)
    order = sorted(found, key=lambda far: (abs(far - distance), -far))
    return [url for far in order for url in found[far]][:count]


def examples(web: Walkable, topic: str, count: int = 10) -> list[str]:
    """Some articles on the topic, from as many hosts as possible."""
    number = web.topic_number(topic)
    draws = Draws(fingerprint(web.spec.seed, 42, number))
    chosen: dict[str, str] = {}
    taken: list[str] = []
    for url in islice(web.targets(topic), 20_000):
        host = url.split("/")[2]
        if web.truth(url).kind != "article" or web.role(host) not in ("", "slow"):
            continue
        if host not in chosen or draws.chance(0.05):
            chosen[host] = url
        taken.append(url)
    rest = [taken[place] for place in draws.shuffled(len(taken))]
    return list(dict.fromkeys([*chosen.values(), *rest]))[:count]


def _name(web: Walkable, url: str, names: dict[str, str]) -> str:
    """The URL that stands for this one, or nothing for a page that is not to be visited."""
    if url not in names:
        truth = web.truth(url)
        skip = truth.kind in ("trap", "missing", "failing", "private", "file") or not truth.allowed
        names[url] = "" if skip else truth.original or url
    return names[url]


def _distance(web: Walkable, start: str, topic: str, *, limit: int) -> int:
    """Links to the nearest page on the topic, or the limit."""
    seen, level = {start}, [start]
    for steps in range(limit):
        if any(web.truth(url).on_topic(topic) for url in level):
            return steps
        found = (link for url in level for link in web.out_links(url))
        level = [link for link in dict.fromkeys(found) if link not in seen]
        seen.update(level)
    return limit
