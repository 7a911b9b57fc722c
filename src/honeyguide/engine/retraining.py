"""What people said about pages, taken into a crawl: the page model is trained again and what waits re-scored.

In four steps, all between two turns of the loop, so that nobody waits for them:

1. The reviewed pages are read from the archive.
2. The model works out what they teach, on a running crawl in a thread of its own, and takes it at once.
3. A few pages a turn, every archived page is judged and its links are ranked again. Verdicts of pages change
   in the state and the index (a reviewed page's verdict is the person's), priorities gather beside.
4. At the end all priorities change together, the journal gets one event (`learned`), model and order are
   saved, and the state notes how many decisions are in. Before that, a crash or a stop costs the work only:
   it starts again with the next session.

Without a file of reviews nothing of this happens and nothing is written. Links that were ranked get the
priority they would have today; what an order attached to a waiting URL (`memo`) stays as it was. Orders whose
answer changes when they are asked twice (OPIC hands out cash) are not asked again; global ones reorder.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.admission import Admission, found_link
from honeyguide.engine.arrival import DEMOTION, GIVEN, Arrival, index_page
from honeyguide.engine.budget import Tally
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.committer import Committer, Stores
from honeyguide.engine.reread import Reader
from honeyguide.frontier import Frontier
from honeyguide.model import Link, Outcome, Page, Scored, Verdict
from honeyguide.ordering.base import LinkOrder, RevisingOrder
from honeyguide.relevance.base import OnlinePageModel, verdict_on
from honeyguide.relevance.reviewed import Lesson, Reviewed, ReviewedModel
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Decision, Reviews, read_reviews
from honeyguide.web import host_key, url_id

PAGES_A_TURN: Final = 8
PAGES_OF_HOST: Final = 5
"""Pages that a decision on a whole host is learned from."""
APPLIED: Final = "reviews"
"""Key of the state's setting with what is in (`Applied`)."""
JUDGE_AGAIN: Final = "judge_again"
"""Key of the state's setting that asks for all pages to be judged again, reviews or none."""


class Applied(msgspec.Struct, frozen=True):
    """Which decisions a crawl has taken in."""

    written: int = 0
    """Lines of the file of reviews."""
    passes: int = 0
    """How often all pages were judged again: verdicts read before are out of date."""
    demoted: tuple[str, ...] = ()
    """Hosts that were rejected."""
    learned: dict[str, int] = {}
    """Numbers of the last time: decisions, reviews, pages, verdicts and priorities changed."""


def applied(state_setting: object) -> Applied:
    """The setting `reviews` of a state as data; nothing applied where there is none."""
    try:
        return msgspec.convert(state_setting, Applied)
    except msgspec.ValidationError:
        return Applied()


class Retraining:
    """Takes reviews into one session of a crawl."""

    def __init__(
        self,
        folder: Path,
        *,
        stores: Stores,
        frontier: Frontier,
        arrival: Arrival,
        model: ReviewedModel,
        order: LinkOrder,
        admission: Admission,
        reader: Reader,
        committer: Committer,
        checkpoints: Checkpoints,
        tally: Tally,
        aside: bool,
    ) -> None:
        self._folder = folder
        self._stores = stores
        self._frontier = frontier
        self._arrival = arrival
        self._model = model
        self._order = order
        self._admission = admission
        self._reader = reader
        self._committer = committer
        self._checkpoints = checkpoints
        self._tally = tally
        self._aside = aside
        self._asked = (
            read_reviews(folder).written != applied(stores.state.setting(APPLIED)).written
            or self.judges_again
        )
        self._texts: dict[str, Page] = {}
        self._training: asyncio.Future[Lesson] | None = None
        self._reviews = Reviews([])
        self._pass: Pass | None = None
        self._committed = 0

    @property
    def busy(self) -> bool:
        """Whether reviews are asked for or under way."""
        return self._asked or self._training is not None or self._pass is not None

    @property
    def judges_again(self) -> bool:
        """Whether all pages are to be judged again because the topic has changed."""
        return bool(self._stores.state.setting(JUDGE_AGAIN))

    def ask(self) -> None:
        """There are new decisions."""
        self._asked = True

    def step(self, now: float, wake: Callable[[], None]) -> None:
        """Do a little of what there is to do; `wake` is called when the next turn should come at once."""
        if self._training is not None:
            if self._training.done():
                done, self._training = self._training, None
                self._take(done.result())
                wake()
        elif self._asked:
            self._asked = False
            self._begin(now, wake)
        elif self._pass is not None:
            if not self._pass.step(PAGES_A_TURN):
                self._end(now)
            wake()

    def all(self, now: float) -> None:
        """Everything at once, for a crawl that does not run."""
        self._aside = False
        while self.busy:
            self.step(now, lambda: None)

    def _begin(self, now: float, wake: Callable[[], None]) -> None:
        self._reviews = read_reviews(self._folder)
        if (
            self._reviews.written == applied(self._stores.state.setting(APPLIED)).written
            and not self.judges_again
        ):
            return
        self._committer.commit(now)
        self._committed = self._tally.pages
        reviewed = list(self._reviewed())
        if not self._aside:
            self._take(self._model.lesson(reviewed))
            return
        # A model that learns from pages may do so meanwhile: the thread gets a copy of its own.
        teacher = copy.deepcopy(self._model) if isinstance(self._model, OnlinePageModel) else self._model
        work = asyncio.get_running_loop().run_in_executor(None, teacher.lesson, reviewed)
        work.add_done_callback(lambda _: wake())
        self._training = work

    def _reviewed(self) -> Iterator[Reviewed]:
        """Pages with decisions, those of whole hosts by a few of theirs; oldest decision first."""
        held = self._reviews
        for decision in held.standing:
            if decision not in (held.pages.get(decision.url), held.hosts.get(decision.host)):
                continue  # a later one on the same page or host
            for row in self._rows(decision):
                record = self._stores.state.page_by_row(row)
                if record is None or not record.file or (decision.host and record.number > decision.upto):
                    continue
                page = self._texts.get(record.url) or self._reader.page(record)
                if page is not None:
                    self._texts[record.url] = msgspec.structs.replace(page, links=(), blocks=())
                    yield Reviewed.of(page, accepted=decision.said == "accept")

    def _rows(self, decision: Decision) -> list[int]:
        """Rows of the pages to learn a decision from."""
        if decision.url:
            return [row] if (row := self._frontier.row_of(url_id(decision.url))) else []
        if not self._frontier.knows_host(decision.host):
            return []
        columns = self._stores.state.columns()
        own = columns.hosts[1 : columns.size + 1] == self._frontier.host(decision.host).row
        fetched = columns.status[1 : columns.size + 1] == Outcome.FETCHED
        rows: list[int] = (np.flatnonzero(own & fetched) + 1).tolist()
        return rows[:: max(1, len(rows) // PAGES_OF_HOST)][:PAGES_OF_HOST]

    def _take(self, lesson: Lesson) -> None:
        self._model.take(lesson)
        self._pass = Pass(
            self._stores,
            self._frontier,
            model=self._model,
            order=self._order,
            admission=self._admission,
            reader=self._reader,
            reviews=self._reviews,
            tally=self._tally,
            until=self._committed,
        )

    def _end(self, now: float) -> None:
        """Let all priorities change together, and make it last."""
        done, self._pass = self._pass, None
        assert done is not None
        self._committer.commit(now)
        done.until = self._tally.pages
        while done.step(PAGES_A_TURN):
            """Pages that came in while the others were judged."""
        changed = done.apply()
        state = self._stores.state
        before = applied(state.setting(APPLIED))
        demoted = tuple(sorted(host for host, one in self._reviews.hosts.items() if one.said == "reject"))
        for host in (*before.demoted, *demoted):
            if self._frontier.knows_host(host):
                self._frontier.demote_host(host, DEMOTION if host in demoted else 0.0)
        if self._order.reorder_every is not None:
            self._committer.add(self._arrival.reorder(now))
        told = {
            "decisions": self._reviews.written,
            "reviews": self._model.reviews,
            "pages": done.judged,
            "verdicts": done.turned,
            "changed": changed,
        }
        self._committer.event("learned", "", dict(told), now)
        self._checkpoints.save(self._tally)
        self._committer.setting(APPLIED, Applied(self._reviews.written, before.passes + 1, demoted, told))
        if self.judges_again:
            self._committer.setting(JUDGE_AGAIN, False)
        self._committer.commit(now)


class Pass:
    """Judges and ranks all archived pages again; priorities gather until `apply`."""

    def __init__(
        self,
        stores: Stores,
        frontier: Frontier,
        *,
        model: ReviewedModel,
        order: LinkOrder,
        admission: Admission,
        reader: Reader,
        reviews: Reviews,
        tally: Tally,
        until: int,
    ) -> None:
        self._stores = stores
        self._frontier = frontier
        self._model = model
        # A copy that shares the page model: ranking again must leave no trace in the crawl's own order.
        self._order = order if isinstance(order, RevisingOrder) else copy.deepcopy(order, {id(model): model})
        # An order that changes its mind is told the new verdicts at the end, and says itself what follows.
        self._revising = order if isinstance(order, RevisingOrder) else None
        self._rejudged: list[tuple[Page, Verdict]] = []
        self._ranks = order.reorder_every is None and self._revising is None
        self._tried = False
        self._admission = admission
        self._reader = reader
        self._reviews = reviews
        self._tally = tally
        self._after = 0
        self._records = stores.state.pages()
        self.until = until
        """Number of the last page that the archive has on disk."""
        self._priorities: NDArray[np.float64] = np.full(frontier.known + 1, np.nan)
        self._memos: dict[int, dict[str, float]] = {}
        self.judged = 0
        self.turned = 0
        """Pages whose verdict is another one now."""

    def step(self, pages: int) -> bool:
        """Go through a few pages. False: there are no more for now."""
        for _ in range(pages):
            record = next(self._records, None)
            if record is None or record.number > self.until:
                self._records = self._stores.state.pages(after=self._after)
                return False
            self._after = record.number
            # Records come in batches; the crawl may have judged this page again since its batch was read.
            record = self._stores.state.page_by_row(record.row)
            page = self._reader.page(record) if record is not None and record.file else None
            if record is not None and page is not None:
                self._one(record, page)
        return True

    def apply(self) -> int:
        """Set the priorities; how many waiting URLs changed theirs."""
        if self._revising is not None:
            for page, verdict in self._rejudged:
                self._revising.rejudged(page, verdict)
            revised = self._revising.revised()
            return self._frontier.revise(revised.ids, revised.priorities, below=GIVEN)
        return self._frontier.reprioritise(self._priorities[1:])

    def _one(self, record: PageRecord, page: Page) -> None:
        if page.via is not None and record.row in self._memos:
            via = msgspec.structs.replace(page.via, memo=self._memos.pop(record.row))
            page = msgspec.structs.replace(page, via=via)
        verdict = verdict_on(self._model, page)
        self.judged += 1
        self._note(record, page, verdict)
        if self._revising is not None:
            self._rejudged.append((Page(page.url, page.id, via=page.via), self._said(record, verdict)))
        if not self._ranks:
            return
        eligible, _ = self._admission.split(page)
        scored = self._order.rank(page, verdict, eligible)
        if not self._tried and eligible:
            self._tried = True
            self._ranks = list(self._order.rank(page, verdict, eligible)) == list(scored)
        if self._ranks:
            for one in scored:
                self._rank(record.row, page, eligible[one.link], one)

    def _said(self, record: PageRecord, verdict: Verdict) -> Verdict:
        """The verdict that an order learns from: where a person has spoken, nothing but theirs."""
        decision = self._reviews.on(record.url, host_key(record.url), record.number)
        if decision is None:
            return verdict
        accepted = decision.said == "accept"
        return Verdict(float(accepted), accepted)

    def _note(self, record: PageRecord, page: Page, verdict: Verdict) -> None:
        """Keep the new verdict; where a person has spoken, theirs."""
        decision = self._reviews.on(record.url, host_key(record.url), record.number)
        on_topic = verdict.on_topic if decision is None else decision.said == "accept"
        if on_topic == record.on_topic and verdict.score == record.score:
            return
        self._tally.relevant += on_topic - record.on_topic
        self._tally.score += verdict.score - record.score
        self.turned += on_topic != record.on_topic
        kept = msgspec.structs.replace(verdict, on_topic=on_topic)
        self._stores.state.change_verdict(record.row, kept)
        index = self._stores.index
        if index is not None and not page.noindex:
            if not on_topic:
                index.remove(record.row)
            elif not index.set_score(record.row, verdict.score):
                index_page(index, record.row, page, verdict.score)

    def _rank(self, parent: int, page: Page, link: Link, scored: Scored) -> None:
        row = self._frontier.row_of(link.id)
        if not row:
            return
        status = self._frontier.status_of(row)
        if status is Outcome.ORDER and not scored.drop:
            self._frontier.add([found_link(link, page, parent, scored)], self._order.combine)
        elif status is Outcome.FETCHED and scored.memo:
            self._memos[row] = scored.memo
        elif status is Outcome.WAITING and self._frontier.priority_of(row) < GIVEN:
            if row >= len(self._priorities):
                more = np.full(self._frontier.known + 1 - len(self._priorities), np.nan)
                self._priorities = np.concatenate([self._priorities, more])
            # Left out today, but it waits already: behind everything that is not.
            given = scored.priority if not scored.drop else -DEMOTION
            self._priorities[row] = combined(float(self._priorities[row]), given, self._order.combine)


def combined(before: float, given: float, how: str) -> float:
    """The priority of a URL after another link to it; the first one finds NaN.

    Example:
        >>> combined(float("nan"), 0.5, "max"), combined(0.5, 0.2, "sum"), combined(0.5, 0.2, "first")
        (0.5, 0.7, 0.5)
    """
    if np.isnan(before) or how == "latest":
        return given
    if how == "sum":
        return before + given
    return before if how == "first" else max(before, given)
