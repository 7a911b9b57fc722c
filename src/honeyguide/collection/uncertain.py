"""What a page model is not sure of: where its line is, how many pages lie close to it, and what to do."""

from __future__ import annotations

import math
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.review_queue import threshold_of
from honeyguide.store.state import State
from honeyguide.web import url_id

NEAR: Final = 0.25
"""Scores this close to the line: a person might well say otherwise."""
WORTH_ASKING: Final = 5
"""Fewer pages than this are not worth a review."""
AT_ONCE: Final = 5
"""Reviews asked for at a time; more where more than `EACH` pages lie close for each of them."""
EACH: Final = 20
MOST_ASKED: Final = 20
AGREE: Final = 0.97
"""Share of verdicts that one line explains; a few are left from when it was elsewhere."""


class Uncertain(msgspec.Struct, frozen=True):
    """How sure the verdicts of a collection are."""

    line: float
    """Score from which on a page is on topic."""
    near: int
    """Pages that nobody has reviewed, closer to it than `NEAR`."""
    reviews: int
    """How many of them to review; 0 where it is not worth it."""
    advice: str
    """One sentence for people."""


def uncertain(
    scores: NDArray[np.float64], on_topic: NDArray[np.bool_], reviewed: NDArray[np.bool_] | None = None
) -> Uncertain | None:
    """What is uncertain about these verdicts; None where there are none.

    Args:
        scores: One a page.
        on_topic: The verdicts.
        reviewed: Pages that a person has spoken about.

    Example:
        >>> made = uncertain(np.array([0.02, 0.4, 0.45, 0.52, 0.55, 0.6, 0.98]), np.arange(7) > 2)
        >>> made.near, made.reviews
        (5, 5)
    """
    if not len(scores):
        return None
    open_ = np.ones(len(scores), np.bool_) if reviewed is None else ~reviewed
    line = _line(scores[open_], on_topic[open_])
    near = int(np.count_nonzero(open_ & (np.abs(scores - line) < NEAR)))
    asked = 0 if near < WORTH_ASKING else min(max(AT_ONCE, math.ceil(near / EACH)), MOST_ASKED)
    return Uncertain(line, near, asked, _advice(near, asked, len(scores)))


def uncertain_of(state: State, reviewed: frozenset[str] = frozenset()) -> Uncertain | None:
    """The same for a crawl as its state is now.

    Args:
        state: Open for reading.
        reviewed: Addresses of pages that a person has spoken about.
    """
    rows = state.connection.execute("SELECT row, score, on_topic FROM page").fetchall()
    known = {row for url in reviewed if (row := state.row_of(url_id(url)))}
    return uncertain(
        np.array([score for _, score, _ in rows], np.float64),
        np.array([bool(one) for *_, one in rows], np.bool_),
        np.array([row in known for row, *_ in rows], np.bool_),
    )


def _line(scores: NDArray[np.float64], on_topic: NDArray[np.bool_]) -> float:
    """One half where the verdicts say so, as the default model's do; else as they tell."""
    if float(np.mean((scores >= 0.5) == on_topic) if len(scores) else 1.0) >= AGREE:
        return 0.5
    return threshold_of(scores, on_topic)


def _advice(near: int, asked: int, pages: int) -> str:
    if not near:
        return "No page lies close to the line."
    lie = "1 page lies" if near == 1 else f"{near:,} pages lie"
    if not asked:
        return f"{lie} close to the line; the other verdicts are clear."
    if near > 0.3 * pages:
        return f"{lie} close to the line; add example pages, or review {asked} of them."
    return f"{lie} close to the line; reviewing {asked} would settle most."
