"""Pages that an export had to leave out: their records in the archive cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from honeyguide.errors import CollectionError
from honeyguide.log import WARNING, say

Trouble: TypeAlias = Callable[[str, str], None]
"""Told the address of a page whose record cannot be read, and why."""


def log_trouble(url: str, why: str) -> None:
    """A line of the log, for those who gave no other place."""
    say(WARNING, "left out of the export", url=url, why=why)


class LeftOut:
    """Counts such pages, each once however many of its versions are damaged, and remembers the first few.

    Example:
        >>> left_out = LeftOut()
        >>> left_out("https://example.org/", "damaged gzip data")
        >>> left_out("https://example.org/", "another version, the same")
        >>> len(left_out)
        1
    """

    MOST = 10

    def __init__(self) -> None:
        self._pages: set[str] = set()
        self.first: list[tuple[str, str]] = []

    def __call__(self, url: str, why: str) -> None:
        """One more."""
        log_trouble(url, why)
        if url not in self._pages and len(self.first) < self.MOST:
            self.first.append((url, why))
        self._pages.add(url)

    def __len__(self) -> int:
        """How many."""
        return len(self._pages)

    def check(self, path: Path) -> None:
        """Say what the file lacks.

        Raises:
            CollectionError: When anything was left out.
        """
        count = len(self)
        if not count:
            return
        named = "; ".join(f"{url} ({why})" for url, why in self.first[:3])
        more = f" and {count - 3} more" if count > 3 else ""
        pages = "a page" if count == 1 else f"{count} pages"
        raise CollectionError(f"{path} is written, but without damaged records of {pages}: {named}{more}")
