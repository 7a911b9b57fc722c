"""Page model and link order of a collection's last checkpoint: loading takes a second, so they are kept."""

from __future__ import annotations

import threading

from honeyguide.job.inspect_page import parts_of_collection
from honeyguide.job.parts import Parts
from honeyguide.store.state import State
from honeyguide.ui.portal import Portal


class Models:
    """The parts of one collection at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[object, Parts] | None = None

    def held(self, portal: Portal, state: State) -> Parts | None:
        """The parts if they are loaded and up to date."""
        known = self._held
        return known[1] if known is not None and known[0] == _key(portal, state) else None

    def of(self, portal: Portal, state: State) -> Parts:
        """The parts, loaded when need be.

        Raises:
            CollectionError: The collection has no saved model yet.
        """
        with self._lock:
            key = _key(portal, state)
            if self._held is None or self._held[0] != key:
                self._held = (key, parts_of_collection(portal.folder))
            return self._held[1]


def _key(portal: Portal, state: State) -> object:
    return (str(portal.folder), [state.setting(key) for key in ("checkpoint", "reviews")])


MODELS = Models()
