"""A page with three links, a judge that knows two texts, two verdicts: enough to work an order out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from honeyguide.model import Link, Page, Scored, Verdict, Via


class KnowsTwoTexts:
    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        return [{"owl": 0.5, "near": 0.25}.get(text, 0.0) for text in texts]


@pytest.fixture
def judge() -> KnowsTwoTexts:
    return KnowsTwoTexts()


@pytest.fixture
def links() -> tuple[Link, ...]:
    return (
        Link("https://b.example/owls/one.html", 2, "owl", "near"),
        Link("https://c.example/tax", 3, "tax", "near"),
        Link("https://d.example/", 4, "", ""),
    )


@pytest.fixture
def on() -> Verdict:
    return Verdict(0.8, True)


@pytest.fixture
def off() -> Verdict:
    return Verdict(0.2, False)


@pytest.fixture
def a_page() -> Callable[..., Page]:
    def make(
        *, memo: dict[str, float] | None = None, priority: float = 0.0, number: int = 1, depth: int = 0
    ) -> Page:
        via = None if memo is None else Via(9, priority=priority, memo=memo)
        return Page(url="https://a.example/", id=1, title="owl", via=via, number=number, depth=depth)

    return make


@pytest.fixture
def priorities() -> Callable[[Sequence[Scored]], list[float]]:
    return lambda ranked: [round(scored.priority, 10) for scored in ranked]
