from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance import PuVoting
from honeyguide.relevance.base import OnlinePageModel
from honeyguide.relevance.weighted_voting import EarlyPages
from honeyguide.testing.page_models import OFF_TOPIC, ON_TOPIC, all_checks, made_up_examples, made_up_text

ALONE = msgspec.structs.replace(made_up_examples(), negatives=(), unlabelled=(), keywords=(), taxonomy=())


def page(number: int, words: tuple[str, ...], url: str = "") -> Page:
    return Page(url=url or f"https://x.example/{number}", id=number + 1, text=made_up_text(words, number))


@pytest.mark.parametrize("check", all_checks())
@pytest.mark.parametrize("options", [{}, {"weighting": "tfipndf"}, {"voting": "hard"}, {"kernel": "rbf"}])
def test_contract(check: Any, options: dict[str, Any]) -> None:
    check(lambda: PuVoting(**options), made_up_examples())


@pytest.mark.parametrize("check", all_checks())
def test_contract_with_examples_alone(check: Any) -> None:
    check(PuVoting, ALONE)


def fed(model: PuVoting, first: int = 1000, count: int = 60) -> list[bool]:
    """Feed pages, every third one on topic, as the engine does."""
    changed = []
    for number in range(first, first + count):
        one = page(number, ON_TOPIC if number % 3 == 0 else OFF_TOPIC)
        changed.append(model.observe(one, model.judge(one)))
    return changed


def test_learns_from_early_pages_with_the_topic_kept_out() -> None:
    model = PuVoting().fit(ALONE)
    assert model.describe()["judged by"] == "words of the examples"
    changed = fed(model)
    assert [number for number, one in enumerate(changed, 1) if one] == [50]
    facts = model.describe()
    assert facts["judged by"] == "weighted voting"
    assert facts["early pages"] == 50
    # A third of the fifty are on topic: none of them was made a negative.
    assert isinstance(facts["negatives"], int)
    assert facts["negatives"] <= 34
    on, off = model.judge(page(5000, ON_TOPIC)), model.judge(page(5001, OFF_TOPIC))
    assert on.on_topic
    assert not off.on_topic
    assert on.terms


def test_a_model_half_way_goes_on_as_if_nothing_had_happened() -> None:
    straight, stopped = PuVoting().fit(ALONE), PuVoting().fit(ALONE)
    for pages in (30, 45, 40):
        fed(straight, 1000, pages)
        fed(stopped, 1000, pages)
        stopped = PuVoting().load(stopped.save())
        assert stopped.save().values == straight.save().values
    texts = [made_up_text(ON_TOPIC, 1), "owl", "tax", ""]
    assert stopped.judge_texts(texts) == straight.judge_texts(texts)
    assert fed(stopped, 3000, 20) == fed(straight, 3000, 20)


def test_early_pages_that_are_all_on_topic_leave_half_to_learn_from() -> None:
    model = PuVoting().fit(ALONE)
    for number in range(1000, 1050):
        one = page(number, ON_TOPIC)
        model.observe(one, model.judge(one))
    assert model.describe()["judged by"] == "weighted voting"


def test_early_pages_off_topic_are_not_held_out() -> None:
    model = PuVoting().fit(ALONE)
    for number in range(1000, 1050):
        one = page(number, OFF_TOPIC if number > 1002 else ON_TOPIC)
        model.observe(one, model.judge(one))
    assert model._early.held_out.sum() <= 5


def test_examples_and_doubles_are_no_early_pages() -> None:
    terms = [["owl", "nest", "egg", "wing", "barn"], ["tax", "form", "bank", "rate", "loan"]]
    early = EarlyPages(terms[:1], ["https://x.example/owls"], most=5)
    early.offer(terms[0], url="https://x.example/copy")
    early.offer(terms[1], url="https://x.example/owls")
    assert early.documents == []
    early.offer(terms[1], url="https://x.example/tax")
    early.offer(terms[1], url="https://x.example/tax-again")
    early.offer(["tax"], url="https://x.example/short")
    assert early.documents == terms[1:]


def test_a_given_background_is_not_mixed_with_the_crawl() -> None:
    model = PuVoting().fit(made_up_examples())
    assert isinstance(model, OnlinePageModel)
    assert not any(fed(model, count=120))
    assert "positives" not in model.save().arrays


def test_positives_in_the_background_are_left_out_of_it() -> None:
    examples = made_up_examples()
    poisoned = msgspec.structs.replace(examples, unlabelled=(*examples.unlabelled, *examples.positives))
    texts = ["owl nest", "tax"]
    assert PuVoting().fit(poisoned).judge_texts(texts) == PuVoting().fit(examples).judge_texts(texts)


def test_texts_without_known_words_score_nothing() -> None:
    assert PuVoting().fit(made_up_examples()).judge_texts(["", "xylophone", "click here"]) == [0.0, 0.0, 0.0]


def test_bad_examples_get_one_line() -> None:
    same = tuple(Document("the owl and its nest") for _ in range(5))
    with pytest.raises(TopicError, match="all 5 example pages are one document"):
        PuVoting().fit(Examples(positives=same))
    with pytest.raises(TopicError, match="add addresses or files to 'examples'"):
        PuVoting().fit(Examples(keywords=("owl",)))
    with pytest.raises(TopicError, match="no example page with text"):
        PuVoting().fit(Examples(positives=(Document("... !!"), Document(""))))


def test_a_constraint_that_finds_nothing_names_one_that_does() -> None:
    positives = tuple(Document(f"common owl word{i} word{i}") for i in range(10))
    background = tuple(Document("owl tax" if i % 2 else "common tax") for i in range(60))
    examples = Examples(positives=positives, unlabelled=background)
    with pytest.raises(TopicError, match=r"to 1 or more.*'constraint' in \[relevance\]"):
        PuVoting(constraint=0.2).fit(examples)
    assert PuVoting(constraint=1.0).fit(examples).describe()["reliable negatives"] == 60
    assert PuVoting().fit(examples).describe()["reliable negatives"] == 60


def test_a_hundred_texts_equal_one_by_one() -> None:
    model = PuVoting().fit(made_up_examples())
    texts = [made_up_text(ON_TOPIC if i % 2 else OFF_TOPIC, i, length=i % 30) for i in range(100)]
    assert np.allclose(model.judge_texts(texts), [model.judge_texts([text])[0] for text in texts])
