"""Main text: the lines of a page that are neither navigation nor other boilerplate.

Shallow text features: a line (the text between two line-breaking tags) is kept or dropped by its
number of words, its link density and those of its neighbours, with the decision tree that Kohlschütter et
al. learned; lines in `nav`, `footer`, `aside`, `menu`, `form` and `dialog` are dropped; a heading goes with
the line below it. The walk has already counted everything, so this costs some 50 µs a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_LINKED: Final = 1 / 3
_LINKED_BEFORE: Final = 5 / 9
_UNSPACED: Final = 15
"""Characters a word from which on a line is taken to be in a script without spaces."""


def main_text(pieces: list[str], segments: Sequence[tuple[int, int, int]]) -> str:
    """The main text of a page; all its text when no line looks like main text.

    Args:
        pieces: Text in document order.
        segments: Lines: end in `pieces`, characters in links, 2 for boilerplate elements, 1 for headings.
    """
    lines: list[str] = []
    words: list[int] = []
    densities: list[float] = []
    flags: list[int] = []
    start = 0
    for end, linked, flag in segments:
        line = " ".join("".join(pieces[start:end]).split())
        start = end
        if line:
            lines.append(line)
            words.append(_words(line))
            densities.append(linked / len(line))
            flags.append(flag)
    kept = _kept(words, densities, flags)
    return "\n".join([line for line, keep in zip(lines, kept, strict=True) if keep]) or " ".join(lines)


def _words(line: str) -> int:
    count = line.count(" ") + 1
    return count if len(line) <= _UNSPACED * count else len(line) // 2


def _kept(words: list[int], densities: list[float], flags: list[int]) -> list[bool]:
    """Which lines are main text."""
    kept: list[bool] = []
    last = len(words) - 1
    for here, count in enumerate(words):
        if flags[here] == 2 or densities[here] > _LINKED:
            kept.append(False)
            continue
        before = words[here - 1] if here else 0
        after = words[here + 1] if here < last else 0
        if here and densities[here - 1] > _LINKED_BEFORE:
            kept.append(count > 40 or after > 17)
        else:
            kept.append(count > 16 or after > 15 or before > 4)
    for here in range(last - 1, -1, -1):
        if flags[here] == 1 and densities[here] <= _LINKED:
            kept[here] = kept[here + 1]
    return kept
