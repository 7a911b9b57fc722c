"""Earlier pages get the verdict they would get today, when a page model has moved its line.

A model that learns while the crawl runs (`relevance/calibrated.py`) remembers pages with their place on its
scale, so nothing is read or parsed again. It is done at once after the page that made it learn: the journal
gets one event (`learned`), and the next commit makes verdicts, index and event last together. A page that a
person has spoken about keeps their verdict. An order that learns from verdicts is told of the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from honeyguide.engine.arrival import index_page
from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import Committer, Stores
from honeyguide.engine.reread import Reader
from honeyguide.frontier import Frontier
from honeyguide.model import Page, Verdict
from honeyguide.ordering.base import RevisingOrder
from honeyguide.relevance.base import RememberingPageModel
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Reviews, read_reviews
from honeyguide.web import host_key

NOTED: Final = 0.02
"""Scores that moved less stay as they are."""


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
        reader: Reader | None = None,
        folder: Path | None = None,
        order: RevisingOrder | None = None,
    ) -> None:
        self._model = model
        self._order = order
        self._stores = stores
        self._frontier = frontier
        self._committer = committer
        self._tally = tally
        self._reader = reader
        self._folder = folder

    def line_moved(self, now: float) -> None:
        """Take the model's word on the pages it remembers."""
        known = self._model.remembered()
        if not known:
            return
        self._frontier.flush()
        reviews = read_reviews(self._folder) if self._folder is not None else Reviews([])
        turned = judged = 0
        for url, score, likely in known:
            row = self._frontier.row_of(url)
            record = self._stores.state.page_by_row(row) if row else None
            if record is None:
                continue
            judged += 1
            said = reviews.on(record.url, host_key(record.url), record.number)
            on_topic = likely if said is None else record.on_topic
            if self._order is not None and said is None:
                self._order.rejudged(Page(record.url, url), Verdict(score, likely))
            if on_topic != record.on_topic or abs(score - record.score) >= NOTED:
                turned += on_topic != record.on_topic
                self._change(record, score, on_topic=on_topic, now=now)
        told: dict[str, object] = {"pages": judged, "verdicts": turned}
        self._committer.event("learned", "", told, now)

    def _change(self, record: PageRecord, score: float, *, on_topic: bool, now: float) -> None:
        state, index = self._stores.state, self._stores.index
        verdict = Verdict(score, on_topic, record.terms, record.facts)
        state.change_verdict(record.row, verdict)
        self._frontier.set_score(record.row, score)
        self._tally.relevant += on_topic - record.on_topic
        self._tally.score += score - record.score
        if index is None:
            return
        if not on_topic:
            index.remove(record.row)
        elif not index.set_score(record.row, score) and self._reader is not None and record.file:
            self._committer.commit(now)  # the page may be one that is not on disk yet
            page = self._reader.page(record)
            if page is not None and not page.noindex:
                index_page(index, record.row, msgspec.structs.replace(page, number=record.number), score)
