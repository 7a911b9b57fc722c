"""Every key that a topic file may have stands in the guide, with its default and what it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pydantic
import pytest

from honeyguide.config.schema import NO_CONTACT, Config

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "topic-file.md").read_text()


def table_of(annotation: object) -> type[pydantic.BaseModel] | None:
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, pydantic.BaseModel):
            return one
    return None


def written(value: object) -> str:
    """A default as it would be written in the file; nothing where there is none."""
    if value is None or value == "":
        return ""
    if value == NO_CONTACT:
        return "names no contact"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    if isinstance(value, tuple):
        return f"`{json.dumps(value)}`"
    if isinstance(value, dict):
        return "`{}`"
    if isinstance(value, float) and value >= 86_400 and value % 86_400 == 0:
        return f'`"{value / 86_400:.0f} d"`'
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and value >= 2**20 and value % 2**20 == 0:
        return f'`"{value >> 20} MiB"`'
    return f"`{value}`"


def rows() -> Iterator[tuple[str, str]]:
    for table, field in Config.model_fields.items():
        model = table_of(field.annotation)
        for key, about in model.model_fields.items() if model else ():
            default = "" if about.is_required() else written(about.get_default())
            yield table, f"| `{key}` | {default} | {' '.join(str(about.description).split())} |"


@pytest.mark.parametrize(("table", "row"), list(rows()))
def test_the_guide_has_every_key(table: str, row: str) -> None:
    head = f"[[{table}]]" if table == "discovery" else f"[{table}]"
    assert f"### `{head}`" in GUIDE
    assert row in GUIDE.partition(f"### `{head}`")[2].partition("\n#")[0]
