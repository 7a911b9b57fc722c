"""PLSI + PHITS: a probabilistic model of words and links, fitted by tempered EM, as a link order."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread
from typing import Any, Final, Literal, Self, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.model import CrawlGraph, Examples, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.ordering.seen_pages import KnownLinks, SeenPages, known_links, strongest
from honeyguide.store.models import Saved
from honeyguide.text.latent import fit_terms, rows_from, topic_weights
from honeyguide.web.url import url_id

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Any
"""A scipy CSR matrix, one row a document (scipy has no type information)."""
Between: TypeAlias = Literal["fold-in", "wait"]
Which: TypeAlias = Literal["all", "main"]

CHUNK: Final = 100_000
"""Nonzero entries worked on at a time: bounds memory to a few times 8 * K * CHUNK bytes."""
TINY: Final = 1e-300
SMOOTHING: Final = 1e-6
"""Probability that every term and link keeps, as a share of one factor: no factor rules out anything."""
GAIN: Final = 1e-4
"""Held-out likelihood must rise by this share to go on at the same temperature."""
PATIENCE: Final = 2
"""Steps without such a rise before the temperature falls."""
LEAST_STEPS: Final = 15
"""EM leaves an even start slowly: so many steps are made at least."""
LAST: Final = -1.0
"""Below every cosine: a new URL that waits for the next reordering."""
FOLDED: Final = 20_000
"""Frontier pages folded in at a time."""


class PlsiPhitsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set about PLSI + PHITS.

    Args:
        factors: K.
        reorder_every: N.
        terms: Most frequent stems that make up the vocabulary; the topic's own words join them.
        alpha: Weight of words against links.
        eta: Factor by which the temperature falls.
        lowest_beta: Where it stops.
        self_link: Whether every page links to itself, so that its factors show in the pages it links to.
        anchor_terms: Whether words of anchors and link contexts count for frontier pages.
        context_words: Words of a link's context that are taken, when `anchor_terms` is on.
        links: Which links count: `all`, or those in the `main` text of their page.
        steps: EM steps over the fetched pages, each reordering.
        fold_in_steps: EM steps that fold in the topic and the frontier: with one, topic and unknown pages
            alike stay close to the corpus's mixture; with many, a page goes over to a single factor.
        warm_up: Links that must be known before this order takes over from best-first.
        fetched_kept: Fetched pages in the model; the least relevant are left out.
        between: What new links get until the next reordering: the score of the page they were found on
            (`fold-in`), or a place behind all others (`wait`).
    """

    factors: int = 50
    reorder_every: int = 50
    terms: int = 1000
    alpha: float = 0.5
    eta: float = 0.9
    lowest_beta: float = 0.8
    self_link: bool = True
    anchor_terms: bool = False
    context_words: int = 30
    links: Which = "all"
    steps: int = 3
    fold_in_steps: int = 3
    warm_up: int = 0
    fetched_kept: int = 2000
    between: Between = "wait"

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        if min(self.factors, self.reorder_every, self.fetched_kept, self.steps, self.fold_in_steps) < 1:
            raise ValueError("factors, reorder_every, fetched_kept and steps must be at least 1")
        if not (0.0 <= self.alpha <= 1.0 and 0.0 < self.eta < 1.0 and 0.0 < self.lowest_beta <= 1.0):
            raise ValueError("alpha must be in 0..1, eta and lowest_beta between 0 and 1")


class PlsiPhits(LocalOrder):
    """Orders the frontier by the cosine of its factors with those of the topic.

    A text corpus is explained by K factors (PLSI, tempered EM). Every N pages the fetched pages join it
    with their words and the links among them, under the same factors:
    `alpha * sum tf(t,d) log sum_z P(t|z)P(z|d) + (1-alpha) * sum links(d,c) log sum_z P(c|z)P(z|d)`, each
    document's words and links with sum one. A frontier page has no words; it is folded in from its links
    and, with `anchor_terms`, from the words of links to it. The topic's words are folded in likewise, and
    frontier pages are ordered by the cosine of P(z|page) and P(z|topic).

    `links(d, c)` is one where the fetched page c links to d, as in HCLA's matrices G and R: the only
    links of a frontier page that a crawl knows are those that lead to it. The corpus keeps its expected
    counts from its own fit, so that the cost of a reordering is linear in the words and links crawled. That
    fit takes seconds and runs beside the crawl from the first page on; the first reordering waits for it.

    Args:
        options: What can be set, see `PlsiPhitsOptions`; in a topic file each is a key of its own.
        examples: Text corpus and topic.
        seed: For the start of EM and the held-out split.

    Example:
        >>> from honeyguide.model import Document
        >>> corpus = tuple(Document(text) for text in ("owl nest", "owl barn", "tax form", "tax law"))
        >>> given = Examples(keywords=("owl",), unlabelled=corpus)
        >>> order = PlsiPhits(PlsiPhitsOptions(factors=2), examples=given)
        >>> for number, text in enumerate(("an owl in a barn", "tax law")):
        ...     page = Page(url=f"https://a.example/{number}", id=number, text=text)
        ...     order.learn(page, Verdict(0.5, True))
        >>> graph = CrawlGraph(
        ...     ids=np.arange(4), fetched=np.arange(4) < 2, waiting=np.arange(4) > 1,
        ...     score=np.zeros(4, dtype=np.float32),
        ...     sources=np.array([0, 1], dtype=np.int32), targets=np.array([2, 3], dtype=np.int32),
        ... )
        >>> _, _, owls, taxes = order.reorder(graph)
        >>> bool(owls > 0.9 > taxes)
        True

    References:
        David Cohn, Thomas Hofmann, "The missing link: a probabilistic model of document content and
        hypertext connectivity", NIPS 2000.
        Thomas Hofmann, "Unsupervised learning by probabilistic latent semantic analysis", Machine Learning
        42, 2001.
    """

    def __init__(
        self,
        options: PlsiPhitsOptions = PlsiPhitsOptions(),  # noqa: B008  Frozen.
        *,
        examples: Examples,
        seed: int = 0,
    ) -> None:
        self.options = options
        self.reorder_every: int | None = options.reorder_every
        self._seed = seed
        self._tempering = Tempering(eta=options.eta, lowest=options.lowest_beta)
        self._space, self._corpus, _ = fit_terms(examples, terms=options.terms)
        self._factors = min(options.factors, *self._corpus.shape)
        self._query = rows_from([topic_weights(self._space, examples)], len(self._space.vocabulary))
        self._seen = SeenPages(limit=options.fetched_kept, anchor_limit=40_000)
        self._model: Fitted | None = None
        self._fitting: Thread | None = None
        self._joint: Joint | None = None
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._link_rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._link_ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """First scores of the links of a page, until the next reordering."""
        if self.options.anchor_terms:
            for link in links:
                self._seen.add_anchor(link.id, self._link_words(link))
        factors = {"parent": verdict.score}
        priority = verdict.score
        if self._joint is not None:
            priority = LAST
            if self.options.between == "fold-in":
                priority = float(
                    self._cosines(self._folded(self._space.weights(page.title, page.content)))[0]
                )
                factors["fold-in"] = priority
        return [Scored(index, priority, factors=factors) for index in range(len(links))]

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Remember the words of the page; the first one starts the fit of the corpus beside the crawl."""
        if self._model is None and self._fitting is None:
            self._fitting = Thread(target=self._fit_corpus, name="plsi fit", daemon=True)
            self._fitting.start()
        main = [link.id for link in page.links if link.main] if self.options.links == "main" else ()
        weights = self._space.weights(page.title, page.content)
        self._seen.add(page.id, page.url, verdict.score, weights, main)

    def reorder(self, graph: CrawlGraph) -> Array:
        """Cosines of the waiting pages that a remembered page links to."""
        priorities = np.full(graph.size, np.nan)
        if len(graph.sources) < max(1, self.options.warm_up) or not len(self._seen):
            return priorities
        self._seen.cut()
        known = known_links(
            self._seen, graph, self_link=self.options.self_link, remembered=self.options.links == "main"
        )
        if not len(known.nodes):
            return priorities
        self._joint = self._improved(known)
        self._take(known, graph)
        for part in np.array_split(np.arange(len(known.nodes)), -(-len(known.nodes) // FOLDED)):
            nodes = known.nodes[part]
            links = normalised_rows(known.frontier[part])
            parts = [(1.0 - self.options.alpha, links, self._joint.links)]
            if self.options.anchor_terms:
                anchors = self._seen.anchors(graph.ids[nodes], len(self._space.vocabulary))
                parts.append((self.options.alpha, normalised_rows(anchors), self._joint.terms))
            factors = folded_in(self._fitted.mixture, parts, steps=self.options.fold_in_steps)
            priorities[nodes] = self._cosines(factors)
        return priorities

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """The pages that pulled a URL up at the last reordering, and the topic words likely on it."""
        target = page.id if page is not None else url_id(url)
        rows = self._link_rows[self._link_ids == target]
        if not len(rows) or self._joint is None:
            return {}
        places = {page: place for place, page in enumerate(self._rows.tolist())}
        urls = {places[page]: url for page, url in self._seen.addresses() if page in places}
        one_link = normalised_rows(rows_from(({row: 1.0} for row in rows.tolist()), len(self._rows)))
        factors = folded_in(self._fitted.mixture, [(1.0, one_link, self._joint.links)], steps=1)
        likely = self._joint.terms @ factors.mean(axis=0)
        names = self._space.vocabulary.terms
        words = self._query.indices.tolist()
        return {
            "pages": strongest([urls.get(row, "") for row in rows.tolist()], self._cosines(factors).tolist()),
            "terms": strongest([names[number] for number in words], likely[words].tolist()),
        }

    def save(self) -> Saved:
        """Pages, link words and the factors."""
        seen = self._seen.save()
        arrays: dict[str, NDArray[np.generic]] = {
            **seen.arrays,
            "rows": self._rows,
            "link_rows": self._link_rows,
            "link_ids": self._link_ids,
        }
        values = dict(seen.values)
        if self._joint is not None:
            fitted = self._fitted
            values["beta"] = fitted.beta
            arrays |= {
                "corpus_terms": fitted.terms,
                "corpus_counts": fitted.counts,
                "mixture": fitted.mixture,
            }
            arrays |= {"terms": self._joint.terms, "links": self._joint.links, "pages": self._joint.pages}
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._seen.load(saved)
        self._rows, self._link_rows, self._link_ids = (
            saved.arrays[name].astype(np.int64) for name in ("rows", "link_rows", "link_ids")
        )
        if "mixture" in saved.arrays:
            array = {name: each.astype(np.float64) for name, each in saved.arrays.items()}
            beta = cast("float", saved.values["beta"])
            self._model = Fitted(array["corpus_terms"], array["corpus_counts"], array["mixture"], beta)
            self._joint = Joint(array["terms"], array["links"], array["pages"])
        return self

    @property
    def _fitted(self) -> Fitted:
        """The model of the corpus. Waits for it: whether it was ready must not change the crawl."""
        if self._fitting is not None:
            self._fitting.join()
            self._fitting = None
        if self._model is None:
            self._fit_corpus()
        assert self._model is not None
        return self._model

    def _fit_corpus(self) -> None:
        random = np.random.default_rng(self._seed)
        words = normalised_rows(self._corpus)
        self._model = fit_words(words, self._factors, random=random, tempering=self._tempering)

    def _improved(self, known: KnownLinks) -> Joint:
        fitted = self._fitted
        words = normalised_rows(self._seen.words(len(self._space.vocabulary)))
        terms = fitted.terms if self._joint is None else self._joint.terms
        # Fetched pages start from their words, pages met before from what is known of them.
        pages = folded_in(fitted.mixture, [(1.0, words, terms)], steps=self.options.fold_in_steps)
        ids = np.array(self._seen.ids, dtype=np.int64)
        if self._joint is not None:
            order = np.argsort(self._rows)
            found = order[np.minimum(np.searchsorted(self._rows[order], ids), len(order) - 1)]
            same = self._rows[found] == ids
            pages[same] = self._joint.pages[found[same]]
        links = normalised_rows(known.among)
        sources = np.asarray(links.T @ pages) + 1e-3 / max(1, len(ids))
        start = Joint(terms, sources / sources.sum(axis=0), pages)
        return fit_joint(fitted, words, links, start, alpha=self.options.alpha, steps=self.options.steps)

    def _take(self, known: KnownLinks, graph: CrawlGraph) -> None:
        self._rows = np.array(self._seen.ids, dtype=np.int64)
        links = known.frontier.tocoo()
        self._link_rows = links.col.astype(np.int64)
        self._link_ids = graph.ids[known.nodes[links.row]]

    def _folded(self, weights: dict[int, float]) -> Array:
        assert self._joint is not None
        row = normalised_rows(rows_from([weights], len(self._space.vocabulary)))
        return folded_in(
            self._fitted.mixture, [(1.0, row, self._joint.terms)], steps=self.options.fold_in_steps
        )

    def _cosines(self, factors: Array) -> Array:
        assert self._joint is not None
        parts = [(1.0, normalised_rows(self._query), self._joint.terms)]
        topic = folded_in(self._fitted.mixture, parts, steps=self.options.fold_in_steps)[0]
        lengths = np.linalg.norm(factors, axis=1) * np.linalg.norm(topic)
        return np.asarray(factors @ topic / np.where(lengths > 0.0, lengths, 1.0))

    def _link_words(self, link: Link) -> dict[int, float]:
        context = " ".join(
            link.context.split(maxsplit=self.options.context_words)[: self.options.context_words]
        )
        return self._space.weights(link.anchor, context)


class Tempering(msgspec.Struct, frozen=True):
    """How EM is cooled: beta falls by the factor eta from 1 to no less than `lowest`."""

    eta: float = 0.9
    lowest: float = 0.8
    held_out: float = 0.1
    """Share of the entries kept aside to tell when to stop."""
    iterations: int = 60
    """At most, over all temperatures."""


class Fitted(msgspec.Struct, frozen=True, eq=False):
    """A model of words: K factors over the terms of a corpus."""

    terms: Array
    """P(t|z), terms by factors."""
    counts: Array
    """Expected counts behind it, for adding further documents."""
    mixture: Array
    """P(z) over the corpus."""
    beta: float
    """The temperature that EM ended with."""


def normalised_rows(matrix: Rows) -> Rows:
    """Every row with sum one: each document counts the same, long or short."""
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    factors = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0.0)
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def fit_words(words: Rows, factors: int, *, random: np.random.Generator, tempering: Tempering) -> Fitted:
    """PLSI of a corpus by tempered EM.

    EM runs at beta = 1 until the likelihood of held-out entries no longer rises, then at beta * eta, and
    so on; the best model seen counts.

    Args:
        words: Documents by terms, rows with sum one.
        factors: K.
        random: For the start and the held-out split.
        tempering: The schedule.
    """
    kept, aside = _split(words, random, tempering.held_out)
    documents = random.dirichlet(np.ones(factors), size=words.shape[0])
    terms = _columns(random.random((words.shape[1], factors)) + 0.1)
    best, found = -np.inf, (documents, terms, 1.0)
    beta, idle = 1.0, 0
    for turn in range(tempering.iterations):
        documents, counts = step(kept, documents, terms, beta=beta)
        documents, terms = _rows(documents), _columns(counts)
        likelihood = log_likelihood(aside, documents, terms)
        idle = 0 if likelihood > best + GAIN * abs(likelihood) else idle + 1
        if likelihood > best:
            best, found = likelihood, (documents, terms, beta)
        if turn >= LEAST_STEPS and idle >= PATIENCE:
            beta, idle = beta * tempering.eta, 0
            if beta < tempering.lowest:
                break
            documents, terms, _ = found
    documents, terms, beta = found
    shares, counts = step(words, documents, terms, beta=beta)
    return Fitted(_columns(counts), counts, _rows(shares).mean(axis=0), beta)


def step(matrix: Rows, documents: Array, features: Array, *, beta: float) -> tuple[Array, Array]:
    """One tempered E and M step: expected counts by document and by feature, not normalised.

    `P(z|d,f)` is proportional to `(P(f|z) P(z|d))^beta`.

    Args:
        matrix: Documents by features.
        documents: P(z|d).
        features: P(f|z).
        beta: 1 for plain EM.
    """
    if beta != 1.0:
        documents, features = documents**beta, features**beta
    ratio = matrix.copy()
    ratio.data = matrix.data / np.maximum(_at(matrix, documents, features), TINY)
    return documents * (ratio @ features), features * (ratio.T @ documents)


def log_likelihood(matrix: Rows, documents: Array, features: Array) -> float:
    """`sum over d, f of n(d,f) log sum over z of P(f|z) P(z|d)`."""
    return float(matrix.data @ np.log(np.maximum(_at(matrix, documents, features), TINY)))


class Joint(msgspec.Struct, frozen=True, eq=False):
    """Words and links of crawled pages under one set of factors."""

    terms: Array
    """P(t|z)."""
    links: Array
    """P(c|z) for every fetched page c, as one that links."""
    pages: Array
    """P(z|d) of the fetched pages."""


def fit_joint(corpus: Fitted, words: Rows, links: Rows, start: Joint, *, alpha: float, steps: int) -> Joint:
    """A few EM steps over crawled pages; the corpus takes part by its expected counts.

    Maximises `alpha * words + (1 - alpha) * links`, both rows with sum one.

    Args:
        corpus: The model of the text corpus.
        words: Fetched pages by terms.
        links: Fetched pages by fetched pages that link to them.
        start: Where to begin.
        alpha: Weight of words.
        steps: EM steps.
    """
    terms, sources, pages = start.terms, start.links, start.pages
    for _ in range(steps):
        of_words, term_counts = step(words, pages, terms, beta=corpus.beta)
        of_links, link_counts = step(links, pages, sources, beta=corpus.beta)
        pages = _rows(alpha * of_words + (1.0 - alpha) * of_links, corpus.mixture)
        terms = _columns(corpus.counts + alpha * term_counts)
        sources = _columns((1.0 - alpha) * link_counts)
    return Joint(terms, sources, pages)


def folded_in(
    mixture: Array, parts: list[tuple[float, Rows, Array]], *, steps: int, beta: float = 1.0
) -> Array:
    """P(z|d) of new documents with the factors fixed, from the corpus's mixture on.

    One step gives the mean of `P(z|f)` over the document's features; many drive a document of one or two
    features to a single factor.

    Args:
        mixture: P(z).
        parts: Weight, documents by features (rows with sum one) and P(f|z), for words and for links.
        steps: EM steps.
        beta: Temperature.
    """
    count = parts[0][1].shape[0]
    documents = np.tile(mixture, (count, 1))
    for _ in range(steps):
        documents = _rows(
            sum((weight * step(rows, documents, features, beta=beta)[0] for weight, rows, features in parts),
                start=np.zeros((count, len(mixture)))),
            mixture,
        )  # fmt: skip
    return documents


def _at(matrix: Rows, documents: Array, features: Array) -> Array:
    """`documents @ features.T` at the nonzero entries of the matrix."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    found = np.empty(matrix.nnz)
    for begin in range(0, matrix.nnz, CHUNK):
        part = slice(begin, begin + CHUNK)
        found[part] = np.einsum("ij,ij->i", documents[rows[part]], features[matrix.indices[part]])
    return found


def _split(matrix: Rows, random: np.random.Generator, share: float) -> tuple[Rows, Rows]:
    """Entries to fit on and entries held out; both keep the shape."""
    aside = random.random(matrix.nnz) < share
    if aside.all() or not aside.any():
        return matrix, matrix
    kept, other = matrix.copy(), matrix.copy()
    kept.data = np.where(aside, 0.0, matrix.data)
    other.data = np.where(aside, matrix.data, 0.0)
    kept.eliminate_zeros()
    other.eliminate_zeros()
    return kept, other


def _rows(counts: Array, instead: Array | None = None) -> Array:
    """Rows with sum one; a row of zeros becomes `instead`, or even."""
    totals = counts.sum(axis=1, keepdims=True)
    even = np.full(counts.shape[1], 1.0 / counts.shape[1]) if instead is None else instead
    return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), even)


def _columns(counts: Array) -> Array:
    """Columns with sum one, smoothed a little."""
    size = max(1, len(counts))
    totals = counts.sum(axis=0, keepdims=True)
    shares = np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), 1.0 / size)
    return np.asarray((1.0 - SMOOTHING) * shares + SMOOTHING / size)
