"""A whole collection beside one that cannot be read."""

from __future__ import annotations

from pathlib import Path

from honeyguide.testing.made_collection import MadeCollection


def good_and_spoilt(folder: Path) -> None:
    """Make the collections `good` and `spoilt` in a folder, with a page each."""
    for name in ("good", "spoilt"):
        with MadeCollection(folder / name) as made:
            made.page("http://a.example/", host="a.example", title="An owl", text="An owl.", score=0.9)
    state = folder / "spoilt" / "state.sqlite"
    whole = state.read_bytes()
    state.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
