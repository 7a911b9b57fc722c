from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import pytest

from honeyguide.config.registry import find
from honeyguide.model import Examples, Page, Verdict
from honeyguide.relevance import BUILT_IN
from honeyguide.relevance.base import PageModel
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.store.models import Saved
from honeyguide.testing.page_models import Check, all_checks, check_page_model, made_up_examples


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_built_in_model_keeps_the_contract(name: str, check: Check) -> None:
    maker = find("relevance", name)
    quick = partial(maker, population=20, generations=2) if name == "evolved-knn" else maker
    check(quick, made_up_examples())


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_literal_cosine_keeps_the_contract(check: Check) -> None:
    check(lambda: TfCosine(scoring="cosine"), made_up_examples())


class Sloppy:
    """Accepts anything, and its scores leave 0..1 and grow with every call."""

    def __init__(self) -> None:
        self._calls = 0

    def fit(self, examples: Examples) -> Self:
        return self

    def judge(self, page: Page) -> Verdict:
        self._calls += 1
        return Verdict(self._calls / 5, True, (("owl", 9.0),))

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        return [0.5 for _ in texts]

    def save(self) -> Saved:
        return Saved()

    def load(self, saved: Saved) -> Self:
        return self


BROKEN = {
    "check_scores",
    "check_terms",
    "check_judge_is_pure",
    "check_hostile_pages",
    "check_poor_examples",
    "check_unfitted",
}


def test_checks_find_a_broken_model() -> None:
    failed = set()
    for check in all_checks():
        try:
            check(Sloppy, made_up_examples())
        except AssertionError:
            failed.add(check.__name__)
    assert failed >= BROKEN
    with pytest.raises(AssertionError):
        check_page_model(Sloppy)


def test_protocol_is_checkable() -> None:
    assert isinstance(Sloppy(), PageModel)
