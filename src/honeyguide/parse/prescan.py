"""A linear look at a document before the tree is built, because the tree builder is not linear.

Lexbor walks its stack of open elements for most tags, compares each attribute with all earlier ones of
its tag, and merges the attributes of every further `<body>`: nested tags, attribute floods and body
floods cost quadratic time (200 KB of `<div>` or 340 KB of attributes on one tag: seconds). A size cap does
not help. So:

- a body that starts like a picture, an archive or a program is refused: it is not a page;
- beyond `MAX_BYTES` and beyond `MAX_TAGS` tags the document is cut: time is bounded whatever follows;
- start tags nested deeper than `MAX_DEPTH`, and the end tags that belong to them, are taken out while
  their text stays, so a 1990s page with a thousand unclosed `<font>` keeps its words;
- a tag with more than `MAX_ATTRIBUTES` attributes keeps its name only;
- every `<html>` and `<body>` after the 16th is taken out.

The nesting scan runs only on documents with more than `SAFE_TAGS` start tags: fewer cannot cost
more than some 40 ms, whatever their shape. Cost on a usual page of 33 KB: a few dozen µs.

The scan is a guard against what is common, not a proof: it does not follow every state of the HTML
tokeniser (a `>` in a quoted value hides attributes from it). What slips through meets the deadline
of the worker process (`honeyguide.parse.pool`).
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from honeyguide.native import native

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_TAGS: Final = 60_000
MAX_DEPTH: Final = 512
MAX_ATTRIBUTES: Final = 1_000
SAFE_TAGS: Final = 4_000
"""Up to this many start tags the tree builder is quick enough even in the worst case."""
MAX_BODIES: Final = 16

_LONG_TAG: Final = 2 * MAX_ATTRIBUTES
_FLOOD = re.compile(rb"<[a-zA-Z][^<>]{%d,}" % _LONG_TAG)
_NAME = re.compile(rb"<[a-zA-Z][^\s/>]{0,63}")
_ATTRIBUTE = re.compile(rb"""[^\s/>=][^\s/>=]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?""")
_TAG = re.compile(rb"<(?:(/?)([a-zA-Z][^\s/>]*)|(!--))")
_RAW_TEXT: Final = frozenset(
    (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes", b"noscript")
)
_VOID: Final = frozenset(
    b"area base basefont bgsound br col embed frame hr img input keygen link meta param source track"
    b" wbr".split()
)
# A start tag ends an open element of these names first, as the HTML rules have it.
_CLOSES: Final[dict[bytes, frozenset[bytes]]] = {
    b"p": frozenset((b"p",)),
    b"li": frozenset((b"li", b"p")),
    b"dt": frozenset((b"dt", b"dd", b"p")),
    b"dd": frozenset((b"dt", b"dd", b"p")),
    b"tr": frozenset((b"tr", b"td", b"th")),
    b"td": frozenset((b"td", b"th")),
    b"th": frozenset((b"td", b"th")),
    b"tbody": frozenset((b"tbody", b"thead", b"tfoot", b"tr", b"td", b"th")),
    b"option": frozenset((b"option",)),
    b"optgroup": frozenset((b"option", b"optgroup")),
    b"a": frozenset((b"a",)),
}
_PARAGRAPH: Final = frozenset((b"p",))
_BLOCKS: Final = frozenset(
    b"address article aside blockquote center div dl fieldset footer form h1 h2 h3 h4 h5 h6 header hr main"
    b" nav ol pre section table ul".split()
)
_MAGIC: Final = (
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program"),
    (b"RIFF", "an audio, video or WebP file"),
    (b"OggS", "an Ogg file"),
    (b"ID3", "an MP3 file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
_MAGIC_BYTES: Final = tuple(magic for magic, _ in _MAGIC)


class Prescan(msgspec.Struct, frozen=True):
    """What may be given to the tree builder, or why nothing may."""

    body: bytes
    refusal: str = ""
    """Why the document is not a page; empty when `body` can be parsed."""
    repairs: tuple[str, ...] = ()
    """What was cut or taken out."""


def refusal_of(body: bytes) -> str:
    """Why a body is certainly no page, judged by its first bytes; empty when it may be one.

    Example:
        >>> refusal_of(b"GIF89a...")
        'the body is a GIF picture, whatever its content type says'
    """
    head = body[:8]
    if not head.startswith(_MAGIC_BYTES):
        return ""
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return f"the body is {what}, whatever its content type says"
    return ""


def prescan(body: bytes) -> Prescan:
    """Check an HTML document (in UTF-8 or another superset of ASCII) and take its bombs apart.

    Example:
        >>> prescan(b"<p>fine</p>").repairs
        ()
        >>> prescan(b"<div>" * 9000 + b"deep").repairs
        ('8488 tags nested deeper than 512 taken out',)
    """
    if refusal := refusal_of(body):
        return Prescan(b"", refusal)
    repairs: list[str] = []
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        repairs.append(f"cut after {MAX_BYTES} bytes")
    longest, tags, ends = _tag_counts(body)
    if longest > _LONG_TAG and _FLOOD.search(body):
        body = _without_floods(body, repairs)
    # An end tag that closes nothing costs a look at the whole stack, and `</p>` even makes an element.
    if tags > MAX_TAGS or (tags > SAFE_TAGS and tags - ends > SAFE_TAGS):
        body = _flattened(body, repairs)
    return Prescan(body, "", tuple(repairs))


def _tag_counts(body: bytes) -> tuple[int, int, int]:
    """At least the length of the longest tag, and how many `<` and `</` there are."""
    if native is not None:
        return native.tag_counts(body)
    return len(body), body.count(b"<"), body.count(b"</")


def _without_floods(body: bytes, repairs: list[str]) -> bytes:
    """Long tags with too many attributes, reduced to their name."""
    floods = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal floods
        name = _NAME.match(match[0])
        assert name is not None
        count = 0
        for count, _ in enumerate(_ATTRIBUTE.finditer(match[0], name.end()), start=1):
            if count > MAX_ATTRIBUTES:
                floods += 1
                return name[0]
        return match[0]

    body = _FLOOD.sub(replaced, body)
    if floods:
        repairs.append(f"attributes of {floods} tags with more than {MAX_ATTRIBUTES} taken out")
    return body


class _Nesting:
    """A model of the stack of open elements: near enough to bound its depth, amortised linear."""

    def __init__(self) -> None:
        self.stack: list[bytes] = []
        self.counts: dict[bytes, int] = {}
        self.left_out: dict[bytes, int] = {}
        self.roots = 0

    def start(self, name: bytes) -> bool:
        """Open an element; False when its tag has to be taken out."""
        if name in (b"html", b"body"):
            self.roots += 1
            return self.roots <= MAX_BODIES
        closed = _CLOSES.get(name) or (_PARAGRAPH if name in _BLOCKS else None)
        stack, counts = self.stack, self.counts
        if closed:
            while stack and stack[-1] in closed:
                counts[stack.pop()] -= 1
        if name in _VOID:
            return True
        if len(stack) >= MAX_DEPTH:
            self.left_out[name] = self.left_out.get(name, 0) + 1
            return False
        stack.append(name)
        counts[name] = counts.get(name, 0) + 1
        return True

    def end(self, name: bytes) -> bool:
        """Close an element; False when the end tag belongs to a start tag that was taken out."""
        if self.left_out.get(name):
            self.left_out[name] -= 1
            return False
        stack, counts = self.stack, self.counts
        if counts.get(name):
            while (top := stack.pop()) != name:
                counts[top] -= 1
            counts[name] -= 1
        return True


def _flattened(body: bytes, repairs: list[str]) -> bytes:
    """The document without tags that are too deep, cut where it has too many."""
    nesting = _Nesting()
    kept: list[bytes] = []
    copied = position = tags = taken = 0
    search = _TAG.search
    while match := search(body, position):
        position = match.end()
        if match[3]:
            position = _after(body, b"-->", position)
            continue
        tags += 1
        # Tags that are taken out cost the tree builder nothing, but they do cost this loop.
        if tags - taken > MAX_TAGS or tags > 4 * MAX_TAGS:
            repairs.append(f"cut after {MAX_TAGS} tags")
            body = body[: match.start()]
            break
        name = match[2].lower()
        if not (nesting.end(name) if match[1] else nesting.start(name)):
            taken += 1
            kept.append(body[copied : match.start()])
            position = copied = _after(body, b">", position)
        elif not match[1] and name in _RAW_TEXT:
            position = _after_raw_text(body, name, position)
    if taken:
        repairs.append(f"{taken} tags nested deeper than {MAX_DEPTH} taken out")
        kept.append(body[copied:])
        return b"".join(kept)
    return body


def _after(body: bytes, mark: bytes, position: int) -> int:
    found = body.find(mark, position)
    return len(body) if found < 0 else found + len(mark)


def _after_raw_text(body: bytes, name: bytes, position: int) -> int:
    """Where the end tag of an element starts whose content is not markup."""
    found = re.compile(b"</" + re.escape(name), re.IGNORECASE).search(body, position)
    return len(body) if found is None else found.start()
