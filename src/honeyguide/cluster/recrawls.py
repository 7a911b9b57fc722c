"""One recrawl of a collection of shards: when it began and what was asked for, kept until it is done.

All shards count from the same moment (`start` of `Crawl.recrawl`), so a recrawl that was stopped or killed
goes on in the same words with the pages that none has visited since. The file is beside the manifest.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from honeyguide.engine.agenda import DAY
from honeyguide.job.again import RecrawlOptions
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain

FILE: Final = "recrawl.json"


class Again(msgspec.Struct, frozen=True):
    """A recrawl that has begun."""

    start: float
    asked: RecrawlOptions

    @property
    def for_shards(self) -> dict[str, Any]:
        """Arguments of `Crawl.recrawl`; the budget is dealt out."""
        return {
            "older_than": self.asked.older_than,
            "share": self.asked.share,
            "all_pages": self.asked.everything,
            "start": self.start,
        }


def earlier(out: Path, asked: RecrawlOptions, *, now: float) -> Again | None:
    """The recrawl that is not done yet, if it was asked for in the same words less than a day ago."""
    try:
        found = msgspec.json.decode(read_plain(out / FILE, 1 << 16), type=Again)
    except (OSError, msgspec.MsgspecError):
        return None
    return found if found.asked == asked and 0 <= now - found.start < DAY else None


def keep(out: Path, again: Again) -> None:
    """Write down that a recrawl has begun."""
    with replacing(out / FILE) as temporary:
        temporary.write_bytes(msgspec.json.encode(again))


def forget(out: Path) -> None:
    """It is done."""
    (out / FILE).unlink(missing_ok=True)
