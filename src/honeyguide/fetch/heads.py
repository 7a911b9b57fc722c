"""Request and response heads as the archive keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from honeyguide.fetch.base import Headers

_UNSAFE = bytes.maketrans(b"\r\n\x00", b"   ")


def request_head(target: str, headers: Mapping[str, str]) -> bytes:
    r"""Request line and headers as sent.

    Example:
        >>> request_head("/a?b", {"Host": "example.org"})
        b'GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n'
    """
    lines = [f"GET {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def response_head(
    version: tuple[int, int], status: int, *, reason: str, headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """Status line and headers as received.

    The payload is kept without its transfer coding, so `Transfer-Encoding` is renamed to
    `X-Crawler-Transfer-Encoding`, as archive tools expect; otherwise they would look for chunks.
    """
    lines = [b"HTTP/%d.%d %03d %s" % (*version, status, reason.encode("utf-8", "replace"))]
    for name, value in headers:
        kept = b"X-Crawler-Transfer-Encoding" if name.lower() == b"transfer-encoding" else name
        lines.append(kept + b": " + value.translate(_UNSAFE))
    lines.append(b"\r\n")
    return b"\r\n".join(lines)


def header_text(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Raw headers as text: UTF-8 where it is valid, else Latin-1 (as HTTP/1.1 once had it)."""
    return tuple((_text(name), _text(value)) for name, value in headers)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
