from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.text.weighting import DocumentFrequencies, cosine, document_frequencies, okapi, tf_idf


def evidence_by_hand(query: list[str], document: list[str], table: DocumentFrequencies) -> list[float]:
    """Straight from the formulas, with dicts."""
    shared = set(query) & set(document)
    bow = len(shared) / len(set(query)) if query else 0.0
    weights, own = okapi(document, table), okapi(query, table)
    counts = Counter(query)
    total = math.fsum(counts[term] * weights[term] for term in shared)
    itself = math.fsum(counts[term] * own[term] for term in own)
    return [bow, cosine(tf_idf(query, table), tf_idf(document, table)), total / itself if itself else 0.0]


def made_up(source: random.Random, length: int) -> list[str]:
    return [f"w{min(source.randrange(30), source.randrange(30))}" for _ in range(source.randrange(length))]


def test_all_six_measures_follow_their_formulas() -> None:
    source = random.Random(1)
    examples = [(made_up(source, 5), made_up(source, 40)) for _ in range(25)]
    index = ExampleIndex.of([Terms(tuple(title), tuple(body)) for title, body in examples])
    titles = document_frequencies(title for title, _ in examples)
    bodies = document_frequencies(body for _, body in examples)
    for _ in range(20):
        title, body = made_up(source, 5), [*made_up(source, 40), "never-seen"]
        found = index.evidence(Terms(tuple(title), tuple(body)))
        expected = np.array(
            [
                [*evidence_by_hand(title, one, titles), *evidence_by_hand(body, other, bodies)]
                for one, other in examples
            ]
        ).T
        assert np.allclose(found, expected, atol=1e-5)


def test_a_worked_example() -> None:
    index = ExampleIndex.of([Terms(("owl",), ("owl", "nest", "nest")), Terms((), ("tax", "nest"))])
    found = index.evidence(Terms(("owl", "barn"), ("nest", "owl")))
    assert found[0].tolist() == [0.5, 0.0]  # one of two title terms
    assert found[3].tolist() == [1.0, 0.5]
    assert found[4].tolist() == pytest.approx([1.0, 0.0])  # nest is in all documents: idf 0
    assert found[5, 0] > 0.0


def test_an_empty_page_and_empty_examples() -> None:
    index = ExampleIndex.of([Terms((), ()), Terms(("owl",), ("owl",))])
    assert not index.evidence(Terms((), ())).any()
    assert not index.evidence(Terms(("x",), ("y",))).any()
    assert not ExampleIndex.of([Terms((), ())]).evidence(Terms(("x",), ("y",))).any()


def test_shared_terms_add_up_to_the_cosine() -> None:
    index = ExampleIndex.of([Terms((), ("owl", "nest")), Terms((), ("tax", "owl", "form"))])
    page = Terms((), ("owl", "nest", "nest", "sky"))
    gains = index.shared_terms(page, np.array([0], np.int32), np.array([1.0], np.float32))
    assert set(gains) == {"owl", "nest"}
    assert sum(gains.values()) == pytest.approx(float(index.evidence(page)[4, 0]), abs=1e-6)
    assert index.shared_terms(Terms((), ()), np.array([0], np.int32), np.array([1.0], np.float32)) == {}
