"""Pages that hurt whoever parses or decodes them."""

from __future__ import annotations

import functools

from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_case = functools.partial(case, group="page")
_FINE = (Outcome.FETCHED,)
_HARD = (Outcome.FETCHED, Outcome.PARSE_FAILED, Outcome.PARSE_TIMEOUT)
_MAYBE = (*_HARD, Outcome.NOT_A_PAGE)


def _page(
    name: str, summary: str, outcomes: tuple[Outcome, ...], body: bytes, kind: str = "text/html"
) -> None:
    @_case(name, summary, outcomes)
    async def _send(talk: Talk) -> None:
        await talk.answer(body, kind=kind)


_page("nested", "195 KB of nested tags", _HARD, b"<div>" * 39_000 + b"owl")
_page("nested-mixed", "nested formatting that no end tag fits", _HARD, b"<b><i><a><table><tr><td>" * 8_000)
_page(
    "attributes",
    "340 KB of attributes on one tag",
    _HARD,
    b"<p " + b" ".join(b"a%d=1" % n for n in range(42_000)) + b">owl",
)
_page("options", "40,000 options", _HARD, b"<select>" + b"<option>owl" * 40_000)
_page("links", "50,000 links", _HARD, b"".join(b'<a href="/l/%d">owl</a>' % n for n in range(50_000)))
_page("long-link", "a link of two megabytes", _HARD, b'owl <a href="/' + b"x" * 2_000_000 + b'">owl</a>')
_page("long-title", "a title of two megabytes", _HARD, b"<title>" + b"owl " * 500_000)
_page("open-comment", "a comment that is never closed", _HARD, owls() + b"<!--" + b"-" * 1_000_000)
_page("open-script", "a script that is never closed", _HARD, owls() + b"<script>" + b"<" * 1_000_000)
_page("entities", "a million entities", _HARD, b"<p>" + b"&amp;" * 1_000_000)
_page(
    "nul-bytes",
    "NUL bytes between all letters",
    _FINE,
    b"<\0t\0itle>o\0wl\0s</title><p>barn\0 owl" + b"\0" * 9999,
)
_page(
    "controls",
    "control characters and terminal commands",
    _FINE,
    owls("\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"),
)
_page("charset-unknown", "a charset nobody knows", _FINE, owls(), kind="text/html; charset=x-owl")
_page(
    "charset-lie",
    "says UTF-8 and is UTF-16",
    _MAYBE,
    owls().decode().encode("utf-16"),
    "text/html; charset=utf-8",
)
_page(
    "charset-utf7",
    "says UTF-7, once a way around filters",
    _FINE,
    b"+ADw-script+AD4- owl",
    "text/html; charset=utf-7",
)
_page("charset-bytes", "bytes that are valid in no charset", _FINE, owls() + b"\xff\xfe\xc0\x80" * 5000)
_page("charset-code", "a charset that is not a text encoding", _FINE, owls(), kind="text/html; charset=rot13")
_page("binary", "a program that says it is a page", _MAYBE, b"\x7fELF" + bytes(range(256)) * 400)
_page("nothing", "a page without a byte", _MAYBE, b"")
_page("blank", "a megabyte of blanks", _MAYBE, b" " * 1_000_000)
_page("bad-pdf", "a PDF that is none", _MAYBE, b"%PDF-1.7\n" + b"\xff" * 50_000, "application/pdf")
_page(
    "base-trap",
    "a base that turns links into file addresses",
    _FINE,
    owls('<base href="file:///etc/"><a href="passwd">owl</a><a href="javascript:alert(1)">owl</a>'),
)
_page("refresh-self", "reloads itself for ever", _FINE, owls('<meta http-equiv="refresh" content="0;url=/">'))
_page(
    "canonical-away",
    "claims to be a page of another site",
    _FINE,
    owls('<link rel="canonical" href="http://nothing.localhost/">'),
)
