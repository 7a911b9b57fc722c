"""What people said about a collection, for its datasheet."""

from __future__ import annotations

import msgspec
import numpy as np

from honeyguide.collection.review_precision import Precision, precision
from honeyguide.store.reviews import Reviews
from honeyguide.store.state import State


class ReviewFacts(msgspec.Struct, frozen=True):
    """Counts of the decisions that stand, and what they tell of the rest."""

    accepted: int
    rejected: int
    hosts: int
    """Hosts that were accepted or rejected as a whole."""
    precision: Precision | None


def review_facts(state: State, reviews: Reviews) -> ReviewFacts:
    """Count decisions and estimate the precision of the model's verdicts from them."""
    own = list(reviews.pages.values())
    judged = [one for one in own if one.on_topic and one.score is not None]
    _, on_topic, scores = state.verdicts()
    estimate = precision(
        scores[on_topic].astype(np.float64),
        np.array([one.score for one in judged], np.float64),
        np.array([one.said == "accept" for one in judged], np.bool_),
        by_chance=np.array([one.drawn == "random" for one in judged], np.bool_),
    )
    accepted = sum(1 for one in own if one.said == "accept")
    return ReviewFacts(accepted, len(own) - accepted, len(reviews.hosts), estimate)
