"""Trap rules: what they catch, and what they must spare."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.model import Host
from honeyguide.web.traps import TrapLimits, falling_marginal, trap_reason
from honeyguide.web.url import canonical

LIMITS = TrapLimits(now_year=2026)
SITE = "https://www.example.org"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "a" * 2000, "too-long"),
        ("/" + "/".join(f"d{number}" for number in range(21)), "too-many-segments"),
        ("/a1x/a1x/a1x/", "repeating-segments"),
        ("/img/css/img/js/img/", "repeating-segments"),
        ("/en/docs/api/en/docs/api/x", "repeating-segments"),
        ("/1/1/1/1/1", "repeating-segments"),
        ("/s?" + "&".join(f"f{number}=1" for number in range(17)), "too-many-parameters"),
        ("/s?a=1&b=2&a=1&a=1", "repeating-parameters"),
        ("/go?u=%252525252F", "re-encoded"),
        ("/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "session"),
        ("/p?user_session_key=0123456789abcdef0123456789abcdef", "session"),
        ("/p?_wpnonce=0123456789abcdef01234567", "session"),
        ("/calendar/2031/05/", "calendar-future"),
        ("/rooms/2031-05-06", "calendar-future"),
        ("/plan.php?year=2040&month=3", "calendar-future"),
        ("/events/1970/01/", "calendar-past"),
        ("/calendar?day=3&month=4&year=2026", "calendar-day"),
        ("/events/list?tribe-bar-date=2026-04-03", "calendar-day"),
        ("/calendar.php?date=20260403", "calendar-day"),
    ],
)
def test_traps(path: str, reason: str) -> None:
    assert trap_reason(SITE + path, 3, LIMITS) == reason


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/wiki/Honeyguide",
        "/2026/05/01/owls-return",
        "/1893/05/01/newspaper/page-3",
        "/archive?year=1921&month=5&day=3",
        "/vision/2050/goals",
        "/reports/2050-targets.pdf",
        "/events/2026/05/birding-walk",
        "/preventseventy/1900/01",
        "/a/b/a/b",
        "/java/util/concurrent/java/util",
        "/1/2/1/2/1",
        "/search?q=owl&q=bird&page=2&sort=asc",
        "/product/0123456789abcdef0123456789abcdef",
        "/x?id=0123456789abcdef0123456789abcdef",
        "/x?token=5",
        "/doi/10.1000/182/1000",
        "/x?u=https%253A%252F%252Fa",
    ],
)
def test_good_pages(path: str) -> None:
    url = canonical(SITE + path)
    assert url is not None
    assert trap_reason(url, 10, LIMITS) is None


def test_depth_and_limits_are_settings() -> None:
    assert trap_reason(SITE + "/", 201, LIMITS) == "too-deep"
    assert trap_reason(SITE + "/", 4, TrapLimits(max_depth=3)) == "too-deep"
    assert trap_reason(SITE + "/abcdef", 0, TrapLimits(max_length=25)) == "too-long"
    assert trap_reason(SITE + "/calendar/2099/05/", 0, TrapLimits()) is None


@given(st.text(max_size=60))
def test_any_url_has_an_answer(text: str) -> None:
    url = canonical("http://example.org/" + text)
    assert url is not None
    assert trap_reason(url, 1, LIMITS) in {None, *REASONS}


REASONS = (
    *("too-long", "too-deep", "too-many-segments", "repeating-segments", "too-many-parameters", "session"),
    *("repeating-parameters", "re-encoded", "calendar-future", "calendar-past", "calendar-day"),
)


def test_falling_marginal() -> None:
    maze = Host(row=1, name="maze.example", fetched=150, relevant=2, recent=0.001)
    assert falling_marginal(maze, 0.3)
    assert not falling_marginal(maze, 0.004)
    assert not falling_marginal(Host(row=1, name="new.example", fetched=99, recent=0.0), 0.3)
    assert not falling_marginal(Host(row=1, name="good.example", fetched=500, recent=0.03), 0.9)
    assert not falling_marginal(Host(row=1, name="unjudged.example", fetched=500), 0.9)
    assert not falling_marginal(Host(row=1, name="all-poor.example", fetched=500, recent=0.0), 0.0)
