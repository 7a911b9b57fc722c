"""Words of scripts that are written without spaces.

Han text is cut into words by rjieba (extra `zh`) when that is installed, and into overlapping pairs
of characters otherwise; kana, Hangul, Thai and their neighbours always give pairs. Pairs need no
dictionary and find the same documents, at the price of a larger vocabulary.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal, TypeAlias

from honeyguide.errors import MissingExtra

Segmenter: TypeAlias = Literal["rjieba", "bigrams"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OTHER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7af"

UNSPACED = re.compile(f"[{_HAN}{_OTHER}]")
"""Finds a character of a script without spaces between words."""
RUNS = re.compile(f"([{_HAN}]+)|([{_OTHER}]+)|([^{_HAN}{_OTHER}]+)")
"""Cuts a text into Han runs (group 1), runs of other unspaced scripts (2) and the rest (3)."""


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters; a single character stands for itself.

    Example:
        >>> bigrams("神经网络")
        ['神经', '经网', '网络']
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


@lru_cache(maxsize=1)
def _rjieba() -> Callable[[str], Iterable[str]] | None:
    try:
        module = importlib.import_module("rjieba")
    except ImportError:
        return None
    cut: Callable[[str], Iterable[str]] = module.cut
    return cut


def best_segmenter() -> Segmenter:
    """What this installation can do: `rjieba` when the extra `zh` is there, else `bigrams`."""
    return "bigrams" if _rjieba() is None else "rjieba"


def han_words(segmenter: Segmenter) -> Callable[[str], Iterable[str]]:
    """The function that cuts a Han run into words.

    Raises:
        MissingExtra: rjieba is asked for and not installed.
    """
    if segmenter == "bigrams":
        return bigrams
    cut = _rjieba()
    if cut is None:
        raise MissingExtra("cutting Chinese text into words", "zh")
    return cut
