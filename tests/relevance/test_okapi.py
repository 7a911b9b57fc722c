from __future__ import annotations

import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.okapi import Okapi
from honeyguide.testing.page_models import NEUTRAL, OFF_TOPIC, ON_TOPIC, made_up_text
from honeyguide.text.tokens import Analyser
from honeyguide.text.weighting import cosine, document_frequencies, okapi

UNLABELLED = tuple(
    Document(made_up_text((ON_TOPIC, OFF_TOPIC, NEUTRAL)[seed % 3], seed, length=80)) for seed in range(90)
)


def a_page(text: str) -> Page:
    return Page(url="https://a.example/", id=1, text=text)


def test_sample_is_what_the_query_retrieves() -> None:
    model = Okapi(retrieved=20).fit(Examples(keywords=("owl",), unlabelled=UNLABELLED))
    # Words of the retrieved documents count, though the query does not name them.
    related, unrelated = model.judge_texts(["feather beak wings prey", "audit refund ledger income"])
    assert related > 0.3
    assert unrelated < 0.1


def test_keywords_alone_are_cosine_of_okapi_weights() -> None:
    model = Okapi().fit(Examples(keywords=("owl", "nest"), unlabelled=()))
    text = "An owl looks after its nest by the old mill"
    score = model.judge(a_page(text)).score
    assert 0.3 < score < 1.0
    assert score == model.judge_texts([text])[0]


def test_score_follows_the_formula() -> None:
    model = Okapi(retrieved=0).fit(Examples(keywords=("owl", "tax"), unlabelled=UNLABELLED))
    analyser = Analyser()
    table = document_frequencies(analyser.terms(f" {each.text}") for each in UNLABELLED)
    text = "owl owl nest tax window"
    expected = cosine(okapi(analyser.terms(text), table), {term: table.idf(term) for term in ("owl", "tax")})
    assert model.judge_texts([text])[0] == pytest.approx(expected)


def test_threshold_parts_sample_from_rest() -> None:
    model = Okapi(retrieved=30).fit(Examples(keywords=("owl", "nest"), unlabelled=UNLABELLED))
    assert model.judge(a_page(made_up_text(ON_TOPIC, 900))).on_topic
    assert not model.judge(a_page(made_up_text(OFF_TOPIC, 900))).on_topic


def test_nothing_to_look_for_is_refused() -> None:
    with pytest.raises(TopicError, match="give keywords or example pages"):
        Okapi().fit(Examples(unlabelled=UNLABELLED))


def test_a_limited_vocabulary_looks_at_frequent_words_only() -> None:
    model = Okapi(vocabulary=1).fit(Examples(keywords=("owl",), unlabelled=UNLABELLED))
    everything = Okapi().fit(Examples(keywords=("owl",), unlabelled=UNLABELLED))
    assert model.judge_texts(["owl"])[0] > 0.0
    assert len(model.save().values["topic"]) < len(everything.save().values["topic"])  # type: ignore[arg-type]
    again = Okapi().load(model.save())
    assert again.judge_texts(["an owl nests"]) == model.judge_texts(["an owl nests"])
