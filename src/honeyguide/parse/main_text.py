"""Main text: the lines of a page that are neither navigation nor other boilerplate.

Shallow text features: a line (the text between two line-breaking tags) is kept or dropped by its
number of words, its link density and those of its neighbours, with the decision tree that Kohlschütter et
al. learned; lines in `nav`, `footer`, `aside`, `menu`, `form` and `dialog` are dropped; a heading goes with
the line below it. The walk has already counted everything, so this costs some 50 µs a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from honeyguide.parse.folding import join

_LINKED: Final = 1 / 3
_LINKED_BEFORE: Final = 5 / 9
_UNSPACED: Final = 15
"""Characters a word from which on a line is taken to be in a script without spaces."""


class Line(NamedTuple):
    """The text between two line-breaking tags, folded."""

    text: str
    density: float
    """Share of its characters in links."""
    place: int
    """2 in a boilerplate element, 1 in a heading, else 0."""


def lines_of(pieces: list[str], segments: Sequence[tuple[int, int, int]]) -> list[Line]:
    """The lines of a page that are not empty.

    Args:
        pieces: Text in document order.
        segments: Where each line ends in `pieces`, how many of its characters are in links, its place.
    """
    lines: list[Line] = []
    start = 0
    for end, linked, place in segments:
        text = join(pieces[start:end])
        start = end
        if text:
            lines.append(Line(text, linked / len(text), place))
    return lines


def main_text(lines: Sequence[Line]) -> str:
    r"""The main text of a page; all its text when no line looks like main text.

    Example:
        >>> story = "Owls are birds of the night that hunt mice and other small animals with great skill."
        >>> main_text([Line("Home News Contact", 1.0, 0), Line("Owls", 0.0, 1), Line(story, 0.1, 0)])[:12]
        'Owls\nOwls a'
    """
    kept = _kept(lines)
    return "\n".join([line[0] for line, keep in zip(lines, kept, strict=True) if keep]) or " ".join(
        [line[0] for line in lines]
    )


def _words(line: str) -> int:
    count = line.count(" ") + 1
    return count if len(line) <= _UNSPACED * count else len(line) // 2


def _kept(lines: Sequence[Line]) -> list[bool]:
    """Which lines are main text."""
    words = [_words(line[0]) for line in lines]
    words.append(0)
    kept: list[bool] = []
    before, density_before = 0, 0.0
    for here, (_, density, place) in enumerate(lines):
        count = words[here]
        if place == 2 or density > _LINKED:
            kept.append(False)
        elif density_before > _LINKED_BEFORE:
            kept.append(count > 40 or words[here + 1] > 17)
        else:
            kept.append(count > 16 or words[here + 1] > 15 or before > 4)
        before, density_before = count, density
    for here in range(len(lines) - 2, -1, -1):
        if lines[here].place == 1 and lines[here].density <= _LINKED:
            kept[here] = kept[here + 1]
    return kept
