from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.lab.webs.recorded import terms as cached
from honeyguide.lab.webs.recorded.terms import TermStore, TermWriter
from honeyguide.text.tokens import Analyser

TEXTS = [
    "Owls hunt at night, caf\u00e9s do not. " * 60,
    "",
    "short",
    "\u6df1\u5ea6\u5b66\u4e60 and barn owls 10\u00a0km " * 80,
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    writer = TermWriter()
    for text in TEXTS:
        writer.add(text)
    writer.write(tmp_path)
    return tmp_path


def test_cached_terms_are_those_of_the_text(folder: Path) -> None:
    store = TermStore(folder)
    for place, text in enumerate(TEXTS):
        expected = Analyser().terms(text)
        Analyser().terms("something else " * 100)  # is the last text now
        store.remember(place, text)
        assert Analyser().terms(text) == expected
        assert Analyser(("de",)).terms(text) == Analyser(("de",)).terms(f" {text}")


def test_terms_of_another_segmenter_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "best_segmenter", lambda: "another")
    store = TermStore(folder)
    store._terms[:] = "wrong"
    store.remember(0, TEXTS[0])
    assert "wrong" not in Analyser().terms(TEXTS[0])


def test_a_text_is_known_by_itself_and_not_by_its_place(folder: Path) -> None:
    store = TermStore(folder)
    store._terms[:] = "cached"
    text = TEXTS[0] + " "
    store.remember(0, text)
    assert set(Analyser().terms(text)) == {"cached"}
    assert "cached" not in Analyser().terms(TEXTS[0])
