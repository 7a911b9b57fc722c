"""Digests that decide whether a finished crawl may be used again."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
DECIDING = (
    "config/recipes.py", "config/build.py", "config/assemble.py", "config/settings.py", "engine", "relevance",
    "ordering", "discovery", "frontier", "parse", "text", "web", "model", "store", "fetch/politeness.py",
    "lab/recorded", "lab/experiment/cells.py", "lab/experiment/crawl_cell.py", "lab/experiment/situation.py",
    "lab/experiment/generated_world.py", "lab/experiment/recorded_world.py", "lab/experiment/extras.py",
    "lab/oracle.py",
)  # fmt: skip
"""What of the package a crawl's course can depend on."""


def digest_of(*parts: bytes | str) -> str:
    """One digest of several texts; their borders count."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()


@lru_cache(maxsize=32)
def source_digest(*places: str) -> str:
    """Digest of the source files at these places of the package; by default all that decide a crawl."""
    whole = []
    for place in places or DECIDING:
        path = PACKAGE / place
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        whole += [f"{file.relative_to(PACKAGE)}\0" + file.read_text(encoding="utf-8") for file in files]
    return digest_of(*whole)
