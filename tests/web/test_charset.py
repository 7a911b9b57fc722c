"""Encoding determination as the HTML standard has it."""

from __future__ import annotations

import codecs
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_tests import many

from honeyguide.web.charset import PRESCANNED, decode, decode_html, determine, encoding_of
from honeyguide.web.prescan import _attribute, _attribute_by_bytes, _OutOfBytes, prescan


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("utf8", "utf-8"),
        (" UTF-8\n", "utf-8"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("iso-8859-1", "windows-1252"),
        ("iso-8859-9", "windows-1254"),
        ("iso-8859-2", "iso-8859-2"),
        ("gb2312", "gb18030"),
        ("gbk", "gb18030"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("big5-hkscs", "big5"),
        ("tis-620", "windows-874"),
        ("x-mac-ukrainian", "x-mac-cyrillic"),
        ("utf-16", "utf-16le"),
        ("iso-2022-kr", "replacement"),
        ("utf-7", None),
        ("nonsense", None),
        ("ütf-8", None),
        ("", None),
    ],
)
def test_labels(label: str, encoding: str | None) -> None:
    assert encoding_of(label) == encoding


DECLARED = "iso-8859-2"


@pytest.mark.parametrize(
    "head",
    [
        b"<meta charset=iso-8859-2>",
        b"<META CHARSET='ISO-8859-2'>",
        b'<meta/charset = "iso-8859-2" >',
        b"<meta\tcharset=iso-8859-2 >",
        b"<!DOCTYPE html><html><head><title>x</title><meta charset=iso-8859-2>",
        b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">',
        b'<meta content="text/html; charset=iso-8859-2" http-equiv=content-type>',
        b"<meta http-equiv=content-type content=\"charset = 'iso-8859-2' x\">",
        b'<meta http-equiv=content-type content="charset x; charset=iso-8859-2;y">',
        b"<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>",
        b"<!--><meta charset=iso-8859-2>",
        b"<p title='<meta charset=koi8-r>'><meta charset=iso-8859-2>",
        b"<? <meta charset=koi8-r> <meta charset=iso-8859-2>",
        b"</p <meta charset=koi8-r><meta charset=iso-8859-2>",
        b"<!x <meta charset=koi8-r><meta charset=iso-8859-2>",
        b"<metax charset=koi8-r><meta charset=iso-8859-2>",
        b"<meta charset=nonsense><meta charset=iso-8859-2>",
        b"<meta charset=iso-8859-2 charset=koi8-r>",
        b"<meta =x charset=iso-8859-2>",
        b"< meta charset=koi8-r><meta charset=iso-8859-2>",
        b"<meta content='charset=koi8-r' charset=iso-8859-2>",
        b"<script>x='</script>'</script><meta charset=iso-8859-2>",
        b"<?xml version='1.0' encoding = 'iso-8859-2' ?><p>",
        b"<?xml version='1.0' encoding='koi8-r'?><meta charset=iso-8859-2>",
    ],
)
def test_prescan_finds_the_declaration(head: bytes) -> None:
    assert prescan(head, encoding_of) == DECLARED


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"<meta charset=iso-8859-2",
        b"<meta charset='iso-8859-2>",
        b"<meta content='text/html; charset=iso-8859-2'>",
        b"<meta http-equiv=refresh content='text/html; charset=iso-8859-2'>",
        b"<meta http-equiv=content-type content='charset=\"iso-8859-2'>",
        b"<meta http-equiv=content-type content='charset='>",
        b"<meta charset=nonsense http-equiv=content-type content='charset=iso-8859-2'>",
        b"<!-- <meta charset=iso-8859-2>",
        b"<!- <meta charset=iso-8859-2>",
        b"<p <meta charset=iso-8859-2>",
        b"<metacharset=iso-8859-2>",
        b" <?xml version='1.0' encoding='iso-8859-2'?>",
        b"<?xml version='1.0' encoding='iso 8859-2'?>",
        b"<?xml encoding='iso-8859-2'",
    ],
)
def test_prescan_finds_nothing(head: bytes) -> None:
    assert prescan(head, encoding_of) is None


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<?xml encoding='utf-16be'?>", "utf-8"),
        ("<?xml ".encode("utf-16-le"), "utf-16le"),
        ("<?xml ".encode("utf-16-be"), "utf-16be"),
    ],
)
def test_prescan_overrides(head: bytes, encoding: str) -> None:
    assert prescan(head, encoding_of) == encoding


ATTRIBUTE_PIECES = (
    b"charset",
    b"CONTENT",
    b"=",
    b" ",
    b"\t",
    b"/",
    b">",
    b'"',
    b"'",
    b"utf-8",
    b"x",
    b"<",
    b"\x00",
)


@settings(max_examples=many(500), deadline=None)
@given(st.lists(st.sampled_from(ATTRIBUTE_PIECES), max_size=14))
def test_attributes_are_read_as_the_standard_reads_them(pieces: list[bytes]) -> None:
    head = b"".join(pieces)

    def read(how: Callable[[bytes, int], tuple[object, int]]) -> tuple[object, int] | None:
        try:
            return how(head, 0)
        except _OutOfBytes:
            return None

    assert read(_attribute) == read(_attribute_by_bytes)


def test_order_of_evidence() -> None:
    meta = b"<meta charset=koi8-r>"
    assert determine(codecs.BOM_UTF8 + meta, "text/html; charset=iso-8859-2") == "utf-8"
    assert determine(meta, "text/html; charset=iso-8859-2") == "iso-8859-2"
    assert determine(meta, "text/html; charset=nonsense") == "koi8-r"
    assert determine(meta, "text/html") == "koi8-r"
    assert determine(b"x" * PRESCANNED + meta + b"\xff") == "koi8-r"
    assert determine(b"x" * (PRESCANNED - len(meta)) + meta) == "koi8-r"


LATE = b"<html><head><style>" + b"x" * PRESCANNED + b"</style>"


@pytest.mark.parametrize(
    "rest",
    [
        b"<meta charset=iso-8859-2>",
        b"<title>x</title><meta http-equiv=content-type content='text/html; charset=iso-8859-2'>",
        b"<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>",
        b"<!--><meta charset=iso-8859-2>",
        b"<script>'<meta charset=koi8-r>'</script><meta charset=iso-8859-2>",
        b"<SCRIPT src=x>'</scr<meta charset=koi8-r>'</Script ><meta charset=iso-8859-2>",
        b"<meta charset=nonsense><meta name=x><meta charset=iso-8859-2>",
        b"<body><p>late<meta charset=iso-8859-2>",
    ],
)
def test_a_late_declaration_counts_as_in_browsers(rest: bytes) -> None:
    body = LATE + rest + "<p>žluťoučký kůň".encode("iso-8859-2")
    assert decode_html(body)[1] == DECLARED
    assert "žluťoučký kůň" in decode_html(body)[0]


@pytest.mark.parametrize(
    "rest",
    [b"<!-- <meta charset=iso-8859-2>", b"<script><meta charset=iso-8859-2>", b"<meta charset=iso-8859-2"],
)
def test_no_late_declaration(rest: bytes) -> None:
    assert determine(LATE + rest) == "utf-8"


@pytest.mark.realtime
def test_late_declarations_are_sought_in_linear_time() -> None:
    for piece in (b"<!--", b"<script>", b"<meta ", b"<style></", b"<meta charset=x>"):
        body = piece * (1_000_000 // len(piece))
        started = time.process_time()
        determine(body)
        assert time.process_time() - started < 3.0


@pytest.mark.parametrize(
    ("text", "codec", "encoding"),
    [
        ("これは日本語のページです。鳥の本を読みます。", "shift_jis", "shift_jis"),
        ("Это страница на русском языке про птиц.", "windows-1251", "windows-1251"),
        ("Vögel sind schön", "utf-8", "utf-8"),
        ("plain", "ascii", "utf-8"),
        ("café", "latin-1", "windows-1252"),
        ("这是一个关于鸟类的中文网页内容很多。", "gbk", "gb18030"),
    ],
)
def test_detection(text: str, codec: str, encoding: str) -> None:
    body = text.encode(codec)
    assert decode_html(body, "text/html") == (text, encoding)


def test_a_cut_character_does_not_hide_utf8() -> None:
    assert determine("äöü".encode()[:-1]) == "utf-8"


@pytest.mark.parametrize(
    ("body", "encoding", "text"),
    [
        (b"\x80\x81\x9d", "windows-1252", "€\x81\x9d"),
        (b"\x87\x40", "shift_jis", "①"),
        (b"\xa1\xff", "utf-8", "\ufffd\ufffd"),
        (b"abc", "replacement", "\ufffd"),
        (b"a\x80\xff", "x-user-defined", "a\uf780\uf7ff"),
        (b"\x81\xe1", "x-mac-cyrillic", "Бб"),
        (b"a\x00b\x00", "utf-16le", "ab"),
        (b"\xdb\xdb", "no-such-codec", "\ufffd\ufffd"),
    ],
)
def test_decoding(body: bytes, encoding: str, text: str) -> None:
    assert decode(body, encoding) == text


def test_the_byte_order_mark_is_not_text() -> None:
    assert decode_html(b"\xff\xfea\x00") == ("a", "utf-16le")
    assert decode_html(b"\xfe\xff\x00a") == ("a", "utf-16be")
    assert decode_html(codecs.BOM_UTF8 + b"a", "text/html;charset=gbk") == ("a", "utf-8")


FRAGMENTS = st.sampled_from(
    [
        *(
            b"<meta ",
            b"charset",
            b"=",
            b"'",
            b'"',
            b">",
            b"<!--",
            b"-->",
            b"content",
            b"http-equiv",
            b"/",
            b" ",
        ),
        *(
            b"content-type",
            b"utf-16",
            b"koi8-r",
            b"<?xml ",
            b"encoding",
            b"hz-gb-2312",
            b"\xff",
            b"\x00",
            b"<p ",
        ),
    ]
)


@settings(max_examples=many(500), deadline=None)
@given(
    st.one_of(st.binary(max_size=100), st.lists(FRAGMENTS, max_size=20).map(b"".join)), st.text(max_size=20)
)
def test_never_fails(body: bytes, header: str) -> None:
    text, encoding = decode_html(body, "text/html; charset=" + header)
    text.encode("utf-8")
    assert encoding == encoding.lower()
