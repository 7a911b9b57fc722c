"""Where the archive ended at the last commit, once it is clear that state and archive belong together.

What lies beyond that end is cut off when a crawl is taken up. A state with one wrong bit, or of another
collection, would make that the end of everything archived. So the pages archived last must be where the state
says, or nothing is touched.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.store.archive import file_number, uri
from honeyguide.store.archive_reader import read_record
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State

_WITNESSES = 5
"""Pages that are looked for; one suffices, since a damaged record must not stop a crawl."""


def committed_end(state: State, folder: Path, prefix: str) -> tuple[str, int] | None:
    """File and offset at which the archive ended; None before the first commit.

    Args:
        state: Of the crawl.
        folder: Of the archive.
        prefix: Start of its files' names.

    Raises:
        CollectionError: The state contradicts itself or the archive.
    """
    known, pages = state.setting("archive_end"), state.archived_last(_WITNESSES)
    if known is None and not pages:
        return None
    try:
        name, offset = msgspec.convert(known, tuple[str, int])
    except msgspec.ValidationError as error:
        raise _contradiction(folder, str(error)) from error
    end = (file_number(name, prefix), offset)
    if pages and (file_number(pages[0].file, prefix), pages[0].offset + pages[0].length) > end:
        raise _contradiction(folder, f"{pages[0].url} lies beyond the end that it names")
    short = (folder / name).is_file() and (folder / name).stat().st_size < offset
    if pages and not short and not any(_is_there(folder, page) for page in pages):
        raise _contradiction(folder, f"{pages[0].url} is not where it says")
    return name, offset


def _is_there(folder: Path, page: PageRecord) -> bool:
    try:
        return read_record(folder, page.file, page.offset, page.length).url == uri(page.url)
    except CollectionError:
        return False


def _contradiction(folder: Path, what: str) -> CollectionError:
    return CollectionError(
        f"{folder} is not the archive of this state.sqlite ({what}); restore the wrong one from a copy"
    )
