"""`honeyguide topic tokens`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from honeyguide.cli.output import note, print_json, print_table
from honeyguide.collection.collection import Collection
from honeyguide.errors import TopicError
from honeyguide.topic.tokens import layered
from honeyguide.topic.tokens_home import personal_table_file
from honeyguide.topic.tokens_seen import AT_LEAST, unmapped_tokens


def tokens(
    folder: Path,
    /,
    *,
    at_least: int = AT_LEAST,
    limit: int = 50,
    tables: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = (),
    json: bool = False,
) -> None:
    """List frequent words in a crawl's URLs that are not mapped to a topic yet.

    Nothing is mapped by this; `honeyguide topic map-token` does that, one token at a time.

    Args:
        folder: The collection.
        at_least: URLs that must contain a token.
        limit: Tokens to list.
        tables: Token tables of yours, besides the personal one.
        json: Print JSON.
    """
    if at_least < 1 or limit < 1:
        raise TopicError("--at-least and --limit must be 1 or more; leave them out for the usual values")
    table = layered(tables, personal=personal_table_file())
    with Collection.open(folder) as collection:
        found = unmapped_tokens(_addresses(collection), table, at_least=at_least, limit=limit)
    if json:
        print_json(msgspec.to_builtins(found))
        return
    rows = [
        {
            "token": one.token,
            "count": one.count,
            "hosts": one.hosts,
            "where": ", ".join(f"{place} {count}" for place, count in one.places.items()),
            "examples": " ".join(one.examples),
        }
        for one in found
    ]
    headings = {
        "token": "token",
        "count": "addresses",
        "hosts": "hosts",
        "where": "where",
        "examples": "examples",
    }
    print_table(rows, headings)
    if found:
        note(f"Next, where one names a topic: honeyguide topic map-token {found[0].token} TOPIC")
    else:
        note(f"no unmapped token occurs in {at_least} addresses; lower --at-least to see rarer ones")


def _addresses(collection: Collection) -> Iterator[str]:
    """All addresses that the crawl knows, fetched or not."""
    state = collection.state
    return (state.url_text(row) for row in range(1, state.columns().size + 1))
