"""The arithmetic of two kinds of pages in one heap."""

import numpy as np
import pytest

from honeyguide.relevance.mixture import Heap, Texts, _gained_by_words, _led_back, _odds_at_the_line, chances


def _heap(words: np.ndarray) -> Heap:
    texts = Texts(np.zeros(len(words), np.int64), np.zeros(0, np.int32), np.zeros(0))
    return Heap(texts, len(words), np.zeros(len(words), np.int8), np.ones(len(words)), words)


@pytest.mark.parametrize("gain", [0.0, 0.8])
@pytest.mark.parametrize("longer", [-1.0, 0.0, 1.0])
def test_what_length_adds_is_told_from_what_the_topic_adds(gain: float, longer: float) -> None:
    """Pages on topic may be longer or shorter than others: that is no gain by length."""
    random = np.random.default_rng(1)
    on = random.random(800) < 0.25
    words = random.normal(5.0, 1.0, 800) + longer * on
    position = np.where(on, 2.0, -1.0) + gain * (words - 5.0) + random.normal(0.0, 0.5, 800)
    guess = np.clip(chances(2.0 * position), 0.01, 0.99)
    found, mean = _gained_by_words(position, guess, _heap(words))
    assert found == pytest.approx(gain, abs=0.12)
    assert mean == pytest.approx(words.mean())


def test_short_pages_do_not_gain_by_being_short() -> None:
    words = np.linspace(2.0, 8.0, 200)
    position = np.where(np.arange(200) % 4 == 0, 2.0, -1.0) - 0.5 * words
    assert _gained_by_words(position, np.full(200, 0.3), _heap(words))[0] == 0.0


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 4.0])
def test_the_line_goes_where_f1_is_best(sharpness: float) -> None:
    random = np.random.default_rng(3)
    odds = random.normal(-1.5, 1.0, 4000) * sharpness
    on_topic = random.random(4000) < chances(odds)
    line = _odds_at_the_line(chances(odds))

    def f1(at: float) -> float:
        said = odds >= at
        return 2.0 * float((said & on_topic).sum()) / float(said.sum() + on_topic.sum())

    best = max(f1(float(at)) for at in np.quantile(odds, np.linspace(0.0, 0.99, 100)))
    assert f1(line) > best - 0.02
    if sharpness <= 1.0:  # a line at one half leaves too little above it
        assert f1(line) > f1(0.0) + 0.05


KEYWORDS_EVERYWHERE = np.ones(1000)


def test_a_line_that_settled_on_the_best_part_of_the_topic_is_led_back() -> None:
    random = np.random.default_rng(5)
    groups = [(200, -1.5), (170, 1.0), (30, 4.0)]  # off topic, on topic, and the part that stands out
    position = np.concatenate([random.normal(middle, 0.5, count) for count, middle in groups])
    assert -1.0 < _led_back(position, KEYWORDS_EVERYWHERE, 2.8, 1.0) < 0.5
    assert _led_back(position, KEYWORDS_EVERYWHERE, -0.5, 1.0) == -0.5  # it takes enough


def test_where_few_pages_are_on_topic_the_line_stays() -> None:
    random = np.random.default_rng(6)
    position = np.concatenate([random.normal(-0.2, 0.7, 480), random.normal(3.0, 0.5, 20)])
    assert _led_back(position, KEYWORDS_EVERYWHERE, 2.0, 1.5) == 2.0


@pytest.mark.parametrize(("with_keywords", "led"), [(150, True), (300, False)])
def test_telling_keywords_let_the_line_down_to_pages_without_any(with_keywords: int, led: bool) -> None:
    """Posts of a newsgroup: few have its keywords, and next to none of the others do."""
    random = np.random.default_rng(7)
    position = np.concatenate([random.normal(-1.0, 0.5, 350), random.normal(2.0, 0.7, 150)])
    keyword_scores = np.arange(500) >= 500 - with_keywords
    assert (_led_back(position, keyword_scores.astype(float), 2.0, 2.5) < 1.0) is led


def test_pages_that_are_all_alike_leave_the_line_where_it_is() -> None:
    assert _led_back(np.zeros(40), np.ones(40), 0.3, 0.1) == 0.3
