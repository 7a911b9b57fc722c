from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.errors import TopicError
from honeyguide.topic.taxonomy_vector import NOTHING, TopicVector, labels_of


def test_weights_are_place_over_depth() -> None:
    labels = labels_of(["Sports", "Basketball", "NBA"])
    assert labels.weights == (1 / 3, 2 / 3, 1.0)
    vector = TopicVector(labels)
    length = math.sqrt(1 / 9 + 4 / 9 + 1)
    assert vector.match("nba").score == pytest.approx(1 / length)
    # tf = (sport 2, basketbal 1, tax 1): dot product over both lengths, worked out by hand.
    assert vector.match("sports sports basketball taxes").score == pytest.approx(
        (2 / 3 + 2 / 3) / (math.sqrt(6) * length)
    )


def test_pages_in_either_language_or_both_are_worth_the_same() -> None:
    vector = TopicVector(labels_of(["Sports|体育", "Basketball|篮球"]), ("en", "zh"))
    english = vector.match("sports basketball basketball")
    assert vector.match("体育 篮球 篮球").score == pytest.approx(english.score)
    assert vector.match("sports basketball basketball 体育 篮球 篮球").score == pytest.approx(english.score)
    assert english.terms[0][0] == "basketbal"
    assert {term for term, _ in vector.match("体育 篮球").terms} == {"体育", "篮球"}
    only = TopicVector(labels_of(["Sports", "Basketball"]))
    assert only.match("sports basketball basketball").score == pytest.approx(english.score)


def test_a_label_without_a_name_in_a_language_goes_by_its_first() -> None:
    vector = TopicVector(labels_of(["Sports|体育", "NBA"]), ("en", "zh"))
    assert vector.match("NBA 体育").score == pytest.approx(vector.match("nba sports").score)


def test_keywords_serve_where_there_is_no_path() -> None:
    assert labels_of([], ["owl", "barn"]).weights == (1.0, 1.0)
    with pytest.raises(TopicError, match="no label; add taxonomy"):
        labels_of([], [])
    with pytest.raises(TopicError, match="most that make sense"):
        labels_of(["x"] * 31)
    with pytest.raises(TopicError, match="no label of 'of' holds a word"):
        TopicVector(labels_of(["of"]))


VECTOR = TopicVector(labels_of(["Biology|生物学", "Skies", "Relations", "Café"]), ("en", "zh"))
_TEXT = (
    "biology Biological biologist BIOLOGIES sky skies skied relational relation relate relating 生物学 生物 "
    "café cafés cafe\u0301 \uff42\uff49\uff4f\uff4c\uff4f\uff47\uff59 tax und skis \ufb01sh"
)
WORDS = st.sampled_from(_TEXT.split())


@given(st.lists(WORDS, max_size=6))
def test_the_quick_look_never_misses_a_match(words: list[str]) -> None:
    text = " ".join(words)
    full = VECTOR.match_terms(VECTOR.analyser.terms(text))
    assert VECTOR.match(text) == full


def test_other_stemmers_are_not_looked_at_quickly() -> None:
    german = TopicVector(labels_of(["Häuser"]), ("de",))
    assert german.match("Das Haus").score > 0.0
    assert german.match("Der Baum") == NOTHING


def test_several_nodes_are_one_topic() -> None:
    labels = labels_of(["Sports|体育", "Basketball + Sports", "Tennis"])
    assert labels.weights == (0.5, 1.0, 0.5, 1.0)
    both = TopicVector(labels, ("en", "zh"))
    one = TopicVector(labels_of(["Sports", "Tennis"]))
    assert both.match("tennis in sports").score == one.match("tennis in sports").score
    assert both.match("basketball").score > 0.8
