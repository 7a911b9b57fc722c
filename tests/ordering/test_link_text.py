from __future__ import annotations

from collections.abc import Sequence

from honeyguide.ordering.link_text import scores


class Table:
    """A judge that knows a few texts, and counts how it is asked."""

    def __init__(self, **known: float) -> None:
        self.known = known
        self.calls: list[list[str]] = []

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        self.calls.append(list(texts))
        return [self.known.get(text, 0.0) for text in texts]


def test_texts_are_judged_once_and_in_one_call() -> None:
    judge = Table(a=1.0)
    assert scores(judge, ["a", "b", "", "a"]) == [1.0, 0.0, 0.0, 1.0]
    assert judge.calls == [["a", "b"]]
    assert scores(judge, ["", ""]) == [0.0, 0.0]
    assert len(judge.calls) == 1
