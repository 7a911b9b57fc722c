"""The report of an experiment on one page of HTML, without any other file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from honeyguide.lab.runner.tables import UPPER_BOUND, ReportTable

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 72rem; margin: 2rem auto; }
body { padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th { text-align: left; border-bottom: 2px solid #888; vertical-align: bottom; }
td, th { padding: .25rem .7rem .25rem 0; } tr + tr td { border-top: 1px solid #e4e4e4; }
tr.bound td { color: #666; font-style: italic; } td { white-space: nowrap; }
img { max-width: 100%; } .note { color: #555; font-size: .85rem; max-width: 50rem; }
p { max-width: 50rem; white-space: pre-line; }
"""

_POLICY = (
    "<meta http-equiv='Content-Security-Policy' "
    "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
)


def html_report(
    title: str,
    paragraphs: Sequence[str],
    tables: Sequence[ReportTable],
    *,
    figures: Sequence[Path] = (),
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """One page: what was found, tables, figures, and what they were made from.

    Args:
        title: Of the page.
        paragraphs: Texts, the first on top.
        tables: As in the Markdown.
        figures: PNG files; they become part of the page.
        facts: Names and values for the end of the page: versions, digests.
    """
    parts = [f"<h1>{escape(title)}</h1>"]
    parts += [f"<p>{escape(text.strip())}</p>" for text in paragraphs if text.strip()]
    parts += [_table(table) for table in tables[:1]]
    parts += [_image(path) for path in figures]
    parts += [_table(table) for table in tables[1:]]
    if facts:
        lines = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts)
        parts.append(f"<h2>Made from</h2><div class='scroll'><table>{lines}</table></div>")
    head = f"<meta charset='utf-8'><title>{escape(title)}</title><style>{_STYLE}</style>"
    body = "\n".join(parts)
    return f"<!doctype html>\n<html lang='en'><head>{_POLICY}{head}</head>\n<body>\n{body}\n</body></html>\n"


def _table(table: ReportTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr{' class=bound' if row and row[0] == UPPER_BOUND else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>\n"
        for row in table.rows
    )
    note = f"<p class='note'>{escape(table.note.strip())}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2><div class='scroll'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _image(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f"<p><img alt='{escape(path.stem)}' src='data:image/png;base64,{data}'></p>"
