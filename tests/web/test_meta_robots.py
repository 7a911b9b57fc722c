"""Robots directives in pages and headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.web.meta_robots import Directives, directives


@pytest.mark.parametrize(
    ("values", "noindex", "nofollow"),
    [
        ([], False, False),
        (["all"], False, False),
        (["index, follow"], False, False),
        (["NOINDEX"], True, False),
        (["noindex,nofollow"], True, True),
        ([" none "], True, True),
        (["noarchive, nosnippet"], False, False),
        (["noindex", "nofollow"], True, True),
        (["index", "noindex"], True, False),
        (["otherbot: noindex, nofollow"], False, False),
        (["HoneyGuide: nofollow"], False, True),
        (["*: noindex"], True, False),
        (["robots: nofollow"], False, True),
        (["otherbot: noindex, honeyguide: nofollow"], False, True),
        (["noindex, otherbot: nofollow"], True, False),
        (["unavailable_after: Wednesday, 25 Jun 2025 15:00:00 PST, nofollow"], False, True),
        (["max-snippet: 20, noindex"], True, False),
        (["noindexed"], False, False),
        (["noindex nofollow"], True, True),
        (["index; NOFOLLOW"], False, True),
        (["noindex\tnofollow,"], True, True),
        (["otherbot: noindex nofollow"], False, False),
        (["360spider: noindex"], False, False),
        (["otherbot: noindex honeyguide : nofollow"], False, True),
        (["max-image-preview: none"], False, False),
        (["max-image-preview:none nofollow"], False, True),
        (["Max-Snippet:-1 max-video-preview:-1 noindex"], True, False),
    ],
)
def test_directives(values: list[str], noindex: bool, nofollow: bool) -> None:
    assert directives(values, "honeyguide") == Directives(noindex, nofollow)


@given(st.lists(st.text(max_size=30), max_size=3))
def test_any_text_has_an_answer(values: list[str]) -> None:
    assert isinstance(directives(values, "honeyguide"), Directives)
