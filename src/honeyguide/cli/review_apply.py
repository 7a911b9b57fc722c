"""`honeyguide review apply`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.output import note, print_facts

_NAMES = {
    "decisions": "decisions taken in",
    "reviews": "pages learned from",
    "pages": "pages judged again",
    "verdicts": "verdicts changed",
    "changed": "priorities changed",
}


def apply(folder: Path, /, *, json: bool = False) -> None:
    """Retrain the page model of a stopped crawl and re-score waiting URLs.

    A running crawl does this by itself, and so does one that is resumed.

    Args:
        folder: The collection.
        json: Print JSON.
    """
    from honeyguide.job.apply_reviews import apply_reviews

    told = apply_reviews(folder)
    if not told:
        note("no decision is new")
    print_facts(told if json else {_NAMES.get(name, name): value for name, value in told.items()}, json=json)
