"""What all handlers share: the folder, and open readers of it."""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from starlette.requests import Request

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.datasheet import topic_name
from honeyguide.errors import HoneyguideError
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.shards import is_sharded
from honeyguide.ui.applying import Applier, LinkCounter
from honeyguide.ui.jobs import Jobs
from honeyguide.ui.launch import Launcher
from honeyguide.ui.watch import Watch
from honeyguide.web.url import canonical, url_id

_KEPT = 8
"""Readers that stay open between requests."""


class Portal:
    """The application's state. One for each application; its methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.layout = Layout(folder)
        self.watch = Watch(folder)
        self.launcher = Launcher()
        self.applier = Applier(folder)
        self.link_counter = LinkCounter(folder)
        self.jobs = Jobs(folder)
        self._lock = threading.Lock()
        self._idle: deque[tuple[int, Collection]] = deque()
        self._closed = False
        self._topic = (0, "")

    @property
    def exists(self) -> bool:
        """Whether the folder holds a collection yet."""
        return is_collection(self.folder) and (is_sharded(self.folder) or self.layout.state_file.exists())

    @property
    def topic(self) -> str:
        """What the collection is about; the folder's name where that cannot be told."""
        try:
            changed = self.layout.topic_file.stat().st_mtime_ns
        except OSError:
            return self.folder.name
        if changed != self._topic[0]:
            self._topic = (changed, topic_name(self.layout.topic_file))
        return self._topic[1] or self.folder.name

    @contextmanager
    def reading(self) -> Iterator[Collection]:
        """An open collection for one handler at a time.

        Raises:
            CollectionError: There is none, or it cannot be read.
        """
        if self._idle:
            self.watch.follow()  # a collection that is opened follows its shards by itself
        file = self._file()
        collection = self._take(file) or Collection.open(self.folder)
        try:
            yield collection
        except BaseException:
            collection.close()
            raise
        self._put(file, collection)

    def warm_up(self) -> None:
        """Read what the lists need before the first reader asks, if there is a collection yet."""
        with suppress(HoneyguideError, sqlite3.Error):
            if self.exists:
                self.watch.figures()
                with self.reading() as collection:
                    collection.state.columns()

    @contextmanager
    def catalogue(self) -> Iterator[Catalogue]:
        """Values of all pages as arrays, up to date; others wait for the end of the block.

        Raises:
            CollectionError: There is no collection, or it cannot be read.
        """
        catalogue, lock = self.watch.catalogue()
        with lock:
            yield catalogue

    def row_of(self, url: str) -> int:
        """Row of an address in any spelling; 0 when the crawl never met it."""
        address = canonical(url)
        return self.watch.row_of(url_id(address)) if address else 0

    def close(self) -> None:
        """Close all readers."""
        self.jobs.close()
        self.launcher.close()
        self.applier.close()
        self.watch.close()
        with self._lock:
            self._closed = True
            idle = [collection for _, collection in self._idle]
            self._idle.clear()
        for collection in idle:
            collection.close()

    def _file(self) -> int:
        """Which file the state is: a collection may be deleted and made again under the same name."""
        try:
            return self.layout.state_file.stat().st_ino
        except OSError:
            return 0

    def _take(self, file: int) -> Collection | None:
        with self._lock:
            while self._idle:
                of, collection = self._idle.pop()
                if of == file:
                    return collection
                collection.close()
        return None

    def _put(self, file: int, collection: Collection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _KEPT:
                self._idle.append((file, collection))
                return
        collection.close()


def portal_of(request: Request) -> Portal:
    """The portal that a request is for."""
    portal = request.app.state.portal
    assert isinstance(portal, Portal)
    return portal
