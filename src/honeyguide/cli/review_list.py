"""`honeyguide review list`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.output import note, print_table, show
from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import Collection
from honeyguide.collection.review_desk import link_counts, next_cards, standing
from honeyguide.store.reviews import read_reviews


def list_reviews(folder: Path, /, *, limit: int = 20, decided: bool = False, json: bool = False) -> None:
    """List the pages whose review teaches the crawl most, or the decisions so far.

    Args:
        folder: The collection.
        limit: Number of pages.
        decided: List the decisions that stand instead, newest first.
        json: Print JSON.
    """
    reviews = read_reviews(folder)
    with Collection.open(folder) as collection:
        catalogue = Catalogue()
        catalogue.refresh(collection.state)
        if decided:
            rows: list[dict[str, object]] = [
                {"number": one.number, "decision": one.said, "of": one.url or one.host, "score": one.score}
                for one in reversed(reviews.standing[-limit:])
            ]
            print_table(rows, ("number", "decision", "score", "of"), json=json)
        else:
            counts = link_counts(collection.state)
            cards = next_cards(collection.state, catalogue, reviews, in_links=counts, limit=limit)
            rows = [
                {"score": round(card.score, 3), "url": card.url, "title": card.title, "why": card.reason}
                for card in cards
            ]
            print_table(rows, ("score", "url", "title", "why"), json=json)
        stands = standing(catalogue, reviews)
    if stands.precision is not None:
        made = stands.precision.corrected
        note(
            f"{show(stands.accepted)} accepted, {show(stands.rejected)} rejected; of the pages on topic"
            f" {made.share:.0%} are ({made.low:.0%} to {made.high:.0%})"
        )
