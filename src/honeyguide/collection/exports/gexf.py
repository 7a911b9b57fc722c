"""The link graph of a collection as GEXF 1.3, which Gephi and most graph libraries open."""

from __future__ import annotations

from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.exports.xml_text import attribute, content
from honeyguide.collection.guarded import host_of, utc
from honeyguide.store.atomic import replacing

_ATTRIBUTES = (
    ("host", "string"),
    ("score", "float"),
    ("relevant", "boolean"),
    ("url", "anyURI"),
    ("language", "string"),
    ("depth", "integer"),
)


def write_gexf(
    selection: Selection,
    path: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    progress: Progress = silent,
) -> int:
    """Write pages as nodes and links between them as directed edges; how many nodes.

    A page that links to another several times has one edge to it, and none to itself. Node identifiers
    are the rows of the collection, so two exports of a growing collection agree. Each page is read twice:
    nodes have to come before edges.
    """
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        _write_head(file, software=software, at=at, title=title)
        file.write("  <nodes>\n")
        for page in selection.pages(lambda done, total: progress(done // 2, total)):
            values = (
                host_of(page.url),
                f"{page.score:.6g}",
                "true" if selection.is_relevant(page.row) else "false",
                page.url,
                page.language,
                str(page.depth),
            )
            cells = "".join(
                f'<attvalue for="{number}" value={attribute(value)}/>' for number, value in enumerate(values)
            )
            label = attribute(page.title or page.url, limit=200)
            file.write(f'   <node id="{page.row}" label={label}><attvalues>{cells}</attvalues></node>\n')
        file.write("  </nodes>\n  <edges>\n")
        half = selection.total // 2
        for number, (source, target) in enumerate(
            _edges(selection, lambda done, total: progress(half + done // 2, total))
        ):
            file.write(f'   <edge id="{number}" source="{source}" target="{target}"/>\n')
        file.write("  </edges>\n </graph>\n</gexf>\n")
    progress(selection.total, selection.total)
    return selection.total


def _write_head(file: TextIOWrapper, *, software: str, at: float, title: str) -> None:
    day = utc(at).date().isoformat()
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
        f' <meta lastmodifieddate="{day}"><creator>{content(software)}</creator>'
        f"<description>{content(title)}</description></meta>\n"
        ' <graph defaultedgetype="directed" mode="static">\n'
        '  <attributes class="node" mode="static">\n'
    )
    for number, (name, kind) in enumerate(_ATTRIBUTES):
        file.write(f'   <attribute id="{number}" title="{name}" type="{kind}"/>\n')
    file.write("  </attributes>\n")


def _edges(selection: Selection, progress: Progress) -> Iterator[tuple[int, int]]:
    """Links among the selected pages, each once."""
    rows = selection.rows
    inside = np.zeros(int(rows.max()) + 1 if len(rows) else 1, np.bool_)
    inside[rows] = True
    for done, row in enumerate(rows.tolist(), 1):
        targets = np.unique(selection.state.links_of(row))
        targets = targets[(targets > 0) & (targets < len(inside)) & (targets != row)]
        for target in targets[inside[targets]].tolist():
            yield row, target
        if done % 64 == 0:
            progress(done, len(rows))
