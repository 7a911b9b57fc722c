"""What SQLite says when the disk is at fault and not the file: nobody should move or delete it then."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

ROOM = 1 << 20
"""Bytes that must be free to open a file: SQLite keeps a list of what is not merged yet beside it."""
_DISK = frozenset((sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL))


def database_trouble(problem: sqlite3.Error) -> str:
    """One line about a collection's database that cannot be read or written, with what to do."""
    hint = "check the disk and the folder's permissions, and restore the file from a copy if need be"
    return f"the collection's database: {problem}; {hint}"


def disk_trouble(path: Path, problem: sqlite3.Error) -> str:
    """One line about the disk; empty where the file itself is to blame."""
    if getattr(problem, "sqlite_errorcode", 0) & 0xFF not in _DISK:
        return ""
    if shutil.disk_usage(path.parent).free < ROOM:
        return f"{path} needs a little room beside it, and the disk is full; free space on the disk"
    return f"{path}: {problem}; free space on the disk or check it, and leave the file where it is"
