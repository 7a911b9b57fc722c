"""The guide to exports has the columns of the tables, in their order and in the words of the code."""

from __future__ import annotations

from pathlib import Path

from honeyguide.collection.exports.markdown_files import FACTS
from honeyguide.collection.exports.tables import PAGE_COLUMNS, TEXT_COLUMN

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "exports.md").read_text()


def test_every_field_is_documented() -> None:
    columns = (*PAGE_COLUMNS, TEXT_COLUMN)
    assert "\n".join(f"| `{one.name}` | {one.meaning} |" for one in columns) in GUIDE


def test_other_formats_use_the_same_names() -> None:
    assert set(FACTS) <= {one.name for one in PAGE_COLUMNS}
