"""A collection made without a crawl, from given pages: for benchmarks of readers and for hostile contents.

Everything is written by the parts that a crawl uses, so a reader cannot tell the difference; nothing is
checked, so that titles, addresses and headers may be as bad as a stranger's collection could have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from honeyguide.model import Host, Outcome
from honeyguide.store.archive import ArchiveWriter, Exchange
from honeyguide.store.columns import Columns
from honeyguide.store.index import FullText
from honeyguide.store.layout import Layout
from honeyguide.store.records import NewUrl, PageRecord
from honeyguide.store.state import State
from honeyguide.web.url import url_id

TOPIC = """[topic]
name = "made"
keywords = ["made"]
[crawl]
seeds = ["https://example.org/"]
"""


class MadeCollection:
    """Writes pages and addresses in the order they are given. Use it as a context.

    Args:
        folder: A new folder.
        archive: Also keep answers (`page(head=…, body=…)`).
    """

    def __init__(self, folder: Path, *, archive: bool = False) -> None:
        layout = Layout.create(folder, software="made")
        layout.topic_file.write_text(TOPIC)
        self._state = State.open(layout.state_file)
        self._index = FullText.open(layout.index_file)
        self._archive = (
            ArchiveWriter(layout.archive_folder, prefix="pages", software="made", clock=lambda: 0.0)
            if archive
            else None
        )
        self._columns = Columns()
        self._hosts: dict[str, Host] = {}
        self._urls: list[NewUrl] = []
        self._pages = self._relevant = self._bytes = 0
        self._session = self._state.start_session(0.0, version="made")

    def __enter__(self) -> Self:
        """The collection itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit everything and close."""
        if kind is None:
            self._finish()
        self._state.close()
        self._index.close()
        if self._archive is not None:
            self._archive.close()

    def address(
        self,
        url: str,
        *,
        host: str = "made.example",
        status: Outcome = Outcome.WAITING,
        priority: float = 0.5,
        parent: int = 0,
        anchor: str = "",
        reason: str = "",
    ) -> int:
        """Add a known address; its row. Without a host it is one that a crawl drops at once."""
        if host and host not in self._hosts:
            self._hosts[host] = Host(len(self._hosts) + 1, host, domain=host)
        host_row = self._hosts[host].row if host else 0
        row = self._columns.extend(1)
        self._columns.ids[row] = url_id(url)
        self._columns.hosts[row] = host_row
        self._columns.status[row] = status
        self._columns.priority[row] = priority
        self._urls.append(
            (row, url_id(url), url, host_row, int(status), priority, 1, 0, 0, parent,
             "link" if parent else "seed", anchor, "", "", "", reason)
        )  # fmt: skip
        return row

    def page(
        self,
        url: str,
        *,
        host: str = "made.example",
        title: str = "",
        text: str = "",
        score: float = 0.9,
        on_topic: bool = True,
        language: str = "en",
        at: float = 1_700_000_000.0,
        parent: int = 0,
        anchor: str = "",
        links: Sequence[int] = (),
        terms: tuple[tuple[str, float], ...] = (),
        head: bytes = b"",
        body: bytes = b"",
        digest: str = "",
        simhash: int = 0,
        noindex: bool = False,
    ) -> int:
        """Add a fetched page with the rows of its links; its row."""
        status = Outcome.NOINDEX if noindex else Outcome.FETCHED
        row = self.address(url, host=host, status=status, parent=parent, anchor=anchor)
        self._pages += 1
        self._relevant += on_topic
        self._bytes += len(text)
        held = self._hosts[host]
        held.fetched += 1
        held.relevant += on_topic
        place = (
            self._archive.write_exchange(Exchange(url, at, head, body)) if self._archive and head else None
        )
        record = PageRecord(
            row, self._pages, at, title=title, language=language, score=score, on_topic=on_topic, terms=terms,
            digest=digest or f"made:{url}", simhash=simhash, bytes=len(text), text_bytes=len(text),
            content_type="text/html",
            file=place.file if place else "", offset=place.offset if place else 0,
            length=place.length if place else 0,
        )  # fmt: skip
        self._state.save_page(record, links)
        if on_topic:
            self._index.add(row, url, title=title, text=text, language=language, score=score, at=at)
        data: dict[str, object] = {"number": self._pages, "score": score, "on_topic": on_topic}
        self._state.append_event("page", url, data, at=at)
        return row

    @property
    def state(self) -> State:
        """The open state, for what has no method of its own here."""
        return self._state

    def dropped(self, url: str, *, outcome: Outcome, reason: str, anchor: str = "", parent: int = 0) -> int:
        """Add an address that ended without a page; its row."""
        row = self.address(url, status=outcome, reason=reason, anchor=anchor, parent=parent)
        data: dict[str, object] = {"outcome": outcome.name.lower(), "reason": reason}
        self._state.append_event("outcome", url, data, at=1_700_000_000.0)
        return row

    def _finish(self) -> None:
        state = self._state
        state.add_urls(self._urls)
        state.append_changes(self._columns, np.arange(1, self._columns.size + 1, dtype=np.int32))
        state.save_hosts((host, 0.0) for host in self._hosts.values())
        if self._archive is not None:
            end = self._archive.flush()
            state.put_setting("archive_end", [end.file, end.offset])
        tally = {
            "pages": self._pages,
            "relevant": self._relevant,
            "bytes": self._bytes,
            "requests": self._pages,
        }
        state.put_setting("tally", {**tally, "seconds": 60.0})
        state.stop_session(self._session, 60.0, reason="made, not crawled")
        state.commit()
        self._index.commit()
