"""Earlier pages get the verdict they would get today, when a page model has moved its line.

A model that learns while the crawl runs (`relevance/calibrated.py`) remembers pages with their place on its
scale, so nothing is read or parsed again for them. It is done at once after the page that made it learn: the
journal gets one event (`learned`), and the next commit makes verdicts, index and event last together. A page
that a person has spoken about keeps their verdict. An order that learns from verdicts is told of the others.

Some pages are then read from the archive again, `MOST_AGAIN` at most, so the cost is bounded: how often the
model learns grows with the logarithm of the crawl. First those whose verdict has turned: URLs that wait get
the priority that the page would give them today, where it was this page that gave them theirs. Then those
that the model no longer remembers, nearest to the line first. A live crawl does this a few pages a turn, and
a second event tells when it is done; a replay at once.
"""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from honeyguide.engine.admission import Admission
from honeyguide.engine.arrival import GIVEN, index_page
from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import Committer, Stores
from honeyguide.engine.reread import Reader
from honeyguide.frontier import Frontier
from honeyguide.model import BY_TEXT, Outcome, Page, UrlId, Verdict
from honeyguide.ordering.base import LinkOrder, RevisingOrder
from honeyguide.relevance.base import RememberingPageModel, verdict_on
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Reviews, read_reviews
from honeyguide.web import host_key

NOTED: Final = 0.02
"""Scores that moved less stay as they are."""
MOST_AGAIN: Final = 200
"""Pages that are read again at most, each time that the model has learned."""
AT_ONCE: Final = 200
"""Remembered pages that are given their scores before others have their turn, where that matters."""
AT_A_STRETCH: Final = 0.005
"""Seconds after which others have their turn all the same."""
PAGES_A_TURN: Final = 2
CLOSE: Final = 0.45
"""Scores further than this from one half are not worth another look."""
SAME: Final = 1e-9
"""Priorities that differ by less are the same."""


class Counts(msgspec.Struct):
    """What came of reading pages again."""

    read_again: int = 0
    verdicts: int = 0
    changed: int = 0
    """Waiting URLs with another priority."""


class Rejudging:
    """Keeps the verdicts of one session's pages up to date."""

    def __init__(
        self,
        model: RememberingPageModel,
        *,
        stores: Stores,
        frontier: Frontier,
        committer: Committer,
        tally: Tally,
        order: LinkOrder,
        admission: Admission,
        reader: Reader | None = None,
        folder: Path | None = None,
        in_slices: bool = False,
    ) -> None:
        self._model = model
        self._order = order
        self._revising = order if isinstance(order, RevisingOrder) else None
        self._asked: LinkOrder | None = None
        self._admission = admission
        self._in_slices = in_slices
        self._again: deque[tuple[int, Verdict]] = deque()
        self._counts = Counts()
        self._stores = stores
        self._frontier = frontier
        self._committer = committer
        self._tally = tally
        self._reader = reader
        self._folder = folder

    def line_moved(self, now: float) -> Iterator[None]:
        """Take the model's word on the pages it remembers, a few at a time."""
        known = self._model.remembered()
        if not known:
            return
        yield
        self._frontier.flush()
        turned = 0
        seen: set[int] = set()
        before: list[tuple[int, Verdict]] = []
        for start in range(0, len(known), AT_ONCE):
            turned += yield from self._hear(known[start : start + AT_ONCE], seen, before)
            yield
        told: dict[str, object] = {"pages": len(seen), "verdicts": turned}
        if self._reader is not None and self._stores.archive is not None:
            self._begin(before if self._revising is None else [], seen, now)
            if not self._in_slices:
                while self._again:
                    self._look(*self._again.popleft())
                more = msgspec.to_builtins(self._counts)
                told |= more | {"verdicts": turned + self._counts.verdicts}
        self._committer.event("learned", "", told, now)

    def _hear(
        self,
        known: Sequence[tuple[UrlId, Verdict]],
        seen: set[int],
        before: list[tuple[int, Verdict]],
    ) -> Generator[None, None, int]:
        """Give some pages the scores they have now, with pauses; how many verdicts turned.

        A page that turns out to be on topic is read and indexed, which takes a hundred times as long as the
        others: what has to wait is told by the clock, not by their number.

        Args:
            known: Fingerprint and verdict of each.
            seen: Gets their rows.
            before: Gets the earlier verdicts of those that turned.
        """
        reviews = self._reviews()
        reviewed = len(reviews) > 0
        turned, since = 0, time.perf_counter()
        rows = self._frontier.rows_of([url for url, _ in known])
        held = self._stores.state.verdicts_of(rows)
        replaced = self._stores.state.history.replaced()  # the model remembers what they said at first
        for row, (url, verdict) in zip(rows, known, strict=True):
            if row not in held or row in replaced:
                continue
            seen.add(row)
            address, number, old, was = held[row]
            said = reviews.on(address, host_key(address), number) if reviewed else None
            on_topic = verdict.on_topic if said is None else was
            if self._revising is not None and said is None:
                self._revising.rejudged(Page(address, url), verdict)
            if on_topic != was or abs(verdict.score - old) >= NOTED:
                record = self._stores.state.page_by_row(row)
                assert record is not None
                if on_topic != was:
                    turned += 1
                    before.append((row, Verdict(record.score, record.on_topic, record.terms, record.facts)))
                self._change(record, verdict, on_topic=on_topic)
                held[row] = (address, number, verdict.score, on_topic)
                if time.perf_counter() - since > AT_A_STRETCH:
                    yield
                    since = time.perf_counter()
        return turned

    @property
    def busy(self) -> bool:
        """Whether pages are still to be read again."""
        return bool(self._again)

    def step(self, now: float) -> None:
        """Read a few pages again; the last one brings the event."""
        for _ in range(min(PAGES_A_TURN, len(self._again))):
            self._look(*self._again.popleft())
        if not self._again:
            self._committer.event("learned", "", msgspec.to_builtins(self._counts), now)

    def _begin(self, before: list[tuple[int, Verdict]], seen: set[int], now: float) -> None:
        self._committer.commit(now, going_on=True)  # pages of this transaction are not on disk yet
        self._again = deque([*before, *self._unremembered(seen)][:MOST_AGAIN])
        self._counts, self._asked = Counts(), None

    def _reviews(self) -> Reviews:
        return read_reviews(self._folder) if self._folder is not None else Reviews([])

    def _unremembered(self, seen: set[int]) -> list[tuple[int, Verdict]]:
        """Pages that the model has forgotten, nearest to the line first, with the verdict they have."""
        if self._tally.pages <= len(seen):
            return []
        found = self._stores.state.connection.execute(
            "SELECT row, score, on_topic FROM page WHERE abs(score - 0.5) < ?"
            " ORDER BY abs(score - 0.5), row LIMIT ?",
            (CLOSE, MOST_AGAIN + len(seen)),
        )
        return [(row, Verdict(score, bool(on_topic))) for row, score, on_topic in found if row not in seen]

    def _look(self, row: int, before: Verdict) -> None:
        """Judge an archived page and rank its links as today."""
        record = self._stores.state.page_by_row(row)
        page = self._reader.page(record) if self._reader is not None and record and record.file else None
        if page is None or record is None:
            return
        verdict = verdict_on(self._model, page)
        said = self._reviews().on(record.url, host_key(record.url), record.number)
        if said is not None:
            verdict = msgspec.structs.replace(verdict, on_topic=record.on_topic)
        self._counts.read_again += 1
        if verdict.on_topic != record.on_topic or abs(verdict.score - record.score) >= NOTED:
            self._counts.verdicts += verdict.on_topic != record.on_topic
            self._change(record, verdict, on_topic=verdict.on_topic)
        if self._revising is None:
            self._counts.changed += self._rank(page, before, verdict)
        elif said is None:
            self._revising.rejudged(Page(record.url, page.id), verdict)

    def _rank(self, page: Page, before: Verdict, after: Verdict) -> int:
        """Give waiting URLs whose priority came from this page the one it gives today. How many changed."""
        if self._order.reorder_every is not None:
            return 0
        eligible, _ = self._admission.split(page)
        if self._asked is None:
            # A copy that shares the page model: ranking again must leave no trace in the crawl's own order.
            self._asked = copy.deepcopy(self._order, {id(self._model): self._model})
        today = list(self._asked.rank(page, after, eligible))
        if list(self._asked.rank(page, after, eligible)) != today:
            return 0  # its answer changes when it is asked again (OPIC hands out cash)
        old = {one.link: one.priority for one in self._asked.rank(page, before, eligible) if not one.drop}
        ids, priorities = [], []
        for one in today:
            row = self._frontier.row_of(eligible[one.link].id)
            if not row or one.drop or self._frontier.status_of(row) is not Outcome.WAITING:
                continue
            held = self._frontier.priority_of(row)
            if one.priority > held or abs(held - old.get(one.link, np.inf)) < SAME:
                ids.append(eligible[one.link].id)
                priorities.append(one.priority)
        return self._frontier.revise(np.array(ids, np.int64), np.array(priorities, np.float64), below=GIVEN)

    def _change(self, record: PageRecord, today: Verdict, *, on_topic: bool) -> None:
        state, index, archive = self._stores.state, self._stores.index, self._stores.archive
        score = today.score
        known = {name: value for name, value in record.facts.items() if name != BY_TEXT}
        verdict = Verdict(score, on_topic, record.terms, known | today.facts)
        state.change_verdict(record.row, verdict)
        self._frontier.set_score(record.row, score)
        self._tally.relevant += on_topic - record.on_topic
        self._tally.score += score - record.score
        if index is None:
            return
        if not on_topic:
            index.remove(record.row)
        elif not index.set_score(record.row, score) and self._reader is not None and record.file:
            if archive is not None:
                archive.flush()  # the page may be one that is not in its file yet
            page = self._reader.page(record)
            if page is not None and not page.noindex:
                index_page(index, record.row, msgspec.structs.replace(page, number=record.number), score)
