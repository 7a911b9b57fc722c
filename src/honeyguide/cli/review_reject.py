"""`honeyguide review reject`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.decision import decided


def reject(folder: Path, /, *addresses: str, host: str = "", json: bool = False) -> None:
    """Say that pages are off topic; a running crawl learns from it at once.

    Args:
        folder: The collection.
        addresses: Of fetched pages.
        host: All pages so far of this host, instead.
        json: Print the decisions as JSON.
    """
    decided(folder, "reject", addresses, host, json=json)
