"""The HTML standard's prescan of a byte stream for its encoding, step by step.

It reads tags and attributes much more crudely than the real parser, and must be just as crude:
another reading would see other declarations than browsers do.

References:
    HTML standard, 13.2.3.2, "prescan a byte stream to determine its encoding".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Labels: TypeAlias = Callable[[str], str | None]
"""From a label to the standard's encoding, or None."""

_WHITE: Final = b"\t\n\f\r "
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
_MARKUP = re.compile(
    rb"<!--|<(script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\t\n\f\r />])|<meta[\t\n\f\r /]",
    re.IGNORECASE,
)
_TAG = re.compile(rb"</?[A-Za-z]")
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*(?:>|([^\t\n\f\r />=]+)(?:[\t\n\f\r ]*=[\t\n\f\r ]*"""
    rb"""(?:"([^"]*)"|'([^']*)'|([^"'>\t\n\f\r ][^>\t\n\f\r ]*)(?=[>\t\n\f\r ])|(?=>))"""
    rb"""|[\t\n\f\r ]+(?=[^\t\n\f\r =])|(?=[/>])))"""
)
"""An attribute as most are written; whatever it does not match is read byte by byte."""
_TAG_NAME_END = re.compile(rb"[\t\n\f\r >]")
_CHARSET_IN_CONTENT = re.compile(r"charset[\t\n\f\r ]*=[\t\n\f\r ]*", re.IGNORECASE)
_UNQUOTED = re.compile(r"[^\t\n\f\r ;]*")
_XML_ENCODING = re.compile(rb"""encoding[\x00-\x20]*=[\x00-\x20]*(["'])([^>]*?)\1""")


class _OutOfBytes(Exception):
    """The bytes ended inside a tag: the prescan ends without a result."""


def prescan(head: bytes, labels: Labels) -> str | None:
    """The encoding declared in the first bytes of a document, or None.

    Args:
        head: The first 1,024 bytes.
        labels: Maps a label to an encoding.
    """
    if head.startswith(b"<\x00?\x00x\x00"):
        return "utf-16le"
    if head.startswith(b"\x00<\x00?\x00x"):
        return "utf-16be"
    try:
        found = _scan(head, labels)
    except _OutOfBytes:
        found = None
    return found or _xml_encoding(head, labels)


def late_declaration(body: bytes, labels: Labels) -> str | None:
    """The encoding that the first `meta` with a known one declares, wherever it stands, or None.

    The prescan ends after 1,024 bytes, but a browser's parser that meets a declaration later on starts
    again with it. Unlike the prescan, a parser sees no `meta` in scripts, styles and other raw text.
    """
    position = 0
    while found := _MARKUP.search(body, position):
        position = found.end()
        if found[0] == b"<!--":
            # As in the prescan: the dashes of `-->` may be those of `<!--`.
            position = body.find(b"-->", position - 2)
        elif found[1]:
            position = _past_raw_text(body, found[1].lower(), position)
        else:
            try:
                encoding, position = _meta(body, position - 1, labels)
            except _OutOfBytes:
                return None
            if encoding is not None:
                return encoding
        if position < 0:
            return None
    return None


def _past_raw_text(body: bytes, name: bytes, position: int) -> int:
    """Where the end tag of a raw text element begins; -1 when there is none."""
    while (position := body.find(b"</", position)) >= 0:
        if body[position + 2 : position + 2 + len(name)].lower() == name:
            return position
        position += 2
    return -1


def _scan(head: bytes, labels: Labels) -> str | None:
    """Walk over comments, tags and other markup until a `meta` decides."""
    position = head.find(b"<")
    while position >= 0:
        if head.startswith(b"<!--", position):
            # The dashes of `-->` may be those of `<!--`.
            position = _past(head, b"-->", position + 2)
        elif _META.match(head, position):
            encoding, position = _meta(head, position + 5, labels)
            if encoding is not None:
                return encoding
        elif _TAG.match(head, position):
            end = _TAG_NAME_END.search(head, position)
            if end is None:
                raise _OutOfBytes
            attribute, position = _attribute(head, end.start())
            while attribute is not None:
                attribute, position = _attribute(head, position)
            position += 1
        elif head[position + 1 : position + 2] in {b"!", b"/", b"?"}:
            position = _past(head, b">", position + 1)
        else:
            position += 1
        position = head.find(b"<", position)
    return None


def _past(head: bytes, mark: bytes, position: int) -> int:
    """The position after the next `mark`."""
    found = head.find(mark, position)
    if found < 0:
        raise _OutOfBytes
    return found + len(mark)


def _meta(head: bytes, position: int, labels: Labels) -> tuple[str | None, int]:
    """Encoding named by a `meta` element whose attributes start at `position`, and where it ends."""
    seen: set[bytes] = set()
    pragma = False
    needs_pragma = False
    named = False
    charset: str | None = None
    attribute, position = _attribute(head, position)
    while attribute is not None:
        name, value = attribute
        if name not in seen:
            seen.add(name)
            if name == b"http-equiv":
                pragma = value == b"content-type"
            elif name == b"content" and not named:
                charset = _from_content(value.decode("latin-1"), labels)
                needs_pragma = named = charset is not None
            elif name == b"charset":
                charset = labels(value.decode("latin-1"))
                needs_pragma = False
                named = True
        attribute, position = _attribute(head, position)
    position += 1
    if charset is None or (needs_pragma and not pragma):
        return None, position
    # The declaration was read as ASCII, so it cannot be true that the page is in UTF-16.
    if charset in {"utf-16le", "utf-16be"}:
        return "utf-8", position
    return "windows-1252" if charset == "x-user-defined" else charset, position


def _at(head: bytes, position: int) -> int:
    """The byte at a position that must exist."""
    if position >= len(head):
        raise _OutOfBytes
    return head[position]


def _skip(head: bytes, skipped: bytes, position: int) -> int:
    """The next position whose byte is not one of `skipped`."""
    while _at(head, position) in skipped:
        position += 1
    return position


def _attribute(head: bytes, position: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """The next attribute in lower case, or None at the end of the tag, and the position after it."""
    usual = _ATTRIBUTE.match(head, position)
    if usual is None:
        return _attribute_by_bytes(head, position)
    name, *values = usual.groups()
    if name is None:
        return None, usual.end() - 1
    return (name.lower(), next((value.lower() for value in values if value), b"")), usual.end()


def _attribute_by_bytes(head: bytes, position: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """The same, as the standard tells it."""
    position = _skip(head, _WHITE + b"/", position)
    if head[position] == ord(">"):
        return None, position
    start = position
    while True:
        byte = _at(head, position)
        if byte == ord("=") and position > start:
            name = head[start:position].lower()
            break
        if byte in _WHITE:
            name = head[start:position].lower()
            position = _skip(head, _WHITE, position)
            if head[position] != ord("="):
                return (name, b""), position
            break
        if byte in b"/>":
            return (head[start:position].lower(), b""), position
        position += 1
    value, position = _value(head, _skip(head, _WHITE, position + 1))
    return (name, value), position


def _value(head: bytes, position: int) -> tuple[bytes, int]:
    """An attribute's value in lower case from its first byte on, and the position after it."""
    first = head[position]
    if first in b"\"'":
        end = head.find(bytes((first,)), position + 1)
        if end < 0:
            raise _OutOfBytes
        return head[position + 1 : end].lower(), end + 1
    start = position
    while _at(head, position) not in _WHITE + b">":
        position += 1
    return head[start:position].lower(), position


def _from_content(text: str, labels: Labels) -> str | None:
    """The encoding in the `content` of a `meta`: what follows `charset=`."""
    found = _CHARSET_IN_CONTENT.search(text)
    if found is None:
        return None
    start = found.end()
    quote = text[start : start + 1]
    if quote in {'"', "'"}:
        end = text.find(quote, start + 1)
        return labels(text[start + 1 : end]) if end >= 0 else None
    unquoted = _UNQUOTED.match(text, start)
    return labels(unquoted[0]) if unquoted and unquoted[0] else None


def _xml_encoding(head: bytes, labels: Labels) -> str | None:
    """The encoding in an XML declaration at the very start."""
    end = head.find(b">")
    if not head.startswith(b"<?xml") or end < 0:
        return None
    found = _XML_ENCODING.search(head, 0, end)
    if found is None or any(byte <= 0x20 for byte in found[2]):
        return None
    encoding = labels(found[2].decode("latin-1"))
    return "utf-8" if encoding in {"utf-16le", "utf-16be"} else encoding
