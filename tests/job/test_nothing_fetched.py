"""Whole crawls from Python that fetch nothing say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide import Collection, Topic, crawl
from honeyguide.collection.no_page import no_page
from honeyguide.job.crawl import NothingFetched
from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection


def test_a_script_is_warned(tmp_path: Path) -> None:
    topic = Topic("owls", keywords=("owl",), seeds=("http://127.0.0.1/",))
    for out in (None, tmp_path / "out"):
        with pytest.warns(NothingFetched, match=r"seed http://127\.0\.0\.1/: not a public address"):
            collection = crawl(topic, out=out)
        assert collection.status().pages == 0
        collection.close()


def test_a_reason_that_repeats_the_outcome_is_left_out(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        for host in ("nowhere", "slow"):
            outcome = Outcome.DNS if host == "nowhere" else Outcome.TIMEOUT
            said = "robots.txt: host name not found" if host == "nowhere" else "robots.txt: no answer in 30 s"
            made.dropped(f"http://{host}.example/", outcome=outcome, reason=said)
    with Collection.open(tmp_path / "c") as collection:
        said = no_page(collection.state, ("http://nowhere.example/",))
        assert said.startswith(
            "no page was fetched; seed http://nowhere.example/: host name not found; check"
        )
        said = no_page(collection.state, ("http://slow.example/",))
        assert "timed out (robots.txt: no answer in 30 s)" in said
