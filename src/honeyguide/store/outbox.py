"""Links on their way from one shard to another, as the state of the sender holds them.

A batch waits as a setting `outbox:TO:NUMBER` until its receiver holds it for good (`engine.neighbours`). A
merge of the shards reads the outboxes too, so that it misses no link.
"""

from __future__ import annotations

from typing import Final

import msgspec

OUTBOX: Final = "outbox:"
"""How the settings with batches begin."""
DROPPED: Final = -1e300
"""Priority noted for a URL of another shard that was only ever dropped."""
HOST: Final = "host"
"""`source` of a traveller that is a host's record, not a URL."""


class Traveller(msgspec.Struct, frozen=True, array_like=True):
    """A link on its way to the shard that owns its URL."""

    url: str
    parent: str
    """URL of the page it was found on; empty for a suggestion."""
    priority: float
    depth: int = 0
    redirects: int = 0
    source: str = "link"
    anchor: str = ""
    context: str = ""
    factors: dict[str, float] = {}
    memo: dict[str, float] = {}
    outcome: int = 0
    """Not 0: a rule of the sender dropped it."""
    reason: str = ""
    score: float = -1.0
    """What the page it was found on scored; negative where that was no page."""
    tag_path: str = ""
    position: int = 0
    """Where the link stands on that page: in its elements, and among its links."""
    of_page: dict[str, float] = {}
    """What the sender's order knows of that page (`SharingOrder.of_page`)."""
    handed: bool = False
    """The sender owned the URL's host until now: what it says of the URL holds, not what is known here."""
    group: int = 0
    """The list, table, paragraph or box of that page in which the link stands, as in `Link`."""
    of_link: str = ""
    """What the sender's order knows of the link by the rest of that page (`SharingOrder.of_link`)."""


def held_by(shard: str) -> str:
    """Why a URL is `ELSEWHERE` at its owner: another shard asked for it before the host was handed over."""
    return f"shard {shard} has it"


def is_held(reason: str) -> bool:
    """Whether that is why.

    Example:
        >>> is_held(held_by("03")), is_held("")
        (True, False)
    """
    return reason.startswith("shard ") and reason.endswith(" has it")
