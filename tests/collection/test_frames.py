"""Data frames and what a notebook shows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from honeyguide.collection.collection import Collection
from honeyguide.model import Verdict
from honeyguide.testing.made_collection import MadeCollection

MOMENT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with MadeCollection(tmp_path / "made") as made:
        made.page("https://example.org/a", title="<script>alert(1)</script>", text="about owls")
        made.page("https://example.org/b", title="B", text="other", on_topic=False, score=0.1)
    return tmp_path / "made"


def test_frames_have_typed_columns_and_real_times(folder: Path) -> None:
    with Collection.open(folder) as collection:
        arrow = collection.to_arrow(relevant=None, text=True)
        pandas = collection.to_pandas(relevant=None)
        polars = collection.to_polars(relevant=None)
    assert str(arrow.schema.field("fetched_at").type) == "timestamp[us, tz=UTC]"
    assert arrow.num_rows == len(pandas) == len(polars) == 2
    assert arrow["text"][0].as_py() == "about owls"
    for first in (arrow["fetched_at"][0].as_py(), pandas["fetched_at"][0], polars["fetched_at"][0]):
        assert first == MOMENT
    assert list(pandas.columns) == polars.columns == arrow.schema.names[:-1]


def test_an_empty_selection_is_an_empty_frame(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "made") as made:
        made.address("https://example.org/")
    with Collection.open(tmp_path / "made") as collection:
        assert collection.to_arrow().num_rows == 0
        assert len(collection.to_pandas()) == len(collection.to_polars()) == 0


def test_parquet_has_timestamps(folder: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    with Collection.open(folder) as collection:
        collection.export(tmp_path / "pages.parquet", format="parquet")
    assert parquet.read_table(tmp_path / "pages.parquet")["fetched_at"][0].as_py() == MOMENT


def test_notebook_views_escape_what_comes_from_the_web(folder: Path) -> None:
    with Collection.open(folder) as collection:
        shown = collection._repr_html_()
        assert "<script>" not in shown
        assert "&lt;script&gt;" in shown
        assert "1 (50.0%)" in collection.status()._repr_html_()
        assert repr(collection) == f"<Collection 'made' ({folder}): 2 pages, 1 on topic>"
        assert "<svg" in collection.plot()._repr_svg_()
        assert "array" not in repr(collection.plot())
    verdict = Verdict(0.7, True, terms=(("<b>owl</b>", 0.5),))
    assert "&lt;b&gt;owl" in verdict._repr_html_()


def test_texts_of_one_page_and_of_all(folder: Path) -> None:
    with Collection.open(folder) as collection:
        assert collection.text("https://example.org/a") == "about owls"
        assert list(collection.text()) == [("https://example.org/a", "about owls")]
