"""Scope rules."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_tests import many

from honeyguide.errors import TopicError
from honeyguide.web.scope import Glob, Scope


def test_everything_is_in_an_empty_scope() -> None:
    assert Scope().reason("https://example.org/") is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.org/", None),
        ("https://a.b.example.org:8080/", None),
        ("https://badexample.org/", "outside-domains"),
        ("https://example.org.evil.net/", "outside-domains"),
        ("https://private.example.org/", "denied-domain"),
        ("https://x.private.example.org/", "denied-domain"),
        ("https://xn--bcher-kva.example/", None),
        ("http://127.0.0.1:8080/", None),
        ("http://[::1]/", "outside-domains"),
    ],
)
def test_domains(url: str, reason: str | None) -> None:
    scope = Scope(
        domains=("Example.org", "bücher.example", "127.0.0.1"), denied_domains=("*.private.example.org",)
    )
    assert scope.reason(url) == reason
    assert scope.reason(url) == reason  # the second answer comes from the cache


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("https://example.org/docs/", "https://example.org/docs/a", "http://example.org/docs/a"),
        ("example.org/docs/", "http://example.org/docs/a", "http://www.example.org/docs/a"),
        ("/docs/", "http://any.net/docs/a", "http://any.net/a/docs/"),
        ("*.example.org", "http://www.example.org:81/x", "http://example.org/x"),
        ("EXAMPLE.org", "http://example.org/x", "http://example.org.net/x"),
        ("*/docs/*.html$", "http://a.net/x/docs/b.html", "http://a.net/x/docs/b.html?c"),
        ("http://*.net/a*b", "http://x.net/a12b3", "http://x.net/b"),
        ("*.pdf", "https://example.org/a/b.pdf", "https://example.org/pdf/a.html"),
        ("*.zip", "https://example.org/a.zip", "https://example.zip/"),
        ("*.zip/", "https://example.zip/", "https://example.org/a.zip"),
        ("*/login*", "https://example.org/a/login?x=1", "https://example.org/log"),
    ],
)
def test_patterns(pattern: str, inside: str, outside: str) -> None:
    include, exclude = Scope(include=(pattern,)), Scope(exclude=(pattern,))
    assert include.reason(inside) is None
    assert include.reason(outside) == "not-included"
    assert exclude.reason(inside) == f"excluded: {pattern}"
    assert exclude.reason(outside) is None


def test_exclusion_wins() -> None:
    scope = Scope(include=("/a",), exclude=("/a/b",), domains=("example.org",))
    assert scope.reason("http://example.org/a/c") is None
    assert scope.reason("http://example.org/a/b") == "excluded: /a/b"


@pytest.mark.parametrize("domain", ["", "a b", "http://example.org", "example.org/path", "exa mple.org?x"])
def test_a_bad_domain_is_refused_with_the_fix(domain: str) -> None:
    with pytest.raises(TopicError, match=r"write it like example\.org"):
        Scope(domains=(domain,))


def test_an_empty_pattern_is_refused_with_the_fix() -> None:
    with pytest.raises(TopicError, match="remove it"):
        Scope(include=(" ",))


@settings(max_examples=many(1000))
@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=12))
def test_globs_match_as_the_shell_has_it(pattern: str, text: str) -> None:
    assert Glob(pattern, whole=True).matches(text) == fnmatch.fnmatchcase(text, pattern)
    assert Glob(pattern).matches(text) == fnmatch.fnmatchcase(text, pattern + "*")
    assert Glob(pattern + "$").matches(text) == fnmatch.fnmatchcase(text, pattern)
