r"""HTTP/1.1 answers, read from bytes as they arrive (RFC 9112). No sockets here.

Servers are taken as they are where that harms nobody: bare line feeds, no reason, folded lines, lines that
are no header, bytes after the stated length, a length beside chunks (the chunks count, as RFC 9112 has it).
A connection that brought one of the last three is not asked again. They are refused where two readers could
differ on where the body ends: two lengths, a transfer coding that nobody asked for, a NUL or a lone carriage
return in the head.

Example:
    >>> reader = AnswerReader()
    >>> reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhoo")
    b'hoo'
    >>> reader.head.status, reader.done, reader.keeps
    (200, True, True)
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from honeyguide.fetch.base import Headers

HEAD_LINES: Final = 4
"""A whole head may be as long as this many of the longest header lines."""
MAX_CHUNK_LINE: Final = 4096
"""Bytes of a line that gives the size of a chunk, extensions and all."""
MAX_FRAMING = 2 << 20
"""Bytes around chunks that a body may have, and twice its own length. Chunks of a byte each are five times as
much, and cost the crawl seconds for a page."""
MAX_TRAILERS: Final = 32 * 1024
MAX_INTERIM: Final = 32
"""Answers of 1xx before the one that counts."""

_STATUS = re.compile(r"HTTP/([0-9])\.([0-9]) +([1-9][0-9]{2})(?: (.*))?", re.DOTALL)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADERS = re.compile(rf"^({_NAME.pattern}):(.*)$", re.MULTILINE)
_FOLDED = re.compile(r"\n[ \t]+")
_LENGTH = re.compile(r"[0-9]{1,18}")
_COMMAS = re.compile(r"[\n,]")
_WHOLE = re.compile(rb"([1-9a-fA-F][0-9a-fA-F]{0,6})\r\n")
_CHUNK = re.compile(rb"[ \t]*0*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?\r?", re.DOTALL)
_FOLD = re.compile(rb"\n[ \t]+")
_TRANSFER = re.compile(rb"\n(transfer-encoding|content-length)[ \t]*:", re.IGNORECASE)
_BODILESS: Final = frozenset({204, 304})


class Head(NamedTuple):
    """Status line and headers of an answer."""

    version: tuple[int, int]
    status: int
    reason: str
    headers: Headers
    raw: bytes
    """As received, up to and with the empty line."""
    fields: dict[str, str]
    """Values by name in lower case; those of a header that comes more than once in lines."""
    odd: bool = False
    """Whether there are lines that are no headers. They stay in `raw`."""

    def archived(self) -> bytes:
        """Status line and headers for the archive.

        The payload is kept without its transfer coding, so `Transfer-Encoding` is renamed to
        `X-Crawler-Transfer-Encoding`, as archive tools expect; otherwise they would look for chunks. So is a
        length beside it, which is not the payload's.
        """
        lines = self.raw.strip(b"\r\n").replace(b"\r\n", b"\n")
        if b"\n " in lines or b"\n\t" in lines:
            lines = _FOLD.sub(b" ", lines)
        if b"transfer-encoding" in lines.lower():
            lines = _TRANSFER.sub(rb"\nX-Crawler-\1:", lines)
        return lines.replace(b"\n", b"\r\n") + b"\r\n\r\n"


class BadHead(ValueError):
    """What came is not the head of an HTTP answer."""


def read_head(raw: bytes, *, max_headers: int = 256, max_line: int = 64 * 1024) -> Head:
    """Read a head that ends with its empty line.

    Raises:
        BadHead: When it is none, or one that could be read in two ways.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\n".join(_text(line) for line in raw.split(b"\n"))
    plain = text.replace("\r\n", "\n").strip("\n")
    if "\r" in plain or "\0" in plain:
        raise BadHead("a NUL or a lone carriage return in the head")
    if "\n " in plain or "\n\t" in plain:
        start, line_feed, rest = plain.partition("\n")
        plain = start + line_feed + _FOLDED.sub(" ", rest)  # the status line is not gone on with
    lines = plain.split("\n")
    if len(raw) > max_line and any(len(line) > max_line for line in lines):
        raise BadHead(f"a header line of more than {max_line} bytes")
    if len(lines) > max_headers + 1:
        raise BadHead(f"more than {max_headers} headers")
    status = _STATUS.fullmatch(lines[0])
    if status is None:
        raise BadHead(f"not an HTTP status line: {lines[0][:80]!r}")
    # All at once where every line is as it should be, as nearly always.
    headers = [(name, value.strip(" \t")) for name, value in _HEADERS.findall(plain, len(lines[0]))]
    odd = False
    if len(headers) != len(lines) - 1:
        headers, odd = _headers(lines[1:])
    fields = {name.lower(): value for name, value in headers}
    if len(fields) != len(headers):
        fields = _joined(headers)
    version = (int(status[1]), int(status[2]))
    return Head(version, int(status[3]), (status[4] or "").strip(), tuple(headers), raw, fields, odd)


def _headers(lines: list[str]) -> tuple[list[tuple[str, str]], bool]:
    """The headers among lines, one by one, and whether there are others: browsers pass over those."""
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.rstrip(" \t")
        if colon and _NAME.fullmatch(name):  # not a second status line, or a warning of PHP's
            headers.append((name, value.strip(" \t")))
    return headers, len(headers) != len(lines)


def _joined(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Values by name; those of a header that comes more than once in lines."""
    fields: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        fields[key] = f"{fields[key]}\n{value}" if key in fields else value
    return fields


def _text(raw: bytes) -> str:
    """UTF-8 where it is valid, else Latin-1 (as HTTP/1.1 once had it)."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _names(values: str) -> list[str]:
    """The names in a list of them, in lower case."""
    if not values:
        return []
    return [name for part in values.lower().replace("\n", ",").split(",") if (name := part.strip())]


class AnswerReader:
    """Reads one answer.

    Args:
        max_headers: Headers an answer may have.
        max_line: Bytes of one header line.
    """

    __slots__ = (
        "_chunked",
        "_closing",
        "_framing",
        "_held",
        "_interim",
        "_left",
        "_max_headers",
        "_max_line",
        "_trailers",
        "done",
        "fault",
        "head",
        "keeps",
    )

    def __init__(self, *, max_headers: int = 256, max_line: int = 64 * 1024) -> None:
        self._max_headers = max_headers
        self._max_line = max_line
        self.head: Head | None = None
        self.done = False
        """Whether the body has come to its end."""
        self.keeps = False
        """Whether the connection may be asked again, once the body has come to its end."""
        self.fault = ""
        """What is wrong with the answer; nothing more is read then."""
        self._held = b""
        """What waits for more: the beginning of a head, or of a line between chunks."""
        self._left: int | None = None
        """Bytes to come of the body or chunk; None: all until the server closes."""
        self._interim = 0
        self._chunked = False
        self._closing = False
        """Whether a chunk has ended and its line end is to come."""
        self._trailers = -1
        """Bytes of trailers read; -1: the last chunk has not come."""
        self._framing = 0
        """Bytes around chunks, less what the chunks held make up for."""

    def feed(self, data: bytes) -> bytes:
        """Take what has arrived; the bytes of the body in it, transfer coding removed."""
        if self.head is None:
            data = self._find_head(data)
            if self.head is None:
                return b""
        if self._chunked:
            return self._chunks(data) if data else b""
        left = self._left
        if left is None:
            return data
        size = len(data)
        if size < left:
            self._left = left - size
            return data
        self.done = True
        if size > left:
            # More than was said (characters counted instead of bytes): the answer is whole all the same.
            self.keeps = False
            return data[:left]
        return data

    def ended(self) -> bool:
        """The server has closed: whether that is the end of the body.

        The last chunk is the end, whether or not its empty line came.
        """
        closes = self._trailers >= 0 if self._chunked else self._left is None
        self.done = self.done or (self.head is not None and closes)
        return self.done

    def _find_head(self, data: bytes) -> bytes:
        """Look for the end of the head; gives back what follows it."""
        before = len(self._held)
        data = self._held + data if before else data
        while True:
            data = data.lstrip(b"\r\n") if data[:1] in (b"\r", b"\n") else data
            if not data.startswith(b"HTTP/"[: len(data)]):
                self.fault = f"not an HTTP answer: {data[:60]!r}"
                return b""
            since = max(0, before - 2)
            end = data.find(b"\n\r\n", since)
            bare = data.find(b"\n\n", since, end + 1 if end >= 0 else len(data))
            end = bare + 2 if bare >= 0 else end + 3
            whole = end >= 3 or bare >= 0
            if (end if whole else len(data)) > HEAD_LINES * self._max_line:
                self.fault = f"a head of more than {HEAD_LINES * self._max_line} bytes"
                return b""
            if not whole:
                self._held = data
                return b""
            try:
                head = read_head(data[:end], max_headers=self._max_headers, max_line=self._max_line)
                data, before = data[end:], 0
                self._held = b""
                if 100 <= head.status < 200 and head.status != 101:
                    self._interim += 1
                    if self._interim > MAX_INTERIM:
                        raise BadHead(f"more than {MAX_INTERIM} interim answers")
                    if not data:
                        return b""
                    continue
                self._frame(head)
            except BadHead as error:
                self.fault = str(error)
                return b""
            self.head = head
            return data

    def _frame(self, head: Head) -> None:
        """How the body ends."""
        said = head.fields.get
        coded = [name for name in _names(said("transfer-encoding", "")) if name != "identity"]
        length = said("content-length")
        if coded and set(coded) != {"chunked"}:
            raise BadHead(f"transfer coding {', '.join(coded)[:40]!r}, which nobody asked for")
        size = 0
        if length is not None and not coded:
            if not _LENGTH.fullmatch(length):  # a proxy may have made a list of the same length twice
                sizes = {each.strip(" \t") for each in _COMMAS.split(length)}
                length = sizes.pop()
                if sizes or not _LENGTH.fullmatch(length):
                    raise BadHead("it does not say plainly where the body ends")
            size = int(length)
        if head.status == 101:
            raise BadHead("it switches protocols, which nobody asked for")
        kept = _names(said("connection", ""))
        self.keeps = "close" not in kept if head.version >= (1, 1) else "keep-alive" in kept
        if head.status in _BODILESS:
            self._left = 0
        elif coded:
            self._chunked = True
            self._left = 0
        elif length is not None:
            self._left = size
        odd = head.odd or (coded and length is not None)
        self.keeps = self.keeps and not odd and self._left is not None

    def _chunks(self, data: bytes) -> bytes:
        data = self._held + data if self._held else data
        self._held = b""
        pieces: list[bytes] = []
        at, end, left = 0, len(data), self._left or 0
        while at < end and not self.done and not self.fault:
            if left:
                stop = min(end, at + left)
                pieces.append(data[at:stop])
                left -= stop - at
                at = stop
                self._closing = not left
                continue
            if not self._closing and self._trailers < 0:
                at = _whole_chunks(data, at, pieces)
            line_end = data.find(b"\n", at, at + MAX_CHUNK_LINE)
            if line_end >= 0:
                left = self._between(data[at:line_end])
                at = line_end + 1
                continue
            self._held = data[at:]
            if end - at >= MAX_CHUNK_LINE:
                self.fault = "a chunk without a size"
            break
        self._left = left
        if self.done and at < end:
            self.keeps = False
        body = b"".join(pieces)
        self._framing += at - 3 * len(body)
        if self._framing > MAX_FRAMING and not self.fault:
            self.fault = "chunks that hold next to nothing"
        return body

    def _between(self, line: bytes) -> int:
        """A line between chunks, or behind the last; the bytes of the chunk that follows."""
        if self._closing:
            self._closing = False
            if line not in (b"\r", b""):
                self.fault = "a chunk that goes on after its end"
        elif self._trailers >= 0:
            self._trailers += len(line)
            self.done = line in (b"\r", b"")
            if self._trailers > MAX_TRAILERS:
                self.fault = "trailers without an end"
        elif size := _CHUNK.fullmatch(line):
            left = int(size[1], 16)
            self._trailers = -1 if left else 0
            return left
        else:
            self.fault = f"not the size of a chunk: {line[:40]!r}"
        return 0


def _whole_chunks(data: bytes, at: int, pieces: list[bytes]) -> int:
    """Take the whole chunks that begin here, written as usual; where they end.

    A server that sends its bytes one by one must not stop the crawl.
    """
    while whole := _WHOLE.match(data, at):
        start = whole.end()
        stop = start + int(whole[1], 16)
        if data[stop : stop + 2] != b"\r\n":
            break
        pieces.append(data[start:stop])
        at = stop + 2
    return at
