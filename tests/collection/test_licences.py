from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
import zstandard

from honeyguide.collection.exports.licences import licences_of
from honeyguide.collection.exports.sections import Datasheet, Paragraph, Rows, Section, to_html, to_markdown
from honeyguide.store.archive_reader import ArchivedResponse

BY = "https://creativecommons.org/licenses/by/4.0/"
PAGE = f'<p><a rel="nofollow License" href="{BY}">CC</a><a href="/x" rel=next>'.encode()


def answer(payload: bytes, *headers: tuple[str, str]) -> ArchivedResponse:
    return ArchivedResponse("http://a.example/", 0.0, 200, headers, payload)


@pytest.mark.parametrize(
    ("payload", "headers", "found"),
    [
        (PAGE, (), [BY]),
        (b"<link href='/terms?a=1&amp;b=2' rel='license'>", (), ["http://a.example/terms?a=1&b=2"]),
        (b'<META NAME="DC.rights" CONTENT="All rights\n reserved">', (), ["All rights reserved"]),
        (b'<meta property="dcterms.license" content="CC0">', (), ["CC0"]),
        (b"", (("Link", f'</x>; rel=next, <{BY}>; rel="license"'),), [BY]),
        (b'<a href="/license">license</a><a rel="licensed" href="/x">', (), []),
        (gzip.compress(PAGE), (("Content-Encoding", "gzip"),), [BY]),
        (zlib.compress(PAGE), (("Content-Encoding", "deflate"),), [BY]),
        (zlib.compress(PAGE)[2:-4], (("Content-Encoding", "deflate"),), [BY]),
        (brotli.compress(PAGE), (("Content-Encoding", "br"),), [BY]),
        (zstandard.compress(PAGE), (("Content-Encoding", "zstd"),), [BY]),
        (b"garbage", (("Content-Encoding", "br"),), []),
        (PAGE, (("Content-Encoding", "x-unknown"),), [BY]),  # no coding at all: read as the crawl read it
        (PAGE, (("Content-Encoding", "xz"),), []),
        (
            brotli.compress(gzip.compress(PAGE)),
            (("Content-Encoding", "gzip"), ("content-encoding", "br")),
            [BY],
        ),
    ],
)
def test_licences_that_pages_name(
    payload: bytes, headers: tuple[tuple[str, str], ...], found: list[str]
) -> None:
    assert list(licences_of(answer(payload, *headers), "http://a.example/")) == found


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress)])
def test_a_bomb_is_read_at_its_beginning_only(coding: str, pack: object) -> None:
    assert callable(pack)
    bomb = pack(PAGE + bytes(8_000_000))
    assert list(licences_of(answer(bomb, ("Content-Encoding", coding)), "http://a.example/")) == [BY]


def test_hostile_text_stays_text_in_a_datasheet() -> None:
    hostile = (
        '<script>alert(1)</script> [x](javascript:alert(1)) | `a`\n# head\n\u202e<img src=x onerror="b">'
    )
    document = Datasheet(hostile, (Section(hostile, (Paragraph(hostile), Rows((hostile,), ((hostile,),)))),))
    page = to_html(document)
    assert "<script>a" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    text = to_markdown(document)
    assert "\n# head" not in text
    assert "<script>a" not in text.replace("\\<", "")
    assert "[x](" not in text.replace("\\[", "")
    assert all(line.count(" | ") == 0 for line in text.replace("\\|", "").splitlines())
