"""`honeyguide parts`."""

from __future__ import annotations

from typing import Literal

from honeyguide.cli.output import note, print_table


def parts(
    name: str | None = None,
    /,
    *,
    kind: Literal["relevance", "ordering", "discovery"] | None = None,
    json: bool = False,
) -> None:
    """List page models, link orders and sources with their options and defaults.

    Args:
        name: Show every option of this part, with its type, default and meaning.
        kind: Only page models (relevance), link orders (ordering) or sources (discovery).
        json: Print JSON, with everything about each part.
    """
    import msgspec

    from honeyguide.config.describe import describe_all
    from honeyguide.config.registry import WORDS, Kind
    from honeyguide.errors import HoneyguideError
    from honeyguide.job.parts import FILLED_IN
    from honeyguide.topic.file import nearest

    kinds: list[Kind] = [kind] if kind else list(WORDS)
    found = [part for one in kinds for part in describe_all(one, FILLED_IN)]
    if name is not None:
        known = sorted({part.name for part in found})
        found = [part for part in found if part.name == name]
        if not found:
            raise HoneyguideError(f"no part is called {name!r}; {nearest(name, known)}")
    if json:
        print_table([msgspec.to_builtins(part) for part in found], {}, json=True)
        return
    if name is None:
        rows: list[dict[str, object]] = [
            {
                "kind": WORDS[part.kind],
                "name": part.name,
                "title": part.title,
                "options": ", ".join(f"{one.name}={one.default or '?'}" for one in part.options),
            }
            for part in found
        ]
        columns = {"kind": "kind", "name": "name", "title": "what it does", "options": "options and defaults"}
        print_table(rows, columns, json=False)
        note("One part with the meaning of its options: honeyguide parts NAME")
        return
    for part in found:
        print(f"{WORDS[part.kind]} {part.name}: {part.title}")
        if part.needs:
            print(f"The crawl gives it: {', '.join(part.needs)}.")
        options = [
            {
                "name": one.name,
                "type": one.type,
                "default": one.default or "must be given",
                "meaning": one.meaning,
            }
            for one in part.options
        ]
        columns = {"name": "option", "type": "type", "default": "default", "meaning": "meaning"}
        print_table([dict(one) for one in options], columns, json=False)
