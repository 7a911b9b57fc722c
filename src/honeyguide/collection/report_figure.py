"""The report on a crawl as one figure: found against fetched, relevance, where, and what was left out."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from honeyguide.collection.report import WINDOW, Report, advice_of
from honeyguide.errors import HoneyguideError
from honeyguide.plots.panels import styled, thinned

FOUND, OTHER, BAND, SOFT = "#B87700", "#5B7FA6", "#E6C476", "#6A655A"
_MOST_LABEL = 34
_LOOK = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
th, td { text-align: left; padding: 0.3rem 1.2rem 0.3rem 0; border-bottom: 1px solid #e2ddd1; }
td:nth-child(2) { text-align: right; }
"""


def draw_report(report: Report, path: Path) -> Path:
    """Write the report to a `.png`, `.svg` or `.html` file; equal crawls give equal bytes."""
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("png", "svg", "html"):
        raise HoneyguideError(f"cannot draw {path.name}: name a .png, .svg or .html file")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_page(report) if kind == "html" else drawn_report(report, kind))
    return path


def summary(report: Report) -> str:
    """The crawl in one line."""
    share = report.relevant / report.pages if report.pages else 0.0
    parts = [f"{report.relevant:,} of {_pages(report.pages)} on topic ({share:.0%})", _hosts(report.hosts)]
    if report.first:
        first, last = (datetime.fromtimestamp(at, UTC) for at in (report.first, report.last))
        day = f"{first.day} {first:%B %Y}"
        parts.append(
            day if first.date() == last.date() else f"{first.day} {first:%b} to {last.day} {last:%b %Y}"
        )
    return ", ".join(parts)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count:,} hosts"


def drawn_report(report: Report, kind: str) -> bytes:
    """The figure as the bytes of a `png` or `svg` picture."""
    with styled():
        figure = Figure(figsize=(11.0, 7.4), layout=ConstrainedLayoutEngine(w_pad=0.15, h_pad=0.15))
        FigureCanvasAgg(figure)
        title = report.topic or "Collection"
        figure.suptitle(f"{title}\n", x=0.015, ha="left", fontsize=17, fontweight="bold", color="#1F1D18")
        figure.text(0.015, 0.925, summary(report), fontsize=11, color=SOFT)
        ((found, relevance), (where, left_out)) = figure.subplots(2, 2)
        _found(found, report)
        _relevance(relevance, report)
        _bars(
            where,
            "Where it was found",
            [(host.name, host.relevant, host.pages) for host in report.where[:10]],
            empty="no page on topic yet",
        )
        _bars(
            left_out,
            "What was left out",
            [(line.label, line.urls, 0) for line in report.left_out[:10]],
            empty="nothing was left out",
        )
        file = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(file, format=kind, metadata=metadata, dpi=150)
    return file.getvalue()


def _found(axes: Any, report: Report) -> None:
    """The story: pages on topic against downloads, beside breadth-first, with what there is in all."""
    axes.set_title("Found against fetched")
    pages = np.arange(1, report.pages + 1)
    keep = thinned(report.pages) if report.pages else np.zeros(0, np.int64)
    estimate = report.estimate
    if estimate is not None:
        axes.axhspan(estimate.total_low, estimate.total_high, color=BAND, alpha=0.28, linewidth=0)
        axes.axhline(estimate.total, color=FOUND, linewidth=0.9, linestyle=(0, (2, 2)))
        axes.text(
            0.02, 0.97, f"about {estimate.total:,.0f} pages on topic in all", va="top", fontsize=8.5,
            color=SOFT, transform=axes.transAxes,
        )  # fmt: skip
    axes.plot(pages[keep], report.found[keep], color=FOUND, linewidth=2.4, label="this crawl")
    other = report.breadth_first[keep[keep < len(report.breadth_first)]]
    axes.plot(
        pages[keep][: len(other)],
        other,
        color=OTHER,
        linewidth=1.6,
        linestyle=(0, (5, 2)),
        label="breadth-first (estimated)",
    )
    axes.set_xlabel("pages fetched")
    axes.set_ylabel("pages on topic")
    axes.set_xlim(0, max(1, report.pages))
    # An estimate far above what was found must not flatten the curves.
    found = max(1.0, float(report.found[-1]) if report.pages else 1.0)
    axes.set_ylim(0, 1.15 * max(found, min(estimate.total, 2.5 * found) if estimate else 0.0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="lower right")


def _relevance(axes: Any, report: Report) -> None:
    window = min(WINDOW, report.pages)
    axes.set_title("Relevance over time")
    if report.pages:
        keep = thinned(report.pages)
        axes.fill_between(keep + 1, report.relevance[keep], color=FOUND, alpha=0.16, linewidth=0)
        axes.plot(keep + 1, report.relevance[keep], color=FOUND, linewidth=2.0)
    axes.set_xlabel("pages fetched")
    axes.set_ylabel(f"mean score of the last {_pages(window)}")
    axes.set_xlim(0, max(1, report.pages))
    axes.set_ylim(0, 1.0)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def _bars(axes: Any, title: str, lines: Sequence[tuple[str, int, int]], *, empty: str) -> None:
    """Bars with their names and numbers; the third value is drawn behind, as what it is a part of."""
    axes.set_title(title)
    axes.grid(False)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)
    axes.set_xticks([])
    axes.set_yticks([])
    if not lines:
        axes.text(0.5, 0.5, empty, ha="center", va="center", color=SOFT, transform=axes.transAxes)
        return
    most = max(max(value, whole) for _, value, whole in lines) or 1
    for place, (name, value, whole) in enumerate(lines):
        if whole:
            axes.barh(place, whole / most, color="#E2DDD1", height=0.62)
        axes.barh(place, value / most, color=FOUND if whole else OTHER, height=0.62)
        number = f"{value:,} of {whole:,}" if whole else f"{value:,}"
        axes.text(max(value, whole) / most + 0.015, place, number, va="center", fontsize=8.5, color=SOFT)
        short = name if len(name) <= _MOST_LABEL else f"{name[: _MOST_LABEL - 1]}…"
        axes.text(-0.015, place, short, va="center", ha="right", fontsize=9, color="#333333")
    axes.set_xlim(-0.02, 1.22)
    axes.set_ylim(max(len(lines), 4) - 0.4, -0.6)


def _page(report: Report) -> bytes:
    """One HTML page with the figure and the tables behind it; it needs no other file."""
    figure = drawn_report(report, "svg").decode()
    figure = figure[figure.index("<svg") :]
    title = html.escape(report.topic or "Collection")
    where = [(host.name, f"{host.relevant:,}", f"{host.pages:,}") for host in report.where]
    left_out = [(line.label, f"{line.urls:,}", line.setting) for line in report.left_out]
    advice = "".join(f"<p>{html.escape(told)}</p>" for told in advice_of(report))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Honeyguide report</title>
<style>{_LOOK}</style></head><body>
<h1>{title}</h1><p>{html.escape(summary(report))}</p>{advice}
<figure role="img" aria-label="Four charts; their figures are in the tables below">
{figure}</figure>
<h2>Where it was found</h2>{_table(("Host", "On topic", "Pages"), where)}
<h2>What was left out</h2>{_table(("Reason", "URLs", "Setting that changes it"), left_out)}
</body></html>
""".encode()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
