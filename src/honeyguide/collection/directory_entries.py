"""What a directory shows of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from honeyguide.collection.guarded import host_of
from honeyguide.store.state import State

_SNIPPET = 200
_SPACES = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


class Entry(msgspec.Struct, frozen=True):
    """One line of a list of pages."""

    row: int
    url: str
    title: str
    host: str
    snippet: str
    """How its text begins."""
    language: str
    score: float
    at: float


def page_entries(
    state: State, rows: Iterable[int], text_of: Callable[[int], str] | None = None
) -> list[Entry]:
    """Entries of pages by their rows; rows without a page are passed over."""
    found = []
    for row in rows:
        page = state.page_by_row(row)
        if page is None:
            continue
        title = _SPACES.sub(" ", page.title).strip()[:300]
        found.append(
            Entry(
                row=row,
                url=page.url,
                title=title or page.url,
                host=host_of(page.url),
                snippet=beginning(text_of(row), title) if text_of is not None else "",
                language=page.language,
                score=page.score,
                at=page.at,
            )
        )
    return found


def beginning(text: str, title: str) -> str:
    """How a text begins, without the title that it often repeats.

    Example:
        >>> beginning("Owls  Owls hunt at night.", "Owls")
        'Owls hunt at night.'
    """
    short = _SPACES.sub(" ", text[: 4 * _SNIPPET]).strip()
    if title and short.startswith(title):
        short = short[len(title) :].lstrip(" .:|-")
    if len(short) <= _SNIPPET:
        return short
    return short[:_SNIPPET].rpartition(" ")[0] + " …"
