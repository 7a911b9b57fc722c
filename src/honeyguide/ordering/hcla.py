"""HCLA: hypertext content latent analysis, words and links in one latent space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.model import CrawlGraph, Examples, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.seen_pages import KnownLinks, SeenPages, known_links, strongest
from honeyguide.store.models import Saved
from honeyguide.text.latent import LatentSpace, Weighting, fit_space, query_vector
from honeyguide.text.svd_update import followed, truncated_svd
from honeyguide.web.url import url_id

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Any
"""A scipy CSR matrix (scipy has no type information)."""
Between: TypeAlias = Literal["fold-in", "wait"]
Which: TypeAlias = Literal["all", "main"]
Method: TypeAlias = Literal["update", "full"]

SPARE: Final = 10
"""Directions kept beyond those wanted: the next reordering starts from them, too."""
DENSE_PAGES: Final = 5_000
"""Up to so many fetched pages their words are multiplied as a dense array (20 MB)."""
DEFAULT_K: Final = 50
SETTLED: Final = 0.2
"""How near vectors must come to the true ones (`followed`): ranks agree long before the last digit does."""
FAR_PASSES, FAR_ROUNDS, FAR_SETTLED = 1, 8, 0.05
"""The same, and how much is done for it at least, where the last space is far from today's."""
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


class HclaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set about HCLA; the defaults are the published values where the paper names any.

    Args:
        k: Factors; None for those of the page model, or 50.
        reorder_every: N.
        self_link: Whether G has ones on its diagonal, so that a page's row carries its own words too.
        anchor_terms: Whether O holds the words of anchors and link contexts; otherwise it is zero.
        context_words: Words of a link's context that are taken, when `anchor_terms` is on.
        links: Which links make up G and R: `all`, or those in the `main` text of their page, without menus,
            footers and the like. A page that only navigation leads to then waits behind all others.
        link_weight: Entry of G and R for one link, beside term weights.
        frontier_weight: Length of the frontier's columns when C is decomposed. With 0 the frontier is placed
            in the space of corpus and fetched pages and does not shape it. With 1 it does: then the children
            of a page with dozens of links make up a strong direction of their own, far from any word.
        warm_up: Links that must be known before HCLA takes over from best-first.
        background_until: Pages fetched until the background documents are taken out of the matrix, so that
            the space is that of the crawled pages alone (the study's proposal for later stages); 0 keeps
            them. The page model keeps its own space.
        fetched_kept: Fetched pages in the matrix; the least relevant are left out.
        frontier_kept: Frontier pages in the matrix, those with the most relevant parents; the rest are
            scored by folding-in.
        adaptive_k: Let k grow with the square root of the number of rows.
        adaptive_n: Let N grow to a tenth of the pages fetched, so that reorderings get rarer.
        between: What new links get between reorderings.
        passes: Blocks of residuals that a reordering adds to the last U before it looks how near it has come.
        rounds: Looks at most; each one adds the residuals of the vectors that have not settled. More of both
            is done at the first reordering, at the one that takes the background out, and always with a
            `frontier_weight` or `adaptive_k`: then the last U is far from today's.
        method: `full` decomposes C from scratch at every reordering, for comparison.
    """

    k: int | None = None
    reorder_every: int = 50
    self_link: bool = True
    anchor_terms: bool = False
    context_words: int = 30
    links: Which = "all"
    link_weight: float = 1.0
    frontier_weight: float = 0.0
    warm_up: int = 0
    background_until: int = 0
    fetched_kept: int = 2000
    frontier_kept: int = 10_000
    adaptive_k: bool = False
    adaptive_n: bool = False
    between: Between = "wait"
    passes: int = 0
    rounds: int = 1
    method: Method = "update"

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        least = (self.reorder_every, self.fetched_kept, self.frontier_kept, self.rounds)
        if min(least) < 1 or (self.k is not None and self.k < 1):
            raise ValueError("k, reorder_every, fetched_kept, frontier_kept and rounds must be at least 1")
        zero_or_more = (self.frontier_weight, self.warm_up, self.context_words, self.background_until)
        if not (self.link_weight > 0.0 and min(*zero_or_more, self.passes) >= 0):
            raise ValueError(
                "link_weight must be above 0; "
                "frontier_weight, warm_up, context_words, background_until and passes 0 or more"
            )


class Hcla(LocalOrder):
    """Orders the frontier by the cosine with the topic in a space of terms and fetched pages.

    The term-document matrix A of a text corpus is expanded, every N = `reorder_every` pages, by the
    words L of fetched pages, the links G among them and the links R from them to frontier pages:

        C = | A  L  O |
            | 0  G  R |

    New columns are brought to length one, and frontier page j gets
    `cos = c_j' U U' q / (|U' c_j| |q|)` with U the k strongest left singular vectors of C and q the
    topic's words. The published update (equations 17 and 18) projects the new columns on `(U_k; 0)`, which
    erases G and R and scores every frontier page 0; here the part of the fetched pages outside that basis,
    the residual, is kept (as in Zha and Simon's update): the last U is expanded by its residuals until it
    is that of today's C (`text.svd_update.followed`). Frontier pages are placed in that space; as with the
    published update, they do not turn it (`frontier_weight`).

    Between two reorderings a new URL goes behind all others (`between="wait"`, as published), or gets the
    score that the words of the page it was found on give it with U as it stands (`"fold-in"`). Until the
    first reordering, and until `warm_up` links are known, the order is best-first.

    Args:
        judge: The crawl's page model. Its latent space is used where it has one (`lsi`); for any other
            model a space is fitted to `examples`.
        options: What can be set, see `HclaOptions`; in a topic file each is a key of its own.
        examples: Text corpus and topic, for page models without a latent space.
        seed: For the directions that the first iteration starts with.

    Example:
        >>> from honeyguide.model import Document
        >>> corpus = tuple(Document(text) for text in ("owl nest", "owl barn", "tax form", "tax law"))
        >>> order = Hcla(options=HclaOptions(k=2), examples=Examples(keywords=("owl",), unlabelled=corpus))
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
        [nan, 0.78]

    References:
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
        Hongyuan Zha, Horst Simon, "On updating problems in latent semantic indexing", SIAM Journal on
        Scientific Computing 21, 1999.
    """

    needs = frozenset({"judge", "examples", "seed"})

    def __init__(
        self,
        judge: TextJudge | None = None,
        options: HclaOptions = HclaOptions(),  # noqa: B008  Frozen.
        *,
        examples: Examples = Examples(),  # noqa: B008  Frozen.
        seed: int = 0,
    ) -> None:
        self.options = options
        self.reorder_every: int | None = options.reorder_every
        self._judge = judge
        self._given = examples
        self._seed = seed
        self._seen = SeenPages(limit=options.fetched_kept, anchor_limit=4 * options.frontier_kept)
        self._learned = 0
        self._reordered_at = 0
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        # As precise as the products they come from; a decomposition in full is for comparison.
        self._precision: Any = np.float64 if options.method == "full" else np.float32
        self._vectors: Array = np.empty((0, 0), dtype=self._precision)
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
        if self.options.anchor_terms and links:
            texts = [self._link_words(link) for link in links]
            for link, weights in zip(links, texts, strict=True):
                self._seen.add_anchor(link.id, weights)
        parent = {"parent": verdict.score}
        if not len(self._values):
            return [Scored(index, verdict.score, factors=parent) for index in range(len(links))]
        if self.options.between == "wait":
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
        weights = self._topic()[0].weights(page.title, page.content)
        main = [link.id for link in page.links if link.main] if self.options.links == "main" else ()
        self._seen.add(page.id, page.url, verdict.score, weights, main)

    def reorder(self, graph: CrawlGraph) -> Array:
        """Cosines of the waiting pages that a remembered page links to."""
        priorities = np.full(graph.size, np.nan)
        if len(graph.sources) < max(1, self.options.warm_up) or not len(self._seen) or self._too_soon():
            return priorities
        last, self._reordered_at = self._reordered_at, self._learned
        self._seen.cut()
        known = known_links(
            self._seen, graph, self_link=self.options.self_link, remembered=self.options.links == "main"
        )
        if not len(known.nodes):
            return priorities
        kept = self._kept(known)
        matrix = self._expanded(known, graph, kept)
        self._take(*self._decomposed(matrix, far=self._far(last)), known, graph)
        scores = np.empty(len(known.nodes))
        scores[kept] = self._cosines(matrix.frontier(self._vectors))
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
            self.options.link_weight * factors[len(space.basis) :][rows],
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
        self._vectors = arrays["vectors"].astype(self._precision)
        self._values = arrays["values"].astype(np.float64)
        self._placed_query = None
        return self

    def _latent_judge(self) -> LatentJudge | None:
        """The page model, if it is one with a latent space; asks the class: it may not be fitted yet."""
        model = getattr(self._judge, "inner", self._judge)  # a collection's model may have reviews around it
        kind = type(model)
        return cast("LatentJudge", model) if hasattr(kind, "space") and hasattr(kind, "query") else None

    def _topic(self) -> tuple[LatentSpace, Array]:
        """Space and query; from the page model where it has them, with as many factors as asked for."""
        if self._resolved is None:
            judge, k = self._latent_judge(), self.options.k
            if judge is not None and (k is None or k <= judge.space.rank):
                space = judge.space if k is None or k == judge.space.rank else judge.space.cut(k)
                self._resolved = (space, judge.query)
            else:
                weighting: Weighting = "count" if judge is None else judge.space.weighting
                space = fit_space(self._given, k=k or DEFAULT_K, weighting=weighting)
                self._resolved = (space, query_vector(space, self._given))
        return self._resolved

    def _too_soon(self) -> bool:
        if not self.options.adaptive_n or not len(self._values):
            return False
        return self._learned - self._reordered_at < max(self.reorder_every or 1, self._learned // 10)

    def _factors(self, pages: int) -> int:
        space, _ = self._topic()
        if not self.options.adaptive_k:
            return space.rank
        return round(space.rank * math.sqrt(1.0 + pages / len(space.basis)))

    def _kept(self, known: KnownLinks) -> NDArray[np.int64]:
        """Frontier pages that take part in the decomposition: those with the most relevant parents."""
        count = len(known.nodes)
        if self.options.frontier_weight == 0.0:
            return np.arange(0)
        if count <= self.options.frontier_kept:
            return np.arange(count)
        merit = known.frontier @ np.maximum(np.array(self._seen.scores), 1e-3)
        return np.sort(np.lexsort((np.arange(count), -merit))[: self.options.frontier_kept])

    def _anchors(self, known: KnownLinks, graph: CrawlGraph, part: NDArray[np.int64]) -> Any:
        if not self.options.anchor_terms:
            return None
        return self._seen.anchors(graph.ids[known.nodes[part]], len(self._topic()[0].vocabulary))

    def _expanded(self, known: KnownLinks, graph: CrawlGraph, kept: NDArray[np.int64]) -> Expanded:
        space, _ = self._topic()
        terms, few = len(space.vocabulary), len(self._seen) <= DENSE_PAGES
        return Expanded(
            space,
            # A page has hundreds of the thousand terms: as a dense array the product takes half the time.
            self._seen.dense_words(terms) if few else self._seen.words(terms),
            self._seen.squares(),
            among=known.among,
            anchors=self._anchors(known, graph, kept),
            links=_rows(known.frontier, kept),
            link_weight=self.options.link_weight,
            frontier_weight=self.options.frontier_weight,
            background=not self._without_background(self._learned),
        )

    def _without_background(self, learned: int) -> bool:
        return 0 < self.options.background_until <= learned

    def _far(self, last: int) -> bool:
        """Whether today's space may be far from that of the last reordering, after `last` pages."""
        taken_out = self._without_background(self._learned) and not self._without_background(last)
        shaped = self.options.frontier_weight > 0.0 or self.options.adaptive_k
        return not len(self._values) or taken_out or shaped

    def _decomposed(self, matrix: Expanded, *, far: bool) -> tuple[Array, Array]:
        """Left singular vectors and values of C, with a few more than asked for."""
        space, _ = self._topic()
        pages = len(self._seen)
        factors = self._factors(pages)
        if self.options.method == "full":
            svd = truncated_svd(matrix.matrix(), factors)
            return svd.u, svd.s
        columns = min(factors + SPARE, len(space.basis) + pages)
        start = start_block(
            space,
            pages,
            columns,
            random=np.random.default_rng((self._seed, pages)),
            known=self._carried_over(len(space.basis)),
        )
        return followed(
            matrix.gram(),
            start.astype(self._precision),
            factors,
            spare=SPARE,
            depth=max(self.options.passes, FAR_PASSES if far else 0),
            rounds=max(self.options.rounds, FAR_ROUNDS if far else 0),
            tolerance=FAR_SETTLED if far else SETTLED,
        )

    def _carried_over(self, terms: int) -> Array | None:
        """The last subspace in the rows of today: pages that were dropped go, new ones start at zero."""
        if not len(self._values):
            return None
        ids = np.array(self._seen.ids, dtype=np.int64)
        block = np.zeros((terms + len(ids), self._vectors.shape[1]), dtype=self._precision)
        block[:terms] = self._vectors[:terms]
        order = np.argsort(self._rows)
        if len(order):
            found = order[np.minimum(np.searchsorted(self._rows[order], ids), len(order) - 1)]
            same = self._rows[found] == ids
            block[terms:][same] = self._vectors[terms:][found[same]]
        return block

    def _take(self, vectors: Array, values: Array, known: KnownLinks, graph: CrawlGraph) -> None:
        self._vectors, self._values, self._placed_query = vectors, values, None
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
        links = _rows(known.frontier, part).astype(self._precision)
        places = self.options.link_weight * (links @ self._vectors[terms:])
        anchors = self._anchors(known, graph, part)
        if anchors is not None:
            places += anchors @ self._vectors[:terms]
        return self._cosines(places)

    def _folded_row(self, page: Page) -> Array:
        """The row of U that a page fetched since would have, by `U = C C' U / s^2`: from its own words."""
        weights = self._topic()[0].weights(page.title, page.content)
        squares = sum(weight * weight for weight in weights.values()) + self.options.link_weight**2
        column = self._text_place(weights) / squares
        values = np.maximum(self._values, 1e-9 * self._values[0])
        return np.asarray(self.options.link_weight**2 * column / values**2)

    def _text_place(self, weights: dict[int, float]) -> Array:
        numbers = np.fromiter(weights.keys(), np.int64, len(weights))
        return np.asarray(np.fromiter(weights.values(), np.float64, len(weights)) @ self._vectors[numbers])

    def _cosine(self, place: Array) -> float:
        return float(self._cosines(place[None, :])[0])

    def _link_words(self, link: Link) -> dict[int, float]:
        context = " ".join(
            link.context.split(maxsplit=self.options.context_words)[: self.options.context_words]
        )
        return self._topic()[0].weights(link.anchor, context)


class Expanded:
    """The matrix C of terms and fetched pages by documents, in blocks; documents are rows here.

        C = | A  L  O |
            | 0  G  R |

    A is replaced by the k columns `U_k S_k`, which have the same left singular vectors and values.
    Columns of fetched and frontier pages have length one, or what was asked for.

    Args:
        space: The corpus: A.
        words: L, transposed: fetched pages by terms, dense or CSR.
        squares: The squared length of each row of `words`.
        among: G, transposed: fetched pages by fetched pages that link to them.
        anchors: O, transposed: frontier pages by terms; None for zero.
        links: R, transposed: frontier pages by fetched pages that link to them.
        link_weight: Entry of G and R for one link.
        frontier_weight: Length of the frontier's columns.
        background: Whether A is there; otherwise its columns are zero.
    """

    def __init__(
        self,
        space: LatentSpace,
        words: Rows,
        squares: Array,
        *,
        among: Rows,
        anchors: Rows | None,
        links: Rows,
        link_weight: float = 1.0,
        frontier_weight: float = 1.0,
        background: bool = True,
    ) -> None:
        self.terms = len(space.basis)
        self._corpus = space.basis * space.values * float(background)
        # Words stay as they are, and their lengths beside them: links that join change the lengths only.
        self._words, self._lengths = words, _inverse_lengths(squares, among, link_weight, 1.0)
        self._among = _scaled(among, self._lengths * link_weight)
        said: Array = np.zeros(links.shape[0])
        if anchors is not None:
            row = np.repeat(np.arange(anchors.shape[0]), np.diff(anchors.indptr))
            said = np.bincount(row, anchors.data * anchors.data, anchors.shape[0]).astype(np.float64)
        factors = _inverse_lengths(said, links, link_weight, frontier_weight)
        self._anchors = None if anchors is None else _scaled(anchors, factors)
        self._links = _scaled(links, factors * link_weight) if links.shape[0] else links

    def gram(self) -> Callable[[Array], Array]:
        """`X -> C C' X`, in single precision: its rounding is far below the tolerance of what it is for."""
        single = np.float32
        corpus, words = self._corpus.astype(single), self._words.astype(single, copy=False)
        lengths = self._lengths.astype(single)[:, None]
        among, links = self._among.astype(single), self._links.astype(single)
        back_among = among.T.tocsr()
        back_links = links.T.tocsr() if links.shape[0] else None
        anchors = None if self._anchors is None else self._anchors.astype(single)

        def times(block: Array) -> Array:
            narrow = block.astype(single, copy=False)
            top, bottom = narrow[: self.terms], narrow[self.terms :]
            fetched = np.asarray(words @ top) * lengths + among @ bottom
            lower = back_among @ fetched
            upper = words.T @ (fetched * lengths) + corpus @ (corpus.T @ top)
            if links.shape[0]:
                frontier = links @ bottom
                if anchors is not None:
                    frontier += anchors @ top
                    upper = upper + anchors.T @ frontier
                lower = lower + back_links @ frontier
            return np.vstack((upper, lower)).astype(block.dtype, copy=False)

        return times

    def frontier(self, vectors: Array) -> Array:
        """`U' c` of every frontier page, one row each."""
        places = self._links @ vectors[self.terms :]
        if self._anchors is not None:
            places += self._anchors @ vectors[: self.terms]
        return np.asarray(places)

    def matrix(self) -> Rows:
        """C itself, for a decomposition in full."""
        anchors = self._anchors
        if anchors is None:
            anchors = sparse.csr_matrix((self._links.shape[0], self.terms))
        words = _scaled(sparse.csr_matrix(self._words, dtype=np.float64), self._lengths)
        corpus = sparse.csr_matrix(self._corpus)
        none = sparse.csr_matrix((self._among.shape[1], corpus.shape[1]))
        upper = sparse.hstack((corpus, words.T, anchors.T))
        return sparse.vstack((upper, sparse.hstack((none, self._among.T, self._links.T)))).tocsr()


def start_block(
    space: LatentSpace, pages: int, columns: int, *, random: np.random.Generator, known: Array | None = None
) -> Array:
    """Where to begin: the known directions (or those of the corpus), then random ones.

    Args:
        space: The corpus.
        pages: Rows below the terms.
        columns: Directions wanted.
        random: For those that are missing.
        known: The last subspace, in the rows of this matrix.
    """
    if known is None:
        known = np.vstack((space.basis, np.zeros((pages, space.rank))))
    missing = columns - known.shape[1]
    if missing <= 0:
        return known[:, :columns]
    drawn = random.normal(size=(len(known), columns))[:, -missing:]
    return np.hstack((known, drawn * 1e-2))


def _rows(matrix: Rows, places: NDArray[np.int64]) -> Rows:
    """Some rows, in rising order; without a copy where it is all of them."""
    if len(places) == matrix.shape[0]:
        return matrix
    return matrix[places] if len(places) else sparse.csr_matrix((0, matrix.shape[1]))


def _inverse_lengths(squares: Array, links: Rows, weight: float, length: float) -> Array:
    """What brings columns with these words and links to a length; 0 for empty ones."""
    lengths = np.sqrt(np.diff(links.indptr) * weight * weight + squares)
    return np.asarray(np.divide(length, lengths, out=np.zeros_like(lengths), where=lengths > 0.0))


def _scaled(matrix: Rows, factors: Array) -> Rows:
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def pulled_up(
    top: Array, linking: Array, query: Array, *, words: Array, terms: Sequence[str], pages: Sequence[str]
) -> dict[str, object]:
    """The score of a frontier page, shared out among the topic's words and among the linking pages.

    Either shares add up to the cosine (that of the words of links is told apart); they may be negative.

    Args:
        top: Rows of U that are terms.
        linking: Rows of U of the pages that link to it, times the weight of a link.
        query: The topic over the terms, at length one.
        words: Place of the words of links to it.
        terms: Names of the terms.
        pages: URLs of the linking pages.
    """
    place = linking.sum(axis=0) + words
    length = float(np.linalg.norm(place))
    if not length:
        return {}
    topic = query @ top
    by_page = linking @ topic / length
    used = np.flatnonzero(query)
    by_term = query[used] * (top[used] @ place) / length
    told: dict[str, object] = {
        "score": round(float(topic @ place) / length, 6),
        "terms": strongest([terms[number] for number in used.tolist()], by_term.tolist()),
        "pages": strongest(pages, by_page.tolist()),
    }
    if words.any():
        told["words of links"] = round(float(words @ topic) / length, 6)
    return told
