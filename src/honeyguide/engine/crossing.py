"""Links that cross from one shard to another: what leaves with a page, and what comes in.

`Arrival` brings them here; `Neighbours` has the outbox and its numbers. A link to another shard's host gets a
row with the outcome `ELSEWHERE`, so that a page's links stay whole, and travels to its owner, unless that has
heard as much of it already. What comes in passes the rules of this shard, and is ranked here where the order
goes on learning about what waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.admission import LISTINGS, SEED, Admission, domain_of
from honeyguide.engine.neighbours import ANCHOR, CONTEXT, TAG_PATH, Batch, Neighbours, finite, sendable
from honeyguide.frontier import Found, Frontier, Offers
from honeyguide.model import Link, Outcome, Page, Scored, Verdict
from honeyguide.ordering.base import LinkOrder, RevisingOrder
from honeyguide.ordering.sharing import SharingOrder
from honeyguide.store.outbox import DROPPED, HOST, Traveller, is_held
from honeyguide.store.state import State, sound
from honeyguide.web import host_key, url_id

_HANDED_OVER = frozenset(
    {"ready_at", "delay", "crawl_delay", "failures", "requests", "fetched", "relevant", "recent", "given_up"}
)
"""What of a host's record its next owner needs."""
_WAITING, _ELSEWHERE = int(Outcome.WAITING), int(Outcome.ELSEWHERE)


class Crossing:
    """What the crawl of one shard does about links that are not, or were not, its own.

    Args:
        neighbours: The other shards.
        state: For the numbers of what comes in.
        frontier: Takes links in, and knows which were sent.
        order: Ranks.
        admission: The rules.
    """

    def __init__(
        self, neighbours: Neighbours, state: State, frontier: Frontier, order: LinkOrder, admission: Admission
    ) -> None:
        self._neighbours = neighbours
        self._state = state
        self._frontier = frontier
        self._order = order
        self._revises = isinstance(order, RevisingOrder)
        self._sharing = order if isinstance(order, SharingOrder) else None
        self._admission = admission

    def is_mine(self, host: str) -> bool:
        """Whether a `host[:port]` is this shard's."""
        return self._neighbours.is_mine(host)

    def look_away(self, page: Page, links: Sequence[Link]) -> None:
        """Let an order that shares what it learns know which links of a page are others'."""
        if self._sharing is not None:
            self._sharing.away([links[place].id for place in self._neighbours.away(page.url, links)])

    def note(self, url: str, number: int) -> None:
        """The same of a URL that a source named."""
        if self._sharing is not None and not self.is_mine(host_key(url)):
            self._sharing.away([number])

    # Leaving

    def offer(
        self,
        page: Page,
        row: int,
        offers: Offers,
        *,
        eligible: Sequence[Link],
        scored: Sequence[Scored],
        dropped: Sequence[tuple[Link, Outcome, str]],
        score: float,
    ) -> NDArray[np.int32]:
        """Give a page's own links to the frontier, and those of other shards to the outbox; the rows of all.

        Args:
            page: The page.
            row: Its row.
            offers: Its links, as the frontier takes them.
            eligible: Those that the order was given ...
            scored: ... what it gave them ...
            dropped: ... and those that a rule drops, which follow them in `offers`.
            score: Of the page.
        """
        links = [*eligible, *(one[0] for one in dropped)] if dropped else eligible
        away = self._neighbours.away(page.url, links)
        if not away:
            return self._frontier.offer(offers, self._order.combine)
        priorities, outcomes = list(offers.priorities), list(offers.outcomes)
        leaving: dict[int, int] = {}
        for place in away:
            leaving[place] = outcomes[place]
            outcomes[place] = _ELSEWHERE
            if self._revises and place < len(eligible):  # its owner will rank it
                leaving[place], priorities[place] = _WAITING, score
            elif leaving[place] != _WAITING:
                priorities[place] = DROPPED
        known = self._frontier.known

        def make(place: int) -> Found:
            if place not in leaving:
                return offers.make(place)
            return _elsewhere(links[place], page.depth + 1, row, priorities[place])

        targets = self._frontier.offer(Offers(offers.ids, priorities, outcomes, make), self._order.combine)
        rows = targets.tolist()
        again = [place for place in away if rows[place] <= known]
        heard = self._tells_more(
            [rows[place] for place in again],
            [leaving[place] for place in again],
            [priorities[place] for place in again],
        )
        for place, more in zip(again, heard, strict=True):
            if not more:
                del leaving[place]
        if leaving:
            self._leave(page, leaving, eligible=eligible, scored=scored, dropped=dropped, score=score)
        return targets

    def _leave(
        self,
        page: Page,
        leaving: dict[int, int],
        *,
        eligible: Sequence[Link],
        scored: Sequence[Scored],
        dropped: Sequence[tuple[Link, Outcome, str]],
        score: float,
    ) -> None:
        """Send links of a page, by place, each with the outcome that it has by the rules here."""
        given = {one.link: one for one in scored}
        parent, depth = sound(page.url), page.depth + 1
        of_page = finite(self._sharing.of_page(page)) if self._sharing is not None else {}
        for place, outcome in leaving.items():
            if place >= len(eligible):
                link, _, reason = dropped[place - len(eligible)]
                travels = Traveller(
                    sound(link.url), parent, 0.0, depth, outcome=outcome, reason=sound(reason)
                )
                self._neighbours.send(travels, host_key(link.url))
                continue
            link, one = eligible[place], given.get(place) or _LEFT_OUT
            travels = Traveller(
                url=sound(link.url),
                parent=parent,
                priority=sendable(score if self._revises else one.priority),
                depth=depth,
                source=link.kind if link.kind in LISTINGS else "link",
                anchor=sound(link.anchor[:ANCHOR]),
                context=sound(link.context[:CONTEXT]),
                factors=finite(one.factors),
                memo=finite(one.memo),
                outcome=outcome,
                reason="" if self._revises else sound(one.drop),
                score=score,
            )
            if self._revises:  # all that the owner ranks it by
                travels = msgspec.structs.replace(
                    travels,
                    tag_path=sound(link.tag_path[:TAG_PATH]),
                    position=place,
                    of_page=of_page,
                    group=link.group,
                    of_link=self._sharing.of_link(link.id) if self._sharing is not None else "",
                )
            self._neighbours.send(travels, host_key(link.url))

    def _tells_more(
        self, rows: Sequence[int], outcomes: Sequence[int], priorities: Sequence[float]
    ) -> list[bool]:
        """Whether the owners of URLs that were sent before have to hear of another link to each."""
        how, keen = self._order.combine, self._revises
        told: list[bool] = []
        for row, outcome, priority, (status, before) in zip(
            rows, outcomes, priorities, self._frontier.known_as(rows), strict=True
        ):
            better = priority > before if how == "max" else how != "first" or before == DROPPED
            told.append(status == _ELSEWHERE and outcome == _WAITING and (better or keen))
            if told[-1]:
                self._frontier.note_priority(row, priority)
        return told

    def send(self, found: Found, parent: str) -> int:
        """Send a URL that comes from no page's links to its owner; the row that stands for it here.

        Seeds each shard has, but for those of one that left before it began.
        """
        if found.source == SEED and self._neighbours.owns_hosts:
            return 0
        known = self._frontier.known
        priority = found.priority if found.outcome is Outcome.WAITING else DROPPED
        (row,) = self._frontier.add([_stand_in(found, priority)], "max")
        if row > known or self._tells_more([row], [found.outcome], [found.priority])[0]:
            self._neighbours.leave(found, parent)
        return row

    # Coming in

    def enter(self, batch: Batch) -> None:
        """Take in links that another shard found; what belongs to a third is passed on."""
        self.take_in(batch.links, batch.sender)
        self._neighbours.entered(batch, self._state)

    def take_in(self, links: Sequence[Traveller], sender: str, *, handed: bool = False) -> None:
        """Take in links, whose numbers are the caller's business.

        Args:
            links: What travelled.
            sender: Shard that sent them.
            handed: Whether URLs that are elsewhere so far are this shard's from now on, whatever a link says.
        """
        neighbours = self._neighbours
        parents = self._pages_of(links, sender)
        arrived: list[Found] = []
        pages: dict[str, list[tuple[Traveller, Found]]] = {}
        homing: set[int] = set()
        for link in links:
            if not neighbours.is_mine(host := host_key(link.url)):
                neighbours.send(link, host)
                continue
            if link.source == HOST:
                self._take_over_host(link)
                continue
            found = self._arrived(link, host, parents.get(link.parent, 0))
            if handed or link.handed:
                homing.add(found.id)
            if self._revises and link.parent:
                pages.setdefault(link.parent, []).append((link, found))
            else:
                arrived.append(found)
        for parent, found_there in pages.items():
            arrived += self._ranked_here(parent, found_there)
        rows = self._frontier.add(arrived, self._order.combine)
        for row, found in zip(rows, arrived, strict=True):
            if found.id in homing:
                self._come_home(row, found)

    def _come_home(self, row: int, found: Found) -> None:
        """A URL of a host that is this shard's by now, as its former owner has it."""
        frontier = self._frontier
        if found.outcome is Outcome.ELSEWHERE:
            if frontier.is_waiting(row):
                # A link was quicker than the shard that had asked for it before the host was handed over.
                frontier.finish(row, Outcome.ELSEWHERE, found.reason)
            elif frontier.status_of(row) is Outcome.ELSEWHERE or frontier.never_asked(row):
                # Or a link that a rule had dropped was: it has no say where the URL was asked for.
                frontier.change_outcome(row, Outcome.ELSEWHERE, found.reason)
        elif frontier.status_of(row) is Outcome.ELSEWHERE and not is_held(frontier.reason_of(row)):
            frontier.come_home(row, found)

    def _pages_of(self, links: Sequence[Traveller], sender: str) -> dict[str, int]:
        """Rows that stand for the pages that links of another shard were found on."""
        urls = list(dict.fromkeys(link.parent for link in links if link.parent))
        found = [
            Found(
                url=url,
                id=url_id(url),
                host="",
                domain="",
                priority=DROPPED,
                outcome=Outcome.ELSEWHERE,
                reason=f"shard {sender}",
            )
            for url in urls
        ]
        return dict(zip(urls, self._frontier.add(found, "max"), strict=True))

    def _take_over_host(self, record: Traveller) -> None:
        """A host that another shard has asked so far: its delays and failures hold on."""
        name = host_key(record.url)
        host = self._frontier.meet_host(name, domain_of(name))
        ready_at = max(host.ready_at, record.memo.get("ready_at", 0.0))
        if record.memo.get("requests", 0) >= host.requests:  # otherwise that of an owner before the last
            for field, value in record.memo.items():
                if field in _HANDED_OVER:
                    setattr(host, field, type(getattr(host, field))(value))
            host.ip = record.anchor or host.ip
        host.ready_at = ready_at
        self._frontier.touch(host)

    def _arrived(self, link: Traveller, host: str, parent: int) -> Found:
        found = Found(
            url=link.url,
            id=url_id(link.url),
            host=host,
            domain=domain_of(host),
            priority=link.priority,
            depth=link.depth,
            redirects=link.redirects,
            parent=parent,
            source=link.source,
            anchor=link.anchor,
            context=link.context,
            factors=link.factors,
            memo=link.memo,
            outcome=Outcome(link.outcome),
            reason=link.reason,
        )
        if found.outcome is Outcome.WAITING:
            refused = self._admission.refuse(found.url, found.depth, found.redirects)
            if refused:
                found = msgspec.structs.replace(found, outcome=refused[0], reason=refused[1])
        return found

    def _ranked_here(self, parent: str, links: Sequence[tuple[Traveller, Found]]) -> list[Found]:
        """Let an order that goes on learning rank another shard's links, as if it had seen their page."""
        told, others = _parted(
            links,
            lambda one: one[0].score >= 0 and one[1].outcome is Outcome.WAITING and one[1].source == "link",
        )
        found = [one for _, one in others]
        if not told:
            return found
        linked = tuple(
            Link(
                *(one.url, one.id, one.anchor, one.context),
                position=sent.position,
                tag_path=sent.tag_path,
                group=sent.group,
            )
            for sent, one in told
        )
        page = Page(parent, url_id(parent), links=linked, depth=max(0, told[0][1].depth - 1))
        verdict = Verdict(told[0][0].score, on_topic=False)
        if self._sharing is not None:
            of_links = {one.id: sent.of_link for sent, one in told if sent.of_link}
            self._sharing.meet(page, verdict, told[0][0].of_page, of_links)
        scored = self._order.rank(page, verdict, linked)
        by_place = {one.link: one for one in scored}
        for place, (_, one) in enumerate(told):
            given = by_place.get(place) or Scored(place, 0.0, drop="left out by the link order")
            found.append(
                msgspec.structs.replace(
                    one,
                    priority=given.priority,
                    factors=given.factors,
                    memo=given.memo,
                    outcome=Outcome.ORDER if given.drop else Outcome.WAITING,
                    reason=given.drop,
                )
            )
        return found


_LEFT_OUT = Scored(0, 0.0, drop="left out by the link order")


def _elsewhere(link: Link, depth: int, parent: int, priority: float) -> Found:
    """What stands for a link to another shard's URL here."""
    host = host_key(link.url)
    return Found(
        url=link.url,
        id=link.id,
        host=host,
        domain=domain_of(host),
        priority=priority,
        depth=depth,
        parent=parent,
        source=link.kind if link.kind in LISTINGS else "link",
        outcome=Outcome.ELSEWHERE,
    )


def _stand_in(found: Found, priority: float) -> Found:
    """What stands for another shard's URL here."""
    return Found(
        url=found.url,
        id=found.id,
        host=found.host,
        domain=found.domain,
        priority=priority,
        depth=found.depth,
        parent=found.parent,
        source=found.source,
        outcome=Outcome.ELSEWHERE,
    )


One = TypeVar("One")


def _parted(things: Sequence[One], is_first: Callable[[One], bool]) -> tuple[list[One], list[One]]:
    """Those for which something holds, and the others."""
    first: list[One] = []
    others: list[One] = []
    for thing in things:
        (first if is_first(thing) else others).append(thing)
    return first, others
