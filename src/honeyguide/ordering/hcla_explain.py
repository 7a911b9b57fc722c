"""Why a frontier page stands where it stands, in a space of terms and pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

SHOWN: Final = 8


def pulled_up(
    top: Array, linking: Array, query: Array, *, words: Array, terms: Sequence[str], pages: Sequence[str]
) -> dict[str, object]:
    """The score of a frontier page, shared out among the topic's words and among the linking pages.

    Either shares add up to the cosine (that of the words of links is told apart); they may be negative.

    Parameters:
        top: Rows of U that are terms.
        linking: Rows of U of the pages that link to it, times the weight of a link.
        query: The topic over the terms, at length one.
        words: Place of the words of links to it.
        terms: Names of the terms.
        pages: URLs of the linking pages.
    """
    place = linking.sum(axis=0) + words
    length = float(np.linalg.norm(place))
    if not length:
        return {}
    topic = query @ top
    by_page = linking @ topic / length
    used = np.flatnonzero(query)
    by_term = query[used] * (top[used] @ place) / length
    told: dict[str, object] = {
        "score": round(float(topic @ place) / length, 6),
        "terms": strongest([terms[number] for number in used.tolist()], by_term.tolist()),
        "pages": strongest(pages, by_page.tolist()),
    }
    if words.any():
        told["words of links"] = round(float(words @ topic) / length, 6)
    return told


def strongest(names: Sequence[str], shares: Sequence[float]) -> list[list[object]]:
    """The largest shares with their names, largest first."""
    best = sorted(zip(names, shares, strict=True), key=lambda item: (-item[1], item[0]))[:SHOWN]
    return [[name, round(share, 6)] for name, share in best]
