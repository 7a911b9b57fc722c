"""Text of a page to readable strings: white space folded, length bounded, time bounded."""

from __future__ import annotations

from typing import Final

BREAK: Final = "\n"
"""Ends a line of text. Folded text has no other use of this character."""


def fold(text: str) -> str:
    r"""The text with every run of white space as one space, and none at the ends.

    Example:
        >>> fold("  a\n\tb ")
        'a b'
    """
    return " ".join(text.split())


def folded_piece(text: str, last: str) -> str:
    r"""A text as it follows on `last`: white space folded, never two in a row.

    Args:
        text: What comes next in the page.
        last: The character before it.

    Example:
        >>> folded_piece("\n a\tb ", BREAK), folded_piece(" c", "b")
        ('a b ', ' c')
    """
    # Looking for single characters is far cheaper than splitting into words, and usually enough.
    if text.isascii() and text.isprintable() and "  " not in text:
        return text[1:] if text[0] == " " and last in " \n" else text
    words = " ".join(text.split())
    left = " " if text[:1].isspace() and last not in " \n" else ""
    return f"{left}{words} " if words and text[-1:].isspace() else left + words


def first_part(text: str, start: int, stop: int, *, limit: int) -> str:
    """The text from `start` to `stop`, at most `limit` characters, whole words where possible.

    Reads no more than it needs, so that asking for each of a thousand links of one huge paragraph
    stays linear.

    Example:
        >>> first_part("one two three", 0, 13, limit=8)
        'one two'
    """
    part = text[start : min(stop, start + limit + 4)].strip(" \n").replace("\n", " ")
    return part if len(part) <= limit else part[: limit + 1].rpartition(" ")[0] or part[:limit]


def last_part(text: str, start: int, stop: int, *, limit: int) -> str:
    """Like `first_part`, but the end of the range.

    Example:
        >>> last_part("one two three", 0, 13, limit=9)
        'two three'
    """
    part = text[max(start, stop - limit - 4) : stop].strip(" \n").replace("\n", " ")
    return part if len(part) <= limit else part[-limit - 1 :].partition(" ")[2] or part[-limit:]
