"""The few places where a crawl spends most, in C, each with a twin in Python.

`native` is the compiled module, or None where it was not built (no compiler at installation) or is not wanted
(`HONEYGUIDE_PURE=1`). Callers then take their own Python, which is the reference: the tests hold both to the
same answers. `honeyguide doctor` says which of the two runs.

Why C and not numba: numba with LLVM takes 208 MB of disk, half a second to import and 20 s of compiling at
the first crawl, and it cannot read text. The C builds in a few seconds at installation and loads in a
millisecond. Cython and Rust would need their own compilers at installation, for code as small as this.
"""

from __future__ import annotations

import importlib
import os
from typing import Any, Final, Protocol, cast

VERSION: Final = 9
"""As in `native.h`: a module that was built from other sources is not used."""


class Native(Protocol):
    """What the compiled module offers."""

    VERSION: int

    def scan_page(self, html: str, blocks: bool, /) -> tuple[Any, ...] | None:
        """The notes of a page (`honeyguide.parse.notes`) from its tree written out, or None if unclear."""

    def tidied(self, html: str, /) -> str | None:
        """A page as the tree builder would write its tree; None where only that can tell."""

    def content_blocks(  # noqa: PLR0917 - calls by name would cost more than the work
        self,
        parents: list[int],
        tags: list[str],
        links: list[int],
        alpha: float,
        block_tags: frozenset[str],
        minimum_links: int,
        /,
    ) -> list[int]:
        """Roots of the content blocks of a tree (`honeyguide.parse.blocks`)."""

    def tag_counts(self, body: bytes, /) -> tuple[int, int, int]:
        """Length of the longest tag, and how many `<` and `</` a document has."""

    def simhash(self, text: str, shingle: int, classes: bytes, lowered: bytes | None, /) -> int | None:
        """The fingerprint of a text (`honeyguide.text.simhash`); None where `lowered` does not do."""


def _load() -> Native | None:
    if os.environ.get("HONEYGUIDE_PURE"):
        return None
    try:
        found = cast(Native, importlib.import_module("honeyguide._native"))
    except ImportError:
        return None
    return found if found.VERSION == VERSION else None


native: Final = _load()
