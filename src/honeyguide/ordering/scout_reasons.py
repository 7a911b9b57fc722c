"""Scout's priorities in plain words: what each kind of evidence adds, and what it is."""

from __future__ import annotations

import math
from typing import Final

import msgspec

from honeyguide.ordering.scout_evidence import CLIP, LINKS, NEIGHBOURS, SCORES, Held, Joining

SMALL: Final = 5e-4
"""Contributions below this are added up without a word."""


class Reason(msgspec.Struct, frozen=True):
    """One part of a priority."""

    name: str
    adds: float
    fact: str
    """What it rests on, in words."""

    @property
    def text(self) -> str:
        """As one line."""
        return f"{self.adds:+.3f}  {self.fact}"


def reasons(held: Held, at: int, joined: Joining, oldest: int, at_its_turn: float) -> list[Reason]:
    """The parts of a URL's priority, largest first; they add up to it.

    Args:
        held: All evidence.
        at: The URL.
        joined: How scores become a priority.
        oldest: Places before this one are gone from the ring.
        at_its_turn: What a URL is worth at least that has, or had, its turn as the longest known.
    """
    urls = held.urls
    facts = _facts(held, at, oldest)
    found: list[Reason] = []
    rest = joined.start
    for column, name in enumerate(SCORES):
        z = (float(urls.scores[at, column]) - joined.middle[column]) / joined.scale[column]
        adds = float(joined.weight[column] * min(CLIP, max(-CLIP, z)))
        if abs(adds) < SMALL:
            rest += adds
        else:
            found.append(Reason(name, adds, facts[name]))
    explore = float(urls.explore[at])
    if explore >= SMALL:
        found.append(Reason("exploring", explore, facts["exploring"]))
    else:
        rest += explore
    missing = at_its_turn - math.fsum([*(each.adds for each in found), rest])
    if urls.turn[at] and missing > 0.0:
        found.append(
            Reason("its turn", missing, "all that was known promised little: the longest known had its turn")
        )
    found.sort(key=lambda each: -abs(each.adds))
    return [*found, Reason("start", rest, "what a URL of average evidence is worth in this crawl")]


def _facts(held: Held, at: int, oldest: int) -> dict[str, str]:
    urls, pages, sums = held.urls, held.pages, held.sums
    links = min(int(urls.links[at]), LINKS)
    parents = [int(each) for each in urls.parent[at, :links]]
    worth = [float(pages.known[parent, 0]) for parent in parents]
    scores = [float(each) for each in urls.scores[at]]
    near, page, path = (_of(_counted(held, at, oldest, what)) for what in ("near", "page", "path"))
    worth_host, host = (float(each) for each in sums.host[urls.host[at]])
    worth_folder, folder = (float(each) for each in sums.folder[urls.folder[at]])
    good = [f"about {worth_host:.0f} of {host:.0f}", f"about {worth_folder:.0f} of {folder:.0f}"]
    known = f"{links} page{'s' * (links != 1)} known to link to it"
    return {
        "best parent": f"the best of {known} is worth {max(worth, default=0.0):.2f}",
        "parents": f"{known}, worth {sum(worth) / max(1, links):.2f} on average",
        "parents' likeness": f"these pages resemble the best pages so far ({scores[2]:.2f})",
        "topic in anchor": f"its link texts score {scores[3]:.2f} for the topic",
        "words of anchors": f"links with such words led to {_better(scores[4])} pages",
        "words of address": f"addresses with such words led to {_better(scores[5])} pages",
        "neighbours": f"{near} fetched from links within {2 * NEIGHBOURS} places of it were on topic",
        "same page": f"{page} found on the same pages were on topic",
        "anchor's likeness": f"its link texts have words of the best pages so far ({scores[8]:.2f})",
        "same list": f"{path} found on the same lists were on topic",
        "same place on site": f"links at this place of the site's pages are worth {scores[10]:.2f}",
        "grandparents": f"the pages two links before it are worth {scores[11]:.2f} on average",
        "host": f"{good[0]} pages of its host were on topic",
        "folder": f"{good[1]} pages of its folder were on topic",
        "topic in context": f"the text around its links scores {scores[14]:.2f} for the topic",
        "topic in list": f"the link texts of its list score {scores[16]:.2f} for the topic on average",
        "list's likeness": f"the links of its list have words of the best pages so far ({scores[17]:.2f})",
        "pages it links to": f"it is said to link to pages on topic (worth {urls.topic[at, 4]:.1f} in all)",
        "topic in block": f"the best content block that links to it scores {scores[19]:.2f} for the topic",
        "topic in address": f"its address holds {scores[15]:.0%} of a keyword",
        "exploring": f"exploring: {_only(host)} of this host and {_only(folder)} of this folder were tried",
    }


def _counted(held: Held, at: int, oldest: int, what: str) -> tuple[float, int]:
    urls, pages, sums = held.urls, held.pages, held.sums
    mask = len(sums.place) - 1
    total, count = 0.0, 0.0
    for j in range(min(int(urls.links[at]), LINKS)):
        base = int(pages.base[urls.parent[at, j]])
        if base < max(0, oldest):
            continue
        offsets = {"near": [int(urls.near[at, j]) + side for side in (-1, 0, 1)], "page": [0]}.get(
            what, [int(urls.path[at, j])]
        )
        for offset in offsets:
            total += float(sums.place[(base + offset) & mask, 0])
            count += float(sums.place[(base + offset) & mask, 1])
    return total, round(count)


def _of(found: tuple[float, int]) -> str:
    total, count = found
    return f"about {total:.0f} of {count} page{'s' * (count != 1)}"


def _better(value: float) -> str:
    return "better" if value > 0.0 else "worse" if value < 0.0 else "average"


def _only(count: float) -> str:
    count = round(count)
    return f"only {count} page{'s' * (count != 1)}" if count < 10 else f"{count} pages"
