"""Registered domains by the public suffix list."""

from __future__ import annotations

from pathlib import Path

import pytest
from figures import RecordProperty
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

from honeyguide.web.domain import registered_domain, registrable, same_site


def test_public_suffix_cases(shared_data: Path, record_property: RecordProperty) -> None:
    text = (shared_data / "conformance/publicsuffix/tests/tests.txt").read_text("utf-8")
    cases = [line.split() for line in text.splitlines() if line and not line.startswith("//")]
    wrong = [
        (host, expected, registrable(host))
        for host, expected in cases
        if registrable("" if host == "null" else host) != (None if expected == "null" else expected)
    ]
    record_property("figure", f"public suffixes: {len(cases) - len(wrong)}/{len(cases)} cases")
    assert not wrong
    assert len(cases) == 78


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.org.", "example.org"),
        ("a.b.example.org:8080", "example.org"),
        ("10.0.0.1:8080", "10.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost:80", "localhost"),
        ("com", "com"),
        ("joe.github.io", "joe.github.io"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("", ""),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


@given(st.text(max_size=30))
def test_any_text_has_an_answer(host: str) -> None:
    assert isinstance(registered_domain(host), str)


def test_the_short_way_gives_what_the_list_gives() -> None:
    suffixes, names = PublicSuffixList(), list[str]()
    with Path(PSLFILE).open(encoding="utf-8") as lines:
        rules = [line.split()[0] for line in lines if line.strip() and not line.startswith("//")]
    for rule in rules:
        name = rule.removeprefix("!").removeprefix("*.")
        for one in {name, encode_idn(name)}:
            names += [one, f"a.{one}", f"b.a.{one}", f"c.b.a.{one}", f"owner.{one.rpartition('.')[2]}"]
    names += ["a.unheard-of", "b.a.unheard-of", "A.Example.ORG", "a..org", ".org", "a.org."]
    wrong = [name for name in names if registrable(name) != suffixes.privatesuffix(name)]
    assert not wrong
    assert len(names) > 30_000


def test_same_site() -> None:
    assert same_site("http://a.example.org/", "https://b.example.org:8443/x")
    assert not same_site("http://joe.github.io/", "http://ann.github.io/")
    assert same_site("http://127.0.0.1:1/", "http://127.0.0.1:2/")
