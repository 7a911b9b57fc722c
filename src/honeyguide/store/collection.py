"""A collection as its readers see it: numbers, pages, stories of URLs, search, exports."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.model import Outcome
from honeyguide.store.index import FullText, Hit
from honeyguide.store.layout import Layout
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State
from honeyguide.store.story import Story, tell
from honeyguide.store.tables import PAGE_COLUMNS, TEXT_COLUMN, export


class Status(msgspec.Struct, frozen=True):
    """Where a crawl stands."""

    pages: int
    relevant: int
    harvest: float
    known: int
    waiting: int
    outcomes: dict[str, int]
    hosts: int
    requests: int
    bytes: int
    seconds: float
    sessions: int
    running: bool
    reason: str
    """Why the last session ended; empty while one runs."""


class Collection:
    """Reads a collection, also while a crawl writes it.

    Example:
        >>> Collection.open("no/such/folder")
        Traceback (most recent call last):
        ...
        honeyguide.errors.CollectionError: ...
    """

    def __init__(self, state: State, layout: Layout | None) -> None:
        self.state = state
        self.layout = layout

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a folder that `honeyguide crawl` wrote, for reading."""
        layout = Layout.open(Path(folder))
        return cls(State.open(layout.state_file, read_only=True), layout)

    @classmethod
    def of(cls, state: State | None) -> Self:
        """The result of a crawl that was kept in memory."""
        if state is None:
            raise CollectionError("the crawl has not run yet; run it first")
        return cls(state, None)

    def close(self) -> None:
        """Let go of the files."""
        self.state.close()

    def __enter__(self) -> Self:
        """The collection itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def status(self) -> Status:
        """The numbers of the crawl."""
        counts = self.state.counts()
        waiting = counts.pop(Outcome.WAITING, 0)
        tally = self.state.setting("tally")
        spent = tally if isinstance(tally, dict) else {}
        sessions = self.state.sessions()
        running = bool(sessions) and sessions[-1].stop is None
        pages = int(spent.get("pages", 0))
        relevant = int(spent.get("relevant", 0))
        return Status(
            pages=pages,
            relevant=relevant,
            harvest=relevant / pages if pages else 0.0,
            known=waiting + sum(counts.values()),
            waiting=waiting,
            outcomes={outcome.name.lower(): count for outcome, count in sorted(counts.items()) if count},
            hosts=len(self.state.hosts()),
            requests=int(spent.get("requests", 0)),
            bytes=int(spent.get("bytes", 0)),
            seconds=float(spent.get("seconds", 0.0)),
            sessions=len(sessions),
            running=running,
            reason=sessions[-1].reason if sessions else "",
        )

    def pages(self, *, relevant: bool | None = True) -> Iterator[PageRecord]:
        """Pages in the order they were fetched; None for all, True for those on topic."""
        return self.state.pages(on_topic=relevant)

    def verdicts(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """On topic or not, and score, of each page in order of fetching."""
        found = [(page.on_topic, page.score) for page in self.state.pages()]
        return (
            np.array([on_topic for on_topic, _ in found], dtype=np.bool_),
            np.array([score for _, score in found], dtype=np.float64),
        )

    def why(self, url: str) -> Story:
        """The story of one URL."""
        return tell(self.state, url)

    def search(
        self, words: str, limit: int = 10, offset: int = 0, *, host: str = "", language: str = ""
    ) -> list[Hit]:
        """Full-text search over the relevant pages."""
        index = self._index()
        try:
            return index.search(words, limit, offset, host=host, language=language)
        finally:
            index.close()

    def export(
        self,
        path: Path | str,
        *,
        format: str = "jsonl",  # noqa: A002 - the option's name
        relevant: bool = True,
        text: bool = False,
    ) -> int:
        """Write the pages as a table (`jsonl`, `csv` or `parquet`); returns how many."""
        rows = self.rows(relevant=True if relevant else None, text=text)
        columns = (*PAGE_COLUMNS, TEXT_COLUMN) if text else PAGE_COLUMNS
        return export(rows, Path(path), form=format, columns=columns)

    def rows(self, *, relevant: bool | None = True, text: bool = False) -> Iterator[dict[str, object]]:
        """Pages as plain rows with the columns of `tables.PAGE_COLUMNS`."""
        index = self._index() if text else None
        for page in self.state.pages(on_topic=relevant):
            record = self.state.url_by_row(page.row)
            if record is None or record.status is Outcome.NOINDEX:
                continue
            row: dict[str, object] = {
                "url": page.url,
                "title": page.title,
                "language": page.language,
                "score": page.score,
                "on_topic": page.on_topic,
                "fetched_at": datetime.fromtimestamp(page.at, UTC).isoformat(timespec="seconds"),
                "depth": page.depth,
                "status": page.status,
                "content_type": page.content_type,
                "bytes": page.bytes,
                "digest": page.digest,
                "duplicate_of": self._url(page.duplicate_of or page.near_duplicate_of),
                "parent_url": self._url(record.parent),
                "warc_file": page.file,
                "warc_offset": page.offset,
            }
            if index is not None:
                row["text"] = index.text(page.row)
            yield row
        if index is not None:
            index.close()

    def _url(self, row: int) -> str:
        return self.state.url_text(row) if row else ""

    def _index(self) -> FullText:
        if self.layout is None:
            raise CollectionError("a crawl kept in memory has no index; give it a folder with out=")
        return FullText.open(self.layout.index_file, read_only=True)
