"""Seeds from a file people already have: a list, a CSV, bookmarks, a sitemap, a feed, subscriptions."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

from honeyguide.errors import TopicError
from honeyguide.web.url import canonical

_FILES = frozenset({".txt", ".csv", ".tsv", ".html", ".htm", ".xml", ".json", ".jsonl", ".toml", ".list"})
MOST_BYTES = 64 << 20
_LOC = re.compile(r"<loc>\s*(?:<!\[CDATA\[)?\s*([^<\]\s]+)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`()\[\]{}\\]+", re.IGNORECASE)
_NO_TEXT = {
    b"PK\x03\x04": "is packed, as spreadsheets are; save its addresses as CSV or text",
    b"\xd0\xcf\x11\xe0": "is an old spreadsheet or document; save its addresses as CSV or text",
    b"%PDF": "is a PDF; save its addresses as text",
}
_ENTITY = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'"}


class _Links(HTMLParser):
    """Addresses of the links of a bookmarks file."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


class _Feed(HTMLParser):
    """Addresses of subscriptions (OPML), and of the entries of a feed (RSS, Atom)."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self._inside = tag == "link"
        if tag == "outline":  # the site, else its feed
            self.found += [said.get("htmlurl") or said.get("xmlurl") or ""]
        elif tag == "link" and said.get("rel") in (None, "alternate"):
            self.found += [said.get("href") or ""]

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found.append(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith("CDATA["):
            self.handle_data(data.removeprefix("CDATA["))


def read_seeds(path: Path) -> tuple[str, ...]:
    """The web addresses of a file, each once, in order.

    Args:
        path: Bookmarks as browsers export them (HTML), a sitemap, a feed or a list of feeds (XML), a CSV with
            addresses in any column, or a text file with one address a line; lines that begin with `#` are
            comments. From JSON, Markdown and other text all addresses are taken. It may be packed with gzip.

    Raises:
        TopicError: It cannot be read, or holds no address.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise TopicError(f"{path} has more than {MOST_BYTES >> 20} MiB; take a part of it")
        data = _unpacked(path, path.read_bytes())
        for start, what in _NO_TEXT.items():
            if data.startswith(start):
                raise TopicError(f"{path} {what}")
        text = _decoded(data)
    except OSError as error:
        raise TopicError(f"{path}: {error.strerror}; check the name") from error
    try:
        candidates = _candidates(text)
    except TopicError as error:
        raise TopicError(f"{path}: {error}") from None
    seeds = [url for found in candidates if (url := canonical(found.strip()))]
    if not seeds:
        raise TopicError(f"{path} holds no web address; write one a line, such as https://example.org/")
    return tuple(dict.fromkeys(seeds))


def refuse_files(words: Sequence[str]) -> None:
    """Refuse names of files where addresses are expected, with the option that takes them.

    Raises:
        TopicError: One of them is a file, or looks like one.
    """
    for word in words:
        if "://" in word:
            continue
        first, slash, _ = word.partition("/")
        named = Path(word).suffix.lower() in _FILES and not (slash and "." in first.strip("."))
        if named or Path(word).is_file():
            raise TopicError(f"{word} looks like a file, not an address; use --seeds-file {word}")


def _unpacked(path: Path, data: bytes) -> bytes:
    """Large sitemaps come packed."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.open(io.BytesIO(data)) as file:
            data = file.read(MOST_BYTES + 1)
    except (EOFError, OSError, zlib.error):
        raise TopicError(f"{path} is damaged gzip; unpack it, or get it again") from None
    if len(data) > MOST_BYTES:
        raise TopicError(f"{path} has more than {MOST_BYTES >> 20} MiB; take a part of it")
    return data


def _decoded(data: bytes) -> str:
    """Spreadsheets write UTF-16, with a mark, where they are asked for Unicode."""
    utf_16 = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return data.decode("utf-16" if utf_16 else "utf-8-sig", "replace")


def _separator(lines: list[str]) -> str:
    """What separates the cells of a table: a semicolon where the comma is for decimals, or a tab."""
    for separator in ";\t":
        rows = [row for row in csv.reader(lines, delimiter=separator) if len(row) > 1]
        if len(rows) == len(lines) and any(canonical(cell.strip()) for row in rows for cell in row):
            # Unless they are addresses with a semicolon each.
            return "," if all(canonical(line.strip()) for line in lines) else separator
    return ","


def _candidates(text: str) -> list[str]:
    head = text[:4096].lower()
    if "<urlset" in head or "<sitemapindex" in head:
        return [_plain(found) for found in _LOC.findall(text)]
    if re.search("<(opml|rss|feed|rdf:rdf)[\\s>]", head):
        feed = _Feed()
        feed.feed(text)
        return feed.found
    if head.lstrip()[:1] in ("{", "["):
        return _anywhere(text)
    if "<!doctype" in head or "<html" in head or "<dl>" in head:
        links = _Links()
        links.feed(text)
        return links.found
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = list(csv.reader(lines, delimiter=_separator(lines)))
    if all(len(row) == 1 for row in rows) and any("://" in row[0] for row in rows):
        # A plain list: whoever wrote a line there wants it crawled. The first may be a heading.
        for (cell,) in rows[1:]:
            if canonical(cell.strip()) is None:
                raise TopicError(
                    f"{cell.strip()[:80]!r} is not a web address; write https://..., or # before it"
                )
    cells = [cell for row in rows for cell in row if "://" in cell]
    return cells if any(canonical(cell.strip()) for cell in cells) else _anywhere(text)


def _anywhere(text: str) -> list[str]:
    """Addresses in JSON, Markdown or a letter; stops and commas at their ends belong to the sentence."""
    return [found.rstrip(".,;:!?*_") for found in _ADDRESS.findall(text.replace("\\/", "/"))]


def _plain(text: str) -> str:
    for entity, letter in _ENTITY.items():
        text = text.replace(entity, letter)
    return text
