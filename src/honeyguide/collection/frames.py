"""Rows of pages as data frames: Arrow, pandas, Polars. Each library is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from honeyguide.collection.exports.tables import PAGE_COLUMNS, TEXT_COLUMN, Row, arrow_schema, record_batches
from honeyguide.errors import MissingExtra


def to_arrow(rows: Iterable[Row], *, text: bool = False) -> Any:
    """A `pyarrow.Table` with the columns of `tables.PAGE_COLUMNS`, times as timestamps.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    columns = (*PAGE_COLUMNS, TEXT_COLUMN) if text else PAGE_COLUMNS
    schema = arrow_schema(columns)
    import pyarrow

    return pyarrow.Table.from_batches(record_batches(rows, columns), schema=schema)


def to_pandas(rows: Iterable[Row], *, text: bool = False) -> Any:
    """A `pandas.DataFrame` with the same columns, times as UTC timestamps.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtra("to_pandas()", "notebook") from None
    columns = (*PAGE_COLUMNS, TEXT_COLUMN) if text else PAGE_COLUMNS
    frame = pandas.DataFrame.from_records(list(rows), columns=[column.name for column in columns])
    for column in columns:
        if column.kind is datetime:
            frame[column.name] = pandas.to_datetime(frame[column.name], utc=True)
    return frame


def to_polars(rows: Iterable[Row], *, text: bool = False) -> Any:
    """A `polars.DataFrame` with the same columns, times as UTC timestamps.

    Raises:
        MissingExtra: Polars is not installed.
    """
    try:
        import polars
    except ImportError:
        raise MissingExtra("to_polars()", "notebook") from None
    kinds = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    columns = (*PAGE_COLUMNS, TEXT_COLUMN) if text else PAGE_COLUMNS
    schema = {column.name: kinds.get(column.kind, polars.String) for column in columns}
    frame = polars.DataFrame(list(rows), schema=schema)
    times = [
        polars.col(column.name).str.to_datetime(time_zone="UTC", time_unit="us")
        for column in columns
        if column.kind is datetime
    ]
    return frame.with_columns(times)
