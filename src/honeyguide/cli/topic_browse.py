"""`honeyguide topic browse`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from honeyguide.cli.output import note, print_table
from honeyguide.topic.taxonomy import children
from honeyguide.topic.taxonomy_file import open_taxonomy
from honeyguide.topic.tokens import layered
from honeyguide.topic.tokens_home import personal_table_file


def browse(
    file: Path,
    path: str = "",
    /,
    *,
    also: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    json: bool = False,
) -> None:
    """List the topics below a node of a taxonomy.

    Args:
        file: ODP RDF dump, tab-separated tree, or labels of a recorded web; may be gzipped.
        path: Node whose topics to list, such as Sports/Basketball or 体育/篮球; without it, the top ones.
        also: Further files of the same tree (ODP: structure and content).
        json: Print JSON.
    """
    table = layered((), personal=personal_table_file())
    found = children(open_taxonomy((file, *also)), path, table=table)
    rows = [msgspec.to_builtins(child) for child in found]
    columns = {"label": "topic", "chinese": "Chinese", "topics": "topics below", "pages": "pages"}
    print_table(rows, columns, json=json, title=path or str(file))
    if not found:
        note(f"{path} has no topics below it")
