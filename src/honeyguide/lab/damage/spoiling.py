"""Ways to spoil a collection: what disks, copies, careless people and strangers do to files.

Each takes a path in the collection, a folder outside it, and a source of chance. The same chance does the
same harm to the same file.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np

from honeyguide.store.models import Saved, read_saved, write_saved

Spoiler: TypeAlias = Callable[[Path, Path, random.Random], str]
"""Spoils a file; says how, or nothing when that cannot be done to it."""

HOSTILE: tuple[object, ...] = (
    -1,
    2**62,
    -(2**63),
    1e308,
    "",
    "x",
    "{",
    "[" * 5_000,
    b"\xff\x00",
    "\u202e",
    0.5,
)
"""Values that a program may not expect where it wrote another."""
HOSTILE_TEXT = (
    b"",
    b"\x00" * 64,
    b"\xff\xfe\xff",
    b"[" * 100_000,
    b"{}",
    b"[]",
    b"null",
    b"1e999",
    b'{"format": -1}',
)


class Damage(msgspec.Struct, frozen=True):
    """What was done to a collection."""

    kind: str
    files: tuple[str, ...]
    """Paths within the collection."""
    how: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.kind} {' and '.join(self.files)}: {self.how}"


def flip(path: Path, _outside: Path, chance: random.Random) -> str:
    """A few bits the other way round."""
    data = bytearray(path.read_bytes())
    if not data:
        return ""
    places = [chance.randrange(len(data) * 8) for _ in range(chance.choice((1, 1, 2, 8, 64)))]
    for place in places:
        data[place // 8] ^= 1 << place % 8
    path.write_bytes(data)
    return f"{len(places)} bits, the first at byte {places[0] // 8} of {len(data)}"


def overwrite(path: Path, _outside: Path, chance: random.Random) -> str:
    """A stretch of noise or of zeros, as a bad sector leaves it."""
    data = bytearray(path.read_bytes())
    if not data:
        return ""
    length = min(len(data), chance.choice((16, 512, 4096)))
    start = chance.randrange(len(data) - length + 1)
    data[start : start + length] = chance.choice((bytes(length), chance.randbytes(length)))
    path.write_bytes(data)
    return f"{length} bytes from {start} of {len(data)}"


def cut(path: Path, _outside: Path, chance: random.Random) -> str:
    """The end is missing."""
    size = path.stat().st_size
    if not size:
        return ""
    kept = chance.choice((0, size - 1, size // 2, chance.randrange(size)))
    os.truncate(path, kept)
    return f"{kept} of {size} bytes left"


def append(path: Path, _outside: Path, chance: random.Random) -> str:
    """More than was written."""
    more = chance.choice((b"\n", b"}", chance.randbytes(100), path.read_bytes()))
    with path.open("ab") as file:
        file.write(more)
    return f"{len(more)} bytes more"


def lose(path: Path, _outside: Path, _chance: random.Random) -> str:
    """The file is gone."""
    path.unlink()
    return "deleted"


def replace(path: Path, _outside: Path, chance: random.Random) -> str:
    """Something else altogether."""
    data = chance.choice(HOSTILE_TEXT)
    path.write_bytes(data)
    return f"now {data[:20]!r}, {len(data)} bytes"


def link(path: Path, outside: Path, chance: random.Random) -> str:
    """In its place a way out of the collection, or something that is not a file."""
    kind = chance.choice(("link", "second name", "pipe", "folder", "dangling link", "folder link"))
    target = outside / "treasure"
    target.write_bytes(path.read_bytes())
    path.unlink()
    match kind:
        case "link":
            path.symlink_to(target)
        case "second name":
            os.link(target, path)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "dangling link":
            path.symlink_to(outside / "made")
        case _:
            path.symlink_to(outside)
    return kind


def link_folder(path: Path, outside: Path, _chance: random.Random) -> str:
    """The folder that it is in is a link to one outside."""
    folder = path.parent
    if not folder.joinpath("..", "collection.json").exists():
        return ""
    folder.rename(outside / folder.name)
    folder.symlink_to(outside / folder.name)
    return f"{folder.name}/ is a link"


def forge(path: Path, _outside: Path, chance: random.Random) -> str:
    """A well-formed file that says what no crawl would: by a stranger who knows the format."""
    if path.suffix == ".npz":
        return _forge_arrays(path, chance)
    if path.suffix == ".sqlite":
        return _forge_cell(path, chance)
    if path.suffix in (".json", ".jsonl"):
        return _forge_json(path, chance)
    return ""


def _forge_cell(path: Path, chance: random.Random) -> str:
    with closing(sqlite3.connect(path)) as connection:
        # In WAL mode the change would be in another file, which a test of this one may have damaged.
        connection.execute("PRAGMA journal_mode = DELETE")
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if connection.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()  # noqa: S608 - a test's own
        ]
        table = chance.choice(sorted(tables))
        columns = [name for _, name, *_ in connection.execute(f'PRAGMA table_info("{table}")')]
        column, value = chance.choice(columns), chance.choice(HOSTILE)
        (count,) = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()  # noqa: S608
        statement = (
            f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid ='  # noqa: S608
            f' (SELECT rowid FROM "{table}" LIMIT 1 OFFSET ?)'
        )
        if table == "setting":
            statement = "UPDATE setting SET value = ? WHERE key = (SELECT key FROM setting LIMIT 1 OFFSET ?)"
        try:
            connection.execute(statement, (value, chance.randrange(count)))
        except sqlite3.Error:  # a table that keeps to its types
            return ""
        connection.commit()
    return f"{table}.{column} = {str(value)[:20]!r}"


def _forge_arrays(path: Path, chance: random.Random) -> str:
    saved = read_saved(path.parent, path.stem)
    values, arrays = dict(saved.values), dict(saved.arrays)
    key = chance.choice(sorted({*values, *arrays}) or [""])
    if key in arrays:
        half = arrays[key][: len(arrays[key]) // 2] if arrays[key].ndim else arrays[key]
        arrays[key] = chance.choice((half, np.zeros(0), np.full(3, np.nan), np.array(["x"])))
    else:
        values[key] = _changed(values.get(key), chance)
    write_saved(path.parent, path.stem, Saved(values=values, arrays=arrays))
    return f"another {key!r}"


def _forge_json(path: Path, chance: random.Random) -> str:
    lines = path.read_bytes().splitlines() or [b"{}"]
    place = chance.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except ValueError:
        return ""
    lines[place] = json.dumps(_changed(value, chance)).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")
    return f"line {place + 1} is now {lines[place][:60]!r}"


def _changed(value: object, chance: random.Random) -> object:
    """A JSON value with one part of it replaced."""
    hostile = [one for one in HOSTILE if not isinstance(one, bytes)]
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        return {**value, key: _changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        place = chance.randrange(len(value))
        return [*value[:place], _changed(value[place], chance), *value[place + 1 :]]
    return chance.choice([*hostile, None, [], {}])


KINDS: dict[str, Spoiler] = {
    "flip": flip,
    "overwrite": overwrite,
    "cut": cut,
    "append": append,
    "lose": lose,
    "replace": replace,
    "link": link,
    "link folder": link_folder,
    "forge": forge,
}
EXCHANGE = "exchange"


def files_of(folder: Path) -> list[str]:
    """All files of a collection, by their paths within it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def spoil(folder: Path, outside: Path, chance: random.Random) -> Damage:
    """Do one kind of harm to one file of a collection, or exchange two."""
    files = files_of(folder)
    # By kind of file first: else most of the harm would be done to the many files of models.
    groups: dict[str, list[str]] = {}
    for name in files:
        groups.setdefault(name.partition("-")[0] if name.startswith("models/") else name, []).append(name)
    while True:
        name = chance.choice(groups[chance.choice(sorted(groups))])
        kind = chance.choice((*KINDS, EXCHANGE))
        if kind == EXCHANGE:
            other = chance.choice(groups[chance.choice(sorted(groups))])
            if other != name:
                first, second = (folder / name).read_bytes(), (folder / other).read_bytes()
                (folder / name).write_bytes(second)
                (folder / other).write_bytes(first)
                return Damage(kind, (name, other), "exchanged")
        elif how := KINDS[kind](folder / name, outside, chance):
            touched = tuple(files_of_folder(files, name)) if kind == "link folder" else (name,)
            return Damage(kind, touched, how)


def files_of_folder(files: list[str], name: str) -> list[str]:
    """The files in the folder of a file."""
    start = name.rpartition("/")[0] + "/"
    return [one for one in files if one.startswith(start)]
