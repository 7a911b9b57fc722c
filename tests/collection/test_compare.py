"""Two crawls side by side."""

from __future__ import annotations

from pathlib import Path

from honeyguide.collection.collection import Collection
from honeyguide.collection.compare import compare
from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection


def test_what_each_found_that_the_other_did_not(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "one") as made:
        made.page("https://a.example/both")
        made.page("https://a.example/off", on_topic=False)
        made.page("https://a.example/new", score=0.7)
        made.page("https://a.example/waits", score=0.9)
        made.page("https://a.example/gone")
    with MadeCollection(tmp_path / "other") as made:
        made.page("https://a.example/off")
        made.page("https://a.example/both")
        made.address("https://a.example/waits")
        made.dropped("https://a.example/gone", outcome=Outcome.CLIENT_ERROR, reason="HTTP 404")
    with Collection.open(tmp_path / "one") as one, Collection.open(tmp_path / "other") as other:
        found = compare(one, other)
    assert found.both == 1
    assert (found.at, found.left_at, found.right_at) == (2, 1, 2)
    assert [(page.url[-5:], page.there) for page in found.left.examples] == [
        ("waits", "still waiting"),
        ("/gone", Outcome.CLIENT_ERROR.label),
        ("e/new", "never met"),
    ]
    assert (found.right.only, found.right.reasons) == (1, {"judged off topic": 1})
    assert found.left.curve[-1] == (5, 4)


def test_an_empty_collection_is_compared_too(tmp_path: Path) -> None:
    for name in ("one", "other"):
        with MadeCollection(tmp_path / name):
            pass
    with Collection.open(tmp_path / "one") as one, Collection.open(tmp_path / "other") as other:
        found = compare(one, other)
    assert (found.both, found.left.only, found.left.examples) == (0, 0, ())
