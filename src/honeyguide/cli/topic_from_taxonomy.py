"""`honeyguide topic from-taxonomy`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import note, print_json
from honeyguide.config.load import check_values
from honeyguide.config.recipes import find_recipe
from honeyguide.config.schema import VERSION
from honeyguide.errors import TopicError
from honeyguide.topic import TopicFile, render, write_new
from honeyguide.topic.seed_list import refuse_files
from honeyguide.topic.taxonomy import Node, find
from honeyguide.topic.taxonomy_file import open_taxonomy
from honeyguide.topic.tokens import layered
from honeyguide.topic.tokens_home import personal_table_file
from honeyguide.web.url import canonical

MAX_DESCRIPTION = 2_000
_Many = Parameter(consume_multiple=True)


def from_taxonomy(
    file: Path,
    path: str,
    /,
    *,
    and_path: Annotated[tuple[str, ...], _Many] = (),
    also: Annotated[tuple[Path, ...], _Many] = (),
    languages: Annotated[tuple[str, ...], _Many] = ("en", "zh"),
    seeds: Annotated[tuple[str, ...], _Many] = (),
    max_seeds: int = 20,
    recipe: str = "fcmrps",
    max_pages: int = 1000,
    contact: str = "",
    out: Annotated[Path, OUT] = Path("topic.toml"),
    overwrite: bool = False,
    json: bool = False,
) -> None:
    """Write a topic file for a node of a taxonomy: labels, start pages and description filled in.

    Args:
        file: ODP RDF dump, tab-separated tree, or labels of a recorded web; may be gzipped.
        path: The node, such as Sports/Basketball or 体育/篮球.
        and_path: Further nodes that are part of the same topic.
        also: Further files of the same tree (ODP: structure and content).
        languages: Languages to look for: en, zh or both.
        seeds: URLs to start from, besides the pages listed at the node.
        max_seeds: At most this many of the node's pages to start from.
        recipe: See `honeyguide recipes`.
        max_pages: Pages to download.
        contact: URL or e-mail address where site owners can reach you.
        out: File to write.
        overwrite: Replace the file if it is there.
        json: Print JSON.
    """
    find_recipe(recipe)
    refuse_files(seeds)
    if not languages or not set(languages) <= {"en", "zh"}:
        raise TopicError(
            f"--languages {' '.join(languages)}: a taxonomy has labels in en and zh; choose from them"
        )
    table = layered((), personal=personal_table_file())
    nodes = [find(open_taxonomy((file, *also)), one, table=table) for one in (path, *and_path)]
    node = nodes[0]
    listed = dict.fromkeys(url for one in nodes for url in one.urls if canonical(url) is not None)
    start = [*seeds, *list(listed)[:max_seeds]]
    given = {
        "name": node.path[-1],
        "taxonomy": " + ".join(one.taxonomy(languages) for one in nodes),
        "languages": languages,
        "description": _printable(" ".join(one.description for one in nodes if one.description))[
            :MAX_DESCRIPTION
        ],
    }
    config = check_values({"topic": given, "crawl": {"seeds": start, "max_pages": max_pages}})
    folder = re.sub(r"[^\w-]+", "-", node.path[-1].lower()).strip("-") or "collection"
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
    print_json({"file": str(out), "seeds": start}) if json else print(out)
    _advise(node, languages, start, out)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _advise(node: Node, languages: tuple[str, ...], seeds: list[str], out: Path) -> None:
    silent = [label for label, chinese in zip(node.path, node.chinese, strict=True) if not chinese]
    if "zh" in languages and silent:
        note(f"no Chinese name is known of {', '.join(silent)}; add it to 'taxonomy' after a |")
    if not seeds:
        note(f"no page is listed at this node; add seeds to {out}")
    note(f"Next: look at {out}, then: honeyguide crawl {out} --out collections/...")
