"""Sitemaps and feeds: what a site says of its own pages.

XML sitemaps, sitemap indexes, plain text sitemaps, RSS and Atom are read from bytes that may be
hostile. No tree is built: the parser calls back for each tag and only a few fields are kept, so
memory does not grow with the document. Entities are not resolved, nothing is loaded from outside,
nesting is limited by the XML library, and everything has a limit.

An entry counts only when it belongs to the registered domain of the sitemap itself: a site may
not hand out addresses of others.

References:
    sitemaps.org protocol 0.9; RSS 2.0; RFC 4287 (Atom).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Final

import msgspec
from lxml import etree

from honeyguide.web.domain import registered_domain
from honeyguide.web.url import canonical, host_key

MAX_URLS: Final = 50_000
MAX_BYTES: Final = 50 * 1024 * 1024
"""Both limits are those of the protocol; what is beyond them is ignored."""
MAX_TAGS: Final = 2_000_000
"""A document with more tags than 50,000 rich entries need is not read to its end."""
MAX_NESTING: Final = 64
"""Real sitemaps and feeds nest less than ten deep."""
MAX_FIELD: Final = 8192
"""Characters kept of one field."""
MAX_MEMBERS: Final = 64
"""Gzip members read of one file."""
GZIP_MAGIC: Final = b"\x1f\x8b"

_CHUNK: Final = 65_536
_ROOTS: Final = {"urlset": "urlset", "sitemapindex": "index", "rss": "rss", "rdf": "rss", "feed": "atom"}
_ENTRIES: Final = {"urlset": "url", "index": "sitemap", "rss": "item", "atom": "entry"}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?)?)?")
_PRIORITY = re.compile(r"(0(\.\d+)?|1(\.0+)?|\.\d+)")


class Entry(msgspec.Struct, frozen=True):
    """One page a sitemap or feed names."""

    url: str
    """Canonical URL."""
    lastmod: str = ""
    """ISO 8601 date or time, or empty when none (or nonsense) is given."""
    priority: float = 0.5
    """The site's own opinion in 0..1; the protocol's default is 0.5."""


class Sitemap(msgspec.Struct, frozen=True):
    """What a sitemap or feed contains."""

    urls: tuple[Entry, ...] = ()
    indexes: tuple[str, ...] = ()
    """Canonical URLs of further sitemaps."""
    kind: str = ""
    """`urlset`, `index`, `text`, `rss`, `atom`, or empty when it is none of them."""


class _Full(Exception):
    """A limit was reached: keep what is there and stop reading."""


class _Target:
    """Receives the parser's calls and keeps one dictionary of fields for each entry."""

    def __init__(self) -> None:
        self.kind = ""
        self.entries: list[dict[str, str]] = []
        self._path: list[str] = []
        self._entry: dict[str, str] | None = None
        self._field = ""
        self._tags = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """A tag opens."""
        self._tags += 1
        if self._tags > MAX_TAGS or len(self._path) > MAX_NESTING:
            raise _Full
        name = tag.rpartition("}")[2].lower()
        if not self._path:
            self.kind = _ROOTS.get(name, "")
            if not self.kind:
                raise _Full
        parent = self._path[-1] if self._path else ""
        self._path.append(name)
        opener = _ENTRIES[self.kind]
        if name == opener:
            self._entry = {}
        elif self._entry is not None and parent == opener:
            self._field = name
            if name == "link" and self.kind == "atom":
                self._atom_link(attributes)
            if name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
                self._field = ""

    def _atom_link(self, attributes: Mapping[str, str]) -> None:
        """Atom names the page in an attribute; the relation `alternate` is the default."""
        assert self._entry is not None
        if attributes.get("rel", "alternate") == "alternate":
            self._entry.setdefault("link", attributes.get("href", "")[:MAX_FIELD])
        self._field = ""

    def data(self, text: str) -> None:
        """Text between tags."""
        if self._field and self._entry is not None:
            before = self._entry.get(self._field, "")
            if len(before) < MAX_FIELD:
                self._entry[self._field] = before + text[: MAX_FIELD - len(before)]

    def end(self, tag: str) -> None:
        """A tag closes."""
        name = self._path.pop() if self._path else ""
        self._field = ""
        if self._entry is not None and name == _ENTRIES[self.kind]:
            self.entries.append(self._entry)
            self._entry = None
            if len(self.entries) >= MAX_URLS:
                raise _Full

    def close(self) -> None:
        """The document ends."""


def _unpacked(data: bytes, limit: int = MAX_BYTES) -> Iterator[bytes]:
    """The document in small pieces, decompressed where it is gzip; what follows damage is dropped."""
    if not data.startswith(GZIP_MAGIC):
        for start in range(0, min(len(data), limit), _CHUNK):
            yield data[start : min(start + _CHUNK, limit)]
        return
    left = limit
    for _ in range(MAX_MEMBERS):  # counted, because each costs a copy of what follows it
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        rest = data
        while left > 0 and not stream.eof:
            try:
                piece = stream.decompress(rest, min(left, _CHUNK))
            except zlib.error:
                return
            rest = stream.unconsumed_tail
            left -= len(piece)
            if piece:
                yield piece
            elif not rest:
                break
        data = stream.unused_data
        if left <= 0 or not data.startswith(GZIP_MAGIC):
            return


def gunzip_limited(data: bytes, limit: int = MAX_BYTES) -> bytes:
    """Decompress gzip data up to `limit` bytes; the rest, and what follows damage, is dropped.

    Example:
        >>> import gzip
        >>> gunzip_limited(gzip.compress(b"x" * 1000), 10)
        b'xxxxxxxxxx'
    """
    return b"".join(_unpacked(data, limit)) if data.startswith(GZIP_MAGIC) else b""


def _read_xml(pieces: Iterable[bytes]) -> _Target:
    """Run the parser over the document; damage ends it, what was read before is kept."""
    target = _Target()
    parser = etree.XMLParser(
        target=target,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
    )
    try:
        fed = 0
        for piece in pieces:
            parser.feed(piece)
            fed += len(piece)
            if not target.kind and fed > _CHUNK:
                break  # no element yet: this is not XML, and the parser would keep it all
        parser.close()
    except (_Full, etree.LxmlError):
        pass
    return target


def _date(text: str) -> str:
    """An ISO 8601 date from what sitemaps and feeds write, or an empty string."""
    text = text.strip()
    if _DATE.fullmatch(text):
        return text
    try:
        return parsedate_to_datetime(text[:64]).isoformat()
    except (ValueError, OverflowError):
        return ""


def epoch_of(lastmod: str) -> float:
    """Epoch seconds of an entry's date, of a day its end (UTC where it names no zone); 0 when it has none.

    Example:
        >>> epoch_of("1970-01-02"), epoch_of("1970-01-01T00:00:05Z"), epoch_of("")
        (172799.0, 5.0, 0.0)
    """
    try:
        moment = datetime.fromisoformat(lastmod)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if "T" not in lastmod:  # sometime on that day
        moment += timedelta(days=1, seconds=-1)
    return moment.timestamp()


def _entry(fields: Mapping[str, str], *, url: str) -> Entry | None:
    """An entry from its raw fields, or None when it names no web page of this site."""
    named = fields.get("loc") or fields.get("link") or fields.get("guid") or ""
    found = canonical(named.strip(), url) if named.strip() else None
    if found is None:
        return None
    date = fields.get("lastmod") or fields.get("updated") or fields.get("pubdate") or fields.get("date") or ""
    priority = fields.get("priority", "").strip()
    return Entry(found, _date(date), float(priority) if _PRIORITY.fullmatch(priority) else 0.5)


def _own(entries: Iterable[Entry | None], url: str) -> tuple[Entry, ...]:
    """Entries of the sitemap's own registered domain, each URL once, in order."""
    domain = registered_domain(host_key(url))
    kept: dict[str, Entry] = {}
    for entry in entries:
        if entry is not None and registered_domain(host_key(entry.url)) == domain:
            kept.setdefault(entry.url, entry)
    return tuple(kept.values())


def _text_lines(pieces: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """The addresses of a plain text sitemap: one a line, absolute."""
    count = 0
    kept = b""
    for piece in chain(pieces, (b"\n",)):
        *lines, kept = (kept + piece).splitlines(keepends=True) or [b""]
        if kept.endswith((b"\n", b"\r")):
            lines, kept = [*lines, kept], b""
        kept = kept[: 4 * MAX_FIELD]
        for line in lines:
            count += 1
            if count > MAX_URLS:
                return
            text = line[: 4 * MAX_FIELD].decode("utf-8-sig", "replace").strip()
            if text.lower().startswith(("http://", "https://")):
                yield {"loc": text[:MAX_FIELD]}


def parse_sitemap(body: bytes, url: str) -> Sitemap:
    r"""Read a sitemap, a sitemap index or a feed.

    Args:
        body: The document; when it is still gzipped (`sitemap.xml.gz`), it is decompressed here.
        url: Canonical URL it was fetched from: the base of its addresses and the judge of which
            of them it may name.

    Example:
        >>> parse_sitemap(b"http://a.org/x\nhttp://b.org/y", "http://a.org/sitemap.txt").urls
        (Entry(url='http://a.org/x', lastmod='', priority=0.5),)
    """
    pieces = _unpacked(body)
    first = next((start for piece in pieces if (start := piece.lstrip())), b"")
    whole = chain((first,), pieces)
    # XML may also come in UTF-16; plain lists of addresses never begin like this.
    if first[:1] in {b"<", b"\xff", b"\xfe", b"\x00"} or first.startswith(b"\xef\xbb\xbf<"):
        target = _read_xml(whole)
        found = _own((_entry(fields, url=url) for fields in target.entries), url)
        if target.kind == "index":
            return Sitemap(indexes=tuple(entry.url for entry in found), kind="index")
        return Sitemap(urls=found, kind=target.kind)
    urls = _own((_entry(fields, url=url) for fields in _text_lines(whole)), url)
    return Sitemap(urls=urls, kind="text" if urls else "")
