"""Writing down a decision and telling a running crawl; `review accept` and `review reject` share it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import msgspec

from honeyguide.cli.output import note, print_json
from honeyguide.collection.collection import Collection
from honeyguide.collection.review_desk import decide
from honeyguide.engine.control import ask
from honeyguide.errors import HoneyguideError


def decided(
    folder: Path, said: Literal["accept", "reject"], addresses: tuple[str, ...], host: str, *, json: bool
) -> None:
    """Keep one decision for each address, or one for all pages of a host."""
    if bool(addresses) == bool(host):
        raise HoneyguideError("give addresses of pages or --host, one of the two")
    made_all = []
    with Collection.open(folder) as collection:
        for address in addresses or ("",):
            made = decide(folder, collection.state, said, at=time.time(), url=address, host=host)
            made_all.append(msgspec.to_builtins(made))
            note(f"{made.number}: {said} {made.url or f'all pages of {made.host}'}")
    ask(folder, reviews=len(addresses) or 1)
    if json:
        print_json(made_all)
