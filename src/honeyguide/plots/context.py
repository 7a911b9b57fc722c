"""A context graph drawn as rings: the examples in the middle, each layer around them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from honeyguide.errors import HoneyguideError
from honeyguide.model import ContextGraph
from honeyguide.plots.panels import COLOURS, any_letters

MOST_PLACES: Final = 400
"""Places drawn of one layer, evenly chosen: more only makes a grey ring."""


def draw_context(graph: ContextGraph, path: Path, *, title: str = "") -> None:
    """Write the picture; the format goes by the file's suffix (`.svg`, `.png`, `.pdf`).

    Places are ordered by the place they link to, so that lines cross little. Equal graphs give equal files.

    Raises:
        HoneyguideError: The file cannot be written.
    """
    angles = _angles(graph)
    with any_letters():
        mpl.rcParams.update({"svg.hashsalt": "honeyguide", "svg.fonttype": "path", "font.size": 9.5})
        figure = Figure(figsize=(7.0, 7.0))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        lines = []
        for layer in range(1, len(graph.layers)):
            for place, angle in angles[layer].items():
                below = graph.layers[layer][place].below
                if below in angles[layer - 1]:
                    lines.append([_point(layer, angle), _point(layer - 1, angles[layer - 1][below])])
        axes.add_collection(LineCollection(lines, colors="#BBBBBB", linewidths=0.4, zorder=1))
        for layer, places in enumerate(angles):
            points = [_point(layer, angle) for angle in places.values()]
            axes.scatter(
                [x for x, _ in points],
                [y for _, y in points],
                s=26 if layer == 0 else 9,
                color=COLOURS[layer % len(COLOURS)],
                label=f"layer {layer}: {len(graph.layers[layer]):,} places",
                zorder=2,
            )
        axes.set_aspect("equal")
        axes.set_axis_off()
        axes.set_title(title)
        if graph.layers:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.08), ncols=3)
        try:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, metadata=metadata, bbox_inches="tight")
        except (OSError, ValueError) as error:
            raise HoneyguideError(
                f"cannot write {path}: {error}; name a file such as context.svg in a folder you can write to"
            ) from error


def _angles(graph: ContextGraph) -> list[dict[int, float]]:
    """For each layer, where on its ring each drawn place is."""
    found: list[dict[int, float]] = []
    for number, layer in enumerate(graph.layers):
        below = found[-1] if found else {}
        places = [place for place, node in enumerate(layer) if not number or node.below in below]
        if len(places) > MOST_PLACES:
            step = len(places) / MOST_PLACES
            places = [places[int(i * step)] for i in range(MOST_PLACES)]
        places.sort(key=lambda place: (below.get(layer[place].below, 0.0), place))
        found.append({place: 2.0 * math.pi * rank / len(places) for rank, place in enumerate(places)})
    return found


def _point(layer: int, angle: float) -> tuple[float, float]:
    radius = layer + 0.35
    return radius * math.cos(angle), radius * math.sin(angle)
