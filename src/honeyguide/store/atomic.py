"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from honeyguide.errors import CollectionError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that takes the place of `path` when the block ends well.

    The data is on the disk before the name changes, so after a crash `path` is the old file or the
    new one. When the block raises, the temporary file is removed and `path` is untouched.

    Raises:
        CollectionError: The folder is missing or cannot be written, or the disk is full.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(descriptor)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}; check the folder") from error
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror or error}; free space on the disk") from error
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: a new file's data alone does not survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
