"""A page model's answer: is this page on topic, how sure, and why."""

from __future__ import annotations

import msgspec


class Verdict(msgspec.Struct, frozen=True):
    """What a page model thinks of a page."""

    score: float
    """Relevance in 0..1."""
    on_topic: bool
    terms: tuple[tuple[str, float], ...] = ()
    """The terms behind the score with their share of it, strongest first."""
    facts: dict[str, float] = {}
    """Model-specific numbers an order may use (`layer`, `log_likelihood`, ...)."""
