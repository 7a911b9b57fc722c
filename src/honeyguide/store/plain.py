"""Files of a collection: plain ones, never reached through a link.

A collection may come from a stranger. A symbolic link in it could make us cut, overwrite or show a file that
is none of ours; a pipe or a device could hold us for ever. So everything inside a collection is opened here:
without following links, and only where there is a regular file. SQLite opens its files itself; for those
`require_plain` looks first.

Only what is inside is checked: the path to a collection may lead through links, which are its user's.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from honeyguide.errors import CollectionError

_NOT_FOLLOWED = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_RDWR
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_plain(path: Path, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """A descriptor of a regular file; `flags` as for `os.open`.

    Raises:
        CollectionError: It is a link, or anything else than a file; or it is to be written and has a second
            name elsewhere (a hard link).
        OSError: As from `os.open`.
    """
    try:
        descriptor = os.open(path, flags | _NOT_FOLLOWED, mode)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EMLINK):
            raise _refusal(path, _kind(path)) from error
        raise
    try:
        _check(path, os.fstat(descriptor), writing=bool(flags & _WRITING))
    except CollectionError:
        os.close(descriptor)
        raise
    return descriptor


def reading(path: Path) -> BinaryIO:
    """The file, open for reading."""
    return os.fdopen(open_plain(path), "rb")


def read_plain(path: Path, most: int = 256 << 20) -> bytes:
    """What a file holds.

    Raises:
        CollectionError: It holds more than `most` bytes, or is not a plain file.
    """
    with reading(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise CollectionError(f"{path} has more than {most} bytes; restore it from a copy")
    return data


def require_plain(path: Path, *, writing: bool = False) -> None:
    """CollectionError when there is something at `path` other than a plain file."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    _check(path, found, writing=writing)


def require_plain_database(path: Path, *, writing: bool = False) -> None:
    """`require_plain` for a SQLite file and the files that SQLite keeps beside it."""
    for end in ("", "-wal", "-shm", "-journal"):
        require_plain(path.with_name(path.name + end), writing=writing)


def require_folder(path: Path, *, create: bool = False) -> None:
    """CollectionError when there is something at `path` other than a folder of its own."""
    if create:
        path.mkdir(exist_ok=True)
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found):
        raise _refusal(path, _KINDS.get(stat.S_IFMT(found), "a file"))


def _check(path: Path, found: os.stat_result, *, writing: bool) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise _refusal(path, _KINDS.get(stat.S_IFMT(found.st_mode), "no file"))
    if writing and found.st_nlink > 1:
        raise CollectionError(
            f"{path} has a second name elsewhere (a hard link), which writing would change, too;"
            " copy the collection and use the copy"
        )


def _kind(path: Path) -> str:
    try:
        return _KINDS.get(stat.S_IFMT(path.lstat().st_mode), "no file")
    except OSError:
        return "no file"


def _refusal(path: Path, kind: str) -> CollectionError:
    return CollectionError(
        f"{path} is {kind}; inside a collection only plain files and folders are opened:"
        " put there what belongs there, or leave the collection alone if it is not yours"
    )
