"""What a conditional request says of a page: its digest and validators, from the state and the archive.

Validators are not kept in the state: the archive has the headers of every answer, and a page that is visited
once a week can afford one look at them.
"""

from __future__ import annotations

from pathlib import Path

from honeyguide.errors import CollectionError
from honeyguide.frontier import Again
from honeyguide.store.archive_reader import ArchivedResponse, read_record
from honeyguide.store.state import State


class Recollection:
    """Knows pages by their rows.

    Args:
        state: Of the crawl.
        folder: Of the archive; None where there is none.
    """

    def __init__(self, state: State, folder: Path | None) -> None:
        self._state = state
        self._folder = folder

    def __call__(self, row: int) -> Again:
        """What is known of a page or listing."""
        page = self._state.page_by_row(row)
        last = self._state.history.last_visit(row)
        if page is None:
            return Again(digest=last.digest if last else "", listing=True)
        answers = [self._answer(page.file, page.offset, page.length)]
        if answers[0] is not None and answers[0].digest != page.digest:
            # A rendered page: that its shell is the same says nothing of what scripts make of it.
            return Again(digest=page.digest)
        if last is not None and last.status in (200, 304) and last.offset != page.offset:
            answers.insert(0, self._answer(last.file, last.offset, last.length))
        return Again(
            digest=page.digest,
            etag=_first("etag", answers),
            modified=_first("last-modified", answers),
        )

    def _answer(self, file: str, offset: int, length: int) -> ArchivedResponse | None:
        """An archived answer, or None: without it the page is asked for as if for the first time."""
        if self._folder is None or not file:
            return None
        try:
            return read_record(self._folder, file, offset, length)
        except CollectionError:
            return None


def _first(name: str, answers: list[ArchivedResponse | None]) -> str:
    values = (answer.header(name) for answer in answers if answer is not None)
    return next((value for value in values if value and value.isprintable() and value.isascii()), "")
