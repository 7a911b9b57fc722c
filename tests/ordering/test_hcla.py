from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.model import CrawlGraph, Document, Examples, Link, Page, Verdict
from honeyguide.ordering.hcla import LAST, Hcla, HclaOptions
from honeyguide.relevance.lsi import Lsi
from honeyguide.testing.link_orders import Check, all_checks
from honeyguide.testing.page_models import made_up_examples
from honeyguide.text.latent import fit_space, query_vector
from honeyguide.text.svd_update import Svd, add_documents, add_terms

Array = NDArray[np.float64]

OWLS_AND_TAXES = made_up_examples()
MODEL = Lsi(k=12).fit(OWLS_AND_TAXES)
MAKERS: dict[str, Callable[[], Hcla]] = {
    "shared space": lambda: Hcla(MODEL, HclaOptions(reorder_every=10), examples=OWLS_AND_TAXES),
    "own space, everything on": lambda: Hcla(
        options=HclaOptions(
            k=4,
            reorder_every=7,
            self_link=False,
            anchor_terms=True,
            adaptive_k=True,
            adaptive_n=True,
            between="fold-in",
            fetched_kept=20,
            frontier_kept=15,
        ),
        examples=OWLS_AND_TAXES,
    ),
    "warm-up, full": lambda: Hcla(MODEL, HclaOptions(reorder_every=10, warm_up=100, method="full", k=3)),
}


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("maker", MAKERS)
def test_contract(maker: str, check: Check) -> None:
    check(MAKERS[maker])


CORPUS = (
    "owl nest barn", "owl prey hunt", "nest egg barn owl", "tax form income", "tax law income bank",
    "form law bank", "story road", "road window owl", "story tax",
)  # fmt: skip
EXAMPLES = Examples(keywords=("owl", "nest"), unlabelled=tuple(map(Document, CORPUS)))
PAGES = ("owl barn egg", "income tax tax", "story road window", "prey hunt owl owl")
# Pages 0..3 are fetched, 4..9 wait. Page 3 links to nothing that waits.
LINKS = (
    (0, 1),
    (0, 3),
    (0, 4),
    (0, 5),
    (1, 2),
    (1, 6),
    (1, 5),
    (2, 7),
    (2, 0),
    (3, 0),
    (1, 8),
    (0, 8),
    (0, 9),
)
NAVIGATION = {(1, 5), (1, 8), (2, 7)}
ANCHORS = {4: "barn", 6: "owl income", 7: "", 9: "tax law"}


def graph(links: tuple[tuple[int, int], ...] = LINKS, fetched: int = 4, size: int = 10) -> CrawlGraph:
    nodes = np.arange(size)
    pairs = np.array(links, dtype=np.int32)
    return CrawlGraph(
        ids=nodes + 100,
        fetched=nodes < fetched,
        waiting=nodes >= fetched,
        score=np.zeros(size, dtype=np.float32),
        sources=pairs[:, 0].copy(),
        targets=pairs[:, 1].copy(),
    )


def taught(scores: tuple[float, ...] = (0.9, 0.1, 0.2, 0.8), **options: Any) -> Hcla:
    """An order that has seen the four pages, with the frontier in the decomposition."""
    order = Hcla(options=HclaOptions(**{"k": 3, "frontier_weight": 1.0} | options), examples=EXAMPLES)
    for number, text in enumerate(PAGES):
        links = tuple(
            Link(
                f"https://a.example/{target}",
                100 + target,
                ANCHORS.get(target, ""),
                main=(source, target) not in NAVIGATION,
            )
            for source, target in LINKS
            if source == number
        )
        page = Page(url=f"https://a.example/{number}", id=100 + number, text=text, links=links)
        order.learn(page, Verdict(scores[number], scores[number] > 0.5))
        order.rank(page, Verdict(scores[number], True), links)
    return order


def blocks(*, self_link: bool = True, anchors: bool = False) -> tuple[Svd, Array, Array]:
    """A_k, the new columns (fetched, then frontier) and the query, dense, straight from the definitions."""
    space = fit_space(EXAMPLES, k=3)
    query = query_vector(space, EXAMPLES)
    column, m, a = space.vocabulary.column, len(space.vocabulary), 4
    new = np.zeros((m + a, 10))
    for number, text in enumerate(PAGES):
        for term in space.analyser.terms(text):
            new[column[term], number] += 1.0
        new[m + number, number] = float(self_link)
    if anchors:
        for target, text in ANCHORS.items():
            times = sum(link[1] == target for link in LINKS)
            for term in space.analyser.terms(text):
                new[column[term], target] += times
    for source, target in LINKS:
        new[m + source, target] = 1.0
    new /= np.linalg.norm(new, axis=0)
    a_matrix = np.zeros((m, len(CORPUS)))
    for number, text in enumerate(CORPUS):
        for term in space.analyser.terms(text):
            a_matrix[column[term], number] += 1.0
    a_matrix /= np.linalg.norm(a_matrix, axis=0)
    u, s, vt = np.linalg.svd(a_matrix, full_matrices=False)
    return Svd(u[:, :3], s[:3], vt[:3].T), new, query


def cosines(u: Array, columns: Array, query: Array) -> Array:
    """The published formula: `e' V S (U' q) / (|S V' e| |q|)` with `S V' e = U' c`."""
    q = np.concatenate((query, np.zeros(len(u) - len(query))))
    places = u.T @ columns
    lengths = np.linalg.norm(places, axis=0)
    return np.asarray(
        np.where(lengths > 1e-12, (u.T @ q) @ places / np.where(lengths > 1e-12, lengths, 1.0), 0.0)
    )


def expected(rank: int = 3, **options: bool) -> Array:
    svd, new, query = blocks(**options)
    corpus = np.vstack((svd.matrix(), np.zeros((4, svd.v.shape[0]))))
    u, _, _ = np.linalg.svd(np.hstack((corpus, new)), full_matrices=False)
    return cosines(u[:, :rank], new[:, 4:], query)


def test_the_literal_equations_give_every_frontier_page_zero() -> None:
    """Equations 17 and 18 of the study project the new columns on (U_k; 0). That erases G and R.

    This is why our update keeps the part of the new columns outside that basis.
    """
    svd, new, query = blocks()
    u_b = np.vstack((svd.u, np.zeros((4, 3))))  # equation 17
    f = np.hstack((np.diag(svd.s), u_b.T @ new))  # F = (S_k | U_B' D)
    u_f, s_f, vt_f = np.linalg.svd(f, full_matrices=False)
    u_c = u_b @ u_f  # equation 18; printed as U_B V_F, whose shapes do not fit
    v_c = np.zeros((len(CORPUS) + 10, len(CORPUS) + 10))
    v_c = np.block([[svd.v, np.zeros((len(CORPUS), 10))], [np.zeros((10, 3)), np.eye(10)]]) @ vt_f.T
    q = np.concatenate((query, np.zeros(4)))
    products = v_c @ np.diag(s_f) @ (u_c.T @ q)
    frontier = slice(len(CORPUS) + 4, None)
    assert np.abs(products[: len(CORPUS)]).max() > 0.1  # text documents are ranked
    assert np.abs(products[frontier]).max() < 1e-12  # no frontier page is
    assert np.abs((v_c * s_f)[frontier]).max() < 1e-12
    ours = taught().reorder(graph())[4:]
    assert np.abs(ours).min() > 1e-3
    assert np.ptp(ours) > 0.3


@pytest.mark.parametrize(
    "options", [{}, {"self_link": False}, {"anchors": True}, {"self_link": False, "anchors": True}]
)
@pytest.mark.parametrize("method", ["update", "full"])
def test_scores_are_those_of_a_dense_decomposition(method: str, options: dict[str, bool]) -> None:
    order = taught(
        method=method, self_link=options.get("self_link", True), anchor_terms=options.get("anchors", False)
    )
    found = order.reorder(graph())
    assert np.isnan(found[:4]).all()
    assert found[4:] == pytest.approx(expected(**options), abs=1e-6)


def test_scores_are_those_of_zha_and_simons_update() -> None:
    svd, new, query = blocks()
    grown = add_documents(add_terms(svd, np.zeros((4, len(CORPUS)))), new, rank=3)
    assert taught().reorder(graph())[4:] == pytest.approx(cosines(grown.u, new[:, 4:], query), abs=1e-6)


def test_children_of_a_hub_make_up_a_direction_of_their_own() -> None:
    """With the frontier in it, page 0 (about owls, four children wait) outweighs all words in the space.

    Its row, and with it its children, lies far from any word: the child of the story page comes first.
    Scored in the space of what was fetched, as by default, they are in the order one would wish.
    """
    whole = taught(frontier_weight=1.0).reorder(graph())
    assert whole[7] > whole[4]
    assert HclaOptions().frontier_weight == 0.0
    scores = taught(frontier_weight=0.0).reorder(graph())
    assert scores[4] > scores[7]  # linked from the owl page; from the story page
    assert scores[4] > scores[6]  # ... from the tax page
    assert scores[4] == scores[9]  # equal links, equal scores
    assert scores[4] > scores[5] > scores[6]  # linked from both


def test_the_background_can_be_taken_out_later() -> None:
    _, new, query = blocks()
    u, _, _ = np.linalg.svd(new, full_matrices=False)
    found = taught(background_until=4).reorder(graph())[4:]
    assert found == pytest.approx(cosines(u[:, :3], new[:, 4:], query), abs=1e-5)
    later = taught(background_until=5).reorder(graph())
    assert np.array_equal(later, taught().reorder(graph()), equal_nan=True)


def test_links_of_the_main_text_alone() -> None:
    """Rows of G and R without navigation: as if those links were not there; 7 is reached by no other."""
    left = tuple(link for link in LINKS if link not in NAVIGATION)
    found = taught(links="main").reorder(graph())
    assert np.array_equal(found, taught().reorder(graph(left)), equal_nan=True)
    assert np.isnan(found[7])
    assert not np.isnan(taught().reorder(graph())[7])
    order = taught(links="main")
    again = Hcla(options=order.options, examples=EXAMPLES).load(order.save())
    assert np.array_equal(again.reorder(graph()), found, equal_nan=True)


def test_light_frontier_columns() -> None:
    svd, new, query = blocks()
    for weight in (0.0, 0.5):
        corpus = np.vstack((svd.matrix(), np.zeros((4, svd.v.shape[0]))))
        matrix = np.hstack((corpus, new[:, :4], weight * new[:, 4:]))
        u, _, _ = np.linalg.svd(matrix, full_matrices=False)
        found = taught(frontier_weight=weight).reorder(graph())[4:]
        assert found == pytest.approx(cosines(u[:, :3], new[:, 4:], query), abs=1e-6)


@pytest.mark.parametrize(
    "options",
    [{}, {"frontier_weight": 1.0}, {"background_until": 100}, {"fetched_kept": 90}, {"adaptive_k": True}],
)
def test_every_reordering_keeps_up_with_the_full_decomposition(options: dict[str, Any]) -> None:
    """On a growing crawl, following from the last subspace gives what decomposing anew gives."""
    random = np.random.default_rng(3)
    words = np.array([f"w{number}" for number in range(120)])
    # Words of each of 30 subjects, subject i less frequent than i - 1: a falling spectrum, as texts have.
    subjects = [random.choice(words, 12, replace=False) for _ in range(30)]
    chances = 1.0 / np.arange(1, 31) ** 0.7
    chances /= chances.sum()

    def text() -> str:
        return " ".join(random.choice(subjects[random.choice(30, p=chances)], 30))

    given = Examples(keywords=tuple(subjects[0][:4]), unlabelled=tuple(Document(text()) for _ in range(400)))
    tracked, full = (
        Hcla(options=HclaOptions(k=10, **options), examples=given),
        Hcla(options=HclaOptions(k=10, method="full", **options), examples=given),
    )
    links: list[tuple[int, int]] = []
    correlations = []
    for number in range(240):
        page = Page(url=f"https://a.example/{number}", id=100 + number, text=text())
        for order in (tracked, full):
            order.learn(page, Verdict(0.5, True))
        links += [(number, 240 + int(target)) for target in random.integers(0, 300, 5)]
        if number % 40 == 39:
            known = graph(tuple(links), fetched=number + 1, size=600)
            one, other = tracked.reorder(known), full.reorder(known)
            reached = ~np.isnan(other)
            assert np.array_equal(reached, ~np.isnan(one))
            correlations.append(np.corrcoef(one[reached], other[reached])[0, 1])
    assert min(correlations) > 0.99


def test_best_first_until_enough_links_are_known() -> None:
    order = taught(warm_up=len(LINKS) + 1)
    assert np.isnan(order.reorder(graph())).all()
    page = Page(url="https://a.example/x", id=7, text="owl")
    assert order.rank(page, Verdict(0.4, False), [Link("https://b.example/", 8)])[0].priority == 0.4
    order = taught(warm_up=len(LINKS))
    assert not np.isnan(order.reorder(graph())[4:]).any()
    assert order.rank(page, Verdict(0.4, False), [Link("https://b.example/", 8)])[0].priority == LAST


def test_folding_in_between_reorderings() -> None:
    order = taught(between="fold-in")
    order.reorder(graph())
    link = [Link("https://b.example/", 900)]
    owls, taxes, empty = (
        order.rank(Page(url="https://a.example/x", id=7, text=text), Verdict(0.4, False), link)[0].priority
        for text in ("owl nest barn", "tax law", "")
    )
    assert owls > 0.5 > taxes
    assert empty == 0.0


def test_least_relevant_pages_are_left_out_of_the_matrix() -> None:
    found = taught(fetched_kept=2).reorder(graph())
    assert not np.isnan(found[[4, 5, 8, 9]]).any()  # linked from page 0, which is kept
    assert np.isnan(found[[6, 7]]).all()  # known only from pages 1 and 2, which are not


def test_frontier_pages_beyond_the_limit_are_folded_in() -> None:
    """In the matrix: those with the best parents (4, 5, 8 and 9 have page 0). 6 and 7 are scored by U."""
    order = taught(frontier_kept=4)
    found = order.reorder(graph())
    assert not np.isnan(found[4:]).any()
    svd, new, query = blocks()
    kept = [0, 1, 2, 3, 4, 5, 8, 9]
    corpus = np.vstack((svd.matrix(), np.zeros((4, svd.v.shape[0]))))
    u, _, _ = np.linalg.svd(np.hstack((corpus, new[:, kept])), full_matrices=False)
    assert found[4:] == pytest.approx(cosines(u[:, :3], new[:, 4:], query), abs=1e-6)


def test_reorderings_get_rarer_and_factors_more() -> None:
    order = taught(adaptive_n=True, reorder_every=3, adaptive_k=True)
    assert not np.isnan(order.reorder(graph())[4:]).any()
    assert np.isnan(order.reorder(graph())).all()
    grown = taught(adaptive_k=True).reorder(graph())[4:]
    terms = len(fit_space(EXAMPLES, k=3).vocabulary)
    more = round(3 * (1 + 4 / terms) ** 0.5)
    assert grown == pytest.approx(expected(rank=more), abs=1e-6)


def test_explanation_adds_up() -> None:
    order = taught()
    score = order.reorder(graph())[5]
    told: dict[str, Any] = order.explain(Page(url="https://a.example/5", id=105), "")
    assert told["score"] == pytest.approx(score, abs=1e-6)
    assert sum(share for _, share in told["terms"]) == pytest.approx(score, abs=1e-5)
    assert sum(share for _, share in told["pages"]) == pytest.approx(score, abs=1e-5)
    assert [url for url, _ in told["pages"]] == ["https://a.example/0", "https://a.example/1"]
    assert {term for term, _ in told["terms"]} == {"owl", "nest"}
    assert order.explain(None, "https://nowhere.example/") == {}


def test_explanation_tells_words_of_links_apart() -> None:
    order = taught(anchor_terms=True)
    score = order.reorder(graph())[6]
    told: dict[str, Any] = order.explain(Page(url="https://a.example/6", id=106), "")
    assert sum(share for _, share in told["pages"]) + told["words of links"] == pytest.approx(score, abs=1e-5)


def test_the_page_models_space_is_shared_cut_or_made_anew() -> None:
    judge = Lsi(k=4).fit(EXAMPLES)
    assert Hcla(judge)._topic()[0] is judge.space
    assert Hcla(judge, HclaOptions(k=2))._topic()[0].rank == 2
    assert Hcla(judge, HclaOptions(k=6), examples=EXAMPLES)._topic()[0].rank == 6
    assert Hcla(Lsi(k=4), examples=EXAMPLES) is not None  # not fitted yet: asked later


@pytest.mark.parametrize(
    ("examples", "problem"),
    [
        (Examples(keywords=("owl",)), "background"),
        (Examples(keywords=("owl",), unlabelled=(Document("owl"),)), "background"),
        (Examples(keywords=("zebra",), unlabelled=EXAMPLES.unlabelled), "no word of the topic"),
    ],
)
def test_a_corpus_that_cannot_serve_is_refused_at_once(examples: Examples, problem: str) -> None:
    with pytest.raises(TopicError, match=problem):
        Hcla(examples=examples)


@pytest.mark.parametrize("option", ["k", "reorder_every", "fetched_kept", "frontier_kept", "rounds"])
def test_bad_options(option: str) -> None:
    options: dict[str, Any] = {option: 0}
    with pytest.raises(ValueError, match="at least 1"):
        Hcla(options=HclaOptions(**options), examples=EXAMPLES)


@pytest.mark.parametrize(
    "options",
    [
        {"link_weight": 0.0},
        {"link_weight": float("nan")},
        {"frontier_weight": -1.0},
        {"warm_up": -1},
        {"passes": -1},
    ],
)
def test_bad_weights(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be above 0"):
        Hcla(options=HclaOptions(**options), examples=EXAMPLES)


def test_k_above_the_rank_is_cut() -> None:
    assert not np.isnan(taught(k=400).reorder(graph())[4:]).any()
