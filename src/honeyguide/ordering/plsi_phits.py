"""PLSI + PHITS: a probabilistic model of words and links as a link order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Examples, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.ordering.hcla_explain import strongest
from honeyguide.ordering.hcla_pages import KnownLinks, SeenPages, known_links
from honeyguide.ordering.plsi_phits_em import (
    Fitted,
    Joint,
    Tempering,
    fit_joint,
    fit_words,
    folded_in,
    normalised_rows,
)
from honeyguide.store.models import Saved
from honeyguide.text.latent import fit_terms, rows_from, topic_weights
from honeyguide.web.url import url_id

Array: TypeAlias = NDArray[np.float64]
Between: TypeAlias = Literal["fold-in", "wait"]

LAST: Final = -1.0
"""Below every cosine: a new URL that waits for the next reordering."""
CHUNK: Final = 20_000
"""Frontier pages folded in at a time."""


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
    counts from its own fit, so that the cost of a reordering is linear in the words and links crawled.

    Parameters:
        examples: Text corpus and topic.
        seed: For the start of EM and the held-out split.
        factors: K.
        reorder_every: N.
        terms: Most frequent stems that make up the vocabulary; the topic's own words join them.
        alpha: Weight of words against links.
        eta: Factor by which the temperature falls.
        lowest_beta: Where it stops.
        self_link: Whether every page links to itself, so that its factors show in the pages it links to.
        anchor_terms: Whether words of anchors and link contexts count for frontier pages.
        context_words: Words of a link's context that are taken, when `anchor_terms` is on.
        steps: EM steps over the fetched pages, each reordering.
        fold_in_steps: EM steps that fold in the topic and the frontier: with one, topic and unknown pages
            alike stay close to the corpus's mixture; with many, a page goes over to a single factor.
        warm_up: Links that must be known before this order takes over from best-first.
        fetched_kept: Fetched pages in the model; the least relevant are left out.
        between: What new links get until the next reordering: the score of the page they were found on
            (`fold-in`), or a place behind all others (`wait`).

    Example:
        >>> from honeyguide.model import Document
        >>> corpus = tuple(Document(text) for text in ("owl nest", "owl barn", "tax form", "tax law"))
        >>> order = PlsiPhits(examples=Examples(keywords=("owl",), unlabelled=corpus), factors=2)
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
        *,
        examples: Examples,
        seed: int = 0,
        factors: int = 50,
        reorder_every: int = 50,
        terms: int = 1000,
        alpha: float = 0.5,
        eta: float = 0.9,
        lowest_beta: float = 0.8,
        self_link: bool = True,
        anchor_terms: bool = False,
        context_words: int = 30,
        steps: int = 3,
        fold_in_steps: int = 3,
        warm_up: int = 0,
        fetched_kept: int = 2000,
        between: Between = "wait",
    ) -> None:
        if min(factors, reorder_every, fetched_kept, steps, fold_in_steps) < 1:
            raise ValueError("factors, reorder_every, fetched_kept and steps must be at least 1")
        if not (0.0 <= alpha <= 1.0 and 0.0 < eta < 1.0 and 0.0 < lowest_beta <= 1.0):
            raise ValueError("alpha must be in 0..1, eta and lowest_beta between 0 and 1")
        self.reorder_every: int | None = reorder_every
        self._seed = seed
        self._alpha = alpha
        self._tempering = Tempering(eta=eta, lowest=lowest_beta)
        self._self_link = self_link
        self._anchor_terms = anchor_terms
        self._context_words = context_words
        self._steps = steps
        self._fold_in_steps = fold_in_steps
        self._warm_up = warm_up
        self._between: Between = between
        self._space, self._corpus, _ = fit_terms(examples, terms=terms)
        self._factors = min(factors, *self._corpus.shape)
        self._query = rows_from([topic_weights(self._space, examples)], len(self._space.vocabulary))
        self._seen = SeenPages(limit=fetched_kept, anchor_limit=40_000)
        self._model: Fitted | None = None
        self._joint: Joint | None = None
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._link_rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._link_ids: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """First scores of the links of a page, until the next reordering."""
        if self._anchor_terms:
            for link in links:
                self._seen.add_anchor(link.id, self._link_words(link))
        factors = {"parent": verdict.score}
        priority = verdict.score
        if self._joint is not None:
            priority = LAST
            if self._between == "fold-in":
                priority = float(self._cosines(self._folded(self._space.weights(page.title, page.text)))[0])
                factors["fold-in"] = priority
        return [Scored(index, priority, factors=factors) for index in range(len(links))]

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Remember the words of the page."""
        self._seen.add(page.id, page.url, verdict.score, self._space.weights(page.title, page.text))

    def reorder(self, graph: CrawlGraph) -> Array:
        """Cosines of the waiting pages that a remembered page links to."""
        priorities = np.full(graph.size, np.nan)
        if len(graph.sources) < max(1, self._warm_up) or not len(self._seen):
            return priorities
        self._seen.cut()
        known = known_links(self._seen, graph, self_link=self._self_link)
        if not len(known.nodes):
            return priorities
        self._joint = self._improved(known)
        self._take(known, graph)
        for part in np.array_split(np.arange(len(known.nodes)), -(-len(known.nodes) // CHUNK)):
            nodes = known.nodes[part]
            links = normalised_rows(known.frontier[part])
            parts = [(1.0 - self._alpha, links, self._joint.links)]
            if self._anchor_terms:
                anchors = self._seen.anchors(graph.ids[nodes], len(self._space.vocabulary))
                parts.append((self._alpha, normalised_rows(anchors), self._joint.terms))
            factors = folded_in(self._fitted.mixture, parts, steps=self._fold_in_steps)
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
        """The model of the corpus, fitted when it is first needed."""
        if self._model is None:
            random = np.random.default_rng(self._seed)
            words = normalised_rows(self._corpus)
            self._model = fit_words(words, self._factors, random=random, tempering=self._tempering)
        return self._model

    def _improved(self, known: KnownLinks) -> Joint:
        fitted = self._fitted
        words = normalised_rows(self._seen.words(len(self._space.vocabulary)))
        terms = fitted.terms if self._joint is None else self._joint.terms
        # Fetched pages start from their words, pages met before from what is known of them.
        pages = folded_in(fitted.mixture, [(1.0, words, terms)], steps=self._fold_in_steps)
        ids = np.array(self._seen.ids, dtype=np.int64)
        if self._joint is not None:
            order = np.argsort(self._rows)
            found = order[np.minimum(np.searchsorted(self._rows[order], ids), len(order) - 1)]
            same = self._rows[found] == ids
            pages[same] = self._joint.pages[found[same]]
        links = normalised_rows(known.among)
        sources = np.asarray(links.T @ pages) + 1e-3 / max(1, len(ids))
        start = Joint(terms, sources / sources.sum(axis=0), pages)
        return fit_joint(fitted, words, links, start, alpha=self._alpha, steps=self._steps)

    def _take(self, known: KnownLinks, graph: CrawlGraph) -> None:
        self._rows = np.array(self._seen.ids, dtype=np.int64)
        links = known.frontier.tocoo()
        self._link_rows = links.col.astype(np.int64)
        self._link_ids = graph.ids[known.nodes[links.row]]

    def _folded(self, weights: dict[int, float]) -> Array:
        assert self._joint is not None
        row = normalised_rows(rows_from([weights], len(self._space.vocabulary)))
        return folded_in(self._fitted.mixture, [(1.0, row, self._joint.terms)], steps=self._fold_in_steps)

    def _cosines(self, factors: Array) -> Array:
        assert self._joint is not None
        parts = [(1.0, normalised_rows(self._query), self._joint.terms)]
        topic = folded_in(self._fitted.mixture, parts, steps=self._fold_in_steps)[0]
        lengths = np.linalg.norm(factors, axis=1) * np.linalg.norm(topic)
        return np.asarray(factors @ topic / np.where(lengths > 0.0, lengths, 1.0))

    def _link_words(self, link: Link) -> dict[int, float]:
        context = " ".join(link.context.split(maxsplit=self._context_words)[: self._context_words])
        return self._space.weights(link.anchor, context)
