from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.testing.page_models import NEUTRAL, OFF_TOPIC, ON_TOPIC, made_up_text
from honeyguide.text.tokens import Analyser


def a_page(text: str, title: str = "") -> Page:
    return Page(url="https://a.example/", id=1, title=title, text=text)


def filler(count: int) -> str:
    return " ".join(f"filler{i}" for i in range(count))


def test_literal_cosine_by_hand() -> None:
    model = TfCosine(scoring="cosine").fit(Examples(keywords=("owl", "nest")))
    verdict = model.judge(a_page("owl owl nest tree"))
    # TF = (2, 1, 1); topic = (1, 1)/sqrt(2); cos = 3 / (sqrt(6) * sqrt(2))
    assert verdict.score == pytest.approx(3 / math.sqrt(12))
    assert dict(verdict.terms) == pytest.approx(
        {"owl": 2 / math.sqrt(12), "nest": 1 / math.sqrt(12)}, abs=1e-8
    )


def test_literal_cosine_uses_the_literature_threshold() -> None:
    model = TfCosine(scoring="cosine").fit(Examples(keywords=("owl",)))
    # cos = 1 / sqrt(1 + n) for n other words, each once: 0.1 is reached up to n = 99.
    assert model.judge(a_page(f"owl {filler(98)}")).on_topic
    assert not model.judge(a_page(f"owl {filler(120)}")).on_topic


def test_taxonomy_labels_weigh_by_depth() -> None:
    model = TfCosine(scoring="cosine").fit(Examples(taxonomy=("Sports", "Basketball")))
    low, high = model.judge_texts(["sports", "basketball"])
    assert low / high == pytest.approx(0.5)


def test_evidence_by_hand() -> None:
    model = TfCosine().fit(Examples(keywords=("owl",)))
    # 400 terms, 3 of them the keyword: e = 3 / (3 + 2) = 0.6; score = 1 - exp(-1.2)
    text = f"owl owl owl {filler(397)}"
    assert model.judge(a_page(text)).score == pytest.approx(1 - math.exp(-1.2))
    # A mention in the title counts three.
    assert model.judge(a_page(text, "Owl")).score == pytest.approx(1 - math.exp(-2 * 6 / 8))


def test_two_keywords_work_out_of_the_box_on_long_pages() -> None:
    model = TfCosine().fit(Examples(keywords=("neural network", "backpropagation")))
    on = "Neural networks learn by backpropagation. " * 6 + filler(600)
    passing = "A neural approach among others. " + filler(600)
    assert model.judge(a_page(on)).on_topic
    assert not model.judge(a_page(passing)).on_topic


def test_a_phrase_is_worth_more_than_its_words_apart() -> None:
    model = TfCosine().fit(Examples(keywords=("call for papers",)))
    whole, apart, half = model.judge_texts(["a call for papers", "papers on a call", "the call"])
    assert whole > apart > half == 0.0


def test_rare_keywords_weigh_more_than_common_ones() -> None:
    model = TfCosine().fit(Examples(keywords=("information", "backpropagation")))
    common, rare = model.judge_texts(["information", "backpropagation"])
    assert rare > common > 0.0


def test_examples_alone_make_a_topic_and_set_the_line() -> None:
    positives = tuple(Document(made_up_text(ON_TOPIC, seed)) for seed in range(10))
    negatives = tuple(Document(made_up_text(OFF_TOPIC, seed)) for seed in range(50, 60))
    for examples in (Examples(positives=positives), Examples(positives=positives, negatives=negatives)):
        model = TfCosine().fit(examples)
        assert all(model.judge(a_page(made_up_text(ON_TOPIC, seed))).on_topic for seed in range(20, 30))
        assert not any(model.judge(a_page(made_up_text(OFF_TOPIC, seed))).on_topic for seed in range(70, 80))
        assert not model.judge(a_page(made_up_text(NEUTRAL, 1))).on_topic


def test_chinese_topic() -> None:
    model = TfCosine().fit(Examples(keywords=("神经网络", "深度学习"), languages=("zh", "en")))
    on, off = model.judge_texts(["深度学习用神经网络处理图像", "今天的天气很好"])
    assert on > 0.5
    assert off == 0.0


def test_given_threshold_wins() -> None:
    model = TfCosine(threshold=0.99).fit(Examples(keywords=("owl",)))
    assert not model.judge(a_page("owl " * 5)).on_topic


def test_topic_of_stop_words_is_refused() -> None:
    with pytest.raises(TopicError, match="give"):
        TfCosine().fit(Examples(keywords=("the", "of")))


def test_terms_name_the_keywords() -> None:
    model = TfCosine().fit(Examples(keywords=("neural network", "owl")))
    terms = dict(model.judge(a_page("neural networks, neural networks and an owl")).terms)
    assert set(terms) == {"neural network", "owl"}


@given(
    st.lists(st.sampled_from(["barn", "owl", "owls", "night", "the", "neural"]), max_size=40),
    st.integers(1, 60),
)
def test_evidence_from_numbers_is_the_same(words: list[str], times: int) -> None:
    analyser = Analyser()
    model = TfCosine().fit(Examples(keywords=("barn owl", "owl", "neural", "owl owl")))
    title, text = " ".join(words[:3]), " ".join(words * times)
    expected = model.evidence(analyser.terms(title), analyser.terms(text))
    found = model.evidence_of(analyser.numbered(title, text), analyser)
    assert found == [expected.get(phrase, 0.0) for phrase in model.phrases]
