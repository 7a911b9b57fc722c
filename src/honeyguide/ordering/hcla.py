"""HCLA: hypertext content latent analysis, words and links in one latent space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Examples, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.hcla_explain import pulled_up
from honeyguide.ordering.hcla_matrix import OVERSAMPLING, Subspace, expanded, recomputed, start_block, tracked
from honeyguide.ordering.hcla_pages import KnownLinks, SeenPages, known_links
from honeyguide.store.models import Saved
from honeyguide.text.latent import LatentSpace, Weighting, fit_space, query_vector
from honeyguide.web.url import url_id

Array: TypeAlias = NDArray[np.float64]
Between: TypeAlias = Literal["fold-in", "wait"]
Method: TypeAlias = Literal["update", "full"]

DEFAULT_K: Final = 50
FIRST_PASSES: Final = 10
"""Passes of the first reordering, which has only the corpus to start from."""
LAST: Final = -2.0
"""Below every cosine: a new URL that waits for the next reordering."""
CHUNK: Final = 20_000
"""Frontier pages scored at a time."""


class LatentJudge(Protocol):
    """A page model that works in a latent space (`lsi`); the order shares it instead of its own."""

    @property
    def space(self) -> LatentSpace:
        """The latent space of the text corpus."""
        ...

    @property
    def query(self) -> Array:
        """The topic over the space's terms."""
        ...


class Hcla(LocalOrder):
    """Orders the frontier by the cosine with the topic in a space of terms and fetched pages.

    The term-document matrix A of a text corpus is expanded, every N = `reorder_every` pages, by the
    words L of fetched pages, the links G among them and the links R from them to frontier pages:

        C = | A  L  O |
            | 0  G  R |

    New columns are brought to length one, and frontier page j gets
    `cos = c_j' U U' q / (|U' c_j| |q|)` with U the k strongest left singular vectors of C and q the
    topic's words. The published update (equations 17 and 18) projects the new columns on `(U_k; 0)`, which
    erases G and R and scores every frontier page 0; here the part outside that basis is kept (Zha and
    Simon's update), by a subspace iteration that starts from the last U.

    Between two reorderings a new URL goes behind all others (`between="wait"`, as published), or gets the
    score that the words of the page it was found on give it with U as it stands (`"fold-in"`). Until the
    first reordering, and until `warm_up` links are known, the order is best-first.

    Parameters:
        judge: The crawl's page model. Its latent space is used where it has one (`lsi`); for any other
            model a space is fitted to `examples`.
        examples: Text corpus and topic, for page models without a latent space.
        seed: For the directions that the first iteration starts with.
        k: Factors; None for those of the page model, or 50.
        reorder_every: N.
        self_link: Whether G has ones on its diagonal, so that a page's row carries its own words too.
        anchor_terms: Whether O holds the words of anchors and link contexts; otherwise it is zero.
        context_words: Words of a link's context that are taken, when `anchor_terms` is on.
        link_weight: Entry of G and R for one link, beside term weights.
        frontier_weight: Length of the frontier's columns, 1 as published. The children of a page with many
            links make up a direction of their own, far from any word; below 1 they count for less, and
            with 0 the frontier is scored in the space of what was fetched and does not shape it.
        warm_up: Links that must be known before HCLA takes over from best-first.
        fetched_kept: Fetched pages in the matrix; the least relevant are left out.
        frontier_kept: Frontier pages in the matrix, those with the most relevant parents; the rest are
            scored by folding-in.
        adaptive_k: Let k grow with the square root of the number of rows.
        adaptive_n: Let N grow to a tenth of the pages fetched, so that reorderings get rarer.
        between: What new links get between reorderings.
        passes: Subspace iterations a reordering.
        method: `full` decomposes C from scratch at every reordering, for comparison.

    Example:
        >>> from honeyguide.model import Document
        >>> corpus = tuple(Document(text) for text in ("owl nest", "owl barn", "tax form", "tax law"))
        >>> order = Hcla(examples=Examples(keywords=("owl",), unlabelled=corpus), k=2)
        >>> page = Page(url="https://a.example/", id=1, text="an owl in a barn")
        >>> order.learn(page, Verdict(0.7, True))
        >>> order.rank(page, Verdict(0.7, True), [Link("https://b.example/", 2)])[0].priority
        0.7
        >>> graph = CrawlGraph(
        ...     ids=np.array([1, 2]), fetched=np.array([True, False]), waiting=np.array([False, True]),
        ...     score=np.array([0.7, 0.0], dtype=np.float32),
        ...     sources=np.array([0], dtype=np.int32), targets=np.array([1], dtype=np.int32),
        ... )
        >>> order.reorder(graph).round(2).tolist()
        [nan, 0.72]

    References:
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
        Hongyuan Zha, Horst Simon, "On updating problems in latent semantic indexing", SIAM Journal on
        Scientific Computing 21, 1999.
    """

    def __init__(
        self,
        judge: TextJudge | None = None,
        *,
        examples: Examples = Examples(),  # noqa: B008  Frozen.
        seed: int = 0,
        k: int | None = None,
        reorder_every: int = 50,
        self_link: bool = True,
        anchor_terms: bool = False,
        context_words: int = 30,
        link_weight: float = 1.0,
        frontier_weight: float = 1.0,
        warm_up: int = 0,
        fetched_kept: int = 2000,
        frontier_kept: int = 10_000,
        adaptive_k: bool = False,
        adaptive_n: bool = False,
        between: Between = "wait",
        passes: int = 1,
        method: Method = "update",
    ) -> None:
        if min(reorder_every, fetched_kept, frontier_kept, passes, 1 if k is None else k) < 1:
            raise ValueError("k, reorder_every, fetched_kept, frontier_kept and passes must be at least 1")
        if not (link_weight > 0.0 and frontier_weight >= 0.0 and min(warm_up, context_words) >= 0):
            raise ValueError(
                "link_weight must be above 0; frontier_weight, warm_up and context_words 0 or more"
            )
        self.reorder_every: int | None = reorder_every
        self._judge = judge
        self._given = examples
        self._seed = seed
        self._k = k
        self._self_link = self_link
        self._anchor_terms = anchor_terms
        self._context_words = context_words
        self._link_weight = link_weight
        self._frontier_weight = frontier_weight
        self._warm_up = warm_up
        self._frontier_kept = frontier_kept
        self._adaptive_k = adaptive_k
        self._adaptive_n = adaptive_n
        self._between: Between = between
        self._passes = passes
        self._method: Method = method
        self._seen = SeenPages(limit=fetched_kept, anchor_limit=4 * frontier_kept)
        self._learned = 0
        self._reordered_at = 0
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._vectors = np.empty((0, 0))
        self._values = np.empty(0)
        self._link_rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._link_ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._resolved: tuple[LatentSpace, Array] | None = None
        self._placed_query: Array | None = None
        if self._latent_judge() is None:
            self._topic()  # A corpus that cannot serve is refused before the crawl, not during it.

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """First scores of the links of a page, until the next reordering."""
        texts: list[dict[int, float]] = [{}] * len(links)
        if self._anchor_terms and links:
            texts = [self._link_words(link) for link in links]
            for link, weights in zip(links, texts, strict=True):
                self._seen.add_anchor(link.id, weights)
        parent = {"parent": verdict.score}
        if not len(self._values):
            return [Scored(index, verdict.score, factors=parent) for index in range(len(links))]
        if self._between == "wait":
            return [Scored(index, LAST, factors=parent) for index in range(len(links))]
        row = self._folded_row(page)
        plain = self._cosine(row)
        scored = []
        for index, weights in enumerate(texts):
            score = self._cosine(row + self._text_place(weights)) if weights else plain
            scored.append(Scored(index, score, factors={"fold-in": score, **parent}))
        return scored

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Remember the words of the page: a column of L and a row of G and R."""
        self._learned += 1
        weights = self._topic()[0].weights(page.title, page.text)
        self._seen.add(page.id, page.url, verdict.score, weights)

    def reorder(self, graph: CrawlGraph) -> Array:
        """Cosines of the waiting pages that a remembered page links to."""
        priorities = np.full(graph.size, np.nan)
        if len(graph.sources) < max(1, self._warm_up) or not len(self._seen) or self._too_soon():
            return priorities
        self._reordered_at = self._learned
        self._seen.cut()
        known = known_links(self._seen, graph, self_link=self._self_link)
        if not len(known.nodes):
            return priorities
        kept = self._kept(known)
        subspace = self._subspace(known, graph, kept)
        self._take(subspace, known, graph)
        scores = np.empty(len(known.nodes))
        scores[kept] = self._cosines(subspace.frontier)
        rest = np.setdiff1d(np.arange(len(known.nodes)), kept)
        for part in np.array_split(rest, max(1, math.ceil(len(rest) / CHUNK))):
            scores[part] = self._folded(known, graph, part)
        priorities[known.nodes] = scores
        return priorities

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """The topic words and the fetched pages that pulled a URL up at the last reordering.

        Shares of either add up to the score; they may be negative.
        """
        target = page.id if page is not None else url_id(url)
        rows = self._link_rows[self._link_ids == target]
        if not (len(rows) or self._seen.anchor(target)) or not len(self._values):
            return {}
        space, query = self._topic()
        places = {page: place for place, page in enumerate(self._rows.tolist())}
        urls = {places[page]: url for page, url in self._seen.addresses() if page in places}
        factors = self._vectors[:, : self._factors(len(self._rows))]
        return pulled_up(
            factors[: len(space.basis)],
            self._link_weight * factors[len(space.basis) :][rows],
            query,
            words=self._text_place(self._seen.anchor(target))[: factors.shape[1]],
            terms=space.vocabulary.terms,
            pages=[urls.get(row, "") for row in rows.tolist()],
        )

    def save(self) -> Saved:
        """Pages, link words and the last subspace."""
        seen = self._seen.save()
        values = {**seen.values, "learned": self._learned, "reordered_at": self._reordered_at}
        arrays: dict[str, NDArray[np.generic]] = {
            **seen.arrays,
            "rows": self._rows,
            "vectors": self._vectors,
            "values": self._values,
            "link_rows": self._link_rows,
            "link_ids": self._link_ids,
        }
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._seen.load(saved)
        self._learned = cast("int", saved.values["learned"])
        self._reordered_at = cast("int", saved.values["reordered_at"])
        arrays = saved.arrays
        self._rows, self._link_rows, self._link_ids = (
            arrays[name].astype(np.int64) for name in ("rows", "link_rows", "link_ids")
        )
        self._vectors, self._values = (arrays[name].astype(np.float64) for name in ("vectors", "values"))
        self._placed_query = None
        return self

    def _latent_judge(self) -> LatentJudge | None:
        """The page model, if it is one with a latent space; asks the class: it may not be fitted yet."""
        kind = type(self._judge)
        return cast("LatentJudge", self._judge) if hasattr(kind, "space") and hasattr(kind, "query") else None

    def _topic(self) -> tuple[LatentSpace, Array]:
        """Space and query; from the page model where it has them, with as many factors as asked for."""
        if self._resolved is None:
            judge, k = self._latent_judge(), self._k
            if judge is not None and (k is None or k <= judge.space.rank):
                space = judge.space if k is None or k == judge.space.rank else judge.space.cut(k)
                self._resolved = (space, judge.query)
            else:
                weighting: Weighting = "count" if judge is None else judge.space.weighting
                space = fit_space(self._given, k=k or DEFAULT_K, weighting=weighting)
                self._resolved = (space, query_vector(space, self._given))
        return self._resolved

    def _too_soon(self) -> bool:
        if not self._adaptive_n or not len(self._values):
            return False
        return self._learned - self._reordered_at < max(self.reorder_every or 1, self._learned // 10)

    def _factors(self, pages: int) -> int:
        space, _ = self._topic()
        if not self._adaptive_k:
            return space.rank
        return round(space.rank * math.sqrt(1.0 + pages / len(space.basis)))

    def _kept(self, known: KnownLinks) -> NDArray[np.int64]:
        """Frontier pages that take part in the decomposition: those with the most relevant parents."""
        count = len(known.nodes)
        if self._frontier_weight == 0.0:
            return np.arange(0)
        if count <= self._frontier_kept:
            return np.arange(count)
        merit = known.frontier @ np.maximum(np.array(self._seen.scores), 1e-3)
        return np.sort(np.lexsort((np.arange(count), -merit))[: self._frontier_kept])

    def _anchors(self, known: KnownLinks, graph: CrawlGraph, part: NDArray[np.int64]) -> Any:
        if not self._anchor_terms:
            return None
        return self._seen.anchors(graph.ids[known.nodes[part]], len(self._topic()[0].vocabulary))

    def _subspace(self, known: KnownLinks, graph: CrawlGraph, kept: NDArray[np.int64]) -> Subspace:
        space, _ = self._topic()
        pages = len(self._seen)
        matrix = expanded(
            space,
            self._seen.words(len(space.vocabulary)),
            known.among,
            self._anchors(known, graph, kept),
            known.frontier[kept] if len(kept) < len(known.nodes) else known.frontier,
            link_weight=self._link_weight,
            frontier_weight=self._frontier_weight,
        )
        factors = self._factors(pages)
        if self._method == "full":
            return recomputed(matrix, factors)
        random = np.random.default_rng((self._seed, pages))
        columns = min(factors + OVERSAMPLING, len(space.basis) + pages)
        start = start_block(space, pages, columns, random=random, known=self._carried_over(len(space.basis)))
        return tracked(matrix, start, passes=self._passes if len(self._values) else FIRST_PASSES)

    def _carried_over(self, terms: int) -> Array | None:
        """The last subspace in the rows of today: pages that were dropped go, new ones start at zero."""
        if not len(self._values):
            return None
        ids = np.array(self._seen.ids, dtype=np.int64)
        block = np.zeros((terms + len(ids), self._vectors.shape[1]))
        block[:terms] = self._vectors[:terms]
        order = np.argsort(self._rows)
        if len(order):
            found = order[np.minimum(np.searchsorted(self._rows[order], ids), len(order) - 1)]
            same = self._rows[found] == ids
            block[terms:][same] = self._vectors[terms:][found[same]]
        return block

    def _take(self, subspace: Subspace, known: KnownLinks, graph: CrawlGraph) -> None:
        self._vectors, self._values, self._placed_query = subspace.vectors, subspace.values, None
        self._rows = np.array(self._seen.ids, dtype=np.int64)
        links = known.frontier.tocoo()
        self._link_rows = links.col.astype(np.int64)
        self._link_ids = graph.ids[known.nodes[links.row]]

    def _cosines(self, places: Array) -> Array:
        """Cosine with the topic by row of `U' c`, cut to the factors kept; 0 for a zero row."""
        if self._placed_query is None:
            space, query = self._topic()
            width = self._factors(len(self._rows))
            self._placed_query = np.asarray(query @ self._vectors[: len(space.basis), :width])
        places = places[:, : len(self._placed_query)]
        lengths = np.linalg.norm(places, axis=1)
        product = places @ self._placed_query
        return np.asarray(product / np.where(lengths > 0.0, lengths, 1.0))

    def _folded(self, known: KnownLinks, graph: CrawlGraph, part: NDArray[np.int64]) -> Array:
        space, _ = self._topic()
        terms = len(space.basis)
        places = self._link_weight * (known.frontier[part] @ self._vectors[terms:])
        anchors = self._anchors(known, graph, part)
        if anchors is not None:
            places += anchors @ self._vectors[:terms]
        return self._cosines(places)

    def _folded_row(self, page: Page) -> Array:
        """The row of U that a page fetched since would have, by `U = C C' U / s^2`: from its own words."""
        weights = self._topic()[0].weights(page.title, page.text)
        squares = sum(weight * weight for weight in weights.values()) + self._link_weight**2
        column = self._text_place(weights) / squares
        values = np.maximum(self._values, 1e-9 * self._values[0])
        return np.asarray(self._link_weight**2 * column / values**2)

    def _text_place(self, weights: dict[int, float]) -> Array:
        numbers = np.fromiter(weights.keys(), np.int64, len(weights))
        return np.asarray(np.fromiter(weights.values(), np.float64, len(weights)) @ self._vectors[numbers])

    def _cosine(self, place: Array) -> float:
        return float(self._cosines(place[None, :])[0])

    def _link_words(self, link: Link) -> dict[int, float]:
        context = " ".join(link.context.split(maxsplit=self._context_words)[: self._context_words])
        return self._topic()[0].weights(link.anchor, context)
