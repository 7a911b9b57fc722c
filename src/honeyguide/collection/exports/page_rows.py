"""Pages as plain rows, for tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.guarded import utc


def page_rows(
    selection: Selection, text_of: Callable[[int], str] | None = None, progress: Progress = silent
) -> Iterator[dict[str, object]]:
    """The selected pages with the columns of `tables.PAGE_COLUMNS`, and their texts with `text_of`."""
    state = selection.state
    for page in selection.pages(progress):
        record = state.url_by_row(page.row)
        repeated = page.duplicate_of or page.near_duplicate_of
        row: dict[str, object] = {
            "url": page.url,
            "title": page.title,
            "language": page.language,
            "score": page.score,
            "on_topic": page.on_topic,
            "review": selection.review(page.row),
            "fetched_at": utc(page.at).isoformat(timespec="seconds"),
            "depth": page.depth,
            "status": page.status,
            "content_type": page.content_type,
            "bytes": page.bytes,
            "digest": page.digest,
            "duplicate_of": state.url_text(repeated) if repeated else "",
            "parent_url": state.url_text(record.parent) if record and record.parent else "",
            "warc_file": page.file,
            "warc_offset": page.offset,
        }
        if text_of is not None:
            row["text"] = text_of(page.row)
        yield row
