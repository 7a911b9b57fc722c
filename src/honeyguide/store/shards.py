"""`shards.json`: says that a collection consists of shards, and which.

The folder OUT of such a collection holds `topic.toml` and `collection.json` like any other, this file, and in
`shards/` an ordinary collection for each shard. People's decisions (`reviews.jsonl`) and requests to a
running crawl (`control.json`) are in OUT itself; the coordinator passes them on.

A manifest may come from a stranger: names of shards are digits, so that none leads out of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain, require_folder

RENDEZVOUS: Final = "rendezvous"
"""Hosts belong to shards by rendezvous hashing (`cluster.assignment`)."""
FILE: Final = "shards.json"
FOLDER: Final = "shards"
VERSION: Final = 1
MOST_SHARDS: Final = 10_000
_MOST_BYTES = 1 << 20
_NAME = re.compile(r"[0-9]{2,5}")


class Manifest(msgspec.Struct, frozen=True):
    """The shards of a collection."""

    version: int
    shards: tuple[str, ...]
    """Names of those that own hosts, which are their folders' names in `shards/`, in order."""
    assignment: str = RENDEZVOUS
    """How hosts are given to shards (`cluster.assignment`)."""
    store: str = ""
    """Where snapshots are kept (an fsspec URL); empty: nowhere but in the folder."""
    software: str = ""
    """The honeyguide that wrote it."""
    leaving: tuple[str, ...] = ()
    """Shards that own no hosts any more, and have not handed all of theirs over yet."""
    retired: tuple[str, ...] = ()
    """Shards that have: they crawl no more, and their pages are still the collection's."""

    @property
    def at_work(self) -> tuple[str, ...]:
        """Shards that a crawl has to start."""
        return self.shards + self.leaving

    @property
    def folders(self) -> tuple[str, ...]:
        """All shards that the collection consists of, for those who read it."""
        return tuple(sorted(self.at_work + self.retired, key=int))


def shard_names(count: int) -> tuple[str, ...]:
    """Names of so many shards.

    Raises:
        CollectionError: There can be no such number of shards.

    Example:
        >>> shard_names(3)
        ('00', '01', '02')
    """
    if not 1 <= count <= MOST_SHARDS:
        raise CollectionError(f"{count} shards cannot be; use 1 to {MOST_SHARDS}")
    return tuple(f"{number:02}" for number in range(count))


def new_manifest(count: int, *, store: str = "", software: str = "") -> Manifest:
    """A manifest of so many shards, as this version writes it."""
    return Manifest(VERSION, shard_names(count), RENDEZVOUS, store, software)


def with_more(manifest: Manifest, count: int) -> Manifest:
    """A manifest with more shards that own hosts, or fewer; those that stay keep their names.

    New ones get names that none ever had. The last ones leave.

    Args:
        manifest: As it is.
        count: How many join; negative: how many leave.

    Raises:
        CollectionError: There can be no such number of shards.

    Example:
        >>> fewer = with_more(new_manifest(4), -1)
        >>> fewer.shards, fewer.leaving, with_more(fewer, 1).shards
        (('00', '01', '02'), ('03',), ('00', '01', '02', '04'))
    """
    left = len(manifest.shards) + count
    if left < 1:
        raise CollectionError(
            f"{-count} of {len(manifest.shards)} shards cannot be taken away; at least one must stay"
        )
    shards, gone = manifest.shards[:left], manifest.shards[left:]
    first = int(manifest.folders[-1]) + 1
    shards += shard_names(first + max(0, count))[first:]
    return msgspec.structs.replace(manifest, shards=shards, leaving=manifest.leaving + gone)


def with_retired(manifest: Manifest, shard: str) -> Manifest:
    """A manifest in which a shard that was leaving has left."""
    leaving = tuple(name for name in manifest.leaving if name != shard)
    return msgspec.structs.replace(manifest, leaving=leaving, retired=(*manifest.retired, shard))


def is_sharded(root: Path) -> bool:
    """Whether a collection's folder says that it consists of shards."""
    return (root / FILE).is_file()


def require_whole(root: Path) -> None:
    """CollectionError for a collection of shards, where only an ordinary one will do."""
    if is_sharded(root):
        raise CollectionError(
            f"{root} consists of shards; make one collection of it first: honeyguide merge {root} NEW_FOLDER"
        )


def shard_folder(root: Path, shard: str) -> Path:
    """The folder of one shard."""
    return root / FOLDER / shard


def load(root: Path) -> Manifest:
    """What the manifest of a collection says.

    Raises:
        CollectionError: It is missing, unreadable, of another version, or says what cannot be.
    """
    path = root / FILE
    try:
        found = msgspec.json.decode(read_plain(path, _MOST_BYTES), type=Manifest)
    except FileNotFoundError as error:
        raise CollectionError(f"{root} does not consist of shards (no {FILE}); check the name") from error
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise CollectionError(f"{path}: {error}; restore it from a copy") from error
    if found.version > VERSION:
        raise CollectionError(
            f"{path} has version {found.version}, this honeyguide reads up to {VERSION};"
            " use a newer honeyguide"
        )
    _check(path, found)
    require_folder(root / FOLDER)
    for shard in found.folders:
        require_folder(shard_folder(root, shard))
    return found


def save(root: Path, manifest: Manifest) -> None:
    """Write the manifest, whole or not at all.

    Raises:
        CollectionError: It says what cannot be, or the folder cannot be written.
    """
    _check(root / FILE, manifest)
    with replacing(root / FILE) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def require_count(root: Path, manifest: Manifest, count: int | None) -> None:
    """CollectionError when a user asks for another number of shards than the collection has.

    Args:
        root: The collection.
        manifest: What it says.
        count: What was asked for; None: whatever there is.
    """
    held = len(manifest.shards)
    if count is not None and count != held:
        word = "add" if count > held else "remove"
        raise CollectionError(
            f"{root} has {held} shards, not {count}; leave out --shards to go on with those it has,"
            f" or resume it with --{word}-shards {abs(count - held)}"
        )


def _check(path: Path, manifest: Manifest) -> None:
    problem = _problem(manifest.shards, manifest.at_work + manifest.retired)
    if manifest.version < 1:
        problem = f"version {manifest.version}"
    elif manifest.assignment != RENDEZVOUS:
        problem = f"assignment {manifest.assignment[:40]!r}, known is {RENDEZVOUS!r}"
    if problem:
        raise CollectionError(f"{path} says what cannot be: {problem}; restore it from a copy")


def _problem(owners: Sequence[str], shards: Sequence[str]) -> str:
    if not owners or len(shards) > MOST_SHARDS:
        return f"{len(shards)} shards"
    for shard in shards:
        if not _NAME.fullmatch(shard):
            return f"a shard named {shard[:40]!r}"
    if len(set(shards)) != len(shards):
        return "two shards of one name"
    return ""
