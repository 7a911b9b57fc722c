"""What has become of a collection since a moment: new, changed, newly on topic, gone, and back."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from honeyguide.collection.guarded import utc
from honeyguide.collection.page import MOST_BODY
from honeyguide.collection.text_diff import Difference, differences
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding
from honeyguide.model import Outcome, Seen
from honeyguide.store.index import FullText
from honeyguide.store.records import PageRecord

if TYPE_CHECKING:
    from honeyguide.collection.collection import Collection

Kind = Literal["new", "on topic", "changed", "back", "gone"]
KINDS: Final[tuple[Kind, ...]] = ("new", "on topic", "changed", "back", "gone")
MEANINGS: Final = {
    "new": "New",
    "on topic": "Newly on topic",
    "changed": "Changed",
    "back": "Back again",
    "gone": "Gone",
}
MOST_DIFFS: Final = 500
"""Pages whose texts are compared; of the others it is only told that they changed."""


class Change(msgspec.Struct, frozen=True):
    """What became of one page."""

    kind: Kind
    url: str
    title: str
    at: str
    """When the crawl noticed; UTC, ISO 8601."""
    score: float
    on_topic: bool
    row: int
    seconds: float
    """The same moment in epoch seconds."""
    was_score: float | None = None
    """Before it changed."""
    was_on_topic: bool | None = None
    reason: str = ""
    """Why it counts as gone."""
    difference: tuple[Difference, ...] = ()
    """What changed in the text."""


def find_changes(
    collection: Collection,
    since: float,
    *,
    until: float | None = None,
    relevant: bool = True,
    diffs: bool = True,
    rows: Set[int] | None = None,
) -> list[Change]:
    """Changes that the crawl noticed from a moment on, newest first.

    Args:
        collection: The collection.
        since: Epoch seconds.
        until: Up to this moment; None for now.
        relevant: Only pages that are on topic, or were.
        diffs: With what changed in the texts.
        rows: Only these pages; None for all.
    """
    return sorted(
        _Finder(collection, since, until, relevant=relevant, diffs=diffs, rows=rows).find(),
        key=lambda change: (-change.seconds, change.row),
    )


class _Finder:
    def __init__(
        self,
        collection: Collection,
        since: float,
        until: float | None,
        *,
        relevant: bool,
        diffs: bool,
        rows: Set[int] | None,
    ) -> None:
        self._rows = rows
        self._collection = collection
        self._state = collection.state
        self._since = since
        self._until = until
        self._relevant = relevant
        self._diffs = MOST_DIFFS if diffs else 0

    def find(self) -> Iterator[Change]:
        history = self._state.history
        first = history.first_seen()
        gone = {row: seen for row, seen in history.gone(as_of=self._until).items() if seen[0] >= self._since}
        before = {page.row: page for _, page, _ in history.versions(as_of=self._since)}
        moved: dict[int, tuple[Seen, float]] = {}
        for visit in history.visits(since=self._since, until=self._until, kinds=(Seen.CHANGED, Seen.BACK)):
            moved[visit.row] = (visit.what, visit.at)
        status = self._state.columns().status
        with self._index() as index:
            for page in self._pages():
                if page.row < len(status) and status[page.row] == Outcome.NOINDEX:
                    continue
                if self._rows is not None and page.row not in self._rows:
                    continue
                start = first.get(page.row, page.at)
                old = before.get(page.row)
                if self._relevant and not (page.on_topic or (old is not None and old.on_topic)):
                    continue
                if start >= self._since:
                    if page.row not in gone:
                        yield _change("new", page, start)
                elif page.row in gone:
                    at, reason = gone[page.row]
                    yield _change("gone", page, at, reason=reason)
                elif page.row in moved:
                    what, at = moved[page.row]
                    yield self._moved(page, old, what, at, index)

    def _pages(self) -> Iterator[PageRecord]:
        if self._until is None:
            return self._state.pages()
        # Pages that were gone by then are wanted, too.
        before = {page.row: page for _, page, _ in self._state.history.versions(as_of=self._until)}
        pages = (before.get(page.row, page) for page in self._state.pages())
        return (page for page in pages if self._until is not None and page.at < self._until)

    def _moved(
        self, page: PageRecord, old: PageRecord | None, what: Seen, at: float, index: FullText | None
    ) -> Change:
        newly = old is not None and page.on_topic and not old.on_topic
        kind: Kind = "back" if what is Seen.BACK else "on topic" if newly else "changed"
        difference: tuple[Difference, ...] = ()
        if self._diffs and old is not None:
            self._diffs -= 1
            difference = differences(self._text(old, index), self._text(page, index))
        return _change(kind, page, at, old=old, difference=difference)

    def _text(self, page: PageRecord, index: FullText | None) -> str:
        """What a version said: from the index where it is there, else out of the archive."""
        if index is not None:
            held = (
                index.text(page.row)
                if index.dated(page.row) == page.at
                else index.past_text(page.row, page.at)
            )
            if held:
                return held
        layout = self._collection.layout
        if layout is None or not page.file:
            return ""
        from honeyguide.engine.reread import Reader  # with it come parser and engine

        reader = Reader(self._state, layout.archive_folder, blocks=False, max_bytes=MOST_BODY)
        try:
            parsed = reader.page(page)
        except (BadEncoding, CollectionError):
            return ""
        return parsed.content if parsed is not None else ""

    def _index(self) -> AbstractContextManager[FullText | None]:
        layout = self._collection.layout
        return (
            self._collection.index() if layout is not None and layout.index_file.is_file() else nullcontext()
        )


def _change(
    kind: Kind,
    page: PageRecord,
    at: float,
    *,
    old: PageRecord | None = None,
    reason: str = "",
    difference: tuple[Difference, ...] = (),
) -> Change:
    return Change(
        kind=kind,
        url=page.url,
        title=page.title,
        at=utc(at).isoformat(timespec="seconds"),
        score=page.score,
        on_topic=page.on_topic,
        row=page.row,
        seconds=at,
        was_score=old.score if old is not None else None,
        was_on_topic=old.on_topic if old is not None else None,
        reason=reason,
        difference=difference,
    )
