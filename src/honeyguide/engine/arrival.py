"""What happens when a visit comes back: judge, archive, learn, rank, commit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.admission import SEED, Admission, domain_of, is_given, offers_of
from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import Stores
from honeyguide.engine.crossing import Crossing
from honeyguide.engine.listings import MOST_NAMED, Listings
from honeyguide.engine.neighbours import Batch
from honeyguide.engine.render_figures import RENDERING, render_figures
from honeyguide.engine.visit import Rendering, Visit
from honeyguide.failpoint import failpoint
from honeyguide.frontier import Found, Frontier, Offers, Waiting
from honeyguide.log import DEBUG, LOG, say
from honeyguide.model import Event, Link, Outcome, Page, Scored, Seen, Verdict, Via
from honeyguide.ordering.base import BacklinkedOrder, LinkOrder, PausingOrder, RevisingOrder, done
from honeyguide.relevance.base import OnlinePageModel, PageModel, RememberingPageModel, verdict_on
from honeyguide.store.archive import Position
from honeyguide.store.duplicates import NearDuplicates
from honeyguide.store.history import VisitRecord
from honeyguide.store.index import FullText
from honeyguide.store.outbox import Traveller
from honeyguide.store.records import PageRecord
from honeyguide.web import canonical, falling_marginal, host_key, url_id
from honeyguide.web.url import url_ids
from honeyguide.web.zones import twin_of

GIVEN = 1e3
"""Priorities from here on were given by hand (seeds, suggestions) and stay."""
MISSING = frozenset((404, 410))
"""Answers that say that there is no such page, and will not be."""
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
        crossing: Crossing | None = None,
        timer: Callable[[], float] = float,
    ) -> None:
        self._state = stores.state
        self._timer = timer
        self._crossing = crossing
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
        if self._crossing is not None and not self._crossing.is_mine(found.host):
            return self._crossing.send(found, self._frontier.url_of(found.parent))
        return self._frontier.add([found], "max")[0]

    def inject_all(self, found: Sequence[Found]) -> None:
        """The same for many at once: of ten thousand seeds, one by one, each would take as long as a page."""
        if self._crossing is not None:
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
        if self._crossing is not None:
            self._crossing.note(url, number)
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
        if self._crossing is not None:
            self._crossing.look_away(page, eligible)
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
            if self._crossing is None:
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
        if self._crossing is not None or len(eligible) <= NAMED_AT_ONCE:
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
        if self._crossing is None:
            return self._frontier.offer(offers, self._order.combine)
        return self._crossing.offer(
            page, row, offers, eligible=eligible, scored=scored, dropped=dropped, score=score
        )

    def enter(self, batch: Batch) -> None:
        """Take in links that another shard found."""
        assert self._crossing is not None
        self._crossing.enter(batch)
        self.revise()

    def take_over(self, links: Sequence[Traveller], sender: str) -> None:
        """Take in links to hosts that are this shard's from now on."""
        assert self._crossing is not None
        self._crossing.take_in(links, sender, handed=True)
        self.revise()

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
