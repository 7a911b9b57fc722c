from __future__ import annotations

import pytest

from honeyguide.errors import MissingExtra
from honeyguide.text import segmentation
from honeyguide.text.segmentation import RUNS, UNSPACED, best_segmenter, bigrams, han_words
from honeyguide.text.tokens import Analyser


def test_bigrams() -> None:
    assert bigrams("鸟") == ["鸟"]
    assert bigrams("神经网") == ["神经", "经网"]


def test_runs_part_scripts() -> None:
    found = [(han, other, rest) for han, other, rest in RUNS.findall("深度learning、カナ")]
    assert found == [("深度", "", ""), ("", "", "learning、"), ("", "カナ", "")]


@pytest.mark.parametrize(
    ("text", "expected"), [("plain é ß", False), ("한국어", True), ("ไทย", True), ("鳥", True)]
)
def test_unspaced_scripts(text: str, expected: bool) -> None:
    assert bool(UNSPACED.search(text)) is expected


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "_rjieba", lambda: None)
    assert best_segmenter() == "bigrams"
    with pytest.raises(MissingExtra, match=r"honeyguide\[zh\]"):
        han_words("rjieba")
    assert Analyser(("zh",)).terms("神经网络") == ["神经", "经网", "网络"]
