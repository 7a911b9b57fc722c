"""A small crawl of a made-up web, to try an order on without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict, Via
from honeyguide.ordering.base import LinkOrder, RevisingOrder

PAGES: Final = 90
LINKS: Final = 8
WORDS: Final = ("owl", "nest", "feather", "tax", "invoice", "ledger", "鸟巢", "harbour", "engine", "lamp")


def made_up_page(number: int, *, via: Via | None = None, fetched: int = 0, links: int = LINKS) -> Page:
    """Page `number` of the made-up web; equal arguments give equal pages."""
    words = [WORDS[(number * 3 + i * i) % len(WORDS)] for i in range(40)]
    targets = dict.fromkeys(
        (number * 7 + i * i * 5 + i + 1) % max(PAGES, links * 2) for i in range(links * 3)
    )
    targets.pop(number, None)
    return Page(
        url=f"https://h{number % 7}.example/{WORDS[number % 7]}/{number}",
        id=number * 1_000_003 + 1,
        title=WORDS[number % len(WORDS)],
        text=" ".join(words),
        links=tuple(_made_up_link(number, target, i) for i, target in enumerate(list(targets)[:links])),
        number=fetched,
        depth=fetched % 5,
        via=via,
    )


def _made_up_link(source: int, target: int, position: int) -> Link:
    word, near = WORDS[target % len(WORDS)], WORDS[(source + target) % len(WORDS)]
    anchor = "" if target % 5 == 0 else f"the {word}"
    url = f"https://h{target % 7}.example/{WORDS[target % 7]}/{target}"
    return Link(url, target * 1_000_003 + 1, anchor, f"{anchor} by the {near}", position=position)


def made_up_verdict(number: int) -> Verdict:
    """What a page model might say of page `number`."""
    score = (number * 37 % 100) / 100.0
    return Verdict(score, score >= 0.5, facts={"layer": float(number % 4), "log_likelihood": -score})


class Step(msgspec.Struct, frozen=True):
    """What an order answered for one page."""

    page: int
    ranked: tuple[Scored, ...]
    reordered: tuple[tuple[int, float], ...] = ()


class Rehearsal:
    """Crawls the made-up web with an order: pop the best URL, learn, rank, reorder.

    `order` may be replaced on the way, to see whether a loaded one goes on like the one that was saved.
    """

    def __init__(self, order: LinkOrder) -> None:
        self.order = order
        self._rows: dict[int, int] = {}
        self._waiting: dict[int, tuple[float, Via | None]] = {}
        self._fetched: list[int] = []
        self._pairs: list[tuple[int, int]] = []
        for seed in (0, 41):
            self._known(seed)
            self._waiting[seed] = (0.0, None)

    def run(self, pages: int) -> list[Step]:
        """Fetch so many more pages, or all there are."""
        return [self._step() for _ in range(pages) if self._waiting]

    def graph(self) -> CrawlGraph:
        """What the crawl knows."""
        size, fetched = len(self._rows), set(self._fetched)
        numbers = list(self._rows)
        pairs = np.array(self._pairs, dtype=np.int32).reshape(-1, 2)
        return CrawlGraph(
            ids=np.array([number * 1_000_003 + 1 for number in numbers], dtype=np.int64),
            fetched=np.fromiter((n in fetched for n in numbers), np.bool_, size),
            waiting=np.fromiter((n in self._waiting for n in numbers), np.bool_, size),
            score=np.fromiter(
                (made_up_verdict(n).score if n in fetched else 0.0 for n in numbers), np.float32, size
            ),
            sources=pairs[:, 0].copy(),
            targets=pairs[:, 1].copy(),
        )

    def _known(self, number: int) -> int:
        return self._rows.setdefault(number, len(self._rows))

    def _step(self) -> Step:
        number = max(self._waiting, key=lambda each: (self._waiting[each][0], -self._rows[each]))
        priority, via = self._waiting.pop(number)
        self._fetched.append(number)
        via = via and msgspec.structs.replace(via, priority=priority)
        page = made_up_page(number, via=via, fetched=len(self._fetched))
        verdict = made_up_verdict(number)
        self.order.learn(page, verdict)
        ranked = tuple(self.order.rank(page, verdict, page.links))
        self._take(page, number, ranked)
        self._revise()
        every = self.order.reorder_every
        if every is None or len(self._fetched) % every:
            return Step(number, ranked)
        return Step(number, ranked, self._reorder(self.order.reorder(self.graph())))

    def _revise(self) -> None:
        """An order that changes its mind about what waits is asked, as the engine would."""
        if isinstance(self.order, RevisingOrder):
            revised = self.order.revised()
            for url, priority in zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True):
                number = (url - 1) // 1_000_003
                if number in self._waiting:
                    self._waiting[number] = (priority, self._waiting[number][1])

    def _take(self, page: Page, number: int, ranked: Sequence[Scored]) -> None:
        fetched = set(self._fetched)
        for link in page.links:
            self._pairs.append((self._rows[number], self._known((link.id - 1) // 1_000_003)))
        for scored in ranked:
            link = page.links[scored.link]
            target = (link.id - 1) // 1_000_003
            if scored.drop or target in fetched:
                continue
            via = Via(page.id, page.url, link.anchor, link.context, scored.priority, scored.memo)
            old = self._waiting.get(target)
            if (
                old is None
                or (self.order.combine == "max" and scored.priority > old[0])
                or self.order.combine == "latest"
            ):
                self._waiting[target] = (scored.priority, via)
            elif self.order.combine == "sum":
                self._waiting[target] = (old[0] + scored.priority, old[1])

    def _reorder(self, priorities: NDArray[np.float64]) -> tuple[tuple[int, float], ...]:
        changed = []
        for number, row in self._rows.items():
            if number in self._waiting and not np.isnan(priorities[row]):
                self._waiting[number] = (float(priorities[row]), self._waiting[number][1])
                changed.append((number, float(priorities[row])))
        return tuple(changed)
