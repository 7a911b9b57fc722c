"""A small document (headings, facts, tables, paragraphs, code) that can be written as Markdown or HTML."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_BREAKS = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
# Characters that turn the reading direction could make one address look like another.
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2rem; }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .75rem .25rem 0; text-align: left; }
td { vertical-align: top; }
td { overflow-wrap: anywhere; } pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; }
"""


class Paragraph(msgspec.Struct, frozen=True, tag=True):
    """Running text."""

    text: str


class Rows(msgspec.Struct, frozen=True, tag=True):
    """A table."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Code(msgspec.Struct, frozen=True, tag=True):
    """Text kept as it is."""

    text: str


Block: TypeAlias = Paragraph | Rows | Code


class Section(msgspec.Struct, frozen=True):
    """A heading and what is below it."""

    title: str
    blocks: tuple[Block, ...]


class Datasheet(msgspec.Struct, frozen=True):
    """A title and sections: what the collection is, for people."""

    title: str
    sections: tuple[Section, ...]


def plain(text: str) -> str:
    """One line without control characters."""
    return _BREAKS.sub(" ", _TURNS.sub("", text)).encode("utf-8", "replace").decode().strip()


def marked(text: str) -> str:
    r"""Text that Markdown shows as it is.

    Example:
        >>> print(marked("a|b <i> [x](y)"))
        a\|b \<i\> \[x\](y)
    """
    return _MARKS.sub(r"\\\1", plain(text))


def to_markdown(document: Datasheet) -> str:
    """The document as Markdown."""
    lines = [f"# {marked(document.title)}", ""]
    for section in document.sections:
        lines += [f"## {marked(section.title)}", ""]
        for block in section.blocks:
            lines += [*_markdown(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(block: Block) -> list[str]:
    match block:
        case Paragraph():
            return [marked(block.text)]
        case Rows():
            return [_bar(block.head), _bar(["---"] * len(block.head), raw=True), *map(_bar, block.rows)]
        case Code():
            # Indented code cannot be ended by its own content, as a fence can.
            return [f"    {_TURNS.sub('', line)}" for line in block.text.splitlines()]


def _bar(cells: Sequence[str], *, raw: bool = False) -> str:
    return "| " + " | ".join(cell if raw else marked(cell) for cell in cells) + " |"


def html_body(document: Datasheet) -> str:
    """The document as the inside of a body, everything escaped."""
    parts = [f"<h1>{_text(document.title)}</h1>"]
    for section in document.sections:
        parts.append(f"<h2>{_text(section.title)}</h2>")
        parts += (_html(block) for block in section.blocks)
    return "\n".join(parts) + "\n"


def to_html(document: Datasheet) -> str:
    """The document as a page of its own, without scripts and without anything from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(document.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{html_body(document)}</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Paragraph():
            return f"<p>{_text(block.text)}</p>"
        case Rows():
            head = "".join(f"<th>{_text(cell)}</th>" for cell in block.head)
            body = "\n".join(
                f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in block.rows
            )
            return f"<table>\n<tr>{head}</tr>\n{body}\n</table>"
        case Code():
            return f"<pre>{html.escape(_TURNS.sub('', block.text))}</pre>"


def _text(text: str) -> str:
    return html.escape(plain(text))
