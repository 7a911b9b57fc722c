"""Adding seeds to a topic file without disturbing what a person wrote in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tomlkit
from tomlkit.items import Array, Table

from honeyguide.config.load import check_values
from honeyguide.errors import TopicError
from honeyguide.store.atomic import replacing
from honeyguide.topic import TopicFile
from honeyguide.web import canonical


def add_seeds(path: Path, urls: Sequence[str]) -> int:
    """Append addresses to `seeds` under `[crawl]`; those that are there stay as they are. How many are new.

    Raises:
        TopicError: The file cannot be changed in place.
    """
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    crawl = document.setdefault("crawl", tomlkit.table())
    seeds = crawl.setdefault("seeds", tomlkit.array()) if isinstance(crawl, Table) else None
    if not isinstance(seeds, Array):
        raise TopicError(f"{path}: [crawl] seeds cannot be changed here; add the addresses by hand")
    known = {canonical(str(url)) for url in seeds}
    fresh = [url for url in dict.fromkeys(urls) if url not in known]
    for url in fresh:
        seeds.append(url)
    seeds.multiline(True)
    text = tomlkit.dumps(document)
    check_values(TopicFile(path, text).values)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return len(fresh)
