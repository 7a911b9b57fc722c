"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
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
        raise CollectionError(
            f"{path}: {error.strerror}; check the folder, or choose another place"
        ) from error
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


@contextmanager
def replacing_folder(folder: Path, *, made_by: Sequence[str]) -> Iterator[Path]:
    """A temporary folder that takes the place of `folder`, as a whole, when the block ends well.

    Args:
        folder: New, empty, or one that was made this way before.
        made_by: Names of files by which an earlier one is recognised; anything else is left alone.

    Raises:
        CollectionError: The folder holds something else or cannot be written, or the disk is full.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CollectionError(f"{folder} is not a folder; choose another name")
    if folder.exists() and any(folder.iterdir()):
        ours = all((folder / name).is_file() for name in made_by)
        if not ours or (folder / "collection.json").exists():
            raise CollectionError(f"{folder} holds other files; choose an empty folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))
    except OSError as error:
        raise CollectionError(f"{folder}: {error.strerror}; choose another folder") from error
    try:
        yield work
        work.chmod(0o755)
        old = work.with_name(f"{work.name}.old")
        if folder.exists():
            folder.replace(old)
        work.replace(folder)
        sync_folder(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise CollectionError(f"{folder}: {error.strerror or error}; free space on the disk") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
