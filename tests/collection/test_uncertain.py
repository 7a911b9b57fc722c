from __future__ import annotations

import numpy as np

from honeyguide.collection.uncertain import uncertain

CLEAR = np.array([0.01] * 50 + [0.99] * 30)


def test_clear_verdicts_need_no_review() -> None:
    made = uncertain(CLEAR, CLEAR > 0.5)
    assert made is not None
    assert (made.near, made.reviews) == (0, 0)
    assert "No page" in made.advice


def test_pages_near_the_line_are_counted_and_a_few_reviews_advised() -> None:
    scores = np.concatenate([CLEAR, np.linspace(0.3, 0.7, 20)])
    made = uncertain(scores, scores >= 0.5)
    assert made is not None
    assert (made.near, made.reviews) == (20, 5)
    assert made.advice == "20 pages lie close to the line; reviewing 5 would settle most."


def test_reviewed_pages_are_settled() -> None:
    scores = np.concatenate([CLEAR, np.linspace(0.3, 0.7, 20)])
    made = uncertain(scores, scores >= 0.5, np.abs(scores - 0.5) < 0.25)
    assert made is not None
    assert made.near == 0


def test_where_most_pages_are_close_examples_are_advised() -> None:
    scores = np.linspace(0.3, 0.7, 40)
    made = uncertain(scores, scores >= 0.5)
    assert made is not None
    assert "add example pages" in made.advice


def test_nothing_is_said_of_nothing() -> None:
    assert uncertain(np.zeros(0), np.zeros(0, np.bool_)) is None
