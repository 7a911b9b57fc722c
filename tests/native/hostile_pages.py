"""Broken pages through the whole of parsing: `python tests/native/hostile_pages.py [--seconds 60]`.

Pages of the generated web and tangles of markup are taken apart and put together wrongly: bytes changed, cut
out, doubled, joined with those of other pages, in other charsets. Each is parsed with blocks and main text.
Two things may go wrong: the process dies (run it by `make sanitize`, where the C checks its own reads and
writes), or the C notes something else than its twin in Python. The page is then in `build/hostile.html`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
from honeyguide.native import native
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page, read_page
from honeyguide.parse.walk import walk_page

KEPT = Path("build/hostile.html")
CHARSETS = ("utf-8", "utf-16", "shift_jis", "gb18030", "windows-1252", "iso-2022-jp", "x-user-defined")
PIECES: Sequence[bytes] = (
    *(b"<a href='", b"<a href=//[", b"<a href=\xff\xfe>", b"</a>", b"<area href=x alt=", b"<base href='"),
    *(b"<table>", b"<td>", b"</table>", b"<svg>", b"<math>", b"<template>", b"<plaintext>", b"<frameset>"),
    *(
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<?",
        b"&#x10ffff;",
        b"&#0;",
        b"&NotEqualTilde;",
        b"\x00",
        b"\r",
    ),
    *(b"<script>", b"</script>", b"<style>", b"<title>", b"<textarea>", b"<noscript>", b"<select><option>"),
    *(
        b"<h1>",
        b"</h1>",
        b"<p>",
        b"<div class=cookie-banner>",
        b"<div id=comments>",
        b"<nav>",
        b"</div>" * 9,
        b"<b>" * 99,
    ),
    *("日本語".encode(), "٣".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", "\u202e".encode()),
    *(
        b"<meta charset=",
        b"<meta name=robots content=noindex>",
        b"<link rel=canonical href=",
        b"a" * 5000,
        b"<p>" + 90 * b"wo ",
    ),
)

Change = Callable[[random.Random, bytes, bytes], bytes]


def _flip(chance: random.Random, page: bytes, _other: bytes) -> bytes:
    changed = bytearray(page)
    for _ in range(chance.randint(1, 40)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(chance: random.Random, page: bytes, _other: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(page) + 1) for _ in range(2))
    return page[:begin] + page[end:]


def _double(chance: random.Random, page: bytes, _other: bytes) -> bytes:
    begin, end = sorted(chance.randrange(len(page) + 1) for _ in range(2))
    return page[:end] + page[begin:end] * chance.randint(1, 3) + page[end:]


def _join(chance: random.Random, page: bytes, other: bytes) -> bytes:
    return page[: chance.randrange(len(page) + 1)] + other[chance.randrange(len(other)) :]


def _insert(chance: random.Random, page: bytes, _other: bytes) -> bytes:
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(page) + 1)
        page = page[:at] + chance.choice(PIECES) + page[at:]
    return page


CHANGES: Sequence[Change] = (_flip, _cut, _double, _join, _insert, _insert)


def first_pages() -> list[bytes]:
    """Pages to begin with."""
    web = GeneratedWeb(WebSpec(pages=140, hosts=11, words_per_page=300))
    return [*(web.get(url).body for url in web.pages()), *(piece + b"words" + piece for piece in PIECES)]


def try_page(page: bytes, charset: str) -> None:
    """Parse one page in all ways; complain where the C and its twin differ."""
    url = "https://broken.example/dir/page.html"
    parse_page(ParseJob(url, page, f"text/html; charset={charset}", blocks=True))
    text = page.decode("utf-8", "replace")
    tree = LexborHTMLParser(text, options=1, scripting=True)
    written = native.tidied(text) if native is not None else None
    if written is not None and (tree.root is None or written != tree.root.html):
        raise AssertionError("a page that needs no tree is written otherwise than its tree")
    ours, twin = read_page(tree, blocks=True), walk_page(tree, blocks=True)
    for field, one, other in zip(ours._fields, ours, twin, strict=True):
        if one != other:
            raise AssertionError(f"the C and its twin in Python differ in {field!r}")


def main() -> None:
    """Change, parse, again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if native is None:
        raise SystemExit("The C part is not built: python src/honeyguide/native/build.py")
    chance, pages = random.Random(args.seed), first_pages()
    KEPT.parent.mkdir(exist_ok=True)
    end, tried = time.monotonic() + args.seconds, 0
    while time.monotonic() < end:
        page = chance.choice(pages)
        for _ in range(chance.randint(1, 3)):
            page = chance.choice(CHANGES)(chance, page or b"<", chance.choice(pages))[:200_000]
        KEPT.write_bytes(page)
        try_page(page, chance.choice(CHARSETS))
        if chance.random() < 0.05:
            pages[chance.randrange(len(pages))] = page or b"<"
        tried += 1
    KEPT.unlink()
    sys.stdout.write(f"{tried:,} broken pages parsed\n")


if __name__ == "__main__":
    main()
