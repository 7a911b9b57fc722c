"""Scout: joins all evidence about a URL, learns from its own crawl, and explores."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.model import Link, Page, Scored, UrlId, Verdict
from honeyguide.ordering import scout_evidence as evidence
from honeyguide.ordering import scout_weights as weights
from honeyguide.ordering.base import Combine, LocalOrder, Revised, TextJudge, done
from honeyguide.ordering.scout_evidence import (
    AWAY,
    COLUMNS,
    FETCHED,
    LINKS,
    MOST,
    NEIGHBOURS,
    PLACES,
    TABLE,
    WAITING,
    WORDS,
    Held,
    Joining,
    NewLinks,
    Standing,
)
from honeyguide.ordering.scout_links import Read, new_read, note_anchors, note_groups, read_links
from honeyguide.ordering.scout_reasons import Reason, reasons
from honeyguide.ordering.scout_shards import (
    A_PAGE,
    LATEST,
    ROUNDED,
    Elsewhere,
    hear_of_link,
    note_promise,
    told_of_link,
)
from honeyguide.ordering.scout_words import Likeness, enter, host_and_folders, read_site_paths
from honeyguide.ordering.sharing import change, checked, sparse
from honeyguide.ordering.url_keywords import UrlKeywords
from honeyguide.store.models import Saved
from honeyguide.web.url import canonical, url_id

REFRESH: Final = 8
"""Pages between two looks at the URLs that wait."""
RELEARN: Final = 25
GROWTH: Final = 0.04
"""Weights, standards and the picture of a good page are worked out again after so many pages, or when the
crawl has grown by so much, whichever comes later: the work a page stays the same while the frontier grows."""
BEST: Final = 256
SWEEP: Final = 768
"""URLs looked at each time: the best ones, and the next of all in turn."""
SCORED_AT_ONCE: Final = 8192
"""URLs whose scores are worked out before others have their turn."""
MOVED_AT_ONCE: Final = 4096
"""Entries that move at a time when room is made."""
SOON: Final = 2048
"""URLs that might be asked for before everything is worked out again."""
SAMPLE: Final = 2048
"""URLs that the standards are taken from, and outcomes that weights are learned from."""
CONTEXT: Final = 300
"""Characters around a link that are looked at."""
ANCHORS: Final = 50_000
"""Anchors that are remembered with their words."""
MOST_LINKS: Final = 1 << 16
"""Links of another shard's page whose places are told apart."""
LITTLE: Final = 0.3
"""Worth below which a URL promises little, and that of one whose turn it is."""
BARREN: Final = 2
"""Pages that promised little when they were asked for, before it is the turn of the longest known URL."""
SURE_PAGES: Final = 20.0
"""Pages that are told apart surely, with which a crawl begins."""
SURE: Final = 0.01
"""Worths and rates closer than this to 0 or 1 count as this far away."""
TOLD: Final = 256
"""URLs that wait whose scores other shards are told of."""
BLOCK: Final = 4000
"""Characters of a content block that are looked at."""
AGREED: Final = "sum waiting"
"""What shards tell each other of the scores of what waits."""
LEAST_SHARED: Final = 1e-4
"""Sums below this are not told to other shards."""
TOLERANCE: Final = 1e-4
"""A change of priority below this is not worth telling."""


NOTHING: Final = np.zeros(2)


class Said(NamedTuple):
    """What anchors say that were met before, a row each: menus come again on every page."""

    topic: NDArray[np.float32]
    """Score of the page model."""
    words: NDArray[np.int32]


class Scout(LocalOrder):
    """Each URL is worth what all links to it, and all that became of their like, say it is worth.

    A URL has twenty scores: the worth of the pages that link to it (best and mean), their likeness to the
    best pages so far, and their parents' worth; what became of other links near it, in the same list, on the
    same page, at the same place of the site's pages; the topic in its anchors, around them, in the other
    anchors of its list and in its address; the words of its anchors and address as the crawl has learned
    them, the likeness of its anchors and of its list to the best pages; the rates of its host and folder;
    where someone knows backlinks, the worth of the fetched pages that it is said to link to; and, where
    pages are cut into content blocks (`ScoutBlocks`), the topic in the best block that links to it.
    Each is standardised over the URLs that wait. They count equally at first; a ridge regression on the
    crawl's own outcomes then shifts weight to those that tell most on this web, but never below 0. The sum is
    the worth to expect.

    An outcome is the page model's chance that the page is on topic. On request (`fellows`) its odds are
    raised as far as those of the pages found on the same pages are above the crawl's own, or lowered: pages
    that are linked together are about the same things, and a text of a few words leaves much open.

    What is known too little is worth a try: every URL gets an upper confidence bound for its host and its
    folder, which shrinks as pages of them are fetched, and counts only as far as verdicts tell pages apart.
    So a crawl looks at every host before it settles, and leaves a folder that is exhausted. A page off topic
    that leads to new URLs of promise is an outcome of some worth: hubs are looked for, too. While all that is
    known promises little, every third request goes to the URL that has been known longest, as in a crawl
    breadth first: the way to the rest of a topic may lead through pages that have nothing of it.

    Priorities follow what is learned: every eight pages those of the best 256 URLs, of the next 768
    in turn, of all that a fetched page links to, and after new weights of all that may be asked for soon.

    Args:
        judge: The page model, for anchors.
        languages: Languages of the topic, for the words of anchors and pages.
        topic_terms: The topic's keywords, for addresses.
        trust: Pages after which a score's own weight is believed by half; larger is more cautious.
        by_host: How much hosts are explored; 0 for not at all.
        by_folder: How much folders are explored.
        hubs: What a page off topic is worth that leads to new URLs which are all sure to be on topic.
        fellows: How much pages found beside a page say about it; 1 for all their odds, 0 for nothing.
        without: Names of scores to leave out, for experiments.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> order = Scout(Owls())
        >>> page = Page(url="https://a.example/", id=1)
        >>> order.learn(page, Verdict(0.5, True))
        >>> links = [Link("https://a.example/b", 2, "an owl"), Link("https://a.example/c", 3, "tax")]
        >>> owl, tax = order.rank(page, Verdict(0.5, True), links)
        >>> owl.priority > tax.priority
        True

    References:
        Soumen Chakrabarti, Kunal Punera, Mallela Subramanyam, "Accelerated focused crawling through online
        relevance feedback", WWW 2002 (learning which links to follow from the crawl's own outcomes).
        Peter Auer, Nicolò Cesa-Bianchi, Paul Fischer, "Finite-time analysis of the multiarmed bandit
        problem", Machine Learning 47, 2002 (upper confidence bounds).
        Soumen Chakrabarti, Byron Dom, Piotr Indyk, "Enhanced hypertext categorization using hyperlinks",
        SIGMOD 1998 (a page is about what pages linked from the same pages are about).
        Jean-Yves Audibert, Rémi Munos, Csaba Szepesvári, "Exploration-exploitation tradeoff using variance
        estimates in multi-armed bandits", Theoretical Computer Science 410, 2009 (UCB-V).
    """

    combine: Combine = "first"
    needs = frozenset({"judge", "languages", "topic_terms"})

    def __init__(
        self,
        judge: TextJudge,
        *,
        languages: Sequence[str] = ("en",),
        topic_terms: Sequence[str] = (),
        trust: float = 100.0,
        by_host: float = 0.5,
        by_folder: float = 0.3,
        hubs: float = 0.3,
        fellows: float = 0.0,
        without: Sequence[str] = (),
    ) -> None:
        unknown = sorted(set(without) - set(evidence.SCORES))
        if unknown:
            raise ValueError(
                f"option 'without' names no score {unknown[0]!r}; use {', '.join(evidence.SCORES)}"
            )
        if trust <= 0.0 or min(by_host, by_folder, fellows) < 0.0:
            raise ValueError(
                "options 'trust', 'by_host', 'by_folder' and 'fellows' must not be negative, 'trust' not 0"
            )
        if not 0.0 <= hubs <= 1.0:
            raise ValueError(f"option 'hubs' must be from 0 to 1, not {hubs}")
        self._judge = judge
        self._trust = trust
        self._by_host = by_host
        self._by_folder = by_folder
        self._hubs = hubs
        self._fellows = fellows
        self._left_out = np.array([name in without for name in evidence.SCORES])
        self._likeness = Likeness(languages)
        self._in_address = UrlKeywords(topic_terms) if topic_terms else None
        self._urls = evidence.new_urls(MOST)
        self._pages = evidence.new_pages(256)
        self._sums = evidence.new_sums()
        self._slots: dict[UrlId, int] = {}
        self._held = 0
        self._known_pages = 0
        self._next_place = 0
        self._fetched = 0
        self._total = np.zeros(2)
        self._outcomes = np.zeros((SAMPLE, COLUMNS), np.float32)
        self._worths = np.zeros(SAMPLE, np.float32)
        self._learned = 0
        self._joining = weights.equal_weights(
            0.1, np.zeros(COLUMNS), np.where(self._left_out, weights.NEVER, 0.1)
        )
        self._best = np.zeros(0, np.int64)
        self._swept = 0
        self._touched: list[NDArray[np.int64]] = []
        self._all_stale = False
        self._barren = 0
        self._turn = -1
        """The URL whose turn it is, if any."""
        self._anchors: dict[str, int] = {}
        self._said = Said(np.zeros(256, np.float32), np.zeros((256, WORDS), np.int32))
        self._relearn_at = 3
        self._refresh_at = 1
        self._others = Saved()
        """What the same order learned in other shards, which is in the sums."""
        self._elsewhere = Elsewhere(MOST)
        self._last: tuple[NewLinks, Sequence[Link], int] | None = None
        """The links that were taken in last, and the first entry that was new with them."""
        self._foreign: set[int] = set()
        """Numbers of pages that other shards fetched."""

    # What the engine calls

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Take note of what a URL turned out to be; a page that was learned before is corrected."""
        own = worth_of(verdict)
        at = self._slot_of(page)
        if at is None:
            if self._held >= MOST:
                self._let_go()
            at = self._hold([(page.url, page.id)])
        if self._urls.state[at] == FETCHED:
            self._correct(at, own)
            return
        self._barren += page.via is not None and page.via.priority < LITTLE
        read = self._likeness.read(page.content)
        worth = self._moved(at, own)
        self._ended(at, worth, self._likeness.learn(read, worth))

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """Hold the links, and give each target the priority that all evidence gives it by now."""
        if not links:
            return []
        at = self._slot_of(page)
        number = int(self._urls.page[at]) if at is not None else -1
        if number < 0:  # a sitemap, or a page that was let go meanwhile
            number = self._new_page()
            self._pages.known[number] = worth_of(verdict), 0.0, 0.0
        if self._pages.base[number] >= 0:  # asked again about the same page: all is in the sums already
            targets = np.array([self._slots.get(link.id, -1) for link in links], np.int64)
        else:
            targets = self._take_links(page, number, links)
            if page.blocks:
                self._take_blocks(page)
        waiting = np.empty(len(targets), np.int64)
        waiting = waiting[: evidence.that_wait(self._urls, targets, waiting)]
        self._score(waiting)
        self._touched.append(waiting)
        if number in self._foreign:
            note_promise(self._elsewhere.promised, page.id, self._urls, waiting)
        else:
            self._value_hub(number, waiting)
        priorities = np.where(targets >= 0, self._given(targets), 0.0).tolist()
        return list(map(Scored, range(len(priorities)), priorities))

    def revised(self) -> Revised:
        """Waiting URLs whose priority is another one since this was last asked."""
        return done(self.revising())

    def revising(self) -> Generator[None, None, Revised]:
        """The same with pauses, in which nothing may be learned, ranked or asked."""
        if self._fetched >= self._relearn_at:
            # Often at first: nothing is known yet. Shards do it together, and alone when that takes long.
            pages = self._all_fetched
            step = max(min(pages, RELEARN), int(GROWTH * pages))
            self._relearn_at = self._fetched + (2 * step if self._others.arrays else step)
            yield from self._relearn()
        self._give_turn()
        touched, self._touched = self._touched, []
        tolerance = TOLERANCE
        if self._all_stale:
            self._all_stale = False
            if self._others.arrays:  # what is equal in two shards has to be told as equal
                tolerance = 0.0
            waiting = self._waiting()
            for start in range(0, len(waiting), SCORED_AT_ONCE):
                if start:
                    yield
                self._score(waiting[start : start + SCORED_AT_ONCE])
            touched.append(waiting)
        if self._fetched >= self._refresh_at:
            self._refresh_at = self._fetched + (REFRESH if self._fetched >= 4 * REFRESH else 1)
            touched.append(self._refresh())
        if not touched:
            return Revised.none()
        at = np.concatenate(touched)
        changed = np.empty(len(at), np.int64)
        at = changed[: evidence.tell(self._urls, self._urls.told, at, tolerance, changed)]
        return Revised(self._urls.id[at], self._given(at))

    def gone(self, url: UrlId) -> None:
        """A URL ended without a page: its like are worth as much less."""
        at = self._slots.get(url)
        if at is not None and self._urls.state[at] == WAITING:
            self._ended(at, 0.0, 0.0)

    def rejudged(self, page: Page, verdict: Verdict) -> None:
        """A page has another score now: everything that waits is looked at again."""
        at = self._slot_of(page)
        if at is None:
            return
        if self._urls.state[at] == FETCHED:
            self._correct(at, worth_of(verdict))
        else:
            self.learn(page, verdict)
        self._all_stale = True

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """The priority of a URL as a sum of contributions, largest first."""
        found = self.contributions(url)
        return {"what it adds up to": [[one.fact, round(one.adds, 4)] for one in found]} if found else {}

    def contributions(self, url: str) -> list[Reason]:
        """What each kind of evidence adds to a URL's priority; empty where nothing is held of it."""
        at = self._slots.get(url_id(canonical(url) or url))
        if at is None:
            return []
        return reasons(self._evidence, at, self._joining, self._oldest, LITTLE)

    # What links say of pages

    def evidence_of(self, pages: Sequence[UrlId]) -> NDArray[np.float32]:
        """The scores of some pages, a row each, by all that is known of their links today.

        What a page turned out to be itself is left out of its row, so that a row can be compared with the
        page. Not numbers where no link to a page is known.
        """
        found = np.full((len(pages), COLUMNS), np.nan, np.float32)
        at = np.array([self._slots.get(page, -1) for page in pages], np.int64)
        linked = at >= 0
        linked[linked] = self._urls.links[at[linked]] > 0
        state = np.where(linked, self._urls.state[at], 0)
        waiting = state == WAITING
        found[waiting] = self._urls.scores[at[waiting]]
        fetched = np.flatnonzero(state == FETCHED)
        if len(fetched):
            found[fetched] = evidence.scores_without(self._evidence, at[fetched], self._standing)
        return found

    # Backlinks

    def said_to_link(self, url: str, number: UrlId, to: UrlId) -> float:
        """Take in that a URL links to a page of the crawl: what leads to good pages may lead to more."""
        at = self._slots.get(number)
        if at is None:
            if self._held >= MOST:
                self._let_go()
            at = self._hold([(url, number)])
            self._give_average_parent(at)
        if self._urls.state[at] != WAITING:
            return 0.0
        page = self._urls.page[self._slots[to]] if to in self._slots else -1
        self._urls.topic[at, 4] += self._pages.known[page, 0] if page >= 0 else 1.0  # an example of the topic
        chosen = np.array([at], np.int64)
        self._score(chosen)
        self._touched.append(chosen)
        return float(self._urls.priority[at])

    def _give_average_parent(self, at: int) -> None:
        """No page of the crawl links to a URL: that says nothing against it, and nothing for it."""
        number = self._new_page()
        self._pages.known[number] = self._pages.known[:number].mean(axis=0) if number else 0.0
        self._pages.known[number, 0] = self._mean
        urls = self._urls
        urls.links[at] = 1
        urls.parent[at, 0] = number
        urls.path[at, 0] = urls.near[at, 0] = urls.site_path[at, 0] = 0

    # Shards

    def shared(self) -> Saved:
        """What it learned by itself and others can use: words, what good pages look like, and outcomes."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, table in self._shared_tables().items():
            arrays |= sparse(name, table, self._others, LEAST_SHARED)
        known = min(self._learned, SAMPLE)
        arrays |= {
            "sum total": self._total.copy(),
            "sum fetched": np.array([float(self._fetched)]),
            "rows outcomes": self._outcomes[:known].copy(),
            "rows worths": self._worths[:known].copy(),
            **self._elsewhere.rows_promised(),
            **self._ends(),
        }
        return Saved(arrays=arrays)

    def join(self, others: Saved) -> None:
        """Take what all other shards learned, in place of what was taken before.

        Raises:
            ValueError: It is not what `shared` gives.
        """
        tables = self._shared_tables()
        for name, table in tables.items():
            checked(name, others, table)
        outcomes = np.asarray(others.arrays.get("rows outcomes", np.zeros((0, COLUMNS))))
        if outcomes.shape[1:] != (COLUMNS,) or len(outcomes) != len(others.arrays.get("rows worths", ())):
            raise ValueError("outcomes of other shards do not fit")
        ids, worths = (others.arrays.get(f"rows end {name}", np.zeros(0)) for name in ("ids", "worth"))
        if len(ids) != len(worths):
            raise ValueError("pages of other shards do not fit")
        self._elsewhere.check(others)
        for name, table in tables.items():
            change(name, table, self._others, others)
        for page, promise in self._elsewhere.promises(others).items():
            number = int(self._urls.page[self._slots[page]]) if page in self._slots else -1
            if number >= 0 and self._pages.outcome[number] >= max(0, self._learned - SAMPLE):
                self._set_hub(number, promise)
        self._hear_beside(self._others, -1.0)
        self._hear_beside(others, 1.0)
        if not self._others.arrays:  # so far equal URLs were told as equal: all are told anew
            self._urls.told[: self._held] = -1.0
        agreed = {name: each for name, each in self._others.arrays.items() if name == AGREED}
        self._others = Saved(others.values, agreed | others.arrays)
        self._all_stale = True
        for number, worth in zip(ids.tolist(), worths.tolist(), strict=True):
            at = self._slots.get(number)
            if at is not None:
                self._ended_elsewhere(at, worth)

    def spread(self) -> Saved:
        """How what waits here scores by what all shards have learned."""
        self._sums = self._sums._replace(like=self._likeness.draw())
        return Saved(arrays={AGREED: self._moments()})

    def agree(self, others: Saved) -> None:
        """Take standards and weights anew, by what waits in all shards: the same in each.

        Raises:
            ValueError: It is not what `spread` gives.
        """
        moments = np.asarray(others.arrays.get(AGREED, np.zeros((3, COLUMNS))))
        if moments.shape != (3, COLUMNS):
            raise ValueError("scores of other shards' URLs do not fit")
        self._others.arrays[AGREED] = moments
        self._relearn_at = self._fetched

    def of_page(self, page: Page) -> dict[str, float]:
        """Likeness of a page to the best ones, and the mean worth of the pages that link to it."""
        at = self._slot_of(page)
        number = int(self._urls.page[at]) if at is not None else -1
        if number < 0:
            return {}
        _, likeness, parents = self._pages.known[number].tolist()
        return {"likeness": likeness, "parents": parents, "page": float(self._all_fetched)}

    def of_link(self, url: UrlId) -> str:
        """What the rest of the page says of a link."""
        at = self._slots.get(url)
        return told_of_link(self._urls, at) if at is not None else ""

    def away(self, urls: Sequence[UrlId]) -> None:
        """Targets of a page that wait in other shards: held for what their outcomes will say of others."""
        at = np.array([self._slots.get(url, -1) for url in urls], np.int64)
        at = at[at >= 0]
        self._urls.state[at[self._urls.state[at] == WAITING]] = AWAY
        if self._last is not None and not self._others.arrays:  # nobody was heard yet: there are others
            self._elsewhere.note_order(self._last[0], self._last[2], float(self._all_fetched))
        if self._last is not None and len(at):
            new, links, _ = self._last
            self._elsewhere.note_lists(new, links)
            own = np.empty(len(new.targets), np.int64)
            own = own[: evidence.that_wait(self._urls, new.targets, own)]
            page = self._elsewhere.page_of(new.page)
            note_promise(self._elsewhere.promising, page, self._urls, own)
        self._last = None

    def meet(
        self, page: Page, verdict: Verdict, told: Mapping[str, float], links: Mapping[UrlId, str]
    ) -> None:
        """A page of another shard: its links here are worth what its own shard knows of it."""
        at = self._slots.get(page.id)
        if at is None:
            if self._held >= MOST:
                self._let_go()
            at = self._hold([(page.url, page.id)])
            self._urls.state[at] = AWAY
        self._ended_elsewhere(at, worth_of(verdict))
        number = int(self._urls.page[at])
        if self._pages.base[number] >= 0:  # more of its links than before: they get places of their own
            number = self._new_page()
            self._foreign.add(number)
            self._pages.known[number] = self._pages.known[self._urls.page[at]]
            self._urls.page[at] = number
            self._elsewhere.name_page(number, page.id)
        self._pages.known[number, 1:] = told.get("likeness", 0.0), told.get("parents", 0.0)
        self._elsewhere.of_links = links
        self._elsewhere.met = told.get("page", float(self._all_fetched))
        ours = np.array([self._slots.get(link.id, -1) for link in page.links], np.int64)
        ours = ours[ours >= 0]
        self._urls.state[ours[self._urls.state[ours] == AWAY]] = WAITING  # their host has moved here

    def _given(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Priorities as the frontier gets them; of equal URLs in different shards the one found first leads.

        One crawl asks for equal URLs in the order it found them, and that is a good one: links stand on pages
        in an order. Shards work the same sums out in different orders, so they round them.
        """
        given: NDArray[np.float64] = self._urls.priority[at]
        if not self._others.arrays:
            return given
        return np.round(given, ROUNDED) - self._elsewhere.late[at]

    def _moments(self) -> NDArray[np.float64]:
        """Of the URLs that wait: their number, the sums of their scores, and of the squares of these."""
        sample = self._sample(SAMPLE)
        self._score(sample)
        scores = self._urls.scores[sample].astype(np.float64)
        found = (
            np.stack([np.ones(COLUMNS), scores.mean(axis=0), (scores**2).mean(axis=0)])
            if len(sample)
            else np.zeros((3, COLUMNS))
        )
        return found * len(self._waiting())

    def _ends(self) -> dict[str, NDArray[Any]]:
        """The latest pages of its own, for links to them in other shards."""
        at = np.flatnonzero(self._urls.state[: self._held] == FETCHED)
        numbers = self._urls.page[at]
        latest = np.argsort(numbers, kind="stable")[-SAMPLE - len(self._foreign) :]
        at = at[latest][[number not in self._foreign for number in numbers[latest].tolist()]][-SAMPLE:]
        return {
            "rows end ids": self._urls.id[at],
            "rows end worth": self._pages.known[self._urls.page[at], 0],
            **self._elsewhere.rows_beside(self._evidence, at),
        }

    def _hear_beside(self, told: Saved, sign: float, *, only: UrlId = 0) -> None:
        """Take in, or out, what other shards tell of links beside those that are held here."""

        def number_of(page: UrlId) -> int:
            at = self._slots.get(page)
            number = int(self._urls.page[at]) if at is not None else -1
            return number if number in self._foreign else -1  # all links of its own pages are held here

        self._elsewhere.hear_beside(
            self._evidence, number_of, told, sign=sign, oldest=self._oldest, only=only
        )

    def _ended_elsewhere(self, at: int, worth: float) -> None:
        """What a URL of another shard is worth, by its latest word: evidence for its neighbours here."""
        urls, pages = self._urls, self._pages
        if urls.state[at] == FETCHED:
            number = int(urls.page[at])
            if number not in self._foreign:
                return
            before = float(pages.known[number, 0])
            if worth == before:
                return
            change = (worth - before, 0.0)
        else:
            number = self._new_page()
            pages = self._pages
            self._foreign.add(number)
            urls.state[at], urls.page[at] = FETCHED, number
            self._elsewhere.name_page(number, int(urls.id[at]))
            pages.known[number] = worth, 0.0, urls.scores[at, 1]
            change = (worth, 1.0)
        pages.known[number, 0] = worth
        evidence.add_outcome_elsewhere(self._evidence, at, change, self._oldest)

    def _shared_tables(self) -> dict[str, NDArray[Any]]:
        """Sums by word and by place on sites. Those by host and folder are of this shard's own hosts."""
        vectors = self._likeness.vectors
        return {
            "site path": self._sums.site_path,
            "anchor": self._sums.anchor,
            "url": self._sums.url,
            "good": vectors.good,
            "rest": vectors.rest,
            "pages": vectors.pages,
            "totals": vectors.totals,
        }

    def _of_others(self, name: str) -> NDArray[Any]:
        """A figure of the other shards; nothing where there are none."""
        told = self._others.arrays
        return np.asarray(told.get(f"sum {name}", NOTHING)) if told else NOTHING

    # Evidence

    @property
    def _evidence(self) -> Held:
        return Held(self._urls, self._pages, self._sums)

    @property
    def _mean(self) -> float:
        return self._mean_without(0.0, 0)

    def _mean_without(self, told: float, pages: int = 1) -> float:
        """Worth of the fetched pages, some left out; two of a tenth are there from the start."""
        worth = float(self._total[0] + self._of_others("total")[0]) - told
        return max(1e-3, (worth + 0.2) / (self._all_fetched - pages + 2.0))

    @property
    def _all_fetched(self) -> int:
        return self._fetched + int(self._of_others("fetched")[0])

    @property
    def _standing(self) -> Standing:
        apart = self._told_apart
        return Standing(
            self._all_fetched, self._mean, self._oldest, apart * self._by_host, apart * self._by_folder
        )

    @property
    def _told_apart(self) -> float:
        """How well verdicts tell pages apart, and so what exploring can find out: 1 where all are sure.

        It is the variance of the fetched pages' worth, as a share of what it would be if each were surely on
        or off topic. Bounds are made for such outcomes: where all verdicts lie around one half they would
        promise a host that nobody knows as much as one where every page is a hit.
        """
        count, others = self._all_fetched, self._of_others("total")
        sure = self._mean * (1.0 - self._mean)
        if not count or sure <= 0.0:
            return 1.0
        mean = float(self._total[0] + others[0]) / count
        variance = max(0.0, float(self._total[1] + others[1]) / count - mean * mean)
        return min(1.0, (count * variance + SURE_PAGES * sure) / ((count + SURE_PAGES) * sure))

    @property
    def _oldest(self) -> int:
        return self._next_place - PLACES

    def _slot_of(self, page: Page) -> int | None:
        """The entry of a page: its own, or that of the URL that a redirect or canonical URL led from."""
        at = self._slots.get(page.id)
        if at is None and page.via is not None and page.via.source in ("redirect", "canonical"):
            at = self._slots.get(page.via.parent)
            if at is not None:
                self._slots[page.id] = at
        return at

    def _hold(self, found: Sequence[tuple[str, UrlId]]) -> int:
        """New entries for URLs, one behind the other; the first of them."""
        first, count = self._held, len(found)
        self._held += count
        addresses, ids = [url for url, _ in found], [number for _, number in found]
        enter(self._urls, addresses, ids, first, TABLE)
        if self._in_address:
            share = self._in_address.share
            self._urls.topic[first : first + count, 2] = [share(url) for url in addresses]
        self._elsewhere.late[first : first + count] = A_PAGE * min(self._all_fetched, LATEST)
        self._slots.update(zip(ids, range(first, first + count), strict=True))
        return first

    def _let_go(self) -> None:
        """Keep the better half of what waits, and the later half of what was fetched."""
        urls, held = self._urls, self._held
        state = urls.state[:held]
        waiting, fetched = np.flatnonzero(state == WAITING), np.flatnonzero(state == FETCHED)
        kept = np.sort(np.concatenate([self._better(waiting, MOST // 3), fetched[-(MOST // 3) :]]))
        # Records move as numbers: numpy takes ten times as long over what has fields.
        entries = urls.entries.view(np.uint32).reshape(len(urls.entries), -1)
        for each in (*urls[: evidence.OWN - 1], entries, self._elsewhere.late):
            for start in range(0, len(kept), MOVED_AT_ONCE):  # all at once would take another 34 MB
                some = kept[start : start + MOVED_AT_ONCE]
                each[start : start + len(some)] = each[some]
        self._held = len(kept)
        moved = np.full(held, -1, np.int64)
        moved[kept] = np.arange(len(kept))
        numbers = np.fromiter(self._slots, np.int64, len(self._slots))
        places = moved[np.fromiter(self._slots.values(), np.int64, len(self._slots))]
        stay = places >= 0
        self._slots = dict(zip(numbers[stay].tolist(), places[stay].tolist(), strict=True))
        self._best = np.zeros(0, np.int64)
        self._touched = []
        self._elsewhere.crowded.clear()
        self._swept = 0
        self._find_turn()

    def _better(self, waiting: NDArray[np.int64], most: int) -> NDArray[np.int64]:
        """So many of some URLs, those with the highest priorities; of equal ones those found first."""
        if len(waiting) <= most:
            return waiting
        low = -self._urls.priority[waiting]
        line = np.partition(low, most - 1)[most - 1]
        above, at = waiting[low < line], waiting[low == line]
        return np.concatenate([above, at[: most - len(above)]])

    def _new_page(self) -> int:
        if self._known_pages >= len(self._pages.known):
            size = 2 * len(self._pages.known)
            self._pages = evidence.Pages(*(_grown(each, size) for each in self._pages))
        number = self._known_pages
        self._known_pages += 1
        self._elsewhere.name_page(number, 0)
        self._pages.base[number] = self._pages.outcome[number] = -1
        self._pages.hub[number] = 0.0
        return number

    def _take_links(self, page: Page, number: int, links: Sequence[Link]) -> NDArray[np.int64]:
        """Hold a page's links; the entries of their targets."""
        # A page may name more targets than can be held beside others: room is made before, not in between.
        if self._held + len(links) > MOST:
            self._let_go()
        if len(self._anchors) + len(links) > ANCHORS:
            self._anchors.clear()
        read = new_read(len(links))
        free = (self._held, MOST - self._held)
        new, anchors, paths = read_links(links, self._slots, self._anchors, free, read)
        if new:
            self._take_contexts(new, self._hold([(link.url, link.id) for link in new]))
        self._take_anchors(anchors, read, free[0])
        host = host_and_folders(page.url)[0]
        on_site = np.zeros(len(paths) + 1, np.int32)
        read_site_paths(host, paths, on_site[1:], TABLE)
        first_near = len(paths) + 2
        places, last = np.arange(len(links)), len(links) - 1
        pages = float(self._all_fetched)
        if number in self._foreign:  # only some of its links are known here
            places = np.array([min(max(0, link.position), MOST_LINKS) for link in links])
            last = int(places.max())
            pages = self._elsewhere.met
            for url, told in self._elsewhere.of_links.items():
                at = self._slots.get(url, -1)
                if at >= 0:
                    hear_of_link(self._urls, at, told, new=at >= free[0])
        self._pages.base[number] = self._room(first_near + (last + 1) // NEIGHBOURS + 2)
        added = NewLinks(number, read.targets, read.paths, places, on_site, first_near)
        if self._others.arrays or number in self._foreign:
            self._elsewhere.note_order(added, free[0], pages)
        if self._others.arrays:
            self._elsewhere.note_crowded(added, self._urls, lambda page: page not in self._foreign)
        evidence.add_links(self._evidence, added)
        self._last = added, links, free[0]
        if number in self._foreign:
            self._elsewhere.note_lists(added, links)
            self._hear_beside(self._others, 1.0, only=self._elsewhere.page_of(number))
        return read.targets

    def _room(self, size: int) -> int:
        """Where the places of a new page begin; what was there before is forgotten."""
        base = self._next_place
        self._next_place += size
        mask = PLACES - 1
        start, end = base & mask, (base + size - 1) & mask
        place = self._sums.place
        if start <= end:
            place[start : end + 1] = 0.0
        else:
            place[start:] = 0.0
            place[: end + 1] = 0.0
        return base

    def _take_anchors(self, new: list[str], read: Read, first: int) -> None:
        """The words of anchors, and how much of the topic they have.

        Args:
            new: Those that were numbered last.
            read: The links of a page.
            first: Entries from this one on are new with this page.
        """
        if new:
            end = len(self._anchors)
            if end > len(self._said.topic):
                size = max(end, min(2 * len(self._said.topic), ANCHORS))
                self._said = Said(*(_grown(each, size) for each in self._said))
            rows = slice(end - len(new), end)
            self._said.topic[rows] = self._judge.judge_texts(new)
            self._said.words[rows] = self._likeness.anchor_entries(new)
        note_anchors(self._urls, read, self._said)
        note_groups(self._urls, read, self._said, first)

    def _take_contexts(self, new: Sequence[Link], first: int) -> None:
        """How much of the topic the text around the first link to a URL has.

        Args:
            new: First links to URLs that are held from now on.
            first: The entry of the first of them.
        """
        texts = list(dict.fromkeys(link.context[:CONTEXT] for link in new if link.context))
        if not texts:
            return
        scores = dict(zip(texts, self._judge.judge_texts(texts), strict=True))
        self._urls.topic[first : first + len(new), 1] = [
            scores[link.context[:CONTEXT]] if link.context else 0.0 for link in new
        ]

    def _take_blocks(self, page: Page) -> None:
        """How much of the topic the content blocks of a page have; a URL goes by its best one."""
        blocks = [block for block in page.blocks if block.links]
        found = self._judge.judge_texts([block.text[:BLOCK] for block in blocks])
        topic = self._urls.topic
        for block, score in zip(blocks, found, strict=True):
            for place in block.links:
                at = self._slots.get(page.links[place].id)
                if at is not None and score > topic[at, 5]:
                    topic[at, 5] = score

    def _moved(self, at: int, own: float, told: float | None = None) -> float:
        """What a page is worth by its text and by the pages found beside it.

        Args:
            at: The page.
            own: What its text alone says. Where that is nothing at all, it is believed.
            told: What it was believed to be worth, where that is in the sums.
        """
        if not self._fellows or not own or not self._urls.links[at]:
            return own
        standing = self._standing
        if told is not None:
            standing = standing._replace(mean=self._mean_without(told))
        beside = evidence.found_beside(self._evidence, at, standing, told)
        odds = _logit(own) + self._fellows * (_logit(beside) - _logit(standing.mean))
        return 0.5 * (1.0 + math.tanh(0.5 * odds))

    def _value_hub(self, number: int, waiting: NDArray[np.int64]) -> None:
        """A page that leads to new URLs of promise is worth more, as an outcome, than its own text."""
        outcome = int(self._pages.outcome[number])
        if outcome < max(0, self._learned - SAMPLE):
            return
        promise = evidence.promise(self._urls, waiting)
        if promise < 0.0:
            return
        self._set_hub(number, promise)

    def _set_hub(self, number: int, promise: float) -> None:
        own = float(self._pages.known[number, 0])
        self._pages.hub[number] = self._hubs * promise / evidence.REVEALED
        self._worths[self._pages.outcome[number] % SAMPLE] = own + self._pages.hub[number] * (1.0 - own)

    def _ended(self, at: int, worth: float, likeness: float) -> int:
        """A URL was asked for: what came of it is evidence for its like. Its number among the pages."""
        number = self._new_page()
        urls = self._urls
        urls.state[at] = FETCHED
        urls.page[at] = number
        self._elsewhere.name_page(number, int(urls.id[at]))
        self._pages.known[number] = worth, likeness, urls.scores[at, 1]
        self._fetched += 1
        self._add_up(worth, worth * worth)
        if urls.links[at]:
            self._pages.outcome[number] = self._learned
            place = self._learned % SAMPLE
            self._outcomes[place] = urls.scores[at]
            self._worths[place] = worth
            self._learned += 1
        evidence.add_outcome(self._evidence, at, (worth, 1.0), self._oldest)
        return number

    def _add_up(self, worth: float, square: float) -> None:
        # One by one: numpy takes ten times as long to make an array of a pair.
        self._total[0] += worth
        self._total[1] += square

    def _correct(self, at: int, own: float) -> None:
        number = int(self._urls.page[at])
        if number in self._foreign:
            self._ended_elsewhere(at, own)
            return
        before = float(self._pages.known[number, 0])
        worth = self._moved(at, own, before)
        if worth == before:
            return
        self._pages.known[number, 0] = worth
        outcome = int(self._pages.outcome[number])
        if outcome >= max(0, self._learned - SAMPLE):
            self._worths[outcome % SAMPLE] = worth + self._pages.hub[number] * (1.0 - worth)
        self._add_up(worth - before, worth * worth - before * before)
        evidence.add_outcome(self._evidence, at, (worth - before, 0.0), self._oldest)

    # Priorities

    def _score(self, chosen: NDArray[np.int64]) -> None:
        """Work out scores and priorities of some URLs."""
        evidence.read_scores(self._evidence, chosen, self._standing, self._joining)
        self._keep_turn()

    def _give_turn(self) -> None:
        """While all that is known promises little, the longest known URL is worth a try now and then."""
        if self._turn >= 0 and self._urls.state[self._turn] != WAITING:
            self._turn = -1
        if self._turn >= 0 or self._barren < BARREN:
            return
        self._barren = 0
        waiting = self._waiting()
        if len(waiting):
            self._turn = int(waiting[0])
            self._urls.turn[self._turn] = 1
            self._score(waiting[:1])
            self._touched.append(waiting[:1])

    def _keep_turn(self) -> None:
        """The URL whose turn it is does not lose it when it is looked at again."""
        if self._turn >= 0:
            self._urls.priority[self._turn] = max(LITTLE, self._urls.priority[self._turn])

    def _find_turn(self) -> None:
        """Which URL has its turn, when entries have moved."""
        turns = np.flatnonzero(
            (self._urls.turn[: self._held] > 0) & (self._urls.state[: self._held] == WAITING)
        )
        self._turn = int(turns[-1]) if len(turns) else -1

    def _waiting(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.flatnonzero(self._urls.state[: self._held] == WAITING)
        return found

    def _refresh(self) -> NDArray[np.int64]:
        """Look again at the best URLs and at the next in turn."""
        best = self._best[self._urls.state[self._best] == WAITING]
        end = min(self._held, self._swept + SWEEP)
        turn = np.arange(self._swept, end, dtype=np.int64)
        turn = turn[self._urls.state[turn] == WAITING]
        self._swept = 0 if end >= self._held else end
        chosen = np.concatenate([best, turn])
        self._score(chosen)
        return chosen

    def _relearn(self) -> Generator[None, None, None]:
        """Standards, weights, the picture of a good page, and which URLs are the best; with pauses."""
        self._sums = self._sums._replace(like=self._likeness.draw())
        waiting = self._waiting()
        paused = len(waiting) > SCORED_AT_ONCE
        if paused:
            yield
        elsewhere = self._others.arrays.get(AGREED)
        if elsewhere is not None:  # or each shard would find its own best URLs equally good
            moments = self._moments() + np.asarray(elsewhere, np.float64)
            if moments[0, 0] < 2:
                return
            middle, scale = weights.pooled(moments)
        else:
            if len(waiting) < 2:
                return
            sample = self._sample(SAMPLE)
            self._score(sample)
            middle, scale = weights.standard(self._urls.scores[sample])
        scale = np.where(self._left_out, weights.NEVER, scale)
        outcomes, worths = self._all_outcomes()
        if len(outcomes) >= 10:
            self._joining = weights.fitted(
                outcomes,
                worths,
                middle=middle,
                scale=scale,
                trust=self._trust,
            )
        else:
            self._joining = weights.equal_weights(self._mean, middle, scale)
        if not len(waiting):  # what comes is weighed as in the other shards
            return
        for start in range(0, len(waiting), 4 * SCORED_AT_ONCE):
            if paused:
                yield
            evidence.set_priorities(self._urls, waiting[start : start + 4 * SCORED_AT_ONCE], self._joining)
        self._keep_turn()
        if paused:
            yield
        now = self._urls.priority[waiting]
        most = min(BEST, len(waiting))
        self._best = np.sort(waiting[np.argpartition(-now, most - 1)[:most]])
        if paused:
            yield
        # All weights have moved: whatever is, or was, among those asked for soon has to be told.
        soon = min(SOON, len(waiting))
        line = -np.partition(-now, soon - 1)[soon - 1]
        self._touched.append(waiting[(now >= line) | (self._urls.told[waiting] >= line)])

    def _sample(self, most: int) -> NDArray[np.int64]:
        """Some of the URLs that wait, evenly chosen."""
        waiting = self._waiting()
        return waiting[:: max(1, len(waiting) // most)].copy()

    def _all_outcomes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """What weights are learned from: its own outcomes, and those of other shards."""
        known = min(self._learned, SAMPLE)
        told = self._others.arrays
        if "rows outcomes" not in told:
            return self._outcomes[:known], self._worths[:known]
        return (
            np.concatenate([self._outcomes[:known], told["rows outcomes"]]).astype(np.float32),
            np.concatenate([self._worths[:known], told["rows worths"]]).astype(np.float32),
        )

    # Checkpoints

    def save(self) -> Saved:
        """Everything learned and held; what other shards told is told again by them."""
        others, self._others = self._others, Saved()
        if others.arrays:
            for name, table in self._shared_tables().items():
                change(name, table, others, Saved())
            self._hear_beside(others, -1.0)
            saved = self.save()
            alone = {name: each.copy() for name, each in saved.arrays.items()}
            self.join(others)
            return Saved(values=saved.values, arrays=alone)
        held, pages = self._held, self._known_pages
        used = min(self._next_place, PLACES)
        arrays: dict[str, NDArray[np.generic]] = {
            f"url_{name}": each[:held] for name, each in evidence.fields(self._urls).items()
        }
        arrays |= {f"page_{name}": each[:pages] for name, each in self._pages._asdict().items()}
        for name, each in self._sums._asdict().items():
            arrays[f"sum_{name}"] = each[:used] if name == "place" else each
        other = np.zeros((0, 2), np.int64)
        if len(self._slots) > held:  # every entry has its own URL; others are rare
            numbers = np.fromiter(self._slots, np.int64, len(self._slots))
            places = np.fromiter(self._slots.values(), np.int64, len(self._slots))
            apart = self._urls.id[places] != numbers
            other = np.stack([numbers[apart], places[apart]], axis=1)
        arrays |= self._likeness.arrays()
        arrays |= {
            "outcomes": self._outcomes,
            "worths": self._worths,
            "best": self._best,
            "total": self._total,
            "aliases": other,
            "weight": self._joining.weight,
            "middle": self._joining.middle,
            "scale": self._joining.scale,
            "foreign": np.array(sorted(self._foreign), np.int64),
        }
        values: dict[str, object] = {
            "next_place": self._next_place,
            "fetched": self._fetched,
            "learned": self._learned,
            "swept": self._swept,
            "relearn_at": self._relearn_at,
            "refresh_at": self._refresh_at,
            "all_stale": self._all_stale,
            "barren": self._barren,
            "start": self._joining.start,
        }
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave.

        Raises:
            CollectionError: It is damaged, or of another version; nothing was taken then.
        """
        arrays = saved.arrays
        try:
            values = msgspec.convert(saved.values, _Values)
            held, known_pages = len(arrays["url_id"]), len(arrays["page_known"])
            urls = evidence.new_urls(max(MOST, held))
            pages = evidence.new_pages(max(256, known_pages))
            sums = evidence.new_sums()
            used = min(values.next_place, PLACES)
            for name, each in evidence.fields(urls).items():
                _take(each[:held], arrays[f"url_{name}"])
            for name, each in pages._asdict().items():
                _take(each[:known_pages], arrays[f"page_{name}"])
            for name, each in sums._asdict().items():
                _take(each[:used] if name == "place" else each, arrays[f"sum_{name}"])
            outcomes, worths = np.zeros_like(self._outcomes), np.zeros_like(self._worths)
            weight, middle, scale = np.zeros((3, COLUMNS))
            total = np.zeros(2)
            for part, name in ((outcomes, "outcomes"), (worths, "worths"), (total, "total")):
                _take(part, arrays[name])
            for part, name in ((weight, "weight"), (middle, "middle"), (scale, "scale")):
                _take(part, arrays[name])
            best = np.array(arrays["best"], np.int64)
            aliases = np.array(arrays["aliases"], np.int64).reshape(-1, 2)
            foreign = np.array(arrays.get("foreign", ()), np.int64)  # older collections have none
            _check(foreign, 0, known_pages)
            _check(urls.state[:held], 0, AWAY + 1)
            _check(urls.links[:held], 0)
            _check(urls.page[:held], -1, known_pages)
            linked = np.arange(LINKS) < urls.links[:held, None]
            _check(urls.parent[:held][linked], 0, known_pages)
            _check(best, 0, held)
            _check(aliases[:, 1], 0, held)
            _check(np.array([values.swept]), 0, held + 1)
            _check(pages.outcome[:known_pages], -1, values.learned)
            _check(pages.base[:known_pages], -1, values.next_place)
            self._likeness.take(arrays)
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            raise CollectionError(
                f"what scout had learned is damaged or of another version ({error})"
            ) from error
        self._held, self._known_pages = held, known_pages
        self._urls, self._pages, self._sums = urls, pages, sums
        self._slots = {number: at for at, number in enumerate(urls.id[:held].tolist())}
        self._slots |= {int(number): int(at) for number, at in aliases}
        self._outcomes, self._worths, self._best, self._total = outcomes, worths, best, total
        self._next_place, self._fetched = values.next_place, values.fetched
        self._learned, self._swept = values.learned, values.swept
        self._relearn_at, self._refresh_at = values.relearn_at, values.refresh_at
        self._all_stale = values.all_stale
        self._joining = Joining(values.start, weight, middle, scale)
        self._barren, self._touched = values.barren, []
        self._find_turn()
        self._elsewhere, self._last = Elsewhere(len(urls.id)), None
        for at in np.flatnonzero(urls.page[:held] >= 0).tolist():
            self._elsewhere.name_page(int(urls.page[at]), int(urls.id[at]))
        self._foreign = set(foreign.tolist())
        return self


_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class ScoutBlocks(Scout):
    """Scout on pages that are cut into content blocks: a link is also judged by the block it stands in.

    Of use where pages are full of navigation. A box of forty links at the foot of a page, or a section of a
    long article, is about something that neither the page nor the single link text says. Blocks have to be
    cut and judged on every page, so it is not the default.

    Args:
        judge: The page model, for anchors and blocks.
        languages: As for `Scout`.
        topic_terms: As for `Scout`.
        trust: As for `Scout`.
        by_host: As for `Scout`.
        by_folder: As for `Scout`.
        hubs: As for `Scout`.
        fellows: As for `Scout`.
        without: As for `Scout`.

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013 (content
        blocks as evidence for their links).
    """

    needs_blocks = True


class _Values(msgspec.Struct, frozen=True):
    next_place: _Count
    fetched: _Count
    learned: _Count
    swept: _Count
    relearn_at: _Count
    refresh_at: _Count
    all_stale: bool
    barren: _Count
    start: float


def worth_of(verdict: Verdict) -> float:
    """What a page is worth to the crawl, in 0..1."""
    return min(1.0, max(0.0, verdict.by_text))


def _logit(chance: float) -> float:
    chance = min(max(chance, SURE), 1.0 - SURE)
    return math.log(chance / (1.0 - chance))


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """With more room, which takes memory only where it is used."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def _take(room: NDArray[Any], saved: NDArray[Any]) -> None:
    """Fill an array with a saved one of the same shape and kind, of finite numbers only."""
    if saved.shape != room.shape or saved.dtype != room.dtype:
        raise ValueError(f"an array is {saved.dtype}{list(saved.shape)}, not {room.dtype}{list(room.shape)}")
    if room.dtype.kind == "f" and not np.isfinite(saved).all():
        raise ValueError("an array holds numbers that are none")
    room[...] = saved


def _check(numbers: NDArray[Any], least: int, end: int = 1 << 62) -> None:
    """Numbers that point somewhere must point there."""
    if len(numbers) and not least <= numbers.min() <= numbers.max() < max(end, least + 1):
        raise ValueError(f"a number is not in {least} to {end - 1}")
