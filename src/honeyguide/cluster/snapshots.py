"""Copies of a shard in shared storage, so that it outlives its machine.

A snapshot is consistent without stopping the crawl: SQLite's backup gives the state of one commit, and that
state says where the archive ended then. Bytes before that end never change, so each is copied once, as a
chunk of its file. What models learned is copied with it. The full-text index is copied when the crawl ends;
before that it can be made again from the archive.

In the store, below the shard's name: `state-N.sqlite.zst`, `archive/RUN/FILE.START-END`, `models/...`, and
last `snapshot-N.json`, which names all of them. A snapshot without its last file does not exist; the one
before is kept until the next is whole.

A shard that is restored belongs to a new generation, and says so in the store at once. An actor of an older
one, cut off from the cluster but alive, finds that out before it writes, and ends.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import zstandard

from honeyguide.cluster.ray_cluster import ClusterError, first_line
from honeyguide.engine.neighbours import Mark, begin_new_run, read_marks
from honeyguide.errors import MissingExtra
from honeyguide.failpoint import failpoint
from honeyguide.store.layout import Layout
from honeyguide.store.state import State

KEPT: Final = 2
"""Snapshots that are kept."""
GENERATION: Final = "generation"
"""Setting of the state: how often the shard was restored."""
SMALL: Final = ("topic.toml", "collection.json", "examples.json", "prepared.json", "reviews.jsonl")
"""Files that are copied whole each time."""
_BUCKETS: Final = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "oci", "oss"})
CLAIM_SECONDS: Final = 60.0
"""After so long without a word, a coordinator is taken to be dead."""
CHUNK: Final = 16 << 20


class Superseded(ClusterError):
    """The shard goes on elsewhere."""


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Part of an archive file."""

    file: str
    start: int
    end: int
    name: str
    """Of the object, below the shard's."""


class Snapshot(msgspec.Struct, frozen=True):
    """What a snapshot consists of."""

    number: int
    generation: int
    state: str
    """Name of the object with the state."""
    chunks: tuple[Chunk, ...] = ()
    models: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    index: str = ""
    """Name of the object with the index, where it was copied."""
    pages: int = 0
    at: float = 0.0


def open_store(url: str) -> tuple[Any, str]:
    """File system and path of an fsspec location.

    Raises:
        MissingExtra: fsspec is not installed.
        ClusterError: There is no such kind of location, or what it needs is not installed.
    """
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtra("--store", "cluster") from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ClusterError(f"--store {url}: {first_line(error)}; install it, or use another store") from error
    return system, str(path).rstrip("/")


def check_store(url: str) -> None:
    """ClusterError unless a store can be written, read and cleared."""
    system, root = open_store(url)
    name, text = f"{root}/try-{time.time_ns()}", b"honeyguide"
    try:
        _make_folder(system, root)
        system.pipe_file(name, text)
        if system.cat_file(name) != text:
            raise OSError("what was written is not what is read")
        system.rm_file(name)
    except Exception as error:
        raise ClusterError(
            f"the store {url} cannot be written ({first_line(error)}); check its name and permissions"
        ) from error


def _make_folder(system: Any, path: str) -> None:
    """Make a folder where there are folders: for a bucket's store, that would make a bucket."""
    kinds = (system.protocol,) if isinstance(system.protocol, str) else system.protocol
    if not _BUCKETS.intersection(kinds):
        system.makedirs(path, exist_ok=True)


class Claim:
    """One coordinator a store, and one collection: an object that says who, and is renewed while it lasts.

    Args:
        url: Of the store.
        collection: A name of the collection that no other has.
    """

    def __init__(self, url: str, collection: str) -> None:
        self._url = url
        self._system, root = open_store(url)
        self._name = f"{root}/coordinator.json"
        self._mine = Claimed(collection, platform.node(), os.getpid(), 0.0)
        self._renewed = 0.0

    def take(self) -> None:
        """ClusterError when the store is another collection's, or another coordinator is at work on it."""
        self._system.invalidate_cache()
        try:
            held = msgspec.json.decode(self._system.cat_file(self._name), type=Claimed)
        except (FileNotFoundError, msgspec.MsgspecError):
            held = None
        if held is not None and held.collection != self._mine.collection:
            raise ClusterError(
                f"the store {self._url} holds the shards of another collection; use another place"
            )
        if held is not None and time.time() - held.at < CLAIM_SECONDS and not self._is_gone(held):
            raise ClusterError(
                f"another coordinator works on {self._url} (pid {held.process} of {held.machine});"
                f" stop it, or wait {CLAIM_SECONDS:g} s if it was killed"
            )
        self.renew()

    def _is_gone(self, held: Claimed) -> bool:
        """Whether it was a process of this machine that is no more."""
        if held.machine != self._mine.machine:
            return False
        try:
            os.kill(held.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return held.process == os.getpid()

    def renew(self) -> None:
        """Say that this coordinator is still at work, every now and then."""
        if time.monotonic() - self._renewed > CLAIM_SECONDS / 4:
            self._renewed = time.monotonic()
            self._say(time.time())

    def release(self) -> None:
        """Let the next coordinator in."""
        self._say(0.0)

    def _say(self, at: float) -> None:
        said = msgspec.structs.replace(self._mine, at=at)
        self._system.pipe_file(self._name, msgspec.json.encode(said))


class Claimed(msgspec.Struct, frozen=True):
    """Who works on a store."""

    collection: str
    machine: str
    process: int
    at: float
    """When it last said so; 0 when it has ended."""


class Snapshots:
    """The snapshots of one shard.

    Args:
        url: Of the store, for all shards.
        shard: Name of the shard.
    """

    def __init__(self, url: str, shard: str) -> None:
        self._system, root = open_store(url)
        self._root = f"{root}/{shard}"

    def newest(self) -> Snapshot | None:
        """The newest whole snapshot; None when there is none."""
        self._system.invalidate_cache()
        try:
            names = self._system.ls(self._root, detail=False)
        except FileNotFoundError:
            return None
        for name in sorted((str(one).rpartition("/")[2] for one in names), reverse=True):
            if not name.startswith("snapshot-"):
                continue
            try:
                return msgspec.json.decode(self._system.cat_file(f"{self._root}/{name}"), type=Snapshot)
            except (msgspec.MsgspecError, FileNotFoundError):
                continue  # its writer died over it
        return None

    # Taking

    def take(self, folder: Path, *, ended: bool = False) -> dict[str, Mark]:
        """Copy what the shard's last commit has; how far the batches of other shards are in it.

        Args:
            folder: The shard's.
            ended: Whether its crawl has ended: then the index is copied, too.

        Raises:
            ClusterError: The shard has been restored elsewhere: this one is out of date.
        """
        last = self.newest()
        with tempfile.TemporaryDirectory(prefix="honeyguide-snapshot-") as temporary:
            copy = Path(temporary) / "state.sqlite"
            _back_up(folder / "state.sqlite", copy)
            with State.open(copy, read_only=True) as state:
                end, generation = state.setting("archive_end"), _generation(state)
                run = state.setting("outbox_numbers")
                marks, pages = read_marks(state), state.page_count()
            if last is not None and last.generation > generation:
                raise Superseded(
                    f"shard {self._root} goes on elsewhere since it was lost here; this one ends"
                )
            number = last.number + 1 if last is not None else 1
            held = {(one.file, one.start): one for one in last.chunks} if last is not None else {}
            owner = str(run.get("run")) if isinstance(run, dict) else "0"
            chunks = tuple(self._chunks(folder / "archive", end, held, owner))
            models = tuple(self._copy_new(folder / "models", last.models if last is not None else ()))
            small = tuple(name for name in SMALL if (folder / name).is_file())
            for name in small:
                self._make(f"{self._root}/{number}")
                self._system.pipe_file(f"{self._root}/{number}/{name}", (folder / name).read_bytes())
            state_name = f"state-{number:010}.sqlite.zst"
            self._make(self._root)
            self._put_packed(copy, state_name)
            index = ""
            if ended and (folder / "index.sqlite").is_file():
                index = "index.sqlite.zst"
                _back_up(folder / "index.sqlite", Path(temporary) / "index.sqlite")
                self._put_packed(Path(temporary) / "index.sqlite", index)
        failpoint("snapshot.copied")
        taken = Snapshot(number, generation, state_name, chunks, models, small, index, pages, time.time())
        self._write(taken)
        failpoint("snapshot.taken")
        self._clear(taken, last)
        return marks

    def _chunks(
        self, archive: Path, end: object, held: dict[tuple[str, int], Chunk], owner: str
    ) -> Iterable[Chunk]:
        """The archive up to its committed end, in chunks; those that the store has are not copied again."""
        if not isinstance(end, list):
            return
        last, offset = str(end[0]), int(end[1])
        for file in sorted(archive.glob("*.warc.gz")):
            if file.name > last:
                break
            stop, at = (offset if file.name == last else file.stat().st_size), 0
            while (chunk := held.get((file.name, at))) is not None and chunk.end <= stop:
                yield chunk
                at = chunk.end
            while at < stop:
                size = min(CHUNK, stop - at)
                with file.open("rb") as source:
                    source.seek(at)
                    content = source.read(size)
                name = f"archive/{owner}/{file.name}.{at}-{at + size}"
                self._make(f"{self._root}/archive/{owner}")
                self._system.pipe_file(f"{self._root}/{name}", content)
                yield Chunk(file.name, at, at + size, name)
                at += size

    def _copy_new(self, models: Path, held: tuple[str, ...]) -> Iterable[str]:
        for file in sorted(models.glob("*.npz")):
            if file.name not in held:
                try:
                    content = file.read_bytes()
                except FileNotFoundError:  # the crawl has a newer one
                    continue
                self._make(f"{self._root}/models")
                self._system.pipe_file(f"{self._root}/models/{file.name}", content)
            yield file.name

    def _put_packed(self, file: Path, name: str) -> None:
        packed = file.with_suffix(".zst")
        with file.open("rb") as source, packed.open("wb") as target:
            zstandard.ZstdCompressor(level=1).copy_stream(source, target)
        self._system.put_file(str(packed), f"{self._root}/{name}")

    def _get_packed(self, name: str, file: Path) -> None:
        packed = self._system.cat_file(f"{self._root}/{name}")
        with file.open("wb") as target:
            zstandard.ZstdDecompressor().copy_stream(io.BytesIO(packed), target)

    def _make(self, folder: str) -> None:
        _make_folder(self._system, folder)

    def _write(self, snapshot: Snapshot) -> None:
        self._make(self._root)
        name = f"{self._root}/snapshot-{snapshot.number:010}.json"
        self._system.pipe_file(name, msgspec.json.encode(snapshot))

    def _clear(self, newest: Snapshot, before: Snapshot | None) -> None:
        """Remove what only older snapshots had."""
        number = newest.number - KEPT
        if number > 0:
            names = {f"snapshot-{number:010}.json", f"state-{number:010}.sqlite.zst", str(number)}
            for name in names - {before.state if before is not None else ""}:
                try:
                    self._system.rm(f"{self._root}/{name}", recursive=True)
                except FileNotFoundError:
                    continue

    # Restoring

    def restore(self, folder: Path, *, claim: bool = True) -> bool:
        """Make a shard's folder from its newest snapshot; whether there is one.

        Args:
            folder: Where it is to be; must not exist.
            claim: Whether the shard goes on there: it belongs to a new generation then.
        """
        found = self.newest()
        if found is None:
            return False
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        for sub in ("archive", "models"):
            (part / sub).mkdir(parents=True)
        for name in found.small:
            (part / name).write_bytes(self._system.cat_file(f"{self._root}/{found.number}/{name}"))
        for name in found.models:
            content = self._system.cat_file(f"{self._root}/models/{name}")
            (part / "models" / name).write_bytes(content)
        for chunk in found.chunks:
            with (part / "archive" / chunk.file).open("ab") as file:
                file.write(self._system.cat_file(f"{self._root}/{chunk.name}"))
        self._get_packed(found.state, part / "state.sqlite")
        if found.index:
            self._get_packed(found.index, part / "index.sqlite")
        if claim:
            with State.open(part / "state.sqlite") as state:
                state.put_setting(GENERATION, found.generation + 1)
                begin_new_run(state)
            number = found.number + 1
            for name in found.small:
                content = self._system.cat_file(f"{self._root}/{found.number}/{name}")
                self._make(f"{self._root}/{number}")
                self._system.pipe_file(f"{self._root}/{number}/{name}", content)
            claimed = msgspec.structs.replace(found, number=number, generation=found.generation + 1, index="")
            self._write(claimed)
            failpoint("restore.claimed")
        Layout.adopt(part)
        part.rename(folder)
        return True

    def is_newer(self, folder: Path) -> bool:
        """Whether the shard has gone on elsewhere since it was in this folder."""
        found = self.newest()
        if found is None or not (folder / "state.sqlite").is_file():
            return found is not None
        with State.open(folder / "state.sqlite", read_only=True) as state:
            return found.generation > _generation(state)


def _generation(state: State) -> int:
    found = state.setting(GENERATION)
    return found if isinstance(found, int) else 0


def _back_up(source: Path, target: Path) -> None:
    """A consistent copy of a state that is being written."""
    reading = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
    writing = sqlite3.connect(target)
    try:
        reading.backup(writing)
    finally:
        reading.close()
        writing.close()
