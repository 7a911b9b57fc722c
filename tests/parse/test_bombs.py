"""Pages made to break parsers: each must cost little and give a page or a failure."""

from __future__ import annotations

import time

import pytest

from honeyguide.model import Page
from honeyguide.parse.base import ParseFailure, ParseJob
from honeyguide.parse.html import parse_page

CPU_LIMIT = 2.0
"""Seconds of CPU one bomb may cost: the project's promise, not a speed test (most take milliseconds)."""

BOMBS = {
    "nested div": b"<div>" * 39_000 + b"end",
    "attributes on one tag": b"<p " + b" ".join(b"attribute%d=1" % i for i in range(22_000)) + b">end",
    "quoted attributes": b"<p " + b" ".join(b'a%d="x"' % i for i in range(40_000)) + b">end",
    "options": b"<select>" + b"<option>a" * 40_000 + b"</select>end",
    "nested tables": b"<table><tr><td>" * 20_000 + b"end",
    "unclosed formatting": b"<b><i>" * 50_000 + b"end",
    "distinct formatting": b"".join(b"<font size=%d>" % i for i in range(30_000)) + b"end",
    "formatting in paragraphs": b"<b><i><p>" * 30_000 + b"end",
    "nested lists": b"<ul><li>" * 30_000 + b"end",
    "adoption": b"<a href=x><div>" * 20_000 + b"end",
    "giant comment": b"<!--" + b"a" * 8_000_000,
    "giant attribute": b'<a href="/' + b"a" * 8_000_000 + b'">x</a>',
    "giant tag name": b"<" + b"a" * 4_000_000 + b">end",
    "nul bytes": b"\0" * 4_000_000,
    "long text": b"word " * 1_600_000,
    "one long word": b"w" * 8_000_000,
    "many links": b"".join(b"<a href=/%d>link %d</a> " % (i, i) for i in range(100_000)),
    "links to one target": b"<a href=/same>one more anchor</a> " * 100_000,
    "bad links": b"<a href=http://[>bad</a> " * 100_000,
    "nested framesets": b"<frameset><frame src=/a>" * 30_000,
    "nested iframes": b"<iframe src=/a>" * 50_000,
    "many bodies": b"".join(b"<body a%d=1>" % i for i in range(30_000)),
    "end tags": b"<div>" * 500 + b"</p>" * 2_000_000,
    "closed deep": b"<div>" * 20_000 + b"</div>" * 20_000,
    "mismatched ends": b"<div></x>" * 30_000,
    "unclosed scripts": b"<script>" * 100_000,
    "angle brackets": b"<" * 4_000_000,
    "open tags": b"<a" * 2_000_000,
    "open quotes": b"<a b='" * 500_000 + b'<a b="' * 500_000,
    "entities": b"&amp;" * 1_000_000,
    "hidden elements": b"<p hidden>" * 30_000 + b"<a href=/x>x</a>",
    "hidden nested": b'<div hidden><div style="display:none">' * 5_000 + b"<a href=/x>x</a>",
    "svg": b"<svg>" * 40_000,
    "templates": b"<template>" * 40_000,
    "empty anchors": b"<a href=/x><a>" * 40_000,
    "spaces": b"<p>" + b" " * 8_000_000,
    "metas": b'<meta http-equiv=refresh content="0;url=/x">' * 50_000,
    "headings": b"<h1>a" * 90_000,
    "links in one paragraph": b"<p>" + b"".join(b"word <a href=/%d>a</a> " % i for i in range(30_000)),
}


@pytest.mark.realtime
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_harmless(name: str, blocks: bool) -> None:
    started = time.process_time()
    answer = parse_page(ParseJob("https://example.org/", BOMBS[name], blocks=blocks))
    assert time.process_time() - started < CPU_LIMIT
    assert isinstance(answer, Page | ParseFailure)


@pytest.mark.parametrize(
    "name", ["nested div", "attributes on one tag", "options", "nested tables", "unclosed formatting"]
)
def test_bomb_keeps_its_text(name: str) -> None:
    answer = parse_page(ParseJob("https://example.org/", BOMBS[name]))
    assert isinstance(answer, Page)
    assert answer.text.endswith("end")


def test_link_flood_is_capped() -> None:
    answer = parse_page(ParseJob("https://example.org/", BOMBS["many links"]))
    assert isinstance(answer, Page)
    assert len(answer.links) == 2_000


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<",
        b"</",
        b"<!",
        b"<!--",
        b"<a",
        b"<a href",
        b"<a href=",
        b"&",
        b"\xff\xfe",
        b"\xfe\xff<",
        b"\x00",
    ],
)
def test_stumps_give_an_answer(body: bytes) -> None:
    assert isinstance(parse_page(ParseJob("https://example.org/", body)), Page | ParseFailure)
