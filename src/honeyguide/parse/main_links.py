"""Which link elements stand in the main text of a page, and which in its navigation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from honeyguide.compiled import compiled
from honeyguide.parse.article import MOSTLY_LINK
from honeyguide.parse.elements import BOILERPLATE, BREAKING
from honeyguide.parse.main_text import MENU_LENGTH, MENU_LINES
from honeyguide.parse.notes import FoundLink


def in_main_text(found: Sequence[FoundLink], main_text: str) -> list[bool]:
    r"""Whether each link element of a page is in its main text.

    Not in it are links below `nav`, `footer` and the like, and entries of a menu: five or more short links in
    a row with no text beside them, which the main text has left out (`honeyguide.parse.main_text`). On a
    page that is a mere list of links the list is the main text.

    Args:
        found: Link elements in document order.
        main_text: The page's main text, a line each.

    Example:
        >>> names = ("one", "two", "three", "four", "five")
        >>> menu = [FoundLink("a", "/", "", "", name, name, "body/ul/li/a") for name in names]
        >>> prose = FoundLink("a", "/x", "", "", "owls", "of owls at night", "body/p/a")
        >>> in_main_text([*menu, prose], "of owls at night")
        [False, False, False, False, False, True]
        >>> all(in_main_text(menu, "\n".join(names)))
        True
    """
    return marked(list(found), main_text, _place, (MENU_LENGTH, MOSTLY_LINK, MENU_LINES))


@compiled
def marked(
    found: list[FoundLink],
    main_text: str,
    place_of: Callable[[str], tuple[bool, bool]],
    rules: tuple[int, float, int],
) -> list[bool]:
    """Whether each link element of a page is in its main text.

    Args:
        found: As above.
        main_text: As above.
        place_of: Of a tag path, whether the main text may hold it, and whether its parent makes a line.
        rules: Of menus, characters of the longest entry, least density and fewest entries.
    """
    longest, density, fewest = rules
    places: dict[str, tuple[bool, bool]] = {}
    main: list[bool] = []
    runs: list[tuple[int, int]] = []
    start = -1
    for here, (_, _, _, _, anchor, context, path, _, _) in enumerate(found):
        place = places.get(path)
        if place is None:
            place = places[path] = place_of(path)
        main.append(place[0])
        length = len(anchor)
        if 0 < length <= longest and length > density * len(context):
            if start < 0:
                start = here
        elif start >= 0:
            if here - start >= fewest:
                runs.append((start, here))
            start = -1
    if start >= 0 and len(found) - start >= fewest:
        runs.append((start, len(found)))
    if runs:
        lines = frozenset(main_text.split("\n"))
        for start, end in runs:
            for here in range(start, end):
                if main[here]:
                    link = found[here]
                    # Below a `b` or `span` the context is not the whole line; the main text must have it.
                    main[here] = link[5] in (lines if places[link[6]][1] else main_text)
    return main


@lru_cache(maxsize=4096)
def _place(path: str) -> tuple[bool, bool]:
    """Of a tag path, whether the main text may hold it, and whether its parent element makes a line."""
    tags = path.split("/")
    return BOILERPLATE.isdisjoint(tags), len(tags) > 1 and tags[-2] in BREAKING
