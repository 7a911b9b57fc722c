"""Pieces of text to readable strings: white space folded, length bounded, time bounded.

A *piece* is folded when it is taken from the tree, and a list of pieces never has white space on both
sides of a seam, so putting pieces together is a plain join.
"""

from __future__ import annotations

from typing import Final

BREAK: Final = "\n"
"""The piece between two lines of text. No other piece has this character."""


def fold(text: str) -> str:
    r"""The text with every run of white space as one space, and none at the ends.

    Example:
        >>> fold("  a\n\tb ")
        'a b'
    """
    return " ".join(text.split())


def append_folded(pieces: list[str], text: str) -> int:
    r"""Add a text to a list of pieces (that is not empty), folded; returns how many characters came.

    Example:
        >>> pieces = [BREAK]
        >>> append_folded(pieces, "\n a\tb "), append_folded(pieces, " c")
        (4, 1)
        >>> pieces
        ['\n', 'a b ', 'c']
    """
    # Looking for single characters is far cheaper than splitting into words, and usually enough.
    if not text.isascii() or "\n" in text or "\t" in text or "  " in text:
        words = " ".join(text.split())
        left = " " if text[:1].isspace() else ""
        text = f"{left}{words} " if words and text[-1:].isspace() else left + words
    if text[:1] == " " and pieces[-1][-1:] in " \n":
        text = text[1:]
    if text:
        pieces.append(text)
    return len(text)


def append_break(pieces: list[str]) -> None:
    """End a line."""
    last = pieces[-1]
    if last[-1:] == " ":
        pieces[-1] = last[:-1]
    pieces.append(BREAK)


def join(pieces: list[str]) -> str:
    r"""Pieces as one text.

    Example:
        >>> join(["a ", "b", BREAK, "c"])
        'a b c'
    """
    return "".join(pieces).strip(" \n").replace("\n", " ")


def first_part(pieces: list[str], start: int, stop: int, *, limit: int) -> str:
    """The pieces from `start` to `stop`, at most `limit` characters, whole words where possible.

    Reads no more than it needs, so that asking for each of a thousand links of one huge paragraph
    stays linear.

    Example:
        >>> first_part(["one ", "two", " three"], 0, 3, limit=8)
        'one two'
    """
    if stop - start == 1 and len(pieces[start]) <= limit:
        return pieces[start].strip(" \n")
    parts: list[str] = []
    left = limit + 1
    while start < stop and left > 0:
        part = pieces[start]
        parts.append(part if len(part) <= left else part[: left + 1])
        left -= len(part)
        start += 1
    text = join(parts)
    return text if len(text) <= limit else text[: limit + 1].rpartition(" ")[0] or text[:limit]


def last_part(pieces: list[str], start: int, stop: int, *, limit: int) -> str:
    """Like `first_part`, but the end of the range.

    Example:
        >>> last_part(["one ", "two", " three"], 0, 3, limit=9)
        'two three'
    """
    parts: list[str] = []
    left = limit + 1
    while stop > start and left > 0:
        stop -= 1
        part = pieces[stop]
        parts.append(part if len(part) <= left else part[-left - 1 :])
        left -= len(part)
    parts.reverse()
    text = join(parts)
    return text if len(text) <= limit else text[-limit - 1 :].partition(" ")[2] or text[-limit:]
