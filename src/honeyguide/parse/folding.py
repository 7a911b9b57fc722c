"""Pieces of text to readable strings: white space folded, length bounded, time bounded."""

from __future__ import annotations

from typing import Final

RAW_FACTOR: Final = 4
"""Raw characters read for each character wanted: how much white space is worth skipping."""


def fold(text: str) -> str:
    """The text with every run of white space as one space.

    Example:
        >>> fold("  a\\n\\tb ")
        'a b'
    """
    return " ".join(text.split())


def first_part(pieces: list[str], start: int, stop: int, *, limit: int) -> str:
    """The pieces from `start` to `stop`, folded, at most about `limit` characters, whole words.

    Reads no more than it needs, so that asking for each of a thousand links of one huge paragraph
    stays linear.

    Example:
        >>> first_part(["one ", "two", " three"], 0, 3, limit=8)
        'one two'
    """
    if stop - start == 1:
        raw = pieces[start][: limit * RAW_FACTOR]
    else:
        raw = "".join(_read(pieces, start, stop, limit * RAW_FACTOR))
    text = " ".join(raw.split())
    return text if len(text) <= limit else text[: limit + 1].rpartition(" ")[0] or text[:limit]


def last_part(pieces: list[str], start: int, stop: int, *, limit: int) -> str:
    """Like `first_part`, but the end of the range.

    Example:
        >>> last_part(["one ", "two", " three"], 0, 3, limit=9)
        'two three'
    """
    left = limit * RAW_FACTOR
    parts: list[str] = []
    position = stop
    while position > start and left > 0:
        position -= 1
        part = pieces[position]
        parts.append(part[-left:])
        left -= len(part)
    text = " ".join("".join(reversed(parts)).split())
    return text if len(text) <= limit else text[-limit - 1 :].partition(" ")[2] or text[-limit:]


def _read(pieces: list[str], start: int, stop: int, limit: int) -> list[str]:
    parts: list[str] = []
    for position in range(start, stop):
        part = pieces[position]
        if len(part) >= limit:
            parts.append(part[:limit])
            break
        parts.append(part)
        limit -= len(part)
    return parts
