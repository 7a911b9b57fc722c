from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import CrawlRecord, Fetched
from honeyguide.lab.measures.curves import averaged_panels, crawl_panels, harvest_and_recall
from honeyguide.plots.panels import COLOURS, draw


def crawl(name: str, every: int, *, pages: int = 300) -> CrawlRecord:
    fetched = tuple(Fetched(n, n % every == 0, float(n % every == 0), n % 5) for n in range(pages))
    return CrawlRecord(fetched, reachable=150, name=name)


RUNS = [crawl("breadth-first", 6), crawl("best-first", 2)]
ORACLE = np.arange(1, 151)


def test_panels_hold_the_measured_curves() -> None:
    harvest, recall, sliding, precision = crawl_panels(RUNS, oracle=ORACLE)
    assert [curve.name for curve in recall.curves] == ["breadth-first", "best-first", "oracle"]
    assert harvest.curves[1].y[-1] == 0.5
    assert recall.curves[1].y[-1] == 1.0
    assert recall.curves[2].reference
    assert len(recall.curves[2].y) == 300
    assert recall.curves[2].y[149] == recall.curves[2].y[299] == 1.0
    assert sliding.curves[1].y[-1] == 0.5
    assert precision.curves[0].x.tolist() == [n / 150 for n in range(1, 51)]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_equal_data_gives_equal_bytes(tmp_path: Path, suffix: str) -> None:
    panels = harvest_and_recall(RUNS, oracle=ORACLE)
    first = draw(panels, tmp_path / f"a.{suffix}", title="Two crawls").read_bytes()
    with mpl.rc_context({"lines.linewidth": 9.0, "svg.hashsalt": "other"}):
        second = draw(panels, tmp_path / f"b.{suffix}", title="Two crawls").read_bytes()
    assert first == second
    other = draw(crawl_panels(RUNS)[:2], tmp_path / f"c.{suffix}", title="Two crawls").read_bytes()
    assert other != first


def test_svg_holds_no_date_and_our_colours(tmp_path: Path) -> None:
    text = draw(crawl_panels(RUNS), tmp_path / "new" / "four.svg").read_text()
    assert "<dc:date>" not in text
    assert COLOURS[0].lower() in text
    assert COLOURS[1].lower() in text


def test_png_has_two_panels_a_row(tmp_path: Path) -> None:
    sizes = {}
    for count in (1, 2, 3, 4):
        data = draw(crawl_panels(RUNS)[:count], tmp_path / f"{count}.png").read_bytes()
        sizes[count] = (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"))
    assert sizes[1][0] < sizes[2][0] == sizes[3][0] == sizes[4][0]
    assert sizes[2][1] < sizes[3][1] == sizes[4][1]


def test_averages_have_bands_and_short_crawls_are_continued(tmp_path: Path) -> None:
    runs = {"a": [crawl("a", 2), crawl("a", 3, pages=100)], "b": [crawl("b", 4)]}
    harvest, recall = averaged_panels(runs, np.random.default_rng(1), budget=250)
    mean = recall.curves[0]
    assert mean.low is not None
    assert mean.high is not None
    assert len(mean.y) == 250
    assert (mean.low <= mean.y + 1e-12).all()
    assert (mean.y <= mean.high + 1e-12).all()
    assert mean.y[-1] == pytest.approx((125 / 150 + 34 / 150) / 2)
    assert recall.curves[1].low is None
    assert draw((harvest, recall), tmp_path / "bands.png").stat().st_size > 10_000


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HoneyguideError, match=r"\.png or \.svg"):
        draw(crawl_panels(RUNS), tmp_path / "a.gif")
    with pytest.raises(HoneyguideError, match="no crawls to draw"):
        averaged_panels({"a": []}, np.random.default_rng(1), budget=10)


def test_letters_that_no_font_has_are_no_warning(tmp_path: Path) -> None:
    """Warnings are errors in tests; the last letter is one of those that never get a glyph."""
    draw(harvest_and_recall(RUNS), tmp_path / "a.png", title="フクロウ \U000f1234")
