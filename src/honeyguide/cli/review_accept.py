"""`honeyguide review accept`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.decision import decided


def accept(folder: Path, /, *addresses: str, host: str = "", json: bool = False) -> None:
    """Mark pages as on topic; a running crawl learns from it at once.

    Args:
        folder: The collection.
        addresses: URLs of fetched pages.
        host: Instead, all pages fetched from this host so far.
        json: Print the decisions as JSON.
    """
    decided(folder, "accept", addresses, host, json=json)
