"""Label tables: which page belongs to which site and class (`url`, `site`, `label`; tab-separated)."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from honeyguide.lab.webs.recorded.home import WebError
from honeyguide.web import canonical

_OTHER_SCHEMES = re.compile(r"(?i)(?!https?:)[a-z][a-z0-9+.-]*:")
MAX_BYTES = 512 * 1024 * 1024


class LabelRow(msgspec.Struct, frozen=True):
    """One line of a label table."""

    url: str
    """As written."""
    site: str
    label: str
    line: int


class LabelTable(msgspec.Struct, frozen=True):
    """A label table by canonical URL. A page may have several labels; they stay in the table's order."""

    labels: dict[str, tuple[str, ...]] = {}
    sites: dict[str, str] = {}
    lines: dict[str, int] = {}
    """Line that names a page first."""
    unfetchable: int = 0
    """Rows with addresses that are not of the web (ftp, file): no crawler of ours can ask for them."""


def read_labels(path: Path) -> LabelTable:
    """Read a label table.

    Raises:
        WebError: It cannot be read, lacks a column, or has a malformed row; with its line.
    """
    rows = read_rows(path)
    labels: dict[str, dict[str, None]] = {}
    sites: dict[str, str] = {}
    lines: dict[str, int] = {}
    unfetchable = 0
    for row in rows:
        url = canonical(row.url)
        if url is None:
            if not _OTHER_SCHEMES.match(row.url):
                raise WebError(f"{path}, line {row.line}: {row.url[:200]!r} is not a valid URL; correct it")
            unfetchable += 1
            continue
        if row.label:
            labels.setdefault(url, {})[row.label] = None
        if row.site:
            sites.setdefault(url, row.site)
        lines.setdefault(url, row.line)
    return LabelTable({url: tuple(names) for url, names in labels.items()}, sites, lines, unfetchable)


def read_rows(path: Path) -> list[LabelRow]:
    """The rows of a label table. `url` and `label` are needed, `site` is not; the order does not matter."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WebError(f"{path} is larger than {MAX_BYTES >> 20} MiB; is it a label table?")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise WebError(f"{path}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise WebError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8") from error
    lines = text.split("\n")
    names = lines[0].rstrip("\r").split("\t")
    missing = [name for name in ("url", "label") if name not in names]
    if missing:
        raise WebError(
            f"{path}: no column {' and '.join(missing)} in its first line;"
            " a label table has url, site and label, separated by tabs"
        )
    places = {name: names.index(name) for name in ("url", "site", "label") if name in names}
    rows = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue
        if len(fields) != len(names):
            raise WebError(
                f"{path}, line {number}: {len(fields)} columns instead of {len(names)}; correct it"
            )
        values = {name: fields[place].strip() for name, place in places.items()}
        rows.append(LabelRow(values["url"], values.get("site", ""), values["label"], number))
    return rows


def write_rows(path: Path, rows: list[tuple[str, str, str]]) -> None:
    """Write a label table of (url, site, label)."""
    lines = ["url\tsite\tlabel", *("\t".join(_field(value) for value in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _field(value: str) -> str:
    return " ".join(value.split())
