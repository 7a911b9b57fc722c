from __future__ import annotations

import sys

import pytest

from honeyguide.errors import MissingExtra
from honeyguide.topic import pinyin
from honeyguide.topic.pinyin import full_pinyin, is_chinese, pinyin_initials, syllables


def test_spells_words_by_their_reading_in_context() -> None:
    assert full_pinyin("银行") == "yinhang"
    assert full_pinyin("旅行") == "lvxing"
    assert full_pinyin("重庆") == "chongqing"
    assert full_pinyin("旅游") == "lvyou"
    assert pinyin_initials("上海") == "sh"


def test_latin_letters_stay_and_signs_go() -> None:
    assert syllables("NBA\uff08篮球\uff09!") == ["nba", "lan", "qiu"]
    assert full_pinyin("\uff01\uff1f") == ""
    assert is_chinese("a篮") is True
    assert is_chinese("ボール") is False


def test_hostile_labels_are_cut() -> None:
    assert len(syllables("体" * 10_000)) == pinyin.MAX_CHARACTERS


def test_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    pinyin._speller.cache_clear()
    monkeypatch.setitem(sys.modules, "pypinyin", None)
    with pytest.raises(MissingExtra, match=r"honeyguide\[zh\]"):
        full_pinyin("体育")
    pinyin._speller.cache_clear()
