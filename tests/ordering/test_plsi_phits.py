from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from honeyguide.errors import TopicError
from honeyguide.model import CrawlGraph, Document, Examples, Link, Page, Verdict
from honeyguide.ordering.plsi_phits import (
    LAST,
    Fitted,
    Joint,
    PlsiPhits,
    PlsiPhitsOptions,
    Tempering,
    fit_joint,
    fit_words,
    folded_in,
    log_likelihood,
    normalised_rows,
    step,
)
from honeyguide.testing.link_orders import Check, all_checks
from honeyguide.testing.page_models import made_up_examples

GIVEN = made_up_examples()
MAKERS: dict[str, Callable[[], PlsiPhits]] = {
    "plain": lambda: PlsiPhits(PlsiPhitsOptions(reorder_every=10, factors=5), examples=GIVEN),
    "everything on": lambda: PlsiPhits(
        PlsiPhitsOptions(
            reorder_every=7,
            factors=4,
            self_link=False,
            anchor_terms=True,
            between="fold-in",
            fetched_kept=20,
            fold_in_steps=3,
            warm_up=50,
        ),
        examples=GIVEN,
    ),
}


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("maker", MAKERS)
def test_contract(maker: str, check: Check) -> None:
    check(MAKERS[maker])


def two_subjects(seed: int = 0) -> Any:
    """60 documents over 20 terms: the first ten terms in even ones, the last ten in odd ones."""
    random = np.random.default_rng(seed)
    counts = np.zeros((60, 20))
    for document in range(60):
        for term in random.integers(0, 10, 15):
            counts[document, term + 10 * (document % 2)] += 1
    return normalised_rows(sparse.csr_matrix(counts))


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_a_step_is_what_the_sums_say(beta: float) -> None:
    random = np.random.default_rng(1)
    counts = random.integers(0, 3, (5, 7)).astype(float)
    documents, terms = random.dirichlet(np.ones(3), 5), random.dirichlet(np.ones(7), 3).T
    of_documents, of_terms = step(sparse.csr_matrix(counts), documents, terms, beta=beta)
    expected_documents, expected_terms = np.zeros((5, 3)), np.zeros((7, 3))
    for d in range(5):
        for t in range(7):
            posterior = (documents[d] * terms[t]) ** beta
            posterior /= posterior.sum()
            expected_documents[d] += counts[d, t] * posterior
            expected_terms[t] += counts[d, t] * posterior
    assert of_documents == pytest.approx(expected_documents)
    assert of_terms == pytest.approx(expected_terms)


def test_likelihood_rises_with_every_plain_step() -> None:
    words = two_subjects()
    random = np.random.default_rng(2)
    documents, terms = random.dirichlet(np.ones(4), 60), random.dirichlet(np.ones(20), 4).T
    values = []
    for _ in range(20):
        values.append(log_likelihood(words, documents, terms))
        documents, terms = step(words, documents, terms, beta=1.0)
        documents, terms = documents / documents.sum(axis=1, keepdims=True), terms / terms.sum(axis=0)
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(values))
    assert values[-1] > values[0] + 1.0


def test_two_subjects_are_told_apart() -> None:
    fitted = fit_words(two_subjects(), 2, random=np.random.default_rng(3), tempering=Tempering())
    first = fitted.terms[:10].sum(axis=0)
    assert sorted(first.round(2)) == [0.0, 1.0]
    assert fitted.mixture == pytest.approx([0.5, 0.5], abs=0.05)
    assert 0.8 <= fitted.beta <= 1.0
    assert fitted.terms.sum(axis=0) == pytest.approx([1.0, 1.0])


def test_folding_in_once_is_the_mean_posterior_of_the_features() -> None:
    terms = np.array([[0.8, 0.1], [0.2, 0.9]])
    mixture = np.array([0.25, 0.75])
    rows = normalised_rows(sparse.csr_matrix([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    found = folded_in(mixture, [(1.0, rows, terms)], steps=1)
    posterior = np.array([0.8 * 0.25, 0.1 * 0.75]), np.array([0.2 * 0.25, 0.9 * 0.75])
    one, two = (each / each.sum() for each in posterior)
    assert found == pytest.approx(np.array([one, (one + two) / 2.0, mixture]))


def test_links_carry_factors_from_pages_with_words_to_pages_without() -> None:
    corpus = fit_words(two_subjects(), 2, random=np.random.default_rng(3), tempering=Tempering())
    words = two_subjects(5)[:4].tolil()
    words[2:] = 0.0  # pages 2 and 3 have no words; 0 links to 2, 1 links to 3
    links = sparse.csr_matrix(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=float))
    start = Joint(corpus.terms, np.full((4, 2), 0.25), np.full((4, 2), 0.5))
    joint = fit_joint(corpus, words.tocsr(), links, start, alpha=0.5, steps=20)
    assert joint.pages[2] == pytest.approx(joint.pages[0], abs=0.05)
    assert joint.pages[3] == pytest.approx(joint.pages[1], abs=0.05)
    assert abs(joint.pages[2] - joint.pages[3]).max() > 0.8


def test_all_weight_on_words_leaves_links_out() -> None:
    corpus = Fitted(np.array([[0.9, 0.1], [0.1, 0.9]]), np.eye(2), np.array([0.5, 0.5]), 1.0)
    words, links = sparse.csr_matrix(np.eye(2)), sparse.csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0]]))
    start = Joint(corpus.terms, np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((2, 2), 0.5))
    with_links, without = (
        fit_joint(corpus, words, links, start, alpha=alpha, steps=1).pages for alpha in (0.2, 1.0)
    )
    assert without[0, 0] > 0.85 > with_links[0, 0]


CORPUS = ("owl nest", "owl barn nest", "owl barn", "tax form", "tax law form", "tax law") * 4
EXAMPLES = Examples(keywords=("owl",), unlabelled=tuple(map(Document, CORPUS)))
LINKS = np.array([(0, 2), (0, 4), (1, 3), (1, 4), (0, 5), (1, 5), (0, 6)], dtype=np.int32)
GRAPH = CrawlGraph(
    ids=np.arange(7) + 100,
    fetched=np.arange(7) < 2,
    waiting=np.arange(7) >= 2,
    score=np.zeros(7, dtype=np.float32),
    sources=LINKS[:, 0].copy(),
    targets=LINKS[:, 1].copy(),
)


def taught(**options: Any) -> PlsiPhits:
    order = PlsiPhits(PlsiPhitsOptions(**{"factors": 2} | options), examples=EXAMPLES)
    for number, text in enumerate(("owl in a barn", "tax law")):
        page = Page(url=f"https://a.example/{number}", id=100 + number, text=text)
        order.learn(page, Verdict(0.5, True))
        links = [
            Link(f"https://a.example/{t}", 100 + t, "tax" if t == 6 else "")
            for s, t in LINKS.tolist()
            if s == number
        ]
        order.rank(page, Verdict(0.5, True), links)
    return order


def test_frontier_pages_take_after_the_pages_that_link_to_them() -> None:
    scores = taught().reorder(GRAPH)
    assert np.isnan(scores[:2]).all()
    owls, taxes, both = scores[[2, 3, 4]]
    assert owls > 0.9 > both > taxes
    assert scores[4] == scores[5]


def test_words_of_links_count_when_asked_for() -> None:
    without, with_words = (taught(anchor_terms=on).reorder(GRAPH) for on in (False, True))
    assert without[6] == without[2]  # the owl page links to both
    assert with_words[6] < with_words[2]  # but names one of them "tax"


def test_new_links_wait_or_are_folded_in() -> None:
    page = Page(url="https://a.example/x", id=7, text="owl")
    link = [Link("https://b.example/", 8)]
    waiting, folding = taught(), taught(between="fold-in")
    assert waiting.rank(page, Verdict(0.3, False), link)[0].priority == 0.3
    waiting.reorder(GRAPH)
    folding.reorder(GRAPH)
    assert waiting.rank(page, Verdict(0.3, False), link)[0].priority == LAST
    assert folding.rank(page, Verdict(0.3, False), link)[0].priority > 0.9


def test_explanation_names_pages_and_words() -> None:
    order = taught()
    order.reorder(GRAPH)
    told: dict[str, Any] = order.explain(Page(url="https://a.example/4", id=104), "")
    assert [url for url, _ in told["pages"]] == ["https://a.example/0", "https://a.example/1"]
    assert [term for term, _ in told["terms"]] == ["owl"]
    assert order.explain(None, "https://nowhere.example/") == {}


def test_bad_input() -> None:
    with pytest.raises(TopicError, match="background"):
        PlsiPhits(examples=Examples(keywords=("owl",)))
    with pytest.raises(TopicError, match="no word of the topic"):
        PlsiPhits(examples=Examples(keywords=("zebra",), unlabelled=EXAMPLES.unlabelled))
    with pytest.raises(ValueError, match="alpha"):
        PlsiPhits(PlsiPhitsOptions(alpha=1.5), examples=EXAMPLES)
    with pytest.raises(ValueError, match="at least 1"):
        PlsiPhits(PlsiPhitsOptions(factors=0), examples=EXAMPLES)
    assert not np.isnan(taught(factors=500).reorder(GRAPH)[2:]).any()


def test_the_corpus_is_fitted_beside_the_crawl() -> None:
    order, again = (PlsiPhits(PlsiPhitsOptions(factors=2), examples=EXAMPLES) for _ in range(2))
    order.learn(Page(url="https://a.example/", id=1, text="owl"), Verdict(0.5, True))
    assert order._fitting is not None
    order._fitting.join()
    fitted = order._model
    assert fitted is not None
    assert np.array_equal(fitted.terms, again._fitted.terms)
