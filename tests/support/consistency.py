"""What must hold of a collection whatever happened to its crawl."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

from archive_check import check_archive

from honeyguide.collection.collection import Collection
from honeyguide.model import Outcome
from honeyguide.store.index import FullText


def page_facts(folder: Path) -> list[tuple[str, float, int, str]]:
    """URL, score, depth and digest of each page, in order."""
    with Collection.open(folder) as collection:
        return [(page.url, page.score, page.depth, page.digest) for page in collection.pages(relevant=None)]


def check_consistent(folder: Path, *, warcio: bool = True) -> None:
    """Counts add up, the index has what the state has, and other programs can read the archive."""
    with Collection.open(folder) as collection:
        state = collection.state
        assert state.check() == []
        counts = state.counts()
        held = (Outcome.FETCHED, Outcome.NOINDEX, Outcome.GONE)
        assert sum(counts.get(outcome, 0) for outcome in held) == state.page_count()
        indexed = [
            page.row
            for page in collection.pages()
            if (record := state.url_by_row(page.row)) and record.status in (Outcome.FETCHED, Outcome.GONE)
        ]
        index = FullText.open(folder / "index.sqlite", read_only=True)
        assert index.missing(indexed) == []
        assert index.size() == len(indexed)
        for row in indexed:
            page = state.page_by_row(row)
            assert page is not None
            assert index.dated(row) == page.at
        for _, old, _ in state.history.versions():
            assert not old.on_topic or old.digest == "" or index.has_past(old.row, old.at), old.url
        index.close()
    for archive in (folder / "archive").glob("*.warc.gz"):
        assert check_archive(archive).records["response"] > 0
        assert read_by_fastwarc(archive) > 0
        if warcio:
            check_by_warcio(archive)


def read_by_fastwarc(archive: Path) -> int:
    """Read the whole file with another program's reader, digests checked; the number of records."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.warc import ArchiveIterator
    records = 0
    with archive.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            assert record.verify_block_digest()
            records += 1
    return records


def check_by_warcio(archive: Path) -> None:
    """Let the reference implementation check every digest."""
    checked = subprocess.run(
        [Path(sys.executable).parent / "warcio", "check", str(archive)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
