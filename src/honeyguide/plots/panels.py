"""Figures of crawls: curves side by side, equal bytes for equal data.

Colours are Okabe and Ito's, which people with any common colour vision tell apart; lines differ in dash as
well, so that a printed figure still reads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import msgspec
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00", "#444444")
_DASHES: tuple[Any, ...] = ("-", (0, (9, 1.2)), (0, (2.5, 1)), (0, (8, 1.2, 1.5, 1.2)))
_MOST_POINTS = 1_000
_FONT = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic and more."""
_MORE_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "IPAGothic", "WenQuanYi Zen Hei"),
    *("Droid Sans Fallback", "Noto Sans", "Noto Sans Devanagari", "Noto Sans Thai", "FreeSans", "Unifont"),
)
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.labelcolor": "#333333",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.0,
    "axes.labelsize": 9.5,
    "figure.dpi": 120.0,
    "font.size": 9.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.7,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "svg.fonttype": "path",
    "svg.hashsalt": "honeyguide",
    "text.parse_math": False,  # names come from the web: a dollar sign is a dollar sign
    "xtick.color": "#666666",
    "ytick.color": "#666666",
}


class Curve(msgspec.Struct, frozen=True):
    """One line of a figure, with its band where several topics were averaged."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    reference: bool = False
    """Drawn in black behind the others: an oracle, a bound."""


class Panel(msgspec.Struct, frozen=True):
    """One set of axes."""

    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]
    share: bool = True
    """Whether the values are shares, drawn from 0 to 1 at most."""


def draw(panels: Sequence[Panel], path: Path, *, title: str = "") -> Path:
    """Write panels side by side (two a row) to a `.png` or `.svg` file; equal data gives equal bytes."""
    if path.suffix not in (".png", ".svg"):
        raise HoneyguideError(f"cannot draw {path.name}: name a .png or .svg file")
    across = min(2, len(panels))
    down = -(-len(panels) // 2)
    with styled():
        figure = Figure(
            figsize=(5.0 * across + 0.2, 3.3 * down + 0.7),
            layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1),
        )
        FigureCanvasAgg(figure)
        axes = figure.subplots(down, across, squeeze=False).flat
        colours = _colours(panels)
        handles: dict[str, Any] = {}
        for place, panel in zip(axes, panels, strict=False):
            handles |= _panel(place, panel, colours)
        for place in list(axes)[len(panels) :]:
            place.set_visible(False)
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", color="#222222")
        columns = min(len(handles), 4)
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=max(1, columns))
        path.parent.mkdir(parents=True, exist_ok=True)
        # No date and no program version: the same data is the same file.
        metadata = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, metadata=metadata)
    return path


def _panel(axes: Any, panel: Panel, colours: dict[str, int]) -> dict[str, Any]:
    handles: dict[str, Any] = {}
    top = 0.0
    for curve in panel.curves:
        number = colours[curve.name]
        colour = "#222222" if curve.reference else COLOURS[number % len(COLOURS)]
        dash = (0, (2, 2)) if curve.reference else _DASHES[number % len(_DASHES)]
        keep = thinned(len(curve.x))
        width = 1.1 if curve.reference else None
        order = 1 if curve.reference else 3
        (handles[curve.name],) = axes.plot(
            curve.x[keep], curve.y[keep], color=colour, linestyle=dash, linewidth=width, zorder=order
        )
        if curve.low is not None and curve.high is not None:
            axes.fill_between(
                curve.x[keep], curve.low[keep], curve.high[keep], color=colour, alpha=0.14, linewidth=0
            )
            top = max(top, float(curve.high.max(initial=0.0)))
        top = max(top, float(curve.y.max(initial=0.0)))
    axes.set_title(panel.title)
    axes.set_xlabel(panel.across)
    axes.set_ylabel(panel.up)
    right = max((float(curve.x[-1]) for curve in panel.curves if len(curve.x)), default=1.0)
    axes.set_xlim(0, right if right > 1.0 else 1.0)
    if right > 1.0:
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylim(0, min(1.02, top * 1.08) if panel.share and top > 0 else None)
    axes.set_axisbelow(True)
    return handles


def _colours(panels: Sequence[Panel]) -> dict[str, int]:
    """One number a name, the same in every panel; references have no colour of their own."""
    ordinary = [curve.name for panel in panels for curve in panel.curves if not curve.reference]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(ordinary))}
    return numbers | {c.name: 0 for panel in panels for c in panel.curves if c.reference}


def thinned(count: int) -> NDArray[np.int64]:
    """Places of at most a thousand points, first and last among them: more do not show."""
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_POINTS)).astype(np.int64))


@contextmanager
def styled() -> Iterator[None]:
    """Our look alone, whatever the user's own settings are."""
    with any_letters():
        mpl.rcParams.update(_STYLE | {"font.family": mpl.rcParams["font.family"]})
        yield


@contextmanager
def any_letters() -> Iterator[None]:
    """Matplotlib as it comes, with fonts for letters that its own font lacks, where the machine has them.

    Letters that no font has are drawn as boxes, without a word: people cannot help what a topic is called.
    """
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        installed = {font.name for font in fontManager.ttflist}
        mpl.rcParams["font.family"] = [_FONT, *(name for name in _MORE_FONTS if name in installed)]
        warnings.filterwarnings("ignore", r"Glyph \d+ ")
        yield
