"""What was learned, saved now and then: page model, order and trap rules. The rest is learned again."""

from __future__ import annotations

from pathlib import Path

from honeyguide.engine.budget import Tally
from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import OnlinePageModel, PageModel
from honeyguide.store.models import Saved, read_saved, write_saved
from honeyguide.store.state import State
from honeyguide.web.zones import Zones, twin_of

KEPT = 8
"""Files of each part that stay. The state may name an older one than the newest until it is committed, and no
transaction sees so many."""
ZONES = "zones"
"""Key of the state's setting that names the file of trap rules that counts."""
GROWTH = 1.25
ROWS_A_PAGE = 200
"""A file has a few bytes for every known URL. It is written anew once the crawl has grown by a quarter, and
by one page for so many known URLs: then writing it takes less time than reading the addresses again."""


class Checkpoints:
    """Saves the page model and the order under `models/`, and finds them again.

    The files are written first, under a name with the page number; the state then points at them
    in its next transaction. A crash in between leaves the older checkpoint in force.
    """

    def __init__(
        self,
        state: State,
        folder: Path | None,
        model: PageModel,
        order: LinkOrder,
        *,
        zones: ZoneMemory | None = None,
    ) -> None:
        self._state = state
        self._folder = folder
        self._model = model
        self._order = order
        self._zones = zones

    @property
    def stateful(self) -> bool:
        """Whether anything is learned while the crawl runs."""
        order = self._order.save()
        return bool(order.values or order.arrays) or isinstance(self._model, OnlinePageModel)

    def save(self, tally: Tally, *, last: bool = False) -> None:
        """Write the parts, and the zones if the crawl has grown much or ends; the caller commits."""
        if self._folder is None:
            return
        if self._zones is not None:
            self._zones.save(tally.pages, last=last)
        order = self._order.save()
        if order.values or order.arrays:
            write_saved(self._folder, f"order-{tally.pages}", order)
        failpoint("checkpoint.order")
        write_saved(self._folder, f"model-{tally.pages}", self._model.save())
        failpoint("checkpoint.files")
        self._remove_old("order")
        self._remove_old("model")
        self._state.put_setting("checkpoint", tally.pages)
        self._state.put_setting("checkpoint_has_order", bool(order.values or order.arrays))

    def _remove_old(self, part: str) -> None:
        assert self._folder is not None
        numbers = [path.stem.partition("-")[2] for path in self._folder.glob(f"{part}-*.npz")]
        for number in sorted(int(text) for text in numbers if text.isdecimal())[:-KEPT]:
            (self._folder / f"{part}-{number}.npz").unlink(missing_ok=True)

    def restore(self) -> int:
        """Load the newest checkpoint. The number of pages it covers; 0 when there is none."""
        pages = self._state.setting("checkpoint")
        if self._folder is None or not isinstance(pages, int):
            return 0
        self._model.load(read_saved(self._folder, f"model-{pages}"))
        if self._state.setting("checkpoint_has_order"):
            self._order.load(read_saved(self._folder, f"order-{pages}"))
        return pages


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
        pages = self._state.setting(ZONES)
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
        self._state.put_setting(ZONES, pages)
        self._saved = pages
