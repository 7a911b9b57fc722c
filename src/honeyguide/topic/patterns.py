"""File patterns and addresses, as a topic names its examples."""

from __future__ import annotations

import glob
import re
from pathlib import Path

from honeyguide.errors import TopicError

_HOST = re.compile(r"(?i)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}/")
"""How an address without `https://` begins; few folders have such names."""
ARCHIVES = (".warc", ".warc.gz")
MAX_FILES = 100_000
"""Files one pattern may match; more is a mistake such as `/**`."""


def is_url(pattern: str) -> bool:
    """Whether an example is an address rather than a file pattern."""
    return pattern.lower().startswith(("http://", "https://"))


def find_files(pattern: str, *, base: Path, key: str) -> list[Path]:
    """The files a pattern names, sorted, so that equal topics give equal models.

    Args:
        pattern: A file name or a shell pattern; `**` goes through folders.
        base: Folder that relative patterns start from: that of the topic file.
        key: Where the pattern stands, for the message.
    """
    path = base / Path(pattern).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        raise TopicError(
            f"{key}: {pattern!r} is a folder; name its files, such as '{pattern.rstrip('/')}/*.html'"
        )
    if not glob.has_magic(pattern):
        if _HOST.match(pattern):
            raise TopicError(f"{key}: no file {path}; if it is an address, write https://{pattern}")
        raise TopicError(f"{key}: no file {path}; check the path (it starts from the topic file's folder)")
    files: list[Path] = []
    for name in glob.iglob(str(path), recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
        if Path(name).is_file():
            files.append(Path(name))
        if len(files) > MAX_FILES:
            raise TopicError(
                f"{key}: {pattern!r} names more than {MAX_FILES} files; choose a narrower pattern"
            )
    if not files:
        raise TopicError(f"{key}: no file matches {pattern!r} in {base}; check the pattern or remove it")
    return sorted(files)


def is_archive(path: Path) -> bool:
    """Whether a path is a WARC file, by its name."""
    return path.name.lower().endswith(ARCHIVES) and path.is_file()


def labels(taxonomy: str) -> tuple[str, ...]:
    """The labels of a taxonomy path, from the root down.

    Example:
        >>> labels("Computers/Artificial_Intelligence")
        ('Computers', 'Artificial Intelligence')
    """
    return tuple(part.replace("_", " ").strip() for part in taxonomy.split("/") if part.strip("_ "))
