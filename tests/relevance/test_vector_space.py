from __future__ import annotations

import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.vector_space import VectorSpace
from honeyguide.testing.page_models import Check, all_checks, made_up_examples

TEXTS = ("owl owl nest", "owl barn barn", "tax form tax", "tax law")


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(VectorSpace, made_up_examples())


def test_only_frequent_terms_and_the_topics_own_count() -> None:
    given = Examples(keywords=("law",), unlabelled=tuple(map(Document, TEXTS)))
    model = VectorSpace(terms=2).fit(given)  # owl, tax and the topic's word
    page = Page(url="https://a.example/", id=1, text="law form form nest barn")
    assert model.judge(page).score == pytest.approx(1.0)
    assert VectorSpace(terms=1000).fit(given).judge(page).score == pytest.approx(1 / 7**0.5)


def test_a_topic_of_unknown_words_is_refused() -> None:
    with pytest.raises(TopicError, match="no word of the topic"):
        VectorSpace().fit(Examples(keywords=("zebra",), unlabelled=tuple(map(Document, TEXTS))))
