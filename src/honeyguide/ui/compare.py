"""Two collections side by side: curves, and what each found that the other did not."""

from __future__ import annotations

import math

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.compare import Comparison, Side
from honeyguide.collection.compare import compare as compared
from honeyguide.ui.render import query_of, render
from honeyguide.ui.shelf import Shelf, shelf_of

SHOWN = 25
WIDTH, HEIGHT, LEFT, FOOT = 720, 300, 52, 26
"""Of the picture, with the room for its axes."""


def compare(request: Request) -> Response:
    """Choose two collections; with both, what tells them apart."""
    shelf = shelf_of(request)
    asked = query_of(request)
    left, right = asked.text("left", most=200), asked.text("right", most=200)
    names = [(name, shelf.portal(name).topic) for name in shelf.names if shelf.portal(name).exists]
    found = _found(shelf, left, right) if left and right else None
    left = left or next((name for name, _ in names), "")
    return render(
        request,
        "compare.html",
        title="Compare",
        names=names,
        left=left,
        right=right or next((name for name, _ in names if name != left), ""),
        found=found,
        sides=_sides(shelf, found, left, right) if found else [],
        picture=picture(found) if found else None,
    )


def _sides(shelf: Shelf, found: Comparison, left: str, right: str) -> list[tuple[Side, int, str]]:
    """Each side with what it had found at the length of the shorter, and where its pages are."""
    both = [(found.left, found.left_at, left), (found.right, found.right_at, right)]
    if found.left.topic == found.right.topic:
        # Two crawls of one topic are told apart by the names of their folders.
        both = [(msgspec.structs.replace(side, topic=name), at, name) for side, at, name in both]
    return [(side, at, shelf.path_of(name)) for side, at, name in both]


def _found(shelf: Shelf, left: str, right: str) -> Comparison:
    one, other = shelf.portal(left), shelf.portal(right)
    with (
        one.reading() as here,
        other.reading() as there,
        one.catalogue() as mine,
        other.catalogue() as theirs,
    ):
        return compared(here, there, shown=SHOWN, catalogues=(mine, theirs))


def picture(found: Comparison) -> dict[str, object]:
    """Paths and marks of the two curves, for the template to draw."""
    pages = max(found.left.pages, found.right.pages, 1)
    step = _step(max(found.left.relevant, found.right.relevant, 4) / 4)
    most = step * math.ceil(max(found.left.relevant, found.right.relevant, 1) / step)
    wide, tall = WIDTH - LEFT - 12, HEIGHT - FOOT - 12

    def path(curve: tuple[tuple[int, int], ...]) -> str:
        points = (f"{LEFT + wide * page / pages:.1f} {12 + tall * (1 - n / most):.1f}" for page, n in curve)
        return "M" + "L".join(points)

    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "foot": HEIGHT - FOOT,
        "pages": pages,
        "marks": [(value, 12 + tall * (1 - value / most)) for value in range(0, most + 1, step)],
        "paths": [path(found.left.curve), path(found.right.curve)],
    }


def _step(least: float) -> int:
    """The next round number for the steps of an axis.

    Example:
        >>> [_step(0.5), _step(3), _step(41), _step(88.5)]
        [1, 5, 50, 100]
    """
    unit = int(10 ** max(0, math.floor(math.log10(max(least, 1.0)))))
    return next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= least)


ROUTES: list[BaseRoute] = [Route("/compare", compare)]
