"""`honeyguide topic new`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import note, print_json
from honeyguide.config.load import check_values, load
from honeyguide.config.reach import reach
from honeyguide.config.recipes import find_recipe
from honeyguide.config.schema import DEFAULT_RECIPE, VERSION
from honeyguide.topic import TopicFile, render, write_new
from honeyguide.topic.patterns import is_url
from honeyguide.topic.seed_list import read_seeds, refuse_files
from honeyguide.trust import remember_trust

_Many = Parameter(consume_multiple=True)


def new(
    name: str,
    /,
    *,
    keywords: Annotated[tuple[str, ...], _Many] = (),
    seeds: Annotated[tuple[str, ...], _Many] = (),
    seeds_file: Path | None = None,
    examples: Annotated[tuple[str, ...], _Many] = (),
    negatives: Annotated[tuple[str, ...], _Many] = (),
    languages: Annotated[tuple[str, ...], _Many] = ("en",),
    recipe: str = DEFAULT_RECIPE,
    max_pages: int = 1000,
    contact: str = "",
    out: Annotated[Path, OUT] = Path("topic.toml"),
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Write a commented topic file to fill in.

    Args:
        name: What the collection is about.
        keywords: Words and phrases of pages on the topic.
        seeds: URLs to start from.
        seeds_file: File with more of them: a list, a CSV, a browser's bookmarks, subscriptions
            (OPML), a sitemap or a feed.
        examples: URLs or file patterns of pages on topic.
        negatives: URLs or file patterns of pages off topic.
        languages: Two-letter codes.
        recipe: See `honeyguide recipes`.
        max_pages: Pages to download.
        contact: URL or e-mail address where site owners can reach you.
        out: File to write.
        overwrite: Replace the file if it is there.
        json: Print JSON.
    """
    find_recipe(recipe)
    refuse_files(seeds)
    start = (*seeds, *(read_seeds(seeds_file) if seeds_file else ()))
    given = {
        "name": name,
        "keywords": keywords,
        "examples": _from(out.parent, examples),
        "negatives": _from(out.parent, negatives),
        "languages": languages,
    }
    config = check_values({"topic": given, "crawl": {"seeds": start, "max_pages": max_pages}})
    folder = re.sub(r"[^\w-]+", "-", name.lower()).strip("-") or "collection"
    text = render(
        config.as_topic(),
        recipe=recipe,
        max_pages=max_pages,
        contact=contact,
        version=VERSION,
        path=str(out),
        folder=f"collections/{folder}",
    )
    check_values(TopicFile(out, text).values)
    write_new(out, text, overwrite=overwrite)
    remember_trust(out, reach(load(out)))  # whoever typed it need not be asked
    print_json({"file": str(out), "collection": f"collections/{folder}"}) if json else print(out)
    note(f"Next: edit {out}, then: honeyguide crawl {out} --out collections/{folder}")


def _from(folder: Path, named: tuple[str, ...]) -> tuple[str, ...]:
    """Addresses as they are, files as they are named from the folder of the topic file."""
    return tuple(
        each if is_url(each) or Path(each).expanduser().is_absolute() or each.startswith("~")
        else os.path.relpath(each, folder)
        for each in named
    )  # fmt: skip
