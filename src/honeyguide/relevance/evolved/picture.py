"""A formula drawn as a tree: plain SVG, the same on every machine."""

from __future__ import annotations

from html import escape

from honeyguide.relevance.evolved.formula import Formula, show

_STEP, _LEVEL, _MARGIN = 104, 64, 60
_TITLE = 40
_SIGNS = {"*": "\u00d7", "/": "\u00f7", "sqrt": "\u221a"}


def tree_svg(formula: Formula, *, caption: str = "") -> str:
    """The tree as SVG text.

    Args:
        formula: What to draw.
        caption: A line below the formula.
    """
    nodes: list[tuple[float, int, str]] = []
    edges: list[tuple[int, int]] = []
    leaves = [0]

    def place(part: Formula, level: int) -> int:
        children = [] if isinstance(part, str) else [place(child, level + 1) for child in part[1:]]
        if children:
            x = sum(nodes[child][0] for child in children) / len(children)
        else:
            x = float(leaves[0])
            leaves[0] += 1
        nodes.append((x, level, part if isinstance(part, str) else part[0]))
        edges.extend((len(nodes) - 1, child) for child in children)
        return len(nodes) - 1

    place(formula, 0)
    width = max(480, (leaves[0] - 1) * _STEP + 2 * _MARGIN)
    height = max(level for _, level, _ in nodes) * _LEVEL + 2 * _MARGIN + _TITLE
    shift = (width - (leaves[0] - 1) * _STEP) / 2
    points = [(shift + x * _STEP, _TITLE + _MARGIN + level * _LEVEL) for x, level, _ in nodes]
    lines = [
        f'<line x1="{points[a][0]:.1f}" y1="{points[a][1]}" x2="{points[b][0]:.1f}" y2="{points[b][1]}" '
        'stroke="#888"/>'
        for a, b in edges
    ]
    marks = [_node(points[number], name) for number, (_, _, name) in enumerate(nodes)]
    text = show(formula)
    shown = text if len(text) <= width // 8 else text[: width // 8 - 3] + "..."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="12" y="24">{escape(shown)}</text>',
            f'<text x="12" y="44" fill="#555">{escape(caption)}</text>',
            *lines,
            *marks,
            "</svg>\n",
        ]
    )


def _node(point: tuple[float, float], name: str) -> str:
    x, y = point
    leaf = name not in ("+", *_SIGNS)
    half = 50 if leaf else 16
    fill = "#e8f1e4" if leaf else "#f6ead2"
    label = escape(_SIGNS.get(name, name).replace("_", " "))
    return (
        f'<rect x="{x - half:.1f}" y="{y - 13}" width="{2 * half}" height="26" rx="13" fill="{fill}" '
        f'stroke="#555"/><text x="{x:.1f}" y="{y + 5}" text-anchor="middle">{label}</text>'
    )
