from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import numpy as np
import pytest

from honeyguide.collection.collection import Collection
from honeyguide.collection.report import Report, report_of
from honeyguide.collection.report_figure import draw_report, summary
from honeyguide.errors import HoneyguideError
from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("report") / "made"
    with MadeCollection(folder) as made:
        for number in range(300):
            url = f"https://h{number % 7}.example/{number}"
            made.page(url, title=f"Page {number}", text="owl", score=1.0 - number / 300, on_topic=number < 90)
        for number in range(40):
            made.address(f"https://h1.example/waiting/{number}", priority=0.1)
            made.dropped(f"https://h2.example/{number}?", outcome=Outcome.CLIENT_ERROR, reason="404")
        made.dropped("https://h2.example/deep", outcome=Outcome.TOO_DEEP, reason="depth 9")
    with Collection.open(folder) as collection:
        return report_of(collection)


def test_the_curves_end_where_the_crawl_does(report: Report) -> None:
    assert report.pages == 300
    assert len(report.found) == len(report.relevance) == 300
    assert int(report.found[-1]) == report.relevant
    assert len(report.breadth_first) <= report.pages
    assert np.all(np.diff(report.breadth_first) >= 0)
    assert sum(host.pages for host in report.where) <= report.pages
    assert all(host.relevant <= host.pages for host in report.where)


def test_reasons_are_words_and_most_frequent_first(report: Report) -> None:
    assert [(line.label, line.urls) for line in report.left_out] == [
        ("HTTP error 4xx", 40),
        ("Too many links from the seeds", 1),
    ]
    assert report.left_out[1].setting == "max_depth in [crawl]"


@pytest.mark.parametrize("kind", ["png", "svg", "html"])
def test_equal_crawls_give_equal_files(report: Report, tmp_path: Path, kind: str) -> None:
    first = draw_report(report, tmp_path / f"a.{kind}").read_bytes()
    assert draw_report(report, tmp_path / f"b.{kind}").read_bytes() == first
    if kind == "svg":
        assert ET.fromstring(first.decode()).tag.endswith("svg")
    if kind == "html":
        assert b"<script" not in first
        assert summary(report).encode() in first


def test_other_kinds_are_refused(report: Report, tmp_path: Path) -> None:
    with pytest.raises(HoneyguideError, match=r"name a \.png, \.svg or \.html file"):
        draw_report(report, tmp_path / "report.pdf")


def test_hostile_names_stay_text(report: Report, tmp_path: Path) -> None:
    hostile = msgspec.structs.replace(report, topic="<script>alert(1)</script> $x^{$ & \\frac")
    page = draw_report(hostile, tmp_path / "hostile.html").read_text()
    assert "<script" not in page
