"""What the trap rules know of a collection's sites, saved now and then and brought up to date on a resume."""

from __future__ import annotations

from pathlib import Path

from honeyguide.errors import CollectionError
from honeyguide.store.models import Saved, read_saved, write_saved
from honeyguide.store.state import State
from honeyguide.web.zones import Zones

SETTING = "zones"
GROWTH = 1.25
ROWS_A_PAGE = 200
"""A file has a few bytes for every known URL. It is written anew once the crawl has grown by a quarter, and
by one page for so many known URLs: then writing it takes less time than reading the addresses again."""
COPY_BYTES = 150
"""Pages with less text are not taken for copies of each other."""


class ZoneMemory:
    """Keeps `zones-PAGES.npz` in the folder of models; the state names the one that counts."""

    def __init__(self, state: State, folder: Path | None, zones: Zones) -> None:
        self._state = state
        self._folder = folder
        self._zones = zones
        self._saved = 0

    def restore(self) -> int:
        """Load the newest file and feed the pages fetched since (without a file, all). How many those were.

        Raises:
            CollectionError: The file is damaged.
        """
        pages = self._state.setting(SETTING)
        if self._folder is not None and isinstance(pages, int):
            path = self._folder / f"zones-{pages}.npz"
            if path.is_file():
                saved = read_saved(self._folder, path.stem)
                try:
                    self._zones.load(saved.values, saved.arrays)
                except ValueError as error:
                    raise CollectionError(f"{path}: {error}; delete it to read all pages again") from error
                self._saved = pages
        fed = 0
        for row, url, targets, copied, length in self._state.addresses(after=self._saved):
            self._zones.fetched(row, url, targets=targets, twin=twin_of(copied, length))
            fed += 1
        return fed

    def save(self, pages: int, *, last: bool = False) -> None:
        """Write a file if the crawl has grown enough, or ends; the caller commits."""
        grown = pages >= max(GROWTH * self._saved, self._saved + self._zones.rows / ROWS_A_PAGE)
        if self._folder is None or pages == self._saved or not (last or grown):
            return
        values, arrays = self._zones.save()
        write_saved(self._folder, f"zones-{pages}", Saved(values=values, arrays=arrays))
        # The file before is still the one that counts, until the state is committed; those before it are not.
        for old in self._folder.glob("zones-*.npz"):
            if old.stem not in (f"zones-{pages}", f"zones-{self._saved}"):
                old.unlink()
        self._state.put_setting(SETTING, pages)
        self._saved = pages


def twin_of(copied: int, length: int) -> int:
    """The page that one copies, for the trap rules. Pages of a few words are alike by nature."""
    return copied if length >= COPY_BYTES else 0
