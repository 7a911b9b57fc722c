from __future__ import annotations

import pytest

from honeyguide.parse.prescan import MAX_ATTRIBUTES, MAX_BYTES, MAX_DEPTH, MAX_TAGS, prescan


def test_usual_page_is_left_alone() -> None:
    body = b"<html><body>" + b"<p class='a'>text <a href='/x'>link</a></p>" * 400 + b"</body></html>"
    assert prescan(body).body is body


def test_many_shallow_tags_are_left_alone() -> None:
    body = b"<table>" + b"<tr><td>a<td>b<td>c" * 3_000 + b"</table><ul>" + b"<li>a<p>b" * 3_000 + b"</ul>"
    scanned = prescan(body)
    assert scanned.body is body
    assert scanned.repairs == ()


def test_depth_is_cut_and_text_stays() -> None:
    scanned = prescan(b"<div>" * 10_000 + b"deep" + b"</div>" * 10_000 + b"<p>after</p>")
    assert scanned.body.count(b"<div>") == MAX_DEPTH
    assert scanned.body.count(b"</div>") == MAX_DEPTH
    assert scanned.body.endswith(b"<p>after</p>")
    assert b"deep" in scanned.body


def test_mismatched_end_tags_do_not_hide_depth() -> None:
    scanned = prescan(b"<div></x>" * 6_000)
    assert scanned.body.count(b"<div>") == MAX_DEPTH


def test_tags_in_scripts_and_comments_do_not_count() -> None:
    quoted = b"<script>'" + b"<div>" * 6_000 + b"'</script><!-- " + b"<div>" * 6_000 + b" --><p>text"
    assert prescan(quoted).body is quoted


def test_attribute_flood_loses_its_attributes() -> None:
    flood = b"<p " + b" ".join(b"a%d=1" % i for i in range(MAX_ATTRIBUTES + 1)) + b">text</p>"
    assert prescan(flood).body == b"<p>text</p>"


def test_long_tag_with_few_attributes_is_kept() -> None:
    long = b'<a href="/' + b"x" * 9_000 + b'" title="a b c">text</a>'
    assert prescan(long).body == long


def test_long_class_list_is_one_attribute() -> None:
    body = b'<div class="' + b" ".join(b"c%d" % i for i in range(3_000)) + b'">text</div>'
    assert prescan(body).body == body


def test_too_many_tags_are_cut() -> None:
    scanned = prescan(b"<b>x</b>" * MAX_TAGS)
    assert scanned.repairs == (f"cut after {MAX_TAGS} tags",)
    assert scanned.body.count(b"<") == MAX_TAGS


def test_too_many_bytes_are_cut() -> None:
    assert len(prescan(b"a" * (MAX_BYTES + 1)).body) == MAX_BYTES


def test_further_bodies_are_taken_out() -> None:
    scanned = prescan(b"".join(b"<body a%d=1>" % i for i in range(5_000)) + b"text")
    assert scanned.body.count(b"<body") == 16
    assert scanned.body.endswith(b"text")


@pytest.mark.parametrize(
    ("body", "word"),
    [(b"\x89PNG\r\n", "PNG"), (b"%PDF-1.4", "PDF"), (b"PK\x03\x04", "ZIP"), (b"\x1f\x8b", "gzip")],
)
def test_other_files_are_refused(body: bytes, word: str) -> None:
    assert word in prescan(body).refusal
