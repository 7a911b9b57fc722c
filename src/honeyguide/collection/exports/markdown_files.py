"""The pages as clean Markdown: a folder with a file per page, or one file with a JSON object per page.

Each file begins with front matter (YAML whose values are JSON, which any YAML reader takes): where the page
came from, when, and what the crawl thought of it. What follows is the page's own text and as untrustworthy
as the web: it may hold instructions for a language model as well as anything else.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from honeyguide.collection.exports.left_out import Trouble, log_trouble
from honeyguide.collection.exports.page_rows import page_rows
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.markdown import MarkdownMaker
from honeyguide.engine.reread import Reader
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding
from honeyguide.store.atomic import replacing, replacing_folder

MARKER = "pages.jsonl"
"""Lists the files of a folder; one that has it may be replaced."""
FACTS = (
    "url", "title", "language", "score", "on_topic", "review", "fetched_at", "digest", "duplicate_of",
    "warc_file", "warc_offset",
)  # fmt: skip
"""Columns of the front matter, in this order."""
MOST_BODY = 8 << 20
_NAME_LETTERS = 60
MOST_TITLE = 500
_DASHES = re.compile("-+")


class MarkdownPages:
    """The selected pages one after the other, each with its facts and its Markdown."""

    def __init__(
        self, selection: Selection, archive: Path, maker: MarkdownMaker, trouble: Trouble = log_trouble
    ) -> None:
        self._trouble = trouble
        self._selection = selection
        self._reader = Reader(selection.state, archive, blocks=False, max_bytes=MOST_BODY)
        self._maker = maker

    def read(self, progress: Progress = silent) -> Iterator[tuple[int, dict[str, object], str]]:
        """Number, facts and Markdown of each page; one whose copy is missing or damaged has no Markdown."""
        selection = self._selection
        rows = page_rows(selection, progress=progress)
        for page, row in zip(selection.pages(), rows, strict=True):
            markdown = ""
            if page.file:
                try:
                    body, content_type, _ = self._reader.document(page)
                except BadEncoding:
                    body, content_type = b"", ""
                except CollectionError as error:
                    self._trouble(page.url, str(error))
                    body, content_type = b"", ""
                if body:
                    markdown = self._maker.make(body, url=page.url, content_type=content_type)
            yield page.number, {name: row[name] for name in FACTS}, markdown


def front_matter(facts: dict[str, object]) -> str:
    r"""The head of a file.

    Example:
        >>> print(front_matter({"url": "https://example.org/", "title": 'A "barn" owl'}), end="")
        ---
        url: "https://example.org/"
        title: "A \"barn\" owl"
        ---
    """
    lines = [f"{name}: {_json(value)}" for name, value in facts.items() if value not in ("", None)]
    return "\n".join(["---", *lines, "---", ""])


def file_name(number: int, title: str, url: str) -> str:
    """A name that sorts by fetching and says what is in the file.

    Example:
        >>> file_name(12, "Owls of Europe: a list", "https://example.org/")
        '000012-owls-of-europe-a-list.md'
        >>> file_name(3, "Der Bücherwurm: 猫头鹰", "https://example.org/")
        '000003-der-bucherwurm-猫头鹰.md'
    """
    slug = _letters(title)[:_NAME_LETTERS].strip("-") or _letters(url.partition("://")[2])[
        :_NAME_LETTERS
    ].strip("-")
    return f"{number:06d}{'-' + slug if slug else ''}.md"


def _letters(text: str) -> str:
    """Small letters and digits of all scripts, Latin ones without accents, and `-` for everything else."""
    kept = ""
    for one in unicodedata.normalize("NFKD", text.lower()[:MOST_TITLE]):
        if unicodedata.category(one)[0] == "M":
            kept += "" if not kept or kept[-1].isascii() else one
        else:
            kept += one if one.isalnum() else "-"
    return _DASHES.sub("-", unicodedata.normalize("NFC", kept))


def write_markdown_files(pages: MarkdownPages, folder: Path, *, progress: Progress = silent) -> int:
    """Write a folder of Markdown files and a list of them; how many pages.

    Raises:
        CollectionError: The folder holds other files or cannot be written.
    """
    count = 0
    with (
        replacing_folder(folder, made_by=(MARKER,)) as work,
        (work / MARKER).open("w", encoding="utf-8", errors="replace", newline="\n") as listing,
    ):
        for number, facts, markdown in pages.read(progress):
            name = file_name(number, str(facts["title"]), str(facts["url"]))
            text = f"{front_matter(facts)}\n{markdown}\n"
            (work / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
            listing.write(_json({"file": name, **facts}) + "\n")
            count += 1
    return count


def write_markdown_lines(pages: MarkdownPages, path: Path, *, progress: Progress = silent) -> int:
    """Write one JSON object per page, its Markdown under `markdown`; how many pages.

    Raises:
        CollectionError: The file cannot be written.
    """
    count = 0
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as file,
    ):
        for _, facts, markdown in pages.read(progress):
            file.write(_json({**facts, "markdown": markdown}) + "\n")
            count += 1
    return count


def _json(value: object) -> str:
    """Letters of all scripts as they are, so that people and `grep` can read them."""
    return json.dumps(value, ensure_ascii=False)
