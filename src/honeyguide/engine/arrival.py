"""What happens when a visit comes back: judge, archive, learn, rank, commit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.admission import SEED, Admission, domain_of, is_given, offers_of
from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import Stores
from honeyguide.engine.listings import MOST_NAMED, Listings
from honeyguide.engine.neighbours import Batch, Neighbours
from honeyguide.engine.render_figures import RENDERING, render_figures
from honeyguide.engine.visit import Rendering, Visit
from honeyguide.failpoint import failpoint
from honeyguide.frontier import Found, Frontier, Offers, Waiting
from honeyguide.log import DEBUG, LOG, say
from honeyguide.model import Event, Link, Outcome, Page, Scored, Seen, Verdict, Via
from honeyguide.ordering.base import BacklinkedOrder, LinkOrder, PausingOrder, RevisingOrder, done
from honeyguide.ordering.sharing import SharingOrder
from honeyguide.relevance.base import OnlinePageModel, PageModel, RememberingPageModel, verdict_on
from honeyguide.store.archive import Position
from honeyguide.store.duplicates import NearDuplicates
from honeyguide.store.history import VisitRecord
from honeyguide.store.index import FullText
from honeyguide.store.outbox import DROPPED, HOST, Traveller, is_held
from honeyguide.store.records import PageRecord
from honeyguide.web import canonical, falling_marginal, host_key, url_id
from honeyguide.web.url import url_ids
from honeyguide.web.zones import twin_of

GIVEN = 1e3
"""Priorities from here on were given by hand (seeds, suggestions) and stay."""
_HANDED_OVER = frozenset(
    {"ready_at", "delay", "crawl_delay", "failures", "requests", "fetched", "relevant", "recent", "given_up"}
)
"""What of a host's record its next owner needs."""
MISSING = frozenset((404, 410))
"""Answers that say that there is no such page, and will not be."""
_WAITING, _ELSEWHERE = int(Outcome.WAITING), int(Outcome.ELSEWHERE)
CHANGED_AT_ONCE = 4096
"""URLs that get another priority before connections have their turn."""
NAMED_AT_ONCE = 1000
"""Addresses that a sitemap names which are looked at before connections have their turn."""
DATED_AT_ONCE = 5_000
"""The same of those that are only looked up."""
DEMOTION = 1e6
"""How far behind the URLs of a host go that stopped giving relevant pages."""


class Arrival:
    """Takes visits one by one; the caller commits."""

    def __init__(
        self,
        stores: Stores,
        frontier: Frontier,
        model: PageModel,
        order: LinkOrder,
        *,
        admission: Admission,
        tally: Tally,
        listings: Listings | None = None,
        neighbours: Neighbours | None = None,
        timer: Callable[[], float] = float,
    ) -> None:
        self._state = stores.state
        self._timer = timer
        self._neighbours = neighbours
        self._listings = listings or Listings()
        self._archive = stores.archive
        self._index = stores.index
        self._frontier = frontier
        self._model = model
        self._online = model if isinstance(model, OnlinePageModel) else None
        self._order = order
        self._revising = order if isinstance(order, RevisingOrder) else None
        self._pausing = order if isinstance(order, PausingOrder) else None
        self._backlinked = order if isinstance(order, BacklinkedOrder) else None
        self._sharing = order if isinstance(order, SharingOrder) else None
        self._admission = admission
        self._tally = tally
        self._figures = render_figures(stores.state)
        self._near = NearDuplicates(stores.state.simhashes())
        self._zones = admission.zones
        self._same_bytes = ("", 0)
        """Digest of the answer that is taken in, and the row of the first page that has it."""
        self.line_moved = False
        """Whether the last page made the model judge otherwise."""
        self.rest: Iterator[None] | None = None
        """What is left to do of a sitemap, or of new priorities that the last page brought, with pauses."""
        self.ordering_seconds = 0.0
        """CPU time spent in the order, for the lab, which gives a `timer`: a live crawl does without."""

    @property
    def model(self) -> PageModel:
        """The page model that judges."""
        return self._model

    def take(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        """Deal with an answered URL (not with one that has to be asked again)."""
        self._same_bytes = ("", 0)
        position = self._store_exchanges(visit, waiting)
        if visit.outcome is Outcome.REDIRECTED:
            return self._redirected(waiting, visit, now)
        if visit.outcome is Outcome.LISTING:
            return self._listing(waiting, visit, now)
        if visit.page is None:
            return self._ended(waiting, visit, now)
        page = placed(visit.page, waiting, number=self._tally.pages + 1, now=now, status=visit.status)
        if visit.exchanges:  # time and digest as the archive has them, so that one can be found by the other
            own = visit.exchanges[-1]
            # All pages of an application have the same shell: a rendered page goes by what it became.
            digest = own.digest if own.rendered is None else page.digest
            page = msgspec.structs.replace(page, digest=digest, fetched_at=own.at)
        return self._page(waiting, page, position, now, rendering=visit.rendering)

    def inject(self, found: Found, links_to: str = "") -> int:
        """Bring a URL in from outside (seed, redirect, suggestion), past the same rules. Its row.

        Args:
            found: The URL.
            links_to: A page that it is said to link to; an order with an opinion of that gives the priority.
        """
        found = self._admitted(found, links_to)
        if self._neighbours is not None and not self._neighbours.is_mine(found.host):
            return self._send(found, self._frontier.url_of(found.parent))
        return self._frontier.add([found], "max")[0]

    def inject_all(self, found: Sequence[Found]) -> None:
        """The same for many at once: of ten thousand seeds, one by one, each would take as long as a page."""
        if self._neighbours is not None:
            for one in found:
                self.inject(one)
        else:
            self._frontier.add([self._admitted(one) for one in found], "max")

    def _admitted(self, found: Found, links_to: str = "") -> Found:
        """A URL from outside as the rules let it in, or with the reason why they do not."""
        if found.source == SEED:
            refused = self._admission.refuse_seed(found.url)
        else:
            refused = self._admission.refuse(found.url, found.depth, found.redirects)
        if refused:
            found = msgspec.structs.replace(found, outcome=refused[0], reason=refused[1])
        elif links_to:
            priority = self.said_to_link(found.url, links_to)
            if priority is not None:
                found = msgspec.structs.replace(found, priority=priority)
        _tell_one(found, "")
        return found

    def said_to_link(self, url: str, target: str) -> float | None:
        """Tell the order of a page that links to a page of the crawl; the priority, if it has an opinion."""
        if self._backlinked is None:
            return None
        number = url_id(url)
        priority = self._backlinked.said_to_link(url, number, url_id(target))
        elsewhere = self._neighbours is not None and not self._neighbours.is_mine(host_key(url))
        if elsewhere and self._sharing is not None:
            self._sharing.away([number])
        return priority

    def hear_again(self, text: str, target: str) -> None:
        """The same of an earlier session; the URL itself is in the state already."""
        url = canonical(text)
        if url is not None and self._admission.refuse(url, 0, 0) is None:
            self.said_to_link(url, target)

    def drop_trap(self, waiting: Waiting, now: float) -> list[Event]:
        """End a URL whose part of a site has turned out to be a trap since it was found."""
        reason = None if waiting.source == SEED else self._zones.reason_to_drop(waiting.url)
        if reason is None:
            return []
        self._frontier.release(waiting.host)
        return self._ended(waiting, Visit(Outcome.TRAP, detail=reason), now)

    def think(self, page: Page) -> tuple[Verdict, list[Link], Sequence[Scored], list[Dropped]]:
        """Judge and rank one page: the part that is repeated when a crawl is resumed."""
        verdict = verdict_on(self._model, page)
        eligible, dropped = self._admission.split(page)
        started = self._timer()
        self._order.learn(page, verdict)
        scored = self._order.rank(page, verdict, eligible)
        if self._neighbours is not None and self._sharing is not None:
            self._sharing.away([eligible[place].id for place in self._neighbours.away(page.url, eligible)])
        self.ordering_seconds += self._timer() - started
        if self._online is not None:
            # A page without text teaches nothing, and must not be judged again by its title later.
            self.line_moved = bool(page.content) and self._online.observe(page, verdict)
        return verdict, eligible, scored, dropped

    def rethink(self, page: Page) -> None:
        """Learn from a page of an earlier session; what it led to is in the state already."""
        self.think(page)
        if self._revising is not None:
            self._revising.revised()
            if self.line_moved and isinstance(self._model, RememberingPageModel):
                for url, verdict in self._model.remembered():
                    self._revising.rejudged(Page("", url), verdict)
        every = self._order.reorder_every
        if every and page.number % every == 0:
            self._order.reorder(self._frontier.graph())

    def revise(self) -> int:
        """Let an order that changes its mind say about which URLs; returns how many changed."""
        self._finish()
        return done(self._changing()) if self._revising is not None else 0

    def _begin_to_revise(self) -> None:
        """The same after a page; what takes long is left in `rest`."""
        self._finish()
        if self._revising is None:
            return
        self._leave(self._changing())

    def _leave(self, steps: Iterator[None]) -> None:
        """Do the first of some steps, and leave the others in `rest`."""
        for _ in steps:
            if self._neighbours is None:
                self.rest = steps
                return
            # What other shards have learned may come in at any pause.

    def _finish(self) -> None:
        rest, self.rest = self.rest, None
        for _ in rest or ():
            """All at once."""

    def _changing(self) -> Generator[None, None, int]:
        """Ask the order and change what it says, with pauses in which nothing may be learned; how many."""
        assert self._revising is not None
        started = self._timer()
        if self._pausing is None:
            revised = self._revising.revised()
        else:
            asking = self._pausing.revising()
            while True:
                try:
                    next(asking)
                except StopIteration as answer:
                    revised = answer.value
                    break
                self.ordering_seconds += self._timer() - started
                yield
                started = self._timer()
        changed = 0
        for start in range(0, len(revised.ids), CHANGED_AT_ONCE):
            if start:
                self.ordering_seconds += self._timer() - started
                yield
                started = self._timer()
            some = slice(start, start + CHANGED_AT_ONCE)
            changed += self._frontier.revise(revised.ids[some], revised.priorities[some], below=GIVEN)
        self.ordering_seconds += self._timer() - started
        return changed

    def reorder(self, now: float) -> list[Event]:
        """Recompute all priorities (global orders)."""
        started = self._timer()
        priorities = self._order.reorder(self._frontier.graph())
        changed = self._frontier.reprioritise(priorities)
        self.ordering_seconds += self._timer() - started
        data: dict[str, object] = {"pages": self._tally.pages, "changed": changed}
        return [self._state.append_event("reorder", "", data, at=now)]

    def _store_exchanges(self, visit: Visit, waiting: Waiting) -> Position | None:
        """Archive what came; the position of the last answer, which is the page's own."""
        if self._archive is None or not visit.exchanges:
            return None
        *others, last = visit.exchanges
        for exchange in others:
            self._archive.write_exchange(exchange)
        if visit.page is not None:
            metadata = {"via": waiting.parent_url, "hops": str(waiting.depth)}
            if visit.rendering is not None:
                metadata["rendering"] = visit.rendering.told
            row = self._state.page_by_digest(last.digest)
            self._same_bytes = (last.digest, row)
            twin = self._twin(last.digest, row)
            last = msgspec.structs.replace(last, refers_to=twin, metadata=metadata)
        position = self._archive.write_exchange(last)
        failpoint("archive.written")
        return position

    def twin(self, digest: str) -> tuple[str, float] | None:
        """URL and time of an archived page with the same bytes."""
        return self._twin(digest, self._state.page_by_digest(digest))

    def _twin(self, digest: str, row: int) -> tuple[str, float] | None:
        """The same, given the row of the first page with this digest."""
        twin = self._state.page_by_row(row) if row else self._state.history.payload_of(digest)
        if row and twin is None:  # its address is still on its way to the table
            self._frontier.flush()
            twin = self._state.page_by_row(row)
        return (twin.url, twin.at) if twin and twin.file else None

    def _ended(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        self._frontier.finish(waiting.row, visit.outcome, visit.detail)
        if visit.status in MISSING or visit.outcome is Outcome.NOT_A_PAGE:
            self._zones.failed(waiting.url)
        if self._revising is not None and visit.outcome is not Outcome.REDIRECTED:
            self._revising.gone(waiting.id)
        data: dict[str, object] = {"outcome": visit.outcome.name.lower(), "reason": visit.detail}
        return [self._state.append_event("outcome", waiting.url, data, at=now)]

    def _redirected(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        events = self._ended(waiting, visit, now)
        host = host_key(visit.redirect)
        self.inject(
            Found(
                url=visit.redirect,
                id=url_id(visit.redirect),
                host=host,
                domain=domain_of(host),
                priority=waiting.priority,
                depth=waiting.depth,
                redirects=waiting.redirects + 1,
                parent=waiting.row,
                source="redirect",
                anchor=waiting.anchor,
                context=waiting.context,
                memo=waiting.memo,
            )
        )
        return events

    def _listing(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        """Queue what a sitemap or feed names, and note that it was read: it will be read again."""
        known = self._frontier.known
        self.queue_listing(waiting, visit, now)
        digest = visit.exchanges[-1].digest if visit.exchanges else ""
        self._state.history.add(
            VisitRecord(waiting.row, now, Seen.FIRST, status=visit.status, digest=digest, known=known)
        )
        return self._ended(waiting, visit, now)

    def queue_listing(self, waiting: Waiting, visit: Visit, now: float) -> None:
        """Queue what a sitemap or feed names, ranked as links of a page of average relevance.

        It may name 50,000 addresses: what takes long is left in `rest`.
        """
        self._finish()
        self._leave(self._queueing(waiting, visit, now))

    def _queueing(self, waiting: Waiting, visit: Visit, now: float) -> Iterator[None]:
        """The same with pauses, the first one after the archive has taken the document."""
        long = max(len(visit.listing), len(visit.dates)) > NAMED_AT_ONCE
        if long:
            yield
        host = self._frontier.host(waiting.host)
        urls = visit.listing if self._listings.asked_for(waiting.source) else visit.listing[:MOST_NAMED]
        page = placed(Page(waiting.url, waiting.id), waiting, number=0, now=now, status=200)
        links: list[Link] = []
        eligible: list[Link] = []
        for start in range(0, len(urls), NAMED_AT_ONCE):
            if start:
                yield
            some = urls[start : start + NAMED_AT_ONCE]
            numbered = enumerate(zip(some, url_ids(some), strict=True), start)
            more = [Link(url, each, position=place) for place, (url, each) in numbered]
            links += more
            eligible += self._admission.split(msgspec.structs.replace(page, links=tuple(more)))[0]
        if long:
            yield
        page = msgspec.structs.replace(page, links=tuple(links))
        score = self._tally.recent if host.recent < 0 else host.recent
        scored = self._order.rank(page, Verdict(score=score, on_topic=False), eligible)
        if self._neighbours is not None or len(eligible) <= NAMED_AT_ONCE:
            self._offer(page, waiting.row, eligible, scored, score=score)
        else:
            offers = offers_of(page, waiting.row, eligible, scored)
            _tell(offers, page.url)
            for start in range(0, len(eligible), NAMED_AT_ONCE):
                yield
                self._frontier.offer(_part(offers, start, start + NAMED_AT_ONCE), self._order.combine)
        self.revise()
        if long:
            yield
        yield from self._note_dates(visit)
        for url in visit.indexes:
            if self._listings.follows(waiting.source, waiting.host, url):
                self._follow_listing(url, "sitemap", waiting, waiting.row, waiting.priority)

    def _note_dates(self, visit: Visit) -> Iterator[None]:
        """When pages changed last, as a sitemap says, with pauses."""
        dated = [url for url, changed in zip(visit.listing, visit.dates, strict=False) if changed]
        dates = [changed for changed in visit.dates if changed]
        for start in range(0, len(dated), DATED_AT_ONCE):
            if start:
                yield
            rows = self._frontier.rows_of(url_ids(dated[start : start + DATED_AT_ONCE]))
            for row, changed in zip(rows, dates[start:], strict=False):
                if row and self._frontier.status_of(row) in (Outcome.FETCHED, Outcome.GONE):
                    self._state.history.hint(row, changed)

    def _follow_listing(self, url: str, kind: str, waiting: Waiting, row: int, priority: float) -> None:
        """Queue a sitemap or feed that a page or another sitemap names."""
        host = host_key(url)
        self.inject(
            Found(
                url=url,
                id=url_id(url),
                host=host,
                domain=domain_of(host),
                priority=priority,
                depth=waiting.depth + 1,
                parent=row,
                source=kind,
            )
        )

    def _page(
        self,
        waiting: Waiting,
        page: Page,
        position: Position | None,
        now: float,
        *,
        rendering: Rendering | None = None,
    ) -> list[Event]:
        row = waiting.row
        if page.canonical and domain_of(host_key(page.canonical)) == domain_of(waiting.host):
            taken = self._canonical(waiting, page, now)
            if isinstance(taken, list):
                return taken
            row, page = taken
        verdict, eligible, scored, dropped = self.think(page)
        self._tally.count_page(score=verdict.score, on_topic=verdict.on_topic, size=page.bytes)
        told = self._count_rendering(waiting.host, page, rendering)
        self._frontier.finish(row, Outcome.NOINDEX if page.noindex else Outcome.FETCHED, told)
        # What its own words say, as orders learn: with what links promised it would come back as their proof.
        targets = self._offer(page, row, eligible, scored, dropped=dropped, score=verdict.by_text)
        self._begin_to_revise()
        self._frontier.set_links(row, targets)
        self._frontier.set_score(row, verdict.score)
        record = self.record(row, page, verdict, position)
        self._state.save_page(record, targets)
        failpoint("arrive.page")
        self._zones.fetched(
            row,
            page.url,
            targets=targets,
            twin=self._copied(record),
            on_topic=verdict.on_topic,
            given=is_given(waiting.source),
        )
        if self._index is not None and verdict.on_topic and not page.noindex:
            index_page(self._index, row, page, verdict.score)
        self._count_host(waiting.host, verdict)
        for url, kind in self._listings.fresh(page, self._frontier.host(waiting.host)):
            best = max((one.priority for one in scored if not one.drop), default=verdict.score)
            self._follow_listing(url, kind, waiting, row, best)
        data: dict[str, object] = {
            "number": page.number,
            "score": round(verdict.score, 6),
            "on_topic": verdict.on_topic,
            "depth": page.depth,
            "bytes": page.bytes,
            "links": len(targets),
            "parent": waiting.parent_url,
            "title": page.title[:200],
        }
        if rendering is not None:
            data["rendering"] = rendering.told
        return [self._state.append_event("page", page.url, data, at=now)]

    def _offer(
        self,
        page: Page,
        row: int,
        eligible: Sequence[Link],
        scored: Sequence[Scored],
        *,
        dropped: Sequence[Dropped] = (),
        score: float,
    ) -> NDArray[np.int32]:
        """Give a page's links to the frontier, and those of other shards to the outbox; the targets' rows."""
        offers = offers_of(page, row, eligible, scored, dropped)
        _tell(offers, page.url)
        if self._neighbours is None:
            return self._frontier.offer(offers, self._order.combine)
        neighbours, count = self._neighbours, len(eligible)
        away = neighbours.away(page.url, eligible)
        if dropped:
            away += [count + place for place in neighbours.away(page.url, [one[0] for one in dropped])]
        if not away:
            return self._frontier.offer(offers, self._order.combine)
        priorities, outcomes = list(offers.priorities), list(offers.outcomes)
        leaving: dict[int, int] = {}
        for place in away:
            leaving[place] = outcomes[place]
            outcomes[place] = _ELSEWHERE
            if self._revising is not None and place < count:  # its owner will rank it
                leaving[place], priorities[place] = _WAITING, score
            elif leaving[place] != _WAITING:
                priorities[place] = DROPPED
        known = self._frontier.known
        made: dict[int, Found] = {}

        def make(place: int) -> Found:
            found = offers.make(place)
            if place not in leaving:
                return found
            made[place] = found
            return _elsewhere(found, priorities[place])

        targets = self._frontier.offer(Offers(offers.ids, priorities, outcomes, make), self._order.combine)
        rows = targets.tolist()
        again = [place for place in away if rows[place] <= known]
        heard = self._tells_more(
            [rows[place] for place in again],
            [leaving[place] for place in again],
            [priorities[place] for place in again],
        )
        silent = {place for place, more in zip(again, heard, strict=True) if not more}
        of_page = self._sharing.of_page(page) if self._sharing is not None else None
        for place, outcome in leaving.items():
            if place in silent:
                continue
            found = made.get(place) or offers.make(place)
            link = eligible[place] if place < count else None
            if self._revising is not None and link is not None:
                found = msgspec.structs.replace(found, outcome=Outcome(outcome), priority=score, reason="")
            of_link = self._sharing.of_link(link.id) if self._sharing is not None and link is not None else ""
            neighbours.leave(
                found, page.url, score, link=link, position=place, of_page=of_page, of_link=of_link
            )
        return targets

    def _tells_more(
        self, rows: Sequence[int], outcomes: Sequence[int], priorities: Sequence[float]
    ) -> list[bool]:
        """Whether the owners of URLs that were sent before have to hear of another link to each."""
        how, keen = self._order.combine, self._revising is not None
        told: list[bool] = []
        for row, outcome, priority, (status, before) in zip(
            rows, outcomes, priorities, self._frontier.known_as(rows), strict=True
        ):
            better = priority > before if how == "max" else how != "first" or before == DROPPED
            told.append(status == _ELSEWHERE and outcome == _WAITING and (better or keen))
            if told[-1]:
                self._frontier.note_priority(row, priority)
        return told

    def _send(self, found: Found, parent: str, score: float = -1.0) -> int:
        """Send one URL to the shard that owns it; the row that stands for it here.

        Seeds each shard has, but for those of one that left before it began.
        """
        assert self._neighbours is not None
        if found.source == SEED and self._neighbours.owns_hosts:
            return 0
        known = self._frontier.known
        priority = found.priority if found.outcome is Outcome.WAITING else DROPPED
        (row,) = self._frontier.add([_elsewhere(found, priority)], "max")
        if row > known or self._tells_more([row], [found.outcome], [found.priority])[0]:
            self._neighbours.leave(found, parent, score)
        return row

    def enter(self, batch: Batch) -> None:
        """Take in links that another shard found; what belongs to a third is passed on."""
        assert self._neighbours is not None
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
        assert neighbours is not None
        parents = self._pages_of(links, sender)
        arrived: list[Found] = []
        pages: dict[str, list[tuple[Traveller, Found]]] = {}
        homing: set[int] = set()
        for link in links:
            if not neighbours.is_mine(host := host_key(link.url)):
                neighbours.pass_on(link, host)
                continue
            if link.source == HOST:
                self._take_over_host(link)
                continue
            found = self._arrived(link, host, parents.get(link.parent, 0))
            if handed or link.handed:
                homing.add(found.id)
            if self._revising is not None and link.parent:
                pages.setdefault(link.parent, []).append((link, found))
            else:
                arrived.append(found)
        for parent, found_there in pages.items():
            arrived += self._ranked_here(parent, found_there)
        rows = self._frontier.add(arrived, self._order.combine)
        for row, found in zip(rows, arrived, strict=True):
            if found.id in homing:
                self._come_home(row, found)
        self.revise()

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

    def _count_rendering(self, host: str, page: Page, rendering: Rendering | None) -> str:
        """Count shells and rendered pages; what `honeyguide why` is to say of this one."""
        if not page.shell and rendering is None:
            return ""
        figures = self._figures
        figures.shells += bool(page.shell)
        if rendering is not None:
            figures.rendered += not rendering.failed
            if rendering.failed:
                figures.failure(rendering.failed)
            if rendering.host_needs_it:
                figures.needs(host)
        self._state.put_setting(RENDERING, msgspec.to_builtins(figures))
        return rendering.told if rendering is not None else f"its HTML is a shell: {page.shell}"

    def _copied(self, page: PageRecord) -> int:
        """The page that one copies, as the trap rules take it."""
        same_words, same_title = bool(page.duplicate_of), False
        if page.near_duplicate_of and not page.duplicate_of:
            words, title = self._state.likeness(page.near_duplicate_of)
            same_words, same_title = words == page.simhash & (1 << 64) - 1, title == page.title
        return twin_of(
            page.duplicate_of or page.near_duplicate_of,
            page.text_bytes,
            same_words=same_words,
            same_title=same_title,
            on_topic=page.on_topic,
        )

    def record(self, row: int, page: Page, verdict: Verdict, position: Position | None) -> PageRecord:
        """What the state keeps of a page, with the page that it repeats."""
        digest, exact = self._same_bytes
        if digest != page.digest:
            exact = self._state.page_by_digest(page.digest)
        self._same_bytes = ("", 0)
        unsigned = page.simhash & (1 << 64) - 1
        near = self._near.find(unsigned) if unsigned and not exact else 0
        if unsigned and not exact and not near:
            self._near.add(row, unsigned)
        return PageRecord(
            row=row,
            number=page.number,
            at=page.fetched_at,
            status=page.status,
            content_type=page.content_type,
            title=page.title,
            language=page.language,
            score=verdict.score,
            on_topic=verdict.on_topic,
            terms=verdict.terms,
            facts=verdict.facts,
            digest=page.digest,
            simhash=page.simhash,
            duplicate_of=exact,
            near_duplicate_of=near,
            bytes=page.bytes,
            text_bytes=len(page.text),
            depth=page.depth,
            file=position.file if position else "",
            offset=position.offset if position else 0,
            length=position.length if position else 0,
        )

    def _canonical(self, waiting: Waiting, page: Page, now: float) -> tuple[int, Page] | list[Event]:
        """Take the page under the URL it names; a page that is already known there ends here.

        Only within the registered domain: a site may not speak for another one.
        """
        host = host_key(page.canonical)
        found = Found(
            url=page.canonical,
            id=url_id(page.canonical),
            host=host,
            domain=domain_of(host),
            priority=waiting.priority,
            depth=waiting.depth,
            parent=waiting.row,
            source="canonical",
            memo=waiting.memo,
        )
        row = self.inject(found)
        self._frontier.finish(waiting.row, Outcome.CANONICAL, f"canonical URL is {page.canonical}")
        data: dict[str, object] = {"outcome": "canonical", "reason": page.canonical}
        event = self._state.append_event("outcome", waiting.url, data, at=now)
        if not self._frontier.is_waiting(row):
            # Another copy of a page that the crawl has, or will never have: an order that is not told goes on
            # to ask for each printer's view that pages offer of themselves.
            if self._revising is not None:
                self._revising.gone(waiting.id)
            return [event]
        return row, msgspec.structs.replace(page, url=page.canonical, id=found.id, canonical="")

    def _count_host(self, name: str, verdict: Verdict) -> None:
        host = self._frontier.host(name)
        host.fetched += 1
        host.relevant += verdict.on_topic
        host.recent = verdict.score if host.recent < 0 else host.recent + 0.1 * (verdict.score - host.recent)
        self._frontier.touch(host)
        if falling_marginal(host, self._tally.recent):
            self._frontier.demote_host(name, DEMOTION)


def index_page(index: FullText, row: int, page: Page, score: float) -> None:
    """Put a page's text into the full-text index."""
    index.add(
        row,
        page.url,
        title=page.title,
        text=page.content,
        language=page.language,
        score=score,
        at=page.fetched_at,
    )


def _part(offers: Offers, start: int, end: int) -> Offers:
    """Some offers, one behind the other."""
    some = slice(start, end)
    return Offers(
        offers.ids[some],
        offers.priorities[some],
        offers.outcomes[some],
        lambda place: offers.make(start + place),
    )


def _tell(offers: Offers, page: str) -> None:
    """Log what becomes of each link of a page, where somebody wants to know."""
    if LOG.isEnabledFor(DEBUG):
        for place in range(len(offers.ids)):
            _tell_one(offers.make(place), page)


def _tell_one(found: Found, page: str) -> None:
    if found.outcome is Outcome.WAITING:
        say(DEBUG, "queued", url=found.url, priority=found.priority, source=found.source, page=page)
    else:
        outcome = found.outcome.name.lower()
        say(DEBUG, "dropped", url=found.url, outcome=outcome, reason=found.reason, page=page)


def _elsewhere(found: Found, priority: float) -> Found:
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


Dropped = tuple[Link, Outcome, str]


def placed(page: Page, waiting: Waiting, *, number: int, now: float, status: int) -> Page:
    """A parsed page with its place in the crawl."""
    via = Via(
        parent=url_id(waiting.parent_url) if waiting.parent_url else 0,
        parent_url=waiting.parent_url,
        anchor=waiting.anchor,
        context=waiting.context,
        priority=waiting.priority,
        memo=waiting.memo,
        source=waiting.source,
    )
    return msgspec.structs.replace(
        page, number=number, via=via, depth=waiting.depth, fetched_at=now, status=status
    )
