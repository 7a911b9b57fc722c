"""What changed in a text: sentences that went and sentences that came.

Texts come from the web and may be made to cost: both are cut, and equal beginnings and ends are left out
first.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

import msgspec

MOST_SENTENCES: Final = 1_000
LONGEST: Final = 400
"""Characters of a sentence that are shown."""
_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - full stops of other scripts


class Difference(msgspec.Struct, frozen=True):
    """One sentence of a diff."""

    sign: str
    """`+` for one that came, `-` for one that went."""
    text: str


def differences(before: str, after: str, *, most: int = 60) -> tuple[Difference, ...]:
    """Sentences that went and came, in the order of the text.

    Args:
        before: The older text.
        after: The newer one.
        most: Sentences at most.

    Example:
        >>> [(one.sign, one.text) for one in differences("Owls hunt. By night.", "Owls hunt. By day.")]
        [('-', 'By night.'), ('+', 'By day.')]
    """
    old, new = _sentences(before), _sentences(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end][:MOST_SENTENCES], new[start : len(new) - end][:MOST_SENTENCES]
    found: list[Difference] = []
    for what, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        if what != "equal":
            found += [Difference("-", sentence[:LONGEST]) for sentence in old[i:j]]
            found += [Difference("+", sentence[:LONGEST]) for sentence in new[k:m]]
        if len(found) >= most:
            break
    return tuple(found[:most])


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _ENDS.split(text) if sentence.strip()]
