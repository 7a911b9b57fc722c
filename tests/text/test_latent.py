from __future__ import annotations

import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples
from honeyguide.text.latent import LatentSpace, fit_space, query_vector

TEXTS = (
    "owl nest barn", "owl prey hunt", "nest egg barn", "tax form income", "tax law income", "form law bank",
)  # fmt: skip


def corpus(*texts: str, keywords: tuple[str, ...] = ("owl",)) -> Examples:
    return Examples(keywords=keywords, unlabelled=tuple(Document(text) for text in texts))


def test_projection_equals_the_decomposition_by_hand() -> None:
    space = fit_space(corpus(*TEXTS), k=2)
    terms = space.vocabulary.terms
    matrix = np.zeros((len(terms), len(TEXTS)))
    for column, text in enumerate(TEXTS):
        for word in text.split():
            matrix[terms.index(space.analyser.terms(word)[0]), column] += 1.0
    matrix /= np.linalg.norm(matrix, axis=0)
    u, s, _ = np.linalg.svd(matrix)
    assert space.values == pytest.approx(s[:2])
    place = space.project(space.weights("owl", "barn"))
    vector = np.zeros(len(terms))
    vector[[terms.index("owl"), terms.index("barn")]] = 2**-0.5
    assert np.abs(place) == pytest.approx(np.abs(u[:, :2].T @ vector))


def test_k_above_the_rank_is_cut_to_the_rank() -> None:
    assert fit_space(corpus("owl nest", "tax form", "owl nest"), k=50).rank == 2


def test_topic_words_join_the_most_frequent_ones() -> None:
    texts = ("bird bird tree tree", "bird tree nest", "owl bird tree")
    assert fit_space(corpus(*texts), terms=2).vocabulary.terms == ("bird", "tree", "owl")
    assert fit_space(corpus(*texts, keywords=("bird",)), terms=2).vocabulary.terms == ("bird", "tree")


@pytest.mark.parametrize("weighting", ["count", "log", "binary"])
def test_weights(weighting: str) -> None:
    space = fit_space(corpus(*TEXTS), weighting=weighting)  # type: ignore[arg-type]
    weights = space.weights("owl owl owl nest zebra")
    expected = {"count": 3.0, "log": 1.0 + np.log(3.0), "binary": 1.0}[weighting]
    column = space.vocabulary.column
    assert weights == pytest.approx({column["owl"]: expected, column["nest"]: 1.0})


def test_weights_remembered_are_not_confused() -> None:
    space = fit_space(corpus(*TEXTS))
    one, two = "owl", "nest"
    assert space.weights(one, two) == space.weights(f"{one} {two}")
    assert space.weights(one) != space.weights(two)
    assert space.weights(one) == space.weights(one)


def test_a_space_survives_being_saved() -> None:
    space = fit_space(corpus(*TEXTS), weighting="log")
    again = LatentSpace.restored(*space.described())
    assert np.array_equal(again.project(again.weights("owl nest")), space.project(space.weights("owl nest")))
    assert again.cut(2).rank == 2


@pytest.mark.parametrize("texts", [(), ("owl nest",), ("", " "), ("owl", "the of")])
def test_an_empty_or_one_document_corpus_is_refused(texts: tuple[str, ...]) -> None:
    with pytest.raises(TopicError, match="add files to 'background'"):
        fit_space(corpus(*texts))


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(TopicError, match="at least 1"):
        fit_space(corpus(*TEXTS), k=0)


def test_a_query_without_a_known_term_is_refused() -> None:
    given = corpus(*TEXTS, keywords=("zebra", "giraffe"))
    with pytest.raises(TopicError, match=r"zebra, giraffe.*add texts about the topic"):
        query_vector(fit_space(given), given)
    bare = corpus(*TEXTS, keywords=())
    with pytest.raises(TopicError, match="give keywords or example pages"):
        query_vector(fit_space(bare), bare)


def test_query_by_keywords_and_by_examples() -> None:
    space = fit_space(corpus(*TEXTS))
    query = query_vector(space, Examples(keywords=("owl", "nest", "zebra")))
    assert query[space.vocabulary.column["owl"]] == pytest.approx(2**-0.5)
    mean = query_vector(space, Examples(positives=(Document("owl owl"), Document("nest"))))
    assert mean == pytest.approx(query)
