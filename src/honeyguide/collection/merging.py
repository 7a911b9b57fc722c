"""One collection of many shards: an ordinary state, archive and index that follow those of the shards.

Readers of a collection of shards read its folder `merged`, which `bring_up_to_date` makes and keeps:
everything that reads a collection then works on shards, with no code of its own for them. Each time only
what the shards have committed since is read, while they go on writing; all of it enters in one transaction,
so a reader sees the collection as of one moment, and a merge that is killed leaves the one before. Pages
stay in the shards' archives, and the merged state says where.

What becomes one:

- A URL that several shards know is one row. Its outcome is that of the shard that knows most: a page before
  any other answer, that before a URL that waits, that before one dropped by a rule. `ELSEWHERE` says
  nothing. What is on its way from shard to shard (the outboxes) waits.
- Links lead to the rows of their targets, whichever shard fetched them.
- A page that two shards hold (its host has moved) is the newer one; the older is a version of it.
- Pages with equal bytes, or nearly equal texts, are found across shards as a crawl finds them.
- Pages and journal entries are in order of time, then of shard; a later merge adds behind what is there.
"""

# ruff: noqa: S608 - only names and question marks of our own are put into statements
from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.admission import domain_of
from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.model import Host, Outcome
from honeyguide.store.archive import archive_files, file_number
from honeyguide.store.atomic import replacing, sync_folder
from honeyguide.store.checked import reading
from honeyguide.store.columns import Columns
from honeyguide.store.duplicates import NearDuplicates
from honeyguide.store.index import FullText
from honeyguide.store.layout import MERGED, Layout
from honeyguide.store.outbox import DROPPED, OUTBOX, Traveller
from honeyguide.store.plain import open_plain, read_plain, require_folder
from honeyguide.store.records import Session
from honeyguide.store.reviews import FILE as REVIEWS
from honeyguide.store.reviews import Decision
from honeyguide.store.shards import Manifest, load, shard_folder
from honeyguide.store.state import State, numbers_to_text
from honeyguide.web.url import host_key, url_id

Filing = Callable[[str, str], str]
"""Name of a shard's archive file in the merged collection."""

CURSORS: Final = "merged"
"""Setting with what a merged state has of each shard."""
INDEXES: Final = "merged_indexes"
"""Setting with the files of the shards' indexes that a merged index has been brought up to."""
_PREFIX = "pages"
_LOCK = "merging.lock"
_AT_ONCE = 500
_READ_ALL = 20_000
"""Rows from which on a table is read as a whole."""
_ROBOTS = "robots:"
_COPIED_SETTINGS = (_ROBOTS,)

_ELSEWHERE = int(Outcome.ELSEWHERE)
_RANK = np.zeros(64, np.uint8)
"""How much a status says, where shards have different ones."""
_RANK[10:23] = 2  # dropped by a rule
_RANK[_ELSEWHERE] = 1
_RANK[int(Outcome.WAITING)] = 3
_RANK[[2, 3, 4, *range(30, 43)]] = 4  # asked for, and no page
_RANK[[int(Outcome.FETCHED), int(Outcome.NOINDEX)]] = 5
_RANK[int(Outcome.GONE)] = 6


class Cursor(msgspec.Struct, frozen=True):
    """What a merged state has of one shard."""

    event: int = 0
    """Number of the last journal entry."""
    at: float = 0.0
    """Its time: a shard that was restored from a copy may have another entry of that number."""
    page: int = 0
    visit: int = 0
    version: int = 0
    change: int = 0


class Merged(msgspec.Struct, frozen=True):
    """What a merge has done."""

    pages: int
    urls: int
    events: int


class _Shard:
    """One shard, read as of one commit."""

    def __init__(self, name: str, folder: Path, cursor: Cursor, stack: ExitStack) -> None:
        self.name = name
        self.layout = Layout(folder)
        self.cursor = cursor
        self.state = stack.enter_context(State.open(self.layout.state_file, read_only=True))
        self.ask = self.state.connection.execute
        self.ask("BEGIN")
        self.columns = Columns()
        with reading("changes"):
            for (blob,) in self.ask("SELECT records FROM change ORDER BY number"):
                self.columns.apply(blob)
        self.change = self._last("change")
        newest = self.ask("SELECT number, at FROM journal ORDER BY number DESC LIMIT 1").fetchone()
        self.event, self.at = (int(newest[0]), float(newest[1])) if newest else (0, 0.0)
        self.page, self.visit, self.version = self._last("page"), self._last("visit"), self._last("version")
        self.rows: NDArray[np.int32] = np.zeros(0, np.int32)
        """Merged row of each row; place 0 is unused."""
        self.hosts: NDArray[np.int32] = np.zeros(1, np.int32)
        """Merged row of each host."""

    def _last(self, table: str) -> int:
        (found,) = self.ask(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()
        return int(found)

    @property
    def size(self) -> int:
        return self.columns.size

    @property
    def reached(self) -> Cursor:
        """Where the merged state stands once it has everything."""
        return Cursor(self.event, self.at, self.page, self.visit, self.version, self.change)

    @property
    def is_behind(self) -> bool:
        """Whether the shard no longer has what was merged of it: it was restored from an earlier copy."""
        if self.event < self.cursor.event or self.page < self.cursor.page:
            return True
        found = self.ask("SELECT at FROM journal WHERE number = ?", (self.cursor.event,)).fetchone()
        return self.cursor.event > 0 and (found is None or found[0] != self.cursor.at)

    def row(self, own: object) -> int:
        """Merged row of a row; 0 of none."""
        number = msgspec.convert(own, int)
        return int(self.rows[number]) if 0 < number <= self.size else 0

    def links(self, blob: bytes) -> bytes:
        """A page's links as merged rows."""
        own = np.frombuffer(blob, "<i4")
        if len(own) and (own.min() < 0 or own.max() > self.size):
            raise ValueError("a page links to rows that are not there")
        return bytes(self.rows[own].astype("<i4").tobytes())


def bring_up_to_date(root: Path, *, wait: bool = False) -> Merged:
    """Merge what the shards of a collection have committed since the last time into its folder `merged`.

    Safe beside running shards and other readers. While another process is at it, what is there already is
    good enough, unless there is nothing yet.

    Args:
        root: The collection.
        wait: Wait for another process that merges, so that everything committed by now is there.

    Raises:
        CollectionError: The shards cannot be read, or the folder not be written.
    """
    manifest = load(root)
    target = root / MERGED
    require_folder(target)
    with _alone(root, wait=wait or not (target / "state.sqlite").is_file()) as alone:
        if not alone:
            return Merged(0, 0, 0)
        try:
            return _follow(root, manifest, target)
        except _Rewound:
            with _anew(root, target) as fresh:
                return _follow(root, manifest, fresh)


class _Rewound(Exception):
    """A shard has gone back to an earlier state, or there is no merged state yet."""


def _follow(root: Path, manifest: Manifest, target: Path) -> Merged:
    layout = Layout(target)
    if target.name == MERGED and not layout.state_file.is_file():
        raise _Rewound
    with ExitStack() as stack:
        state = stack.enter_context(State.open(layout.state_file))
        cursors = msgspec.convert(state.setting(CURSORS) or {}, dict[str, Cursor])
        shards = _open_shards(root, manifest, cursors, stack)
        if any(shard.is_behind for shard in shards) or cursors.keys() - {shard.name for shard in shards}:
            raise _Rewound
        merged: Merged | None = None
        if any(shard.reached != shard.cursor for shard in shards) or _sessions(shards) != state.sessions():
            merged = _Merge(state, shards, lambda shard, file: f"{shard}.{file}").run()
            failpoint("merge.state")
        indexes = _index_files(shards)
        if merged is not None or state.setting(INDEXES) != indexes:
            if any(not len(shard.rows) for shard in shards):
                _find_rows(state.columns(), shards)
            _merge_indexes(layout.index_file, shards)
            state.put_setting(INDEXES, indexes)
            state.commit()
        _copy_model(layout, state, shards)
    return merged or Merged(0, 0, 0)


def merge_into(root: Path, out: Path, *, software: str = "", reach: Sequence[str] = ()) -> Merged:
    """Make one ordinary collection of one that consists of shards, with nothing left of the shards.

    The shards' crawl may be running: what they have committed by now is taken. Archive files that are
    complete become hard links where both folders are on one disk, and copies elsewhere; the last one of
    each shard is copied, since that shard may go on.

    Args:
        root: The collection of shards.
        out: A new folder.
        software: Who makes it.
        reach: What its topic file reaches, with the user's consent.

    Raises:
        CollectionError: The shards cannot be read, or the folder cannot be written.
    """
    manifest = load(root)
    topic = read_plain(Layout(root).topic_file, 16 << 20).decode("utf-8")
    if out.exists() and any(out.iterdir()):
        raise CollectionError(f"{out} holds files already; choose a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part"))
    try:
        with ExitStack() as stack:
            shards = _open_shards(root, manifest, {}, stack)
            files = _Files(shards)
            layout = Layout.create(work / "made", software=software, topic=topic, reach=reach)
            state = stack.enter_context(State.open(layout.state_file))
            merge = _Merge(state, shards, files.name)
            merged = merge.run(keep_cursors=False, end=files.end)
            failpoint("merge.state")
            _merge_indexes(layout.index_file, shards)
            _copy_examples(layout, shards)
            files.bring(layout.archive_folder)
            _copy_reviews(root / REVIEWS, work / "made" / REVIEWS, state)
        failpoint("merge.files")
        if out.exists():
            out.rmdir()
        (work / "made").replace(out)
        sync_folder(out.parent)
    except OSError as error:
        raise CollectionError(f"{out}: {error.strerror or error}; choose another folder") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return merged


def _open_shards(
    root: Path, manifest: Manifest, cursors: dict[str, Cursor], stack: ExitStack
) -> list[_Shard]:
    """All shards that have begun, in order of their names."""
    found = [
        _Shard(name, shard_folder(root, name), cursors.get(name, Cursor()), stack)
        for name in manifest.folders
        if _has_begun(shard_folder(root, name))
    ]
    if not found:
        raise CollectionError(f"the crawl of {root} has not begun; start or resume it")
    return found


def _has_begun(folder: Path) -> bool:
    layout = Layout(folder)
    return layout.state_file.is_file() and layout.state_file.stat().st_size > 0


@contextmanager
def _alone(root: Path, *, wait: bool) -> Iterator[bool]:
    """One merge at a time; False when another process is at it."""
    try:
        descriptor = open_plain(root / _LOCK, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise CollectionError(
            f"{root}: {error.strerror}; what is read of shards is put there: make it writable,"
            f" or type: honeyguide merge {root} NEW_FOLDER"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            yield True
        except BlockingIOError:
            yield False
    finally:
        os.close(descriptor)


@contextmanager
def _anew(root: Path, target: Path) -> Iterator[Path]:
    """A new folder that takes the place of `target` when the block ends well."""
    fresh = root / f".{MERGED}.part"
    shutil.rmtree(fresh, ignore_errors=True)
    for folder in (fresh, Layout(fresh).archive_folder, Layout(fresh).models_folder):
        folder.mkdir()
    yield fresh
    failpoint("merge.anew")
    old = root / f".{MERGED}.old"
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.replace(old)
    fresh.replace(target)
    sync_folder(root)
    shutil.rmtree(old, ignore_errors=True)


class _Merge:
    """One merge, in one transaction."""

    def __init__(self, state: State, shards: Sequence[_Shard], filing: Filing) -> None:
        self._state = state
        self._ask = state.connection.execute
        self._many = state.connection.executemany
        self._shards = shards
        self._filing = filing
        self._columns = state.columns()
        self._known = self._columns.size
        """URLs that the merged state had before."""
        self._hosts: dict[str, int] = {}
        """Rows of the merged hosts, by name."""

    def run(self, *, keep_cursors: bool = True, end: tuple[str, int] | None = None) -> Merged:
        """Take in everything that is new, and commit."""
        self._number_urls()
        self._merge_hosts()
        self._merge_urls()
        numbers, pages = self._merge_pages()
        self._merge_history(numbers)
        events = self._merge_journal(numbers)
        self._merge_settings()
        self._ask("DELETE FROM session")
        self._many(
            "INSERT INTO session VALUES (?,?,?,?,?)",
            [msgspec.structs.astuple(session) for session in _sessions(self._shards)],
        )
        if keep_cursors:
            reached = {shard.name: shard.reached for shard in self._shards}
            self._state.put_setting(CURSORS, msgspec.to_builtins(reached))
        if end is not None:
            self._state.put_setting("archive_end", list(end))
        failpoint("merge.written")
        self._state.commit()
        return Merged(pages, self._columns.size - self._known, events)

    # URLs and hosts

    def _number_urls(self) -> None:
        """Give every URL its row: new ones in order of discovery, shard by shard."""
        columns = self._columns
        held = columns.ids[1 : columns.size + 1]
        ids = np.concatenate([shard.columns.ids[1 : shard.size + 1] for shard in self._shards])
        rows = np.concatenate([np.arange(1, shard.size + 1) for shard in self._shards])
        new = ~np.isin(ids, held)
        order = np.argsort(rows[new], kind="stable")
        fresh = ids[new][order]
        _, first = np.unique(fresh, return_index=True)
        fresh = fresh[np.sort(first)]
        if len(fresh):
            start = columns.extend(len(fresh))
            columns.ids[start : start + len(fresh)] = fresh
            # A status that none has: whatever is found out is a change.
            columns.status[start : start + len(fresh)] = 63
        _find_rows(columns, self._shards)

    def _merge_hosts(self) -> None:
        before = self._hosts = {host.name: host.row for host, _ in self._state.hosts()}
        seen: dict[str, list[tuple[Host, float]]] = {}
        for shard in self._shards:
            hosts = shard.state.hosts()
            shard.hosts = np.zeros(max((host.row for host, _ in hosts), default=0) + 1, np.int32)
            for host, penalty in hosts:
                row = before.setdefault(host.name, len(before) + 1)
                if host.row < 1:
                    raise CollectionError(f"shard {shard.name}: a host without a row; restore it from a copy")
                shard.hosts[host.row] = row
                seen.setdefault(host.name, []).append((host, penalty))
        self._state.save_hosts(_one_host(before[name], found) for name, found in seen.items())

    def _merge_urls(self) -> None:
        """Outcome, priority and link of every URL that is new or has changed."""
        columns, size = self._columns, self._columns.size
        rank = np.zeros(size + 1, np.uint8)
        whose = np.zeros(size + 1, np.int32)
        own = np.zeros(size + 1, np.int32)
        status = np.zeros(size + 1, np.uint8)
        priority = np.zeros(size + 1, np.float64)
        hosts = np.zeros(size + 1, np.int32)
        for place, shard in enumerate(self._shards):
            rows = shard.rows[1:]
            told = shard.columns.status[1 : shard.size + 1]
            better = np.flatnonzero(_RANK[told] > rank[rows])
            at = rows[better]
            rank[at] = _RANK[told[better]]
            whose[at], own[at], status[at] = place, better + 1, told[better]
            priority[at] = shard.columns.priority[1 : shard.size + 1][better]
            named = shard.columns.hosts[1 : shard.size + 1][better]
            with reading("hosts"):
                hosts[at] = shard.hosts[named]
        travelling = self._travelling(rank)
        # Known by name only: it waits, if any shard meant it to.
        stray = np.flatnonzero(status == _ELSEWHERE)
        status[stray] = np.where(priority[stray] > DROPPED, int(Outcome.WAITING), int(Outcome.ORDER))
        for row, link in travelling.items():
            status[row], priority[row] = link.outcome, link.priority
        # No shard has put them into a queue yet: without a host nobody would ever ask for them.
        homeless = 1 + np.flatnonzero((status[1:] == int(Outcome.WAITING)) & (hosts[1:] == 0))
        for place, shard in enumerate(self._shards):
            rows = homeless[whose[homeless] == place]
            hosts[rows] = self._hosts_of(shard, own[rows])
        every = slice(1, size + 1)
        changed = 1 + np.flatnonzero(
            (columns.status[every] != status[every])
            | (columns.priority[every] != priority[every])
            | (columns.hosts[every] != hosts[every])
        ).astype(np.int32)
        columns.status[changed] = status[changed]
        columns.priority[changed] = priority[changed]
        columns.hosts[changed] = hosts[changed]
        for place, shard in enumerate(self._shards):
            mine = changed[whose[changed] == place]
            self._write_urls(shard, mine, own[mine], travelling)
        self._state.append_changes(columns, changed)

    def _hosts_of(self, shard: _Shard, own: NDArray[np.int32]) -> list[int]:
        """Merged rows of the hosts of a shard's URLs; hosts that no shard has met are entered."""
        found: dict[int, int] = {}
        new: list[tuple[Host, float]] = []
        with reading("URLs"):
            for number, _, url, *_ in _chosen(shard, "url", own.tolist()):
                name = host_key(str(url))
                if name not in self._hosts:
                    self._hosts[name] = len(self._hosts) + 1
                    new.append((Host(self._hosts[name], name, domain_of(name)), 0.0))
                found[int(str(number))] = self._hosts[name]
        self._state.save_hosts(new)
        return [found[row] for row in own.tolist()]

    def _travelling(self, rank: NDArray[np.uint8]) -> dict[int, Traveller]:
        """Links on their way to URLs of which no shard knows more, by merged row; the best for each."""
        links: list[Traveller] = []
        for shard in self._shards:
            for _, value in shard.state.settings(OUTBOX):
                with reading("outboxes"):
                    links += msgspec.convert(value, list[Traveller])
        found: dict[int, Traveller] = {}
        if not links:
            return found
        every = self._columns.ids[1 : self._columns.size + 1]
        sorter = np.argsort(every, kind="stable")
        ids = np.array([url_id(link.url) for link in links], np.int64)
        rows = sorter[np.minimum(np.searchsorted(every, ids, sorter=sorter), len(every) - 1)] + 1
        for row, number, link in zip(rows.tolist(), ids.tolist(), links, strict=True):
            if self._columns.ids[row] != number or rank[row] > 1 or not 0 <= link.outcome < 63:
                continue
            held = found.get(row)
            if held is None or (link.outcome == 0, link.priority) > (held.outcome == 0, held.priority):
                found[row] = link
        return found

    def _write_urls(
        self,
        shard: _Shard,
        rows: NDArray[np.int32],
        own: NDArray[np.int32],
        travelling: dict[int, Traveller],
    ) -> None:
        if not len(rows):
            return
        merged = dict(zip(own.tolist(), rows.tolist(), strict=True))
        columns = self._columns
        written: list[tuple[object, ...]] = []
        with reading("URLs"):
            for values in _chosen(shard, "url", own.tolist()):
                (number, _, url, _, _, _, depth, redirects, tries, parent, *texts) = values
                row = merged[number]
                source, anchor, context, factors, memo, reason = texts
                link = travelling.get(row)
                if link is not None:
                    depth, redirects, source = link.depth, link.redirects, link.source
                    anchor, context, reason = link.anchor, link.context, link.reason
                    factors, memo = numbers_to_text(link.factors), numbers_to_text(link.memo)
                written.append(
                    (row, int(columns.ids[row]), url, int(columns.hosts[row]), int(columns.status[row]),
                     float(columns.priority[row]), depth, redirects, tries, shard.row(parent),
                     source, anchor, context, factors, memo, reason)
                )  # fmt: skip
        self._many(f"INSERT OR REPLACE INTO url VALUES ({_marks(16)})", written)

    # Pages

    def _merge_pages(self) -> tuple[dict[tuple[str, int], int], int]:
        """Add new pages and follow those that changed; new numbers by shard and number, and how many."""
        new: list[tuple[float, int, int, list[object]]] = []
        for place, shard in enumerate(self._shards):
            if self._judged_again(shard):
                self._follow_pages(shard)
            found = shard.ask("SELECT * FROM page WHERE number > ? ORDER BY number", (shard.cursor.page,))
            with reading("pages"):
                for values in found:
                    at, number = msgspec.convert(values[2], float), msgspec.convert(values[1], int)
                    new.append((at, place, number, list(values)))
        numbers: dict[tuple[str, int], int] = {}
        if not new:
            return numbers, 0
        new.sort(key=lambda one: one[:3])
        (last,) = self._ask("SELECT coalesce(max(number), 0) FROM page").fetchone()
        near = NearDuplicates(self._state.simhashes())
        for _, place, number, values in new:
            shard = self._shards[place]
            with reading("pages"):
                self._translate(shard, values)
            row = int(str(values[0]))
            held = self._ask("SELECT number, at FROM page WHERE row = ?", (row,)).fetchone()
            if held is not None:
                self._join_pages(row, held, values)
                numbers[shard.name, number] = int(held[0])
                continue
            last += 1
            values[1] = numbers[shard.name, number] = last
            self._mark_copy(near, values)
            self._ask(f"INSERT INTO page VALUES ({_marks(22)})", values)
        return numbers, len(new)

    def _translate(self, shard: _Shard, values: list[object]) -> None:
        """A row of table `page` in the merged collection's rows and files."""
        values[0] = shard.row(values[0])
        if not values[0]:
            raise ValueError("a page has no address")
        values[13], values[14] = shard.row(values[13]), shard.row(values[14])
        values[18] = self._filing(shard.name, str(values[18])) if values[18] else ""
        values[21] = shard.links(msgspec.convert(values[21], bytes))

    def _mark_copy(self, near: NearDuplicates, values: list[object]) -> None:
        """Whether a page has the bytes, or nearly the text, of one that was merged before."""
        row, digest = int(str(values[0])), str(values[11])
        simhash = int(str(values[12])) & (1 << 64) - 1
        if not values[13] and digest:
            values[13] = self._state.page_by_digest(digest)
        if not values[13] and not values[14]:
            values[14] = near.find(simhash)
        if not values[13] and not values[14]:
            near.add(row, simhash)

    def _join_pages(self, row: int, held: tuple[int, float], values: list[object]) -> None:
        """Two shards hold a page: the newer one counts, the other is a version of it."""
        number, at = held
        values[1] = number
        if float(str(values[2])) >= at:
            self._state.history.set_aside(row, float(str(values[2])))
            self._ask("DELETE FROM page WHERE row = ?", (row,))
            self._ask(f"INSERT INTO page VALUES ({_marks(22)})", values)
        else:
            self._ask(f"INSERT INTO version VALUES (NULL, ?, {_marks(22)})", (at, *values))

    def _judged_again(self, shard: _Shard) -> bool:
        """Whether pages that were merged before may have another verdict or text by now."""
        asked = (
            "SELECT 1 FROM journal WHERE number > ? AND (kind = 'learned'"
            " OR (kind = 'revisit' AND data NOT LIKE '%\"what\":\"same\"%')) LIMIT 1"
        )
        return shard.cursor.page > 0 and shard.ask(asked, (shard.cursor.event,)).fetchone() is not None

    def _follow_pages(self, shard: _Shard) -> None:
        """Take over what has changed of pages that were merged before."""
        for values in shard.ask("SELECT * FROM page WHERE number <= ? ORDER BY number", (shard.cursor.page,)):
            new = list(values)
            with reading("pages"):
                self._translate(shard, new)
            held = self._ask("SELECT * FROM page WHERE row = ?", (new[0],)).fetchone()
            if held is None or held[2] > float(str(new[2])):
                continue  # another shard has a newer one
            new[1] = held[1]
            if held[2] == new[2]:
                new[13:15] = held[13:15]  # found across shards
            if tuple(new) != held:
                self._ask("DELETE FROM page WHERE row = ?", (new[0],))
                self._ask(f"INSERT INTO page VALUES ({_marks(22)})", new)

    def _merge_history(self, numbers: dict[tuple[str, int], int]) -> None:
        """Later visits, versions that were replaced, and what sites say of changes."""
        visits: list[tuple[float, int, int, list[object]]] = []
        for place, shard in enumerate(self._shards):
            found = shard.ask("SELECT * FROM visit WHERE number > ?", (shard.cursor.visit,))
            with reading("visits"):
                for values in map(list, found):
                    own = msgspec.convert(values[0], int)
                    values[0], values[1] = None, shard.row(values[1])
                    values[8] = self._filing(shard.name, str(values[8])) if values[8] else ""
                    # What was found by this visit has later rows in its shard; here, all that is new has.
                    values[11] = min(msgspec.convert(values[11], int) * len(self._shards), self._known)
                    visits.append((msgspec.convert(values[2], float), place, own, values))
                found = shard.ask(
                    "SELECT * FROM version WHERE number > ? ORDER BY number", (shard.cursor.version,)
                )
                for _, until, *page in found.fetchall():
                    self._translate(shard, page)
                    page[1] = numbers.get((shard.name, int(str(page[1]))), 0) or self._page_number(page[0])
                    self._ask(f"INSERT INTO version VALUES (NULL, ?, {_marks(22)})", (until, *page))
                for row, changed in shard.ask("SELECT row, changed FROM hint").fetchall():
                    if shard.row(row):
                        self._state.history.hint(shard.row(row), msgspec.convert(changed, float))
        visits.sort(key=lambda one: one[:3])
        self._many(f"INSERT INTO visit VALUES ({_marks(13)})", [values for *_, values in visits])

    def _page_number(self, row: object) -> int:
        found = self._ask("SELECT number FROM page WHERE row = ?", (row,)).fetchone()
        return int(found[0]) if found else 0

    # Journal and figures

    def _merge_journal(self, numbers: dict[tuple[str, int], int]) -> int:
        events: list[tuple[float, int, int, str, str, str]] = []
        for place, shard in enumerate(self._shards):
            found = shard.ask("SELECT * FROM journal WHERE number > ? ORDER BY number", (shard.cursor.event,))
            with reading("journal entries"):
                for number, at, kind, url, data in found:
                    text = _renumbered(data, numbers, shard.name) if kind == "page" else str(data)
                    events.append((float(at), place, int(number), str(kind), str(url), text))
        events.sort(key=lambda one: one[:3])
        last = self._state.last_event
        self._many(
            "INSERT INTO journal VALUES (?,?,?,?,?)",
            [(last + step, at, *rest) for step, (at, _, _, *rest) in enumerate(events, 1)],
        )
        self._state.last_event += len(events)
        return len(events)

    def _merge_settings(self) -> None:
        for shard in self._shards:
            for prefix in _COPIED_SETTINGS:
                found = shard.ask(
                    "SELECT key, value FROM setting WHERE key >= ? AND key < ?",
                    (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
                )
                self._many(
                    "INSERT INTO setting VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
                    " WHERE value != excluded.value",
                    found.fetchall(),
                )
        put, each = self._state.put_setting, self._each
        with reading("figures"):
            put("tally", one_tally([found for found in each("tally") if isinstance(found, dict)]))
            put("clock", max([_number(found) for found in each("clock")], default=0.0))
            born = [_number(found) for found in each("born")]
            if born:
                put("born", min(born))
            figures = [found for found in each("rendering") if isinstance(found, dict)]
            if figures:
                put("rendering", _one_rendering(figures))
            taken_in = [found for found in each("reviews") if isinstance(found, dict)]
            if taken_in:
                put("reviews", min(taken_in, key=lambda found: _number(found.get("written", 0))))
            again = each("judge_again")
            if any(again):
                put("judge_again", True)
            obeyed = each("control")
            if obeyed:
                put("control", obeyed[0])

    def _each(self, key: str) -> list[object]:
        """A setting's value in each shard that has one."""
        return [found for shard in self._shards if (found := shard.state.setting(key)) is not None]


def _find_rows(columns: Columns, shards: Sequence[_Shard]) -> None:
    """Which merged row each row of the shards is; 0 for what is not merged yet."""
    every = columns.ids[1 : columns.size + 1]
    sorter = np.argsort(every, kind="stable")
    for shard in shards:
        own = shard.columns.ids[1 : shard.size + 1]
        shard.rows = np.zeros(shard.size + 1, np.int32)
        if len(every):
            found = sorter[np.minimum(np.searchsorted(every, own, sorter=sorter), len(every) - 1)]
            shard.rows[1:] = np.where(every[found] == own, found + 1, 0)


def _chosen(shard: _Shard, table: str, rows: Sequence[int]) -> Iterator[tuple[object, ...]]:
    """Some rows of a table: all at once where they are many."""
    if len(rows) > _READ_ALL:
        wanted = set(rows)
        for values in shard.ask(f"SELECT * FROM {table} ORDER BY row"):
            if values[0] in wanted:
                yield values
        return
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        yield from shard.ask(f"SELECT * FROM {table} WHERE row IN ({_marks(len(some))})", some)


def _marks(count: int) -> str:
    return ",".join("?" * count)


def _number(found: object) -> float:
    return msgspec.convert(found, float, strict=False)


def _one_host(row: int, found: Sequence[tuple[Host, float]]) -> tuple[Host, float]:
    """One record of a host that several shards have met: that of the shard which asked it most."""
    best, penalty = max(found, key=lambda one: (one[0].requests, one[0].fetched, bool(one[0].ip)))
    merged = msgspec.structs.replace(
        best,
        row=row,
        ready_at=max(host.ready_at for host, _ in found),
        # A host that moved took its figures along.
        requests=max(host.requests for host, _ in found),
        fetched=max(host.fetched for host, _ in found),
        relevant=max(host.relevant for host, _ in found),
    )
    return merged, penalty


def one_tally(tallies: Sequence[dict[str, object]]) -> dict[str, float]:
    """The figures of several shards as those of one crawl.

    Example:
        >>> one_tally([{"pages": 3, "seconds": 9.0}, {"pages": 1, "seconds": 4.0}])
        {'pages': 4, 'seconds': 9.0}
    """
    merged: dict[str, float] = {}
    pages = sum(_number(tally.get("pages", 0)) for tally in tallies)
    for name in dict.fromkeys(name for tally in tallies for name in tally):
        values = [msgspec.convert(tally.get(name, 0), int | float) for tally in tallies]
        if name == "seconds":
            merged[name] = max(values)
        elif name == "since_relevant":
            merged[name] = min(values)
        elif name == "recent":
            weights = [_number(tally.get("pages", 0)) for tally in tallies]
            merged[name] = sum(v * w for v, w in zip(values, weights, strict=True)) / max(1.0, pages)
        else:
            merged[name] = sum(values)
    return merged


def _one_rendering(figures: Sequence[dict[str, object]]) -> dict[str, object]:
    reasons: dict[str, int] = {}
    needing: list[str] = []
    for one in figures:
        for reason, count in msgspec.convert(one.get("reasons", {}), dict[str, int]).items():
            reasons[reason] = reasons.get(reason, 0) + count
        needing += msgspec.convert(one.get("needing", []), list[str])
    names = ("shells", "rendered", "failed")
    counts = {name: sum(int(_number(one.get(name, 0))) for one in figures) for name in names}
    return {**counts, "reasons": reasons, "needing": list(dict.fromkeys(needing))}


def _renumbered(data: str, numbers: dict[tuple[str, int], int], shard: str) -> str:
    """A page's journal entry with its number in the merged collection."""
    found = msgspec.json.decode(data, type=dict[str, object])
    number = found.get("number")
    if isinstance(number, int) and (shard, number) in numbers:
        found["number"] = numbers[shard, number]
        return msgspec.json.encode(found, order="sorted").decode()
    return data


def _sessions(shards: Sequence[_Shard]) -> list[Session]:
    """Runs of the whole crawl: from when the first shard began until the last one ended.

    A shard that died and began again in the meantime makes no new run.
    """
    spans: list[Session] = []
    for shard in shards:
        own = shard.state.sessions()
        for session, following in zip(own, [*own[1:], None], strict=True):
            stop = session.stop
            if stop is None and following is not None:
                stop = following.start  # it died, and was taken up again
            spans.append(msgspec.structs.replace(session, stop=stop))
    spans.sort(key=lambda span: (span.start, inf if span.stop is None else span.stop))
    merged: list[Session] = []
    for span in spans:
        if merged and span.start <= (inf if merged[-1].stop is None else merged[-1].stop):
            last = merged[-1]
            ends = last.stop is not None and span.stop is not None
            later = span if (span.stop or inf) >= (last.stop or inf) else last
            stop = max(last.stop, span.stop) if last.stop is not None and span.stop is not None else None
            merged[-1] = msgspec.structs.replace(
                last, stop=stop, reason=(later.reason or last.reason) if ends else ""
            )
        else:
            merged.append(msgspec.structs.replace(span, number=len(merged) + 1))
    return merged


# Index, models, files


def _index_files(shards: Sequence[_Shard]) -> list[list[int]]:
    """Dates and sizes of the shards' index files: a crawl writes them after its state."""
    found: list[list[int]] = []
    for shard in shards:
        for end in ("", "-wal"):
            path = shard.layout.index_file.with_name(shard.layout.index_file.name + end)
            try:
                about = path.stat()
                found.append([about.st_mtime_ns, about.st_size] if about.st_size else [0, 0])
            except FileNotFoundError:
                found.append([0, 0])
    return found


def _merge_indexes(path: Path, shards: Sequence[_Shard]) -> None:
    """Bring the full-text index to where those of the shards are: what differs is put in or taken out."""
    having = [shard for shard in shards if shard.layout.index_file.is_file()]
    if not having:
        return
    with ExitStack() as stack:
        index = FullText.open_or_rebuild(path)
        stack.callback(index.close)
        held, held_past = index.contents(), index.past_contents()
        wanted: dict[int, tuple[float, float]] = {}
        past: set[tuple[int, float]] = set()
        for shard in having:
            source = FullText.open(shard.layout.index_file, read_only=True)
            stack.callback(source.close)
            for own, (at, score) in source.contents().items():
                row = shard.row(own)
                if not row or wanted.get(row, (-inf, 0.0))[0] >= at:
                    continue  # not in the merged state yet, or another shard has a newer text
                wanted[row] = at, score
                if held.get(row) == (at, score):
                    continue
                if row in held and held[row][0] == at:
                    index.set_score(row, score)
                else:
                    index.take_from(source, own, row)
            for own, at in source.past_contents():
                row = shard.row(own)
                if row:
                    past.add((row, at))
                    if (row, at) not in held_past:
                        index.take_past_from(source, own, at, row)
        for row in held.keys() - wanted.keys():
            index.remove(row)
        failpoint("merge.index")
        index.commit()


def _copy_model(layout: Layout, state: State, shards: Sequence[_Shard]) -> None:
    """The page model of the shard that has seen most, so that verdicts can be explained."""
    seen = [(found, shard) for shard in shards if isinstance(found := shard.state.setting("checkpoint"), int)]
    if seen:
        pages, shard = max(seen, key=lambda one: (one[0], one[1].name))
        name = f"model-{pages}.npz"
        source, copy = shard.layout.models_folder / name, layout.models_folder / name
        if source.is_file() and (not copy.is_file() or copy.stat().st_size != source.stat().st_size):
            with replacing(copy) as temporary:
                temporary.write_bytes(read_plain(source, 4 << 30))
            state.put_setting("checkpoint", pages)
            state.put_setting("checkpoint_has_order", False)
            state.commit()
            for old in layout.models_folder.glob("model-*.npz"):
                if old.name != name:
                    old.unlink()
    _copy_examples(layout, shards)


def _copy_examples(layout: Layout, shards: Sequence[_Shard]) -> None:
    """What was known about the topic before the crawl: the same in all shards."""
    for file in ("examples_file", "prepared_file"):
        target: Path = getattr(layout, file)
        for shard in shards:
            source: Path = getattr(shard.layout, file)
            if source.is_file() and not target.is_file():
                with replacing(target) as temporary:
                    temporary.write_bytes(read_plain(source))


class _Files:
    """The archive files of all shards, numbered one behind the other."""

    def __init__(self, shards: Sequence[_Shard]) -> None:
        self._sources: list[tuple[Path, str, int | None]] = []
        self._names: dict[tuple[str, str], str] = {}
        for shard in shards:
            end = shard.state.setting("archive_end")
            with reading("archive positions"):
                file, offset = msgspec.convert(end, tuple[str, int]) if end is not None else ("", 0)
            last = file_number(file, _PREFIX) if file else 0
            for path in archive_files(shard.layout.archive_folder, _PREFIX):
                number = file_number(path.name, _PREFIX)
                if number > last or (number == last and offset == 0):
                    continue  # begun, and nothing committed
                name = f"{_PREFIX}-{len(self._sources) + 1:05}.warc.gz"
                self._names[shard.name, path.name] = name
                self._sources.append((path, name, offset if number == last else None))
        self.end = (f"{_PREFIX}-{len(self._sources) + 1:05}.warc.gz", 0)
        """Where a crawl that goes on begins its next file."""

    def name(self, shard: str, file: str) -> str:
        """Name of a shard's file in the merged archive."""
        found = self._names.get((shard, file))
        if found is None:
            raise CollectionError(f"shard {shard}: {file} is missing in its archive; restore it from a copy")
        return found

    def bring(self, folder: Path) -> None:
        """Link or copy all files to a folder."""
        for source, name, size in self._sources:
            with open_copy(source) as file:
                if size is None and _linked(source, folder / name):
                    continue
                with (folder / name).open("wb") as copy:
                    _copy_bytes(file, copy.fileno(), size)
                    os.fsync(copy.fileno())


@contextmanager
def open_copy(source: Path) -> Iterator[int]:
    """A descriptor of an archive file, for reading."""
    descriptor = open_plain(source)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _linked(source: Path, target: Path) -> bool:
    """Give a file a second name; False where that cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        return False
    return True


def _copy_bytes(source: int, target: int, size: int | None) -> None:
    left = os.fstat(source).st_size if size is None else size
    while left > 0:
        data = os.read(source, min(left, 1 << 20))
        if not data:
            raise CollectionError("an archive file is shorter than its state says; restore it from a copy")
        left -= len(data)
        view = memoryview(data)
        while view:
            view = view[os.write(target, view) :]


def _copy_reviews(source: Path, target: Path, state: State) -> None:
    """People's decisions; those on hosts count up to the same moment as before."""
    try:
        lines = read_plain(source).splitlines()
    except FileNotFoundError:
        return
    with replacing(target) as temporary:
        temporary.write_bytes(b"".join(renumbered_review(line, state) + b"\n" for line in lines))


def pass_on_reviews(lines: bytes, folder: Path) -> bool:
    """Give a shard the decisions on its collection; whether it had others.

    Args:
        lines: Of the collection's `reviews.jsonl`, whole ones.
        folder: The shard, whose crawl may be running.
    """
    told = lines
    if _has_begun(folder):
        with State.open(Layout(folder).state_file, read_only=True) as state:
            told = b"".join(renumbered_review(line, state) + b"\n" for line in lines.splitlines())
    try:
        if read_plain(folder / REVIEWS) == told:
            return False
    except FileNotFoundError:
        pass
    with replacing(folder / REVIEWS) as temporary:
        temporary.write_bytes(told)
    return True


def renumbered_review(line: bytes, state: State) -> bytes:
    """A decision as another collection with some of the same pages has it.

    One on a whole host holds for the pages that were there then. Page numbers differ between collections,
    times do not.

    Args:
        line: Of `reviews.jsonl`.
        state: Of the other collection.
    """
    try:
        decision = msgspec.json.decode(line, type=Decision)
    except (msgspec.MsgspecError, RecursionError):
        return line  # which readers refuse, and say so
    if not decision.upto:
        return line
    (upto,) = state.connection.execute(
        "SELECT coalesce(max(number), 0) FROM page WHERE at <= ?", (decision.at,)
    ).fetchone()
    return msgspec.json.encode(msgspec.structs.replace(decision, upto=int(upto)))


__all__ = [
    "Cursor",
    "Merged",
    "bring_up_to_date",
    "merge_into",
    "one_tally",
    "pass_on_reviews",
    "renumbered_review",
]
