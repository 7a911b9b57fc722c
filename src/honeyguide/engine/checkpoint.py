"""What was learned, saved now and then: page model, order and trap rules. The rest is learned again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec

from honeyguide.engine.admission import is_given
from honeyguide.engine.budget import Tally
from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.model import Outcome
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import OnlinePageModel, PageModel
from honeyguide.store.models import Encoded, Saved, encode_saved, encoding, read_saved, write_encoded
from honeyguide.store.state import State
from honeyguide.web.zones import Zones, twin_of

DAMAGE = (CollectionError, ValueError, KeyError, TypeError, IndexError, AttributeError, msgspec.MsgspecError)
"""What a file that is not as it was written can make a part's `load` raise."""
KEPT = 8
"""Files of each part that stay. The state may name an older one than the newest until it is committed, and no
transaction sees so many."""
ZONES = "zones"
"""Key of the state's setting that names the file of trap rules that counts."""
HEARD = "heard"
"""Key in that file: the last event of the journal that it knows of."""
NO_PAGE = Outcome.NOT_A_PAGE.name.lower()
NOT_FOUND = frozenset(("HTTP 404", "HTTP 410"))
"""Reasons of requests that brought no page and would bring none later, as the journal has them."""
GROWTH = 1.25
ROWS_A_PAGE = 200
"""A file has a few bytes for every known URL. It is rewritten once the crawl has grown by a quarter, and
by one page for so many known URLs: then writing it takes less time than reading the addresses again."""


class _Snapshot(NamedTuple):
    """What was learned, on its way to the disk."""

    pages: int
    events: int
    """The last event of the journal that the parts were told of."""
    has_order: bool
    has_zones: bool
    parts: list[tuple[str, Encoded]]


def _write(folder: Path, snapshot: _Snapshot) -> None:
    for name, encoded in snapshot.parts:
        if name.startswith("model-"):
            failpoint("checkpoint.order")
        write_encoded(folder, name, encoded)
    failpoint("checkpoint.files")


def _at_once(taking: Generator[None, None, _Snapshot]) -> _Snapshot:
    while True:
        try:
            next(taking)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


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
        self._writer = ThreadPoolExecutor(1, "checkpoint")
        self._under_way: tuple[_Snapshot, Future[None]] | None = None
        self.heard = 0
        """The last event that the parts had heard of when they were saved."""
        self.damaged = ""
        """What was wrong with the newest checkpoint, if anything was."""

    @property
    def stateful(self) -> bool:
        """Whether anything is learned while the crawl runs."""
        order = self._order.save()
        return bool(order.values or order.arrays) or isinstance(self._model, OnlinePageModel)

    def save(self, tally: Tally, *, last: bool = False) -> None:
        """Write the parts, and the zones if the crawl has grown much or ends; the caller commits."""
        self.settle(wait=True)
        if self._folder is not None:
            snapshot = _at_once(self._snapshot(tally, last=last))
            _write(self._folder, snapshot)
            self._point(snapshot)

    def begin(self, tally: Tally) -> Iterator[None]:
        """The same beside the crawl: what was learned is taken now, a thread writes it, `settle` ends it.

        Connections may be served at each pause, but nothing be learned.
        """
        self.settle(wait=True)
        if self._folder is not None:
            snapshot = yield from self._snapshot(tally, alone=True)
            self._under_way = (snapshot, self._writer.submit(_write, self._folder, snapshot))

    @property
    def under_way(self) -> Future[None] | None:
        """Done when a thread has written what was begun; None when there is no such thing."""
        return None if self._under_way is None else self._under_way[1]

    def settle(self, *, wait: bool = False) -> None:
        """Let the state point at what a thread has written since; the caller commits.

        Args:
            wait: Until it is written.

        Raises:
            CollectionError: It could not be written.
        """
        if self._under_way is None or not (wait or self._under_way[1].done()):
            return
        (snapshot, written), self._under_way = self._under_way, None
        written.result()
        self._point(snapshot)

    def _snapshot(
        self, tally: Tally, *, last: bool = False, alone: bool = False
    ) -> Generator[None, None, _Snapshot]:
        """What is to be written, in this order; with `alone`, left as it is now, and taken with pauses."""
        parts: list[tuple[str, Encoded]] = []

        def take(name: str, saved: Saved) -> Generator[None, None, None]:
            assert self._folder is not None
            if alone:
                parts.append((name, (yield from encoding(self._folder, name, saved))))
                yield
            else:
                parts.append((name, encode_saved(self._folder, name, saved)))

        zones = self._zones.due(tally.pages, last=last) if self._zones is not None else None
        if zones is not None:
            yield from take(f"zones-{tally.pages}", zones)
        order = self._order.save()
        has_order = bool(order.values or order.arrays)
        if has_order:
            yield from take(f"order-{tally.pages}", order)
        yield from take(f"model-{tally.pages}", self._model.save())
        return _Snapshot(tally.pages, self._state.last_event, has_order, zones is not None, parts)

    def _point(self, snapshot: _Snapshot) -> None:
        if snapshot.has_zones and self._zones is not None:
            self._zones.written(snapshot.pages)
        self._remove_old("order")
        self._remove_old("model")
        self._state.put_setting("checkpoint", snapshot.pages)
        self._state.put_setting("checkpoint_event", snapshot.events)
        self._state.put_setting("checkpoint_has_order", snapshot.has_order)

    def _remove_old(self, part: str) -> None:
        assert self._folder is not None
        for number in _numbers(self._folder, part)[:-KEPT]:
            (self._folder / f"{part}-{number}.npz").unlink(missing_ok=True)

    def restore(self) -> int:
        """Load the newest checkpoint that can be read. The number of pages it covers; 0 when there is none.

        A file that is missing or damaged is passed over for the one before it; `damaged` then tells. What
        was learned since is in the archive.
        """
        named = self._state.setting("checkpoint")
        if self._folder is None or not isinstance(named, int):
            return 0
        has_order = bool(self._state.setting("checkpoint_has_order"))
        earlier = [number for number in _numbers(self._folder, "model") if number < named]
        for pages in (named, *reversed(earlier)):
            try:
                model = read_saved(self._folder, f"model-{pages}")
                order = read_saved(self._folder, f"order-{pages}") if has_order else None
                if order is not None:
                    self._order.load(order)
                self._model.load(model)
            except DAMAGE as error:
                self.damaged = self.damaged or str(error) or type(error).__name__
                continue
            # Only the newest file has its event in the state; another one may have heard of anything since.
            heard = self._state.setting("checkpoint_event") if pages == named else None
            self.heard = heard if isinstance(heard, int) else self._state.last_event
            return pages
        return 0


def _numbers(folder: Path, part: str) -> list[int]:
    """Page numbers of the files of a part, lowest first."""
    names = [path.stem.partition("-")[2] for path in folder.glob(f"{part}-*.npz")]
    return sorted(int(text) for text in names if text.isdecimal())


class ZoneMemory:
    """Keeps `zones-PAGES.npz` in the folder of models; the state names the one that counts."""

    def __init__(self, state: State, folder: Path | None, zones: Zones) -> None:
        self._state = state
        self._folder = folder
        self._zones = zones
        self._saved = 0

    def restore(self) -> int:
        """Load the newest file; feed pages fetched and addresses not found since. How many pages those were.

        Without a file, or with one that is damaged, those are all pages.
        """
        pages = self._state.setting(ZONES)
        heard: object = None
        if self._folder is not None and isinstance(pages, int):
            try:
                saved = read_saved(self._folder, f"zones-{pages}")
                self._zones.load(saved.values, saved.arrays)
                self._saved = pages
                heard = saved.values.get(HEARD)
            except (CollectionError, ValueError):
                self._saved = 0
        fed = 0
        for page in self._state.addresses(after=self._saved):
            twin = twin_of(
                page.copied,
                page.length,
                same_words=page.same_words,
                same_title=page.same_title,
                on_topic=page.on_topic,
            )
            self._zones.fetched(
                page.row,
                page.url,
                targets=page.links,
                twin=twin,
                on_topic=page.on_topic,
                given=is_given(page.source),
            )
            fed += 1
        if not self._saved:
            for url in self._state.never_pages():
                self._zones.failed(url)
        elif isinstance(heard, int):
            for event in self._state.events(after=heard, kind="outcome"):
                if event.data.get("outcome") == NO_PAGE or event.data.get("reason") in NOT_FOUND:
                    self._zones.failed(event.url)
        return fed

    def due(self, pages: int, *, last: bool = False) -> Saved | None:
        """What is to be written if the crawl has grown enough, or ends."""
        grown = pages >= max(GROWTH * self._saved, self._saved + self._zones.rows / ROWS_A_PAGE)
        same = pages == self._saved and not (last and self._zones.unsaved_failures)
        if self._folder is None or same or not (last or grown):
            return None
        values, arrays = self._zones.save()
        return Saved(values={**values, HEARD: self._state.last_event}, arrays=arrays)

    def written(self, pages: int) -> None:
        """The file is there: the state points at it; the caller commits."""
        assert self._folder is not None
        # The file before is still the one that counts, until the state is committed; those before it are not.
        for old in self._folder.glob("zones-*.npz"):
            if old.stem not in (f"zones-{pages}", f"zones-{self._saved}"):
                old.unlink()
        self._state.put_setting(ZONES, pages)
        self._saved = pages
