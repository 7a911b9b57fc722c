"""Which licences pages name, read from a sample of the archive."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding, codings, decode
from honeyguide.store.archive_reader import ArchivedResponse, read_record, read_rendered
from honeyguide.store.records import PageRecord
from honeyguide.web.url import canonical

SAMPLE = 1_000
_PREFIX_BYTES = 512 * 1024
_TAG = re.compile(rb"<(?:a|link|area|meta)\s[^<>]{1,2000}>", re.IGNORECASE)
_REL = re.compile(r"""\brel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_HREF = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_META = re.compile(
    r"""\b(?:name|property)\s*=\s*["']?(?:dc|dcterms)\.(?:rights|license)["'\s]""", re.IGNORECASE
)
_CONTENT = re.compile(r"""\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_LINK_HEADER = re.compile(r'<([^<>]{1,2000})>\s*;[^,]*\brel="?license\b', re.IGNORECASE)
_SPACES = re.compile(r"\s+")


class Licences(msgspec.Struct, frozen=True):
    """What a sample of pages says about its licences."""

    looked_at: int
    """Pages whose archived copy was read."""
    naming: int
    """Pages among them that name a licence."""
    seen: tuple[tuple[str, int], ...]
    """Address or text of a licence and number of pages, most frequent first."""


def licences(
    selection: Selection, archive: Path, *, sample: int = SAMPLE, progress: Progress = silent
) -> Licences:
    """Licences named in an even sample of the selected pages.

    `rel="license"` links, `Link` headers and Dublin Core rights in meta elements are read from the first
    512 KB of each page. What a page names is what its author claims; it is not legal advice.
    """
    rows = selection.rows
    step = max(1, -(-len(rows) // max(1, sample)))
    chosen = rows[::step].tolist()
    seen: Counter[str] = Counter()
    looked_at = naming = 0
    for number, row in enumerate(chosen, 1):
        page = selection.state.page_by_row(row)
        source = selection.state.holder_of(page.digest) if page and page.duplicate_of else page
        progress(number, len(chosen))
        if page is None or source is None:
            continue
        try:
            answer = _answer(archive, source)
        except CollectionError:
            continue  # A datasheet of a damaged archive is better than none; it says how many were read.
        looked_at += 1
        found = set(licences_of(answer, page.url))
        naming += bool(found)
        seen.update(found)
    ranked = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return Licences(looked_at, naming, tuple(ranked[:50]))


def _answer(archive: Path, page: PageRecord) -> ArchivedResponse:
    """The archived answer, with the rendered document for a body where the page was rendered."""
    place = (archive, page.file, page.offset, page.length)
    answer = read_record(*place)
    rendered = read_rendered(*place) if answer.digest != page.digest else None
    if rendered is None:
        return answer
    headers = tuple(pair for pair in answer.headers if pair[0].lower() != "content-encoding")
    return msgspec.structs.replace(answer, payload=rendered, headers=headers)


def licences_of(answer: ArchivedResponse, url: str) -> Iterator[str]:
    """Licences that one answer names: absolute addresses, or short texts."""
    for target in _LINK_HEADER.findall(answer.header("link")):
        yield _address(target, url)
    for tag in _TAG.findall(_body(answer)):
        text = tag.decode("utf-8", "replace")
        if rel := _REL.search(text):
            words = (rel[1] or rel[2] or rel[3] or "").lower().split()
            if "license" in words and (href := _HREF.search(text)):
                yield _address(html.unescape(href[1] or href[2] or href[3] or ""), url)
        elif _META.search(text) and (value := _CONTENT.search(text)):
            yield _SPACES.sub(" ", html.unescape(value[1] or value[2] or "")).strip()[:200]


def _address(target: str, url: str) -> str:
    return (canonical(target, url) or target)[:500]


def _body(answer: ArchivedResponse) -> bytes:
    """The first bytes of a body without its content coding; empty when it cannot be decoded."""
    try:
        return decode(answer.payload, codings(answer.encoding), _PREFIX_BYTES)[0]
    except BadEncoding:
        return b""
