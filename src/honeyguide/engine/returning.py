"""What happens when a page was visited again: the same, another version, or gone.

A page that is the same costs a revisit record in the archive and a line in the state. Another version takes
the page's place, in state and index; the one before is kept beside it, with the verdict it had. A page that
is gone keeps its last version and is marked. Links that were not on the page before are ranked as those of
any page; the best of them go first, since they are what has become new on the topic.

The page model judges a new version and does not learn from it: what it learned from the first one stays.
"""

from __future__ import annotations

from typing import Final

import msgspec

from honeyguide.engine.admission import Admission, domain_of, found_link
from honeyguide.engine.arrival import GIVEN, Arrival, index_page, placed
from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import Stores
from honeyguide.engine.visit import Visit
from honeyguide.failpoint import failpoint
from honeyguide.frontier import Found, Frontier, Waiting
from honeyguide.model import Event, Outcome, Page, Seen, Verdict
from honeyguide.ordering.base import LinkOrder, RevisingOrder
from honeyguide.relevance.base import verdict_on
from honeyguide.store.archive import Position
from honeyguide.store.history import VisitRecord
from honeyguide.store.index import MAX_TEXT_CHARACTERS
from honeyguide.store.index_text import storable
from honeyguide.store.records import PageRecord
from honeyguide.web import host_key, url_id

NEWS: Final = 10
"""New links of a page on topic that go before all others, at each visit."""
FOR_GOOD: Final = frozenset({301, 308})
GONE_STATUS: Final = frozenset({404, 410})


class Returning:
    """Takes later visits one by one; the caller commits.

    Args:
        stores: State, archive and index.
        frontier: Where new links go.
        arrival: What takes first visits.
        order: Ranks new links.
        admission: Which of them may wait.
        tally: What was spent.
    """

    def __init__(
        self,
        stores: Stores,
        frontier: Frontier,
        arrival: Arrival,
        order: LinkOrder,
        *,
        admission: Admission,
        tally: Tally,
    ) -> None:
        self._state = stores.state
        self._archive = stores.archive
        self._index = stores.index
        self._frontier = frontier
        self._arrival = arrival
        self._order = order
        self._revising = order if isinstance(order, RevisingOrder) else None
        self._admission = admission
        self._tally = tally

    def take(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        """Deal with the answer to a later visit."""
        self._tally.revisits += 1
        known = self._frontier.known
        page = self._state.page_by_row(waiting.row)
        self._state.history.begin(waiting.row, known)
        if page is None:
            what, position = self._listing(waiting, visit, now)
            page = PageRecord(waiting.row, 0, now)
            news = self._frontier.known - known
        elif visit.unchanged:
            what, news = Seen.SAME, 0
            position = self._keep(waiting, visit, self._origin(page))
            if self._frontier.status_of(waiting.row) is Outcome.GONE:
                what = Seen.BACK
                self._frontier.change_outcome(waiting.row, Outcome.FETCHED)
        elif visit.page is not None:
            position = self._keep(waiting, visit, None)
            what, page = self._version(waiting, visit, page, position, now)
            news = self._frontier.known - known
        else:
            position = self._keep(waiting, visit, None)
            what, news = self._no_page(waiting, visit), 0
        return [self._note(waiting, visit, what, page, position, known=known, news=news, now=now)]

    def _note(
        self,
        waiting: Waiting,
        visit: Visit,
        what: Seen,
        page: PageRecord,
        position: Position | None,
        *,
        known: int,
        news: int,
        now: float,
    ) -> Event:
        self._tally.changed += what in (Seen.CHANGED, Seen.BACK)
        own = visit.exchanges[-1] if visit.exchanges else None
        same = what in (Seen.SAME, Seen.BACK) and visit.unchanged
        # A rendered page has a digest of its own.
        same = same or (own is not None and own.rendered is not None)
        listing = waiting.again is not None and waiting.again.listing
        reason = visit.detail if what in (Seen.GONE, Seen.FAILED) else ""
        self._state.history.add(
            VisitRecord(
                waiting.row,
                own.at if own is not None else now,
                what,
                status=visit.status,
                digest=page.digest if same and not listing else own.digest if own is not None else "",
                score=page.score,
                on_topic=page.on_topic,
                file=position.file if position else "",
                offset=position.offset if position else 0,
                length=position.length if position else 0,
                known=known,
                reason=reason,
            )
        )
        failpoint("revisit.taken")
        data: dict[str, object] = {"what": what.name.lower(), "status": visit.status, "new_links": news}
        if not listing:
            data |= {"score": round(page.score, 6), "on_topic": page.on_topic, "title": page.title[:200]}
        if reason:
            data["reason"] = reason
        return self._state.append_event("revisit", waiting.url, data, at=now)

    # The same

    def _origin(self, page: PageRecord) -> tuple[str, float]:
        """URL and time of the archived answer that holds the page's bytes."""
        if page.duplicate_of and (twin := self._arrival.twin(page.digest)) is not None:
            return twin
        return page.url, page.at

    def _keep(self, waiting: Waiting, visit: Visit, origin: tuple[str, float] | None) -> Position | None:
        """Archive the answer: as a revisit of `origin`, or whole."""
        if self._archive is None or not visit.exchanges:
            return None
        *others, last = visit.exchanges
        for exchange in others:
            self._archive.write_exchange(exchange)
        if origin is not None:
            held = waiting.again.digest if waiting.again is not None else ""
            last = msgspec.structs.replace(
                last, refers_to=origin, not_modified=visit.status == 304, digest=held or last.digest
            )
        metadata = {"via": waiting.parent_url, "hops": str(waiting.depth)}
        if visit.rendering is not None:
            metadata["rendering"] = visit.rendering.told
        if visit.status == 304:
            metadata["answer"] = last.response_head.partition(b"\r\n")[0].decode("latin-1")
        last = msgspec.structs.replace(last, metadata=metadata)
        position = self._archive.write_exchange(last)
        failpoint("archive.written")
        return position

    # Another version

    def _version(
        self, waiting: Waiting, visit: Visit, old: PageRecord, position: Position | None, now: float
    ) -> tuple[Seen, PageRecord]:
        assert visit.page is not None
        page = placed(visit.page, waiting, number=old.number, now=now, status=visit.status)
        if visit.exchanges:
            own = visit.exchanges[-1]
            digest = own.digest if own.rendered is None else page.digest
            page = msgspec.structs.replace(page, digest=digest, fetched_at=own.at)
        verdict = verdict_on(self._arrival.model, page)
        if self._revising is not None and verdict.on_topic != old.on_topic:
            self._revising.rejudged(page, verdict)
        was_gone = self._frontier.status_of(waiting.row) is Outcome.GONE
        what = Seen.BACK if was_gone else Seen.TOUCHED if self._same_text(old, page) else Seen.CHANGED
        targets = self._links(waiting.row, page, verdict)
        record = self._arrival.record(waiting.row, page, verdict, position)
        record = msgspec.structs.replace(
            record,
            depth=old.depth,
            duplicate_of=0 if record.duplicate_of == old.row else record.duplicate_of,
            near_duplicate_of=0 if record.near_duplicate_of == old.row else record.near_duplicate_of,
            url=old.url,
            id=old.id,
        )
        self._state.replace_page(record, targets, until=page.fetched_at)
        self._tally.relevant += record.on_topic - old.on_topic
        self._tally.bytes += page.bytes
        self._frontier.set_score(waiting.row, verdict.score)
        outcome = Outcome.NOINDEX if page.noindex else Outcome.FETCHED
        if self._frontier.status_of(waiting.row) is not outcome:
            self._frontier.change_outcome(waiting.row, outcome)
        self._reindex(waiting.row, page, verdict)
        return what, record

    def _same_text(self, old: PageRecord, page: Page) -> bool:
        """Whether only the bytes differ: by the indexed text where there is one, else by its SimHash."""
        if page.title != old.title:
            return False
        held = self._index.text(old.row) if self._index is not None else ""
        if held:
            return held == storable(page.content[:MAX_TEXT_CHARACTERS])
        return len(page.text) == old.text_bytes and page.simhash & (1 << 64) - 1 == old.simhash

    def _reindex(self, row: int, page: Page, verdict: Verdict) -> None:
        if self._index is None:
            return
        self._index.set_aside(row, page.fetched_at)
        if verdict.on_topic and not page.noindex:
            index_page(self._index, row, page, verdict.score)
        else:
            self._index.remove(row)

    def _links(self, row: int, page: Page, verdict: Verdict) -> list[int]:
        """Offer the links that were not there before; rows of all of the page's targets."""
        before = set(self._state.links_of(row).tolist())
        eligible, dropped = self._admission.split(page)
        fresh = [link for link in eligible if self._frontier.row_of(link.id) not in before]
        scored = {one.link: one for one in self._order.rank(page, verdict, fresh)} if fresh else {}
        found = [found_link(link, page, row, scored.get(place)) for place, link in enumerate(fresh)]
        if verdict.on_topic:
            found = _first(found)
        self._frontier.add(found, self._order.combine)
        self._arrival.revise()
        kept = (self._frontier.row_of(link.id) for link in (*eligible, *(each[0] for each in dropped)))
        targets = [target for target in kept if target]
        self._frontier.set_links(row, [target for target in targets if target not in before])
        if page.canonical and domain_of(host_key(page.canonical)) == domain_of(host_key(page.url)):
            self._bring(page.canonical, row, page.depth, "canonical")
        return targets

    def _bring(self, url: str, row: int, depth: int, source: str) -> None:
        host = host_key(url)
        self._arrival.inject(
            Found(
                url=url,
                id=url_id(url),
                host=host,
                domain=domain_of(host),
                priority=GIVEN,
                depth=depth,
                redirects=1,
                parent=row,
                source=source,
            )
        )

    # No page

    def _no_page(self, waiting: Waiting, visit: Visit) -> Seen:
        if visit.outcome is Outcome.REDIRECTED:
            self._bring(visit.redirect, waiting.row, waiting.depth, "redirect")
        moved = visit.outcome is Outcome.REDIRECTED and visit.status in FOR_GOOD
        if not moved and visit.status not in GONE_STATUS:
            return Seen.FAILED
        if self._frontier.status_of(waiting.row) is not Outcome.GONE:
            self._frontier.change_outcome(waiting.row, Outcome.GONE, visit.detail)
            self._tally.gone += 1
        return Seen.GONE

    def _listing(self, waiting: Waiting, visit: Visit, now: float) -> tuple[Seen, Position | None]:
        """A sitemap or feed was read again."""
        if visit.unchanged:
            return Seen.SAME, None
        position = self._keep(waiting, visit, None)
        if visit.outcome is not Outcome.LISTING:
            return Seen.FAILED, position
        self._arrival.queue_listing(waiting, visit, now)
        return Seen.CHANGED, position


def _first(found: list[Found]) -> list[Found]:
    """The best of them are lifted to where given URLs are, in the order they have among themselves."""
    waiting = [place for place, one in enumerate(found) if one.outcome is Outcome.WAITING]
    best = sorted(waiting, key=lambda place: (-found[place].priority, place))[:NEWS]
    made = list(found)
    for rank, place in enumerate(best):
        made[place] = msgspec.structs.replace(found[place], priority=GIVEN + 1 - rank / NEWS)
    return made
