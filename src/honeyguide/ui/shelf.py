"""The collections that one portal serves: each under its name, new ones as they come."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request

from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.layout import is_collection
from honeyguide.ui.portal import Portal

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_NAME = re.compile(r"[\w][\w.~-]{0,99}")


class Shelf:
    """Portals by name.

    Args:
        folders: Collections, and folders that hold collections.
        places: Folders that may hold collections some day; new crawls begin in the last one.
    """

    def __init__(self, folders: Sequence[Path], *, places: Sequence[Path] = ()) -> None:
        self._lock = threading.Lock()
        self._portals: dict[str, Portal] = {}
        self.apps: dict[str, ASGIApp] = {}
        """The pages of each collection, made when they are first asked for."""
        fixed = [folder for folder in folders if not holds_collections(folder)]
        self._places = [*(folder for folder in folders if holds_collections(folder)), *places]
        self.single = len(folders) == 1 and not self._places
        """Whether it is the portal of one collection only."""
        self.root = self._places[-1] if self._places else folders[0].resolve().parent
        """Where new crawls begin."""
        for folder in fixed:
            self._add(folder)
        self.refresh()

    def refresh(self) -> None:
        """Take in collections that have come into being since."""
        with self._lock:
            known = {portal.folder.resolve() for portal in self._portals.values()}
            for place in self._places:
                for path in sorted(place.iterdir()) if place.is_dir() else ():
                    new = path.is_dir() and not path.is_symlink() and path.resolve() not in known
                    if new and is_collection(path):
                        self._put(path)

    @property
    def names(self) -> list[str]:
        """Names in order."""
        self.refresh()
        with self._lock:
            return sorted(self._portals)

    @property
    def only(self) -> Portal:
        """The portal, where there is one."""
        return next(iter(self._portals.values()))

    def portal(self, name: str) -> Portal:
        """The portal of a collection.

        Raises:
            CollectionError: There is no collection of that name.
        """
        found = self._portals.get(name)
        if found is None:
            self.refresh()
            found = self._portals.get(name)
        if found is None:
            raise CollectionError(f"there is no collection {name!r} here; see the list of collections")
        return found

    def path_of(self, name: str) -> str:
        """Where a collection's pages are."""
        return "" if self.single else f"/c/{quote(name)}"

    def create(self, name: str) -> Portal:
        """A place for a new collection.

        Raises:
            HoneyguideError: The name is taken, or not fit for a folder.
        """
        if not _NAME.fullmatch(name):
            raise HoneyguideError(
                "a name has letters, digits, '-', '_' or '.', and begins with a letter or digit"
            )
        folder = self.root / name
        if name in self._portals or folder.exists():
            raise HoneyguideError(f"{name!r} is taken; choose another name")
        with self._lock:
            return self._put(folder)

    def drop(self, name: str) -> None:
        """Forget a collection that did not come into being."""
        with self._lock:
            portal = self._portals.pop(name, None)
        if portal is not None:
            portal.close()

    def portals(self) -> list[tuple[str, Portal]]:
        """All of them by name."""
        with self._lock:
            return sorted(self._portals.items())

    def warm_up(self) -> None:
        """Read what the lists need before the first reader asks."""
        for _, portal in self.portals():
            portal.warm_up()

    def end(self) -> None:
        """Let those go who watch."""
        for _, portal in self.portals():
            portal.watch.end()

    def close(self) -> None:
        """Close all readers."""
        for _, portal in self.portals():
            portal.close()

    def _add(self, folder: Path) -> None:
        with self._lock:
            self._put(folder)

    def _put(self, folder: Path) -> Portal:
        stem = folder.resolve().name or "collection"
        name, number = stem, 1
        while name in self._portals:
            number += 1
            name = f"{stem}-{number}"
        portal = self._portals[name] = Portal(folder)
        return portal


def holds_collections(folder: Path) -> bool:
    """Whether a folder is a place for collections rather than one of them."""
    if is_collection(folder) or not folder.is_dir():
        return False
    return any(is_collection(path) for path in folder.iterdir() if path.is_dir())


def shelf_of(request: Request) -> Shelf:
    """The shelf that a request is for."""
    shelf = request.app.state.shelf
    assert isinstance(shelf, Shelf)
    return shelf
