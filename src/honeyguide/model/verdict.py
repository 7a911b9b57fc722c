"""A page model's answer: is this page on topic, how sure, and why."""

from __future__ import annotations

import html
from typing import Final

import msgspec

BY_TEXT: Final = "by_text"
"""The fact of a verdict that says what the page's own words alone would make of it."""


class Verdict(msgspec.Struct, frozen=True):
    """What a page model thinks of a page."""

    score: float
    """Relevance in 0..1."""
    on_topic: bool
    terms: tuple[tuple[str, float], ...] = ()
    """The terms behind the score with their share of it, strongest first."""
    facts: dict[str, float] = {}
    """Model-specific numbers an order may use (`layer`, `log_likelihood`, ...)."""

    @property
    def by_text(self) -> float:
        """The score by the page's own words, also where links had a say: what an order is to learn from."""
        return self.facts.get(BY_TEXT, self.score)

    def _repr_html_(self) -> str:
        """Score, verdict and the terms behind it, for notebooks."""
        said = "on topic" if self.on_topic else "off topic"
        terms = "".join(
            f"<tr><td style='text-align:left'>{html.escape(term)}</td><td>{share:.3f}</td></tr>"
            for term, share in self.terms[:10]
        )
        table = f"<table><tr><th>term</th><th>share</th></tr>{terms}</table>" if terms else ""
        return f"<b>{said}</b>, score {self.score:.3f}{table}"
