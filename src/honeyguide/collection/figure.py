"""The report on a crawl as a notebook shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from honeyguide.collection.report import Report, report_of
from honeyguide.collection.report_figure import draw_report, drawn_report
from honeyguide.errors import CollectionError

if TYPE_CHECKING:
    from honeyguide.collection.collection import Collection


class Drawing(msgspec.Struct, frozen=True):
    """A picture that a notebook shows, and that can be saved."""

    report: Report

    def save(self, path: Path | str) -> Path:
        """Write it to a `.png`, `.svg` or `.html` file."""
        return draw_report(self.report, Path(path))

    def __repr__(self) -> str:
        """Short, where there is no picture: a console would show every point."""
        return f"<Drawing of {self.report.topic!r}: {self.report.pages:,} pages; save(path) writes it>"

    def _repr_svg_(self) -> str:
        """For notebooks."""
        return drawn_report(self.report, "svg").decode()


def collection_figure(collection: Collection) -> Drawing:
    """Found against fetched, relevance, where, and what was left out.

    Raises:
        CollectionError: There are no pages yet.
    """
    report = report_of(collection)
    if not report.pages:
        raise CollectionError("there is nothing to draw yet; crawl some pages first")
    return Drawing(report)
