"""The article of a page: the box that holds its prose, without what its authors named otherwise.

Boxes are the elements that start and end a line. Where a page has prose (long lines with few links), the main
text is what stands in the innermost box that holds most of it, with the heading and the lead in front. Boxes
go that are called comments, related or share, as long as they do not hold half of the prose: authors call
things by these names in all languages. Lines in a row that are mostly link go, too. A page without prose
keeps all its lines: on a home page or a list the short lines and the links are the content.

`python benchmarks/main_text.py` measures it by public yardsticks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

LONG: Final = 80
"""Characters from which on a line may be prose."""
FEW_LINKS: Final = 0.4
"""Prose has a smaller share of its characters in links."""
ENOUGH: Final = 500
"""Characters of prose that a page must have: its article is not looked for in less."""
MOST: Final = 0.7
"""Share of the prose that the article's box holds."""
MOSTLY_LINK: Final = 0.8
"""Share of a line's characters in links from which on it is mostly link."""
LINKS: Final = 2
"""So many lines in a row that are mostly link are no part of an article. One may be a cell of its table."""
LEAD: Final = 15
"""Lines before the article's box in which its heading is looked for."""
IDEOGRAPHS: Final = "\u2e80"
"""From here on a character counts as three: Chinese, Japanese and Korean say as much with a third of them."""

BESIDE: Final = frozenset(
    (
        *("ad", "ads", "advertisement", "author", "bio", "breadcrumb", "breadcrumbs", "byline", "caption"),
        *("comment", "comments", "complementary", "consent", "contentinfo", "cookie", "cookies", "footer"),
        *("menu", "modal", "nav", "navbar", "navigation", "newsletter", "pagination", "popular", "popup"),
        *("promo", "recommended", "related", "share", "sharing", "sidebar", "social", "sponsored"),
        *("subscribe", "tags", "trending"),
    )
)
"""Words by which authors call what is no part of an article, in `class`, `id` and `role`."""

_WORD = re.compile(r"[a-z]+", re.IGNORECASE | re.ASCII)


class Box(NamedTuple):
    """An element that starts and ends a line."""

    parent: int
    """The box around it, which stands before it in the list; -1 for the page."""
    beside: bool = False
    """Whether its author called it something that is no part of an article."""
    title: bool = False
    """Whether it is a heading of the first order."""


class Line(NamedTuple):
    """The text between two line-breaking tags, folded."""

    text: str
    density: float
    """Share of its characters in links."""
    place: int
    """2 in a boilerplate element, 1 in a heading, else 0."""
    box: int = 0
    """The innermost box around it."""


def is_beside(tag: str, *names: str | None) -> bool:
    """Whether an element is no part of an article, by what its author calls it.

    Args:
        tag: The element.
        names: Its `class`, `id` and `role`.

    Example:
        >>> is_beside("div", "post-comments", None), is_beside("div", "commentary", "x")
        (True, False)
    """
    if tag == "figcaption":
        return True
    return any(word.lower() in BESIDE for name in names if name for word in _WORD.findall(name))


def in_article(lines: Sequence[Line], boxes: Sequence[Box], kept: Sequence[bool]) -> list[bool]:
    """Which lines are left of a page's main text: those of its article, where it has one.

    Args:
        lines: The page's lines.
        boxes: The page itself, then its boxes in document order.
        kept: Which lines may be main text.
    """
    prose = [_prose(line) if keep else 0 for line, keep in zip(lines, kept, strict=True)]
    total = sum(prose)
    if total < ENOUGH:
        return list(kept)
    sums, _ = _added_up(lines, boxes, prose)
    beside = [False] * len(boxes)
    for here, box in enumerate(boxes[1:], 1):
        beside[here] = beside[box.parent] or (box.beside and 2 * sums[here] <= total)
    prose = [0 if beside[line.box] else size for line, size in zip(lines, prose, strict=True)]
    total = sum(prose)
    if total < ENOUGH:
        return list(kept)
    sums, counts = _added_up(lines, boxes, prose)
    article = 0
    for here, box in enumerate(boxes[1:], 1):
        if box.parent == article and sums[here] >= MOST * total and counts[here] > 1:
            article = here
    inside = [False] * len(boxes)
    inside[article] = True
    for here, box in enumerate(boxes[article + 1 :], article + 1):
        inside[here] = inside[box.parent]
    start = next(here for here, line in enumerate(lines) if inside[line.box])
    before = range(max(0, start - LEAD), start)
    first = next((here for here in before if boxes[lines[here].box].title), start)
    found = [
        keep and not beside[line.box] and (inside[line.box] or first <= here < start)
        for here, (line, keep) in enumerate(zip(lines, kept, strict=True))
    ]
    run = 0
    for here in range(len(lines) + 1):
        if here < len(lines) and lines[here].density > MOSTLY_LINK:
            run += 1
            continue
        if run >= LINKS:
            found[here - run : here] = [False] * run
        run = 0
    return found


def _prose(line: Line) -> int:
    """Characters of a line of prose; 0 for any other."""
    text, density, _, _ = line
    size = len(text)
    if not text.isascii():
        size += 2 * sum(each >= IDEOGRAPHS for each in text)
    return size if size >= LONG and density < FEW_LINKS else 0


def _added_up(
    lines: Sequence[Line], boxes: Sequence[Box], prose: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Of each box, characters and lines of prose in it."""
    sums, counts = [0] * len(boxes), [0] * len(boxes)
    for line, size in zip(lines, prose, strict=True):
        if size:
            sums[line.box] += size
            counts[line.box] += 1
    for here in range(len(boxes) - 1, 0, -1):
        sums[boxes[here].parent] += sums[here]
        counts[boxes[here].parent] += counts[here]
    return sums, counts
