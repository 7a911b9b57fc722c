"""Chinese words as they are spelled in addresses: Pinyin without tones, and its first letters."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from honeyguide.errors import MissingExtra

MAX_CHARACTERS: Final = 100
"""A label is a few words; more is not spelled out."""
HAN: Final = re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Finds a Chinese character."""
_LETTERS = re.compile("[a-z0-9]+")


def is_chinese(text: str) -> bool:
    """Whether a text holds Chinese characters.

    Example:
        >>> is_chinese("篮球"), is_chinese("Basketball")
        (True, False)
    """
    return HAN.search(text) is not None


def syllables(text: str) -> list[str]:
    """Pinyin of each character; runs of Latin letters and digits stay together, all else is left out.

    The letter ü is written v, as in input methods and most addresses (`lvyou`).

    Raises:
        MissingExtra: pypinyin is not installed.

    Example:
        >>> syllables("NBA 篮球")
        ['nba', 'lan', 'qiu']
    """
    spelled = _speller()(text[:MAX_CHARACTERS])
    return [letters for piece in spelled for letters in _LETTERS.findall(piece.lower())]


def full_pinyin(text: str) -> str:
    """The whole text in Pinyin, written together.

    Example:
        >>> full_pinyin("体育")
        'tiyu'
    """
    return "".join(syllables(text))


def pinyin_initials(text: str) -> str:
    """The first letters of the syllables.

    Example:
        >>> pinyin_initials("上海")
        'sh'
    """
    return "".join(syllable[0] for syllable in syllables(text))


@lru_cache(maxsize=1)
def _speller() -> Callable[[str], list[str]]:
    try:
        module = importlib.import_module("pypinyin")
    except ImportError:
        raise MissingExtra("spelling Chinese labels in Pinyin", "zh") from None
    spell: Callable[[str], list[str]] = module.lazy_pinyin
    return spell
