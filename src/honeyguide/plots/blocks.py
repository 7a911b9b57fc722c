"""A picture of a page's content blocks: where they lie, what they score, which links they bring in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import msgspec
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from honeyguide.errors import HoneyguideError

MOST_BLOCKS = 60
"""Blocks drawn; a page may have thousands."""
LETTERS = 96
_HEIGHT = 0.42


class ScoredBlock(msgspec.Struct, frozen=True):
    """A block as people look at it."""

    number: int
    path: str
    words: int
    links: int
    admitted: dict[str, int]
    """Links that each rule brings in; `dropped` for the rest."""
    score: float | None
    text: str


def draw_blocks(
    blocks: Sequence[ScoredBlock], path: Path, *, title: str = "", threshold: float = 0.5
) -> Path:
    """Write a PNG: one bar a block in document order, as dark as its score, framed when relevant."""
    shown = list(blocks[:MOST_BLOCKS])
    figure = Figure(figsize=(10.0, 1.2 + _HEIGHT * max(1, len(shown))), dpi=110)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.94 - 0.5 / figure.get_figheight()))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(len(shown), 0.0)
    axes.set_axis_off()
    left = f", {len(blocks) - len(shown)} more not drawn" if len(blocks) > len(shown) else ""
    figure.suptitle(_plain(f"{title[:90]}  ({len(blocks)} blocks{left})"), fontsize=10, x=0.02, ha="left")
    colours = mpl.colormaps["YlGn"]
    for place, block in enumerate(shown):
        score = block.score if block.score is not None else 0.0
        relevant = block.score is not None and score >= threshold
        axes.add_patch(
            Rectangle(
                (0.0, place + 0.06),
                1.0,
                0.88,
                facecolor=colours(0.05 + 0.7 * score) if block.score is not None else "#EEEEEE",
                edgecolor="#1B5E20" if relevant else "#BBBBBB",
                linewidth=1.6 if relevant else 0.6,
            )
        )
        told = "" if block.score is None else f"{score:.2f}  "
        rules = ", ".join(f"{count} by {rule}" for rule, count in block.admitted.items() if rule != "dropped")
        head = f"{told}{block.path[-44:]}  {block.words} words, {block.links} links"
        axes.text(
            0.01, place + 0.36, _plain(head + (f": {rules}" if rules else "")), fontsize=7.5, va="center"
        )
        axes.text(0.01, place + 0.72, _plain(block.text[:LETTERS]), fontsize=7, va="center", color="#444444")
    try:
        figure.savefig(path, format="png", metadata={"Software": None})
    except OSError as error:
        raise HoneyguideError(f"{path}: {error.strerror}; choose another file") from error
    return path


def _plain(text: str) -> str:
    """Text from a page: a dollar sign starts no formula, letters without a glyph become marks."""
    return "".join(c if 31 < ord(c) < 0x250 else "?" for c in text).replace("$", r"\$")
