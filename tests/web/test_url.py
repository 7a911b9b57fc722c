"""URL parsing, canonical form and identity."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import ada_url
import pytest
from figures import RecordProperty
from hypothesis import given, settings
from hypothesis import strategies as st
from property_tests import many

from honeyguide.web import url as web_url
from honeyguide.web.url import canonical, canonical_many, host_key, parse_href, parts, url_id


def wpt_cases(shared_data: Path) -> list[dict[str, Any]]:
    text = (shared_data / "conformance/wpt/url/resources/urltestdata.json").read_text("utf-8")
    return [case for case in json.loads(text) if isinstance(case, dict)]


def concerns_http(case: dict[str, Any]) -> bool:
    if not case.get("failure"):
        return case["protocol"] in {"http:", "https:"}
    return case["input"].strip().lower().startswith("http") or (case["base"] or "").startswith("http")


def ada_href(text: str, base: str | None) -> str | None:
    """The reference binding, asked directly."""
    try:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        href: str = ada_url.URL(text, base).href
    except ValueError:
        return None
    return href


def test_all_http_cases_of_the_web_platform_tests(shared_data: Path, record_property: RecordProperty) -> None:
    cases = [case for case in wpt_cases(shared_data) if concerns_http(case)]
    wrong = [
        (case["input"], case["base"], case.get("href"))
        for case in cases
        if parse_href(case["input"], case["base"]) != case.get("href")
    ]
    record_property("figure", f"WHATWG URL: {len(cases) - len(wrong)}/{len(cases)} http(s) cases")
    assert not wrong
    assert len(cases) == 446


def test_both_bindings_agree_on_every_case(shared_data: Path) -> None:
    for case in wpt_cases(shared_data):
        assert parse_href(case["input"], case["base"]) == ada_href(case["input"], case["base"]), case["input"]


def test_both_bindings_agree_on_international_host_names(shared_data: Path) -> None:
    folder = shared_data / "conformance/wpt/url/resources"
    names = [
        case["input"]
        for file in ("IdnaTestV2.json", "toascii.json")
        for case in json.loads((folder / file).read_text("utf-8"))
        if isinstance(case, dict)
    ]
    assert len(names) > 1000
    for name in names:
        assert parse_href(f"http://{name}/") == ada_href(f"http://{name}/", None), name


SPELLINGS = [
    *(
        "http:",
        "https:",
        "HTTP:",
        "mailto:",
        "file:",
        "//",
        "/",
        "\\",
        "a",
        "EXAMPLE.org",
        "xn--",
        "@",
        ":",
    ),
    *("xn--nxasmq6b", "ü", "80", "443", "8080", "[::1]", "127.1", "0x7f", "%", "%41", "%2e", "%2F", "%e"),
    *(
        "%c3%bc",
        "%EF%BC%A1",
        ".",
        "..",
        ";",
        "?",
        "#",
        "&",
        "=",
        "jsessionid=",
        "utm_source",
        "sid=",
        "gclid",
    ),
    *("0123456789abcdef", "PHPSESSID", "Z", "~", "-", "|", "^", "<", '"', "'", " ", "\t", "\n", "\x00"),
    *("\N{FULLWIDTH DIGIT SIX}", "\ud800"),
]
PIECES = st.sampled_from(SPELLINGS)
TEXTS = st.one_of(
    st.lists(PIECES, max_size=14).map("".join),
    st.lists(PIECES, max_size=14).map(lambda pieces: "http://h/" + "".join(pieces)),
    st.text(max_size=40),
)
BASES = st.sampled_from(
    [
        None,
        *("http://example.org/a/b?c", "https://u:p@example.org:8080/", "http://xn--nxasmq6b/x/"),
        *("http://ü.org/", "http://%41/", "http://[::1]/a/b/c", "mailto:a@b", "file:///x/y"),
    ]
)


@settings(max_examples=many(1500), deadline=None)
@given(TEXTS, BASES)
def test_the_fast_path_gives_what_the_reference_gives(text: str, base: str | None) -> None:
    assert parse_href(text, base) == ada_href(text, base)


@settings(max_examples=many(2000), deadline=None)
@given(TEXTS, BASES)
def test_canonical_is_idempotent(text: str, base: str | None) -> None:
    once = canonical(text, base)
    if once is None:
        return
    assert canonical(once) == once
    assert once.startswith(("http://", "https://"))
    assert once.isascii()
    assert "#" not in once
    assert once.find("?") != len(once) - 1
    assert "@" not in host_key(once)


@pytest.mark.slow
def test_canonical_is_idempotent_a_million_times() -> None:
    draw = random.Random(9309)
    for _ in range(1_000_000):
        once = canonical("http://h/" + "".join(draw.choices(SPELLINGS, k=draw.randrange(12))))
        assert once is None or canonical(once) == once


@settings(max_examples=many(500), deadline=None)
@given(TEXTS)
def test_canonical_keeps_the_host_a_browser_would_dial(text: str) -> None:
    once = canonical(text)
    href = parse_href(text)
    if once is None or href is None:
        return
    assert parts(once).host == ada_url.URL(href).hostname


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://Example.ORG:80", "http://example.org/"),
        ("https://example.org:443/a#b", "https://example.org/a"),
        ("https://user:secret@example.org/a", "https://example.org/a"),
        ("http://a/b?", "http://a/b"),
        ("http://a/B%7e%2f%c3%bc", "http://a/B~%2F%C3%BC"),
        ("http://a/%%36%31", "http://a/%%36%31"),
        ("http://a/%4%31", "http://a/%4%31"),
        ("http://a/%a%3f%41%x%41", "http://a/%a%3F%41%xA"),
        ("http://a/%25%34%31", "http://a/%2541"),
        ("http://a/x;jsessionid=0A1B.node3?y=1", "http://a/x?y=1"),
        ("http://a/b/..;jsessionid=1/c", "http://a/c"),
        ("http://a/?b=2&a=1", "http://a/?b=2&a=1"),
        ("http://a/?UTM_Source=x&b=1&gclid=2&fbclid", "http://a/?b=1"),
        ("http://a/?b=1&PHPSESSID=3&c=2", "http://a/?b=1&c=2"),
        ("http://a/?%75tm_source=1", "http://a/"),
        ("http://a/?gclidx=1&not_utm_source=2", "http://a/?gclidx=1&not_utm_source=2"),
        ("http://a/?sid=12345", "http://a/?sid=12345"),
        ("http://a/?sid=0123456789abcdef0123456789abcdef&t=1", "http://a/?t=1"),
        ("http://a/?q=utm_source", "http://a/?q=utm_source"),
        (r"http://evil.com\@127.0.0.1/", "http://evil.com/@127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
    ],
)
def test_canonical_examples(text: str, expected: str) -> None:
    assert canonical(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "/a",
        "ftp://a/",
        "mailto:a@b",
        "javascript:1",
        "data:,x",
        "http://",
        "http://a b/",
        "file:///etc/passwd",
    ],
)
def test_no_web_address(text: str) -> None:
    assert canonical(text) is None


def test_a_text_beyond_the_limit_is_refused_before_and_after_encoding() -> None:
    assert canonical("http://a/" + "b" * web_url.MAX_LENGTH) is None
    assert canonical("http://a/" + "ü" * (web_url.MAX_LENGTH // 2)) is None
    assert canonical("http://a/" + "b" * (web_url.MAX_LENGTH - 9)) is not None


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=5), BASES)
def test_many_is_each(texts: list[str], base: str | None) -> None:
    assert canonical_many(texts, base) == [canonical(text, base) for text in texts]


def test_url_id_is_signed_64_bit_and_stable() -> None:
    ids = [url_id(f"https://example.org/{number}") for number in range(1000)]
    assert len(set(ids)) == 1000
    assert min(ids) < 0 < max(ids)
    assert all(-(2**63) <= number < 2**63 for number in ids)
    # Stored collections name pages by this number: it must never change.
    assert url_id("https://example.org/") == -8202114674208552119


def test_parts() -> None:
    got = parts("http://[2001:db8::1]:8080/a/b?c=d")
    assert (got.scheme, got.host, got.port, got.path, got.query) == (
        "http",
        "[2001:db8::1]",
        8080,
        "/a/b",
        "c=d",
    )
    assert got.origin == "http://[2001:db8::1]:8080"
    assert got.authority == host_key("http://[2001:db8::1]:8080/a/b?c=d") == "[2001:db8::1]:8080"
    assert parts("http://[::1]/").port == 80
    assert parts("https://a.org/").port == 443
