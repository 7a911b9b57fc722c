"""robots.txt against Google's conformance cases and against Google's parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from figures import RecordProperty
from hypothesis import given, settings
from hypothesis import strategies as st
from jwm.robotstxt.googlebot import RobotsMatcher
from property_tests import many

from honeyguide.web import robots as web_robots
from honeyguide.web.robots import Robots, path_of

AGENT = "honeyguide"
TOKEN = re.compile(r'#[^\n]*|"((?:[^"\\]|\\.)*)"|([A-Za-z_]+)|([\[\]{}:,])', re.DOTALL)
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)


class Expectation(NamedTuple):
    body: bytes
    agent: str
    url: str
    allowed: bool


def unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code.isdigit():
        return bytes([int(code, 8)])
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(code, code)


def read_textproto(text: str) -> Iterator[Expectation]:
    """As much of the protocol buffer text format as the conformance files use."""
    body, field, values = b"", "", dict[str, bytes]()
    for token in TOKEN.finditer(text):
        literal, word, mark = token.groups()
        if literal is not None:
            values[field] = values.get(field, b"") + ESCAPE.sub(unescape, literal.encode())
        elif word == "robotstxt":
            field, values = word, {}
        elif word == "test_expectations":
            body, values = values.get("robotstxt", b""), {}
        elif word in {"ALLOWED", "DISALLOWED"}:
            values["outcome"] = word.encode()
        elif word is not None:
            field = word
        elif mark == "}" and "outcome" in values:
            agent, url = values.get("useragent", b"").decode(), values.get("testurl", b"").decode()
            yield Expectation(body, agent, url, values["outcome"] == b"ALLOWED")
            values = {}


def test_google_conformance_cases(shared_data: Path, record_property: RecordProperty) -> None:
    folder = shared_data / "conformance/google-robotstxt-spec-test/src/main/resources/CTC"
    cases = [
        case for file in sorted(folder.rglob("*.textproto")) for case in read_textproto(file.read_text())
    ]
    wrong = [case for case in cases if Robots.parse(case.body).allowed(case.agent, case.url) != case.allowed]
    record_property("figure", f"robots.txt: {len(cases) - len(wrong)}/{len(cases)} conformance cases")
    assert not wrong
    assert len(cases) == 400


KEYS = st.sampled_from(
    [
        *("User-agent", "user agent", "USERAGENT", "Disallow", "disalow", "Dissallow", "Allow", "allow-x"),
        *("Sitemap", "Crawl-delay", "Noindex", "", "Dis allow"),
    ]
)
SEPARATORS = st.sampled_from([":", ": ", " : ", " ", "\t", "  ", ":\t", "::"])
PATH_PIECES = st.sampled_from(
    [*("/", "a", "b", "*", "$", "?", "/index.html", "%c3", "%2F", "\u00fc", ".", "**", "//", "=", "&", ";")]
)
VALUES = st.one_of(
    st.sampled_from(
        ["*", "* x", "*x", "honeyguide", "HoneyGuide/1.0", "honeyguidebot", "other", "", "5", "1 2"]
    ),
    st.lists(PATH_PIECES, max_size=6).map("".join),
    st.lists(PATH_PIECES, max_size=6).map(lambda pieces: "/" + "".join(pieces)),
)
LINES = st.builds(
    lambda key, separator, value, tail: key + separator + value + tail,
    KEYS,
    SEPARATORS,
    VALUES,
    st.sampled_from(["", "", "", " ", " # no", "#", "\t", "\0x"]),
)
BODIES = st.builds(
    lambda start, lines, ending: start + ending.join(lines),
    st.sampled_from(["", "", "User-agent: *\n", "user-agent: honeyguide\r\n", "\ufeff"]),
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\r", "\r\n", "\n\n"]),
)
URLS = st.lists(PATH_PIECES, max_size=8).map(lambda pieces: "http://example.org/" + "".join(pieces))


@settings(max_examples=many(1000), deadline=None)
@given(BODIES, URLS)
def test_same_answers_as_googles_parser(body: str, url: str) -> None:
    expected = RobotsMatcher().OneAgentAllowedByRobots(body, AGENT, url)
    assert Robots.parse(body.encode()).allowed(AGENT, url) is expected


WILD = st.lists(st.sampled_from("ab*$/"), max_size=10).map("".join)


@settings(max_examples=many(1000), deadline=None)
@given(WILD, WILD, st.lists(st.sampled_from("ab/$*"), max_size=12).map("".join))
def test_wildcards_match_as_googles_parser_does(disallow: str, allow: str, path: str) -> None:
    body = f"user-agent: {AGENT}\ndisallow: /{disallow}\nallow: /{allow}\n"
    url = "http://example.org/" + path
    expected = RobotsMatcher().OneAgentAllowedByRobots(body, AGENT, url)
    assert Robots.parse(body.encode()).allowed(AGENT, url) is expected


@settings(max_examples=many(500), deadline=None)
@given(st.binary(max_size=200), st.text(max_size=30))
def test_no_bytes_make_it_fail(body: bytes, url: str) -> None:
    robots = Robots.parse(body)
    assert robots.allowed(AGENT, url) in {True, False}
    assert robots.rule(AGENT, url) == robots.rule(AGENT.upper(), url)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/"),
        ("http://www.example.com", "/"),
        ("http://www.example.com/a/b?c=http://d.e/", "/a/b?c=http://d.e/"),
        ("example.com?a", "/?a"),
        ("http://a/b#c/d", "/b"),
        ("//a/b/c", "/b/c"),
        ("a/b/c;d", "/b/c;d"),
        ("http://a#/b", "/"),
    ],
)
def test_path_of(url: str, path: str) -> None:
    assert path_of(url) == path


def test_the_deciding_rule_is_named() -> None:
    robots = Robots.parse(b"user-agent: *\ndisallow: /a\n\nallow: /a/b*c$\ndisallow:\n")
    assert robots.rule(AGENT, "http://x/a/q") == "Disallow: /a (line 2)"
    assert robots.rule(AGENT, "http://x/a/b1c") == "Allow: /a/b*c$ (line 4)"
    assert robots.rule(AGENT, "http://x/z") == ""


def test_allow_wins_ties() -> None:
    robots = Robots.parse(b"user-agent: *\ndisallow: /a*\nallow: /*a\nallow: /ab\ndisallow: /ab\n")
    assert robots.allowed(AGENT, "http://x/a")
    assert robots.allowed(AGENT, "http://x/abc")


def test_an_encoded_rule_covers_the_canonical_spelling() -> None:
    robots = Robots.parse(b"user-agent: *\ndisallow: /%7ejoe/%41%2fb\n")
    assert not robots.allowed(AGENT, "http://x/~joe/A%2Fb")
    assert not robots.allowed(AGENT, "http://x/%7Ejoe/%41%2Fb")
    assert robots.allowed(AGENT, "http://x/~joe/A/b")


def test_groups_of_one_agent_are_joined_and_shut_out_the_general_one() -> None:
    robots = Robots.parse(
        b"user-agent: Honeyguide/2\ndisallow: /a\nuser-agent: *\ndisallow: /b\n"
        b"user-agent: other\nuser-agent: HONEYGUIDE\ndisallow: /c\n"
    )
    assert [robots.allowed(AGENT, f"http://x/{page}") for page in "abc"] == [False, True, False]
    assert [robots.allowed("stranger", f"http://x/{page}") for page in "abc"] == [True, False, True]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("1e9", 3600.0),
        ("-3", None),
        ("nan", None),
        ("inf", None),
        ("x", None),
        ("3,5", 3.5),
        ("10 s", 10.0),
        ("2 Seconds", 2.0),
        ("5 minutes", None),
    ],
)
def test_crawl_delay(value: str, seconds: float | None) -> None:
    robots = Robots.parse(f"user-agent: *\ncrawl-delay: {value}\ndisallow: /x\n".encode())
    assert robots.crawl_delay(AGENT) == seconds


def test_crawl_delay_belongs_to_the_agents_above_it() -> None:
    robots = Robots.parse(
        b"crawl-delay: 9\nuser-agent: honeyguide\nuser-agent: b\ncrawl-delay: 2\ncrawl-delay: 4\n"
        b"crawl-delay: 3\n"
        b"user-agent: *\ncrawl-delay: 1\n"
    )
    assert robots.crawl_delay(AGENT) == 4.0
    assert robots.crawl_delay("c") == 1.0
    assert (
        Robots.parse(b"user-agent: *\ncrawl-delay: 1\nallow: /\nuser-agent: honeyguide\n").crawl_delay(AGENT)
        is None
    )


def test_sitemaps() -> None:
    body = "Sitemap: https://a/s.xml\nuser-agent: x\nsite-map: /ü.xml # here\nsitemap:\n".encode()
    assert Robots.parse(body).sitemaps == ("https://a/s.xml", "/ü.xml")
    assert len(Robots.parse(b"sitemap: /a\n" * 5000).sitemaps) == web_robots.MAX_SITEMAPS


def test_only_the_first_500_kib_count_and_half_a_line_does_not() -> None:
    head = b"user-agent: *\ndisallow: /first\n"
    filler = b"#" * (web_robots.KEPT_BYTES - len(head) - 15) + b"\n"
    kept = Robots.parse(head + filler + b"allow: /first/x\ndisallow: /late\n")
    assert not kept.allowed(AGENT, "http://x/first")
    assert not kept.allowed(AGENT, "http://x/first/x")
    assert kept.allowed(AGENT, "http://x/late")


def test_wildcards_cannot_be_made_slow() -> None:
    """Counts the steps of the matcher on a pattern that makes backtracking matchers hang."""
    steps = 0

    class CountingPath(str):
        __slots__ = ()

        def find(self, *arguments: object) -> int:
            nonlocal steps
            steps += 1
            return str.find(self, *arguments)  # type: ignore[arg-type]

    body = b"user-agent: *\ndisallow: /" + b"*a" * 2000 + b"b$\n"
    ruleset = Robots.parse(body)._ruleset(AGENT)
    assert ruleset.decide(CountingPath("/" + "a" * 2000)) is None
    assert ruleset.decide(CountingPath("/" + "a" * 2000 + "b")) is not None
    assert 0 < steps <= 2 * 2001


def test_a_large_file_is_filed_not_scanned() -> None:
    """A question looks at a handful of rules, however many there are."""
    lines = "\n".join(f"disallow: /section{number}/page*x" for number in range(12_000))
    ruleset = Robots.parse(f"user-agent: *\n{lines}\n".encode())._ruleset(AGENT)
    assert len(ruleset._lengths) < 10
    rule = ruleset.decide("/section777/pagex")
    assert rule is not None
    assert rule.line == 779


def test_allow_all_and_deny_all() -> None:
    assert Robots.allow_all().allowed(AGENT, "http://x/")
    assert not Robots.deny_all().allowed(AGENT, "http://x/")


@settings(max_examples=many(1000), deadline=None)
@given(BODIES, URLS)
def test_what_is_kept_for_one_agent_says_the_same(body: str, url: str) -> None:
    whole = Robots.parse(body.encode())
    for kept in (Robots.parse(body.encode(), AGENT), Robots.parse(Robots.trimmed(body.encode(), AGENT))):
        assert kept.rule(AGENT, url) == whole.rule(AGENT, url)
        assert kept.crawl_delay(AGENT) == whole.crawl_delay(AGENT)
        assert kept.sitemaps == whole.sitemaps


def test_a_flood_of_rules_for_others_or_of_one_rule_is_not_kept() -> None:
    flood = b"user-agent: owl\n" + b"disallow: /a\n" * 9000 + b"user-agent: *\n" + b"disallow: /b\n" * 9000
    trimmed = Robots.trimmed(flood, AGENT)
    assert trimmed.count(b"disallow") == 1
    assert trimmed.count(b"\n") == flood.count(b"\n")
    assert Robots.parse(trimmed).rule(AGENT, "https://a.example/b") == "Disallow: /b (line 9003)"
