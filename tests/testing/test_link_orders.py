from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import pytest

from honeyguide.config.registry import find
from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering import BUILT_IN
from honeyguide.ordering.base import LinkOrder, LocalOrder
from honeyguide.ordering.rehearsal import Rehearsal
from honeyguide.store.models import Saved
from honeyguide.testing.link_orders import Check, WordJudge, all_checks, check_link_order
from honeyguide.testing.page_models import made_up_examples

GIVEN: dict[str, Any] = {
    "judge": WordJudge(),
    "topic_terms": ("owl", "bird nest", "鸟巢"),
    "retrain_every": 20,
    "taxonomy": ("Animals", "Owl|鸟巢"),
    "keywords": ("owl", "bird nest"),
    "languages": ("en", "zh"),
    "personal_table": False,
    "examples": made_up_examples(),
    "keep_rejected": True,  # the CBP-SLC family drops most links of this web otherwise, by design
}


def build(name: str) -> LinkOrder:
    part: type[LinkOrder] = find("ordering", name)  # type: ignore[assignment]
    wanted = inspect.signature(part).parameters
    return part(**{key: value for key, value in GIVEN.items() if key in wanted})


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_built_in_order_keeps_the_contract(name: str, check: Check) -> None:
    check(lambda: build(name))


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_order_reaches_most_of_the_rehearsal_web(name: str) -> None:
    steps = Rehearsal(build(name)).run(90)
    assert len({step.page for step in steps}) == len(steps) >= 40


class Broken(LocalOrder):
    """Ranks the first link twice."""

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        return [Scored(0, 0.0), Scored(0, 1.0)] if links else []


class Infinite(LocalOrder):
    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        return [Scored(0, float("inf"))] if links else []


class Forgetful(LocalOrder):
    """Counts pages, and saves nothing."""

    def __init__(self) -> None:
        self._count = 0

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        self._count += 1
        return [Scored(index, float(self._count)) for index in range(len(links))]


class ObjectKeeper(LocalOrder):
    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        return []

    def save(self) -> Saved:
        return Saved(values={"set": {1, 2}, "bad": object()})


@pytest.mark.parametrize(
    ("order", "message"),
    [(Broken, "answered twice"), (Infinite, "not finite"), (Forgetful, "loaded order answers otherwise")],
)
def test_checks_find_broken_orders(order: type[LinkOrder], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_link_order(order)


def test_checks_find_state_that_is_no_data() -> None:
    with pytest.raises(TypeError):
        check_link_order(ObjectKeeper)
