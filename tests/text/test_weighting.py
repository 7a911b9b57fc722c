from __future__ import annotations

import math

import pytest

from honeyguide.text.weighting import (
    DocumentFrequencies,
    centroid,
    cosine,
    document_frequencies,
    dot,
    log_frequencies,
    normalised,
    okapi,
    strongest,
    tf_idf,
)

TABLE = DocumentFrequencies(documents=100, counts={"owl": 10, "page": 100}, average_length=4.0)


def test_plain_and_log_frequencies() -> None:
    assert log_frequencies(["a", "b", "a"]) == {"a": 1 + math.log(2), "b": 1.0}


def test_tf_idf_by_hand() -> None:
    weights = tf_idf(["owl", "owl", "page", "new"], TABLE)
    assert weights == pytest.approx({"owl": 2 * math.log(10), "page": 0.0, "new": math.log(100)})


def test_okapi_by_hand() -> None:
    # len = 8, avglen = 4, k1 = 2, b = 0.75: k1*((1-b) + b*2) = 3.5
    terms = ["owl"] * 3 + ["page"] * 5
    weights = okapi(terms, TABLE)
    assert weights["owl"] == pytest.approx(math.log(10) * 3 * 3 / (3.5 + 3))
    assert weights["page"] == 0.0


def test_okapi_saturates() -> None:
    few, many = (okapi(["owl"] * n, TABLE, b=0.0)["owl"] for n in (1, 1000))
    assert few < many < 3 * math.log(10)


def test_document_frequencies_of_nothing() -> None:
    assert document_frequencies([]).average_length == 0.0
    assert okapi(["a"], document_frequencies([])) == {"a": 0.0}


def test_cosine_and_dot() -> None:
    assert dot({"a": 2.0, "b": 1.0}, {"b": 3.0}) == 3.0
    assert cosine({"a": 3.0}, {"a": 5.0}) == pytest.approx(1.0)
    assert cosine({"a": 3.0}, {"b": 5.0}) == 0.0
    assert cosine({}, {"b": 5.0}) == 0.0


def test_centroid_gives_every_document_one_vote() -> None:
    assert centroid([{"a": 10.0}, {"b": 1.0}]) == {"a": 0.5, "b": 0.5}


def test_normalised_zero_vector() -> None:
    assert normalised({"a": 0.0}) == {"a": 0.0}
    assert normalised({"a": 3.0, "b": 4.0}) == {"a": 0.6, "b": 0.8}


def test_strongest_breaks_ties_by_name_and_leaves_out_zeros() -> None:
    assert list(strongest({"b": 1.0, "a": 1.0, "c": 2.0, "d": 0.0}, 4)) == ["c", "a", "b"]
