"""How well search ranks, by pages that somebody is known to look for: `python benchmarks/known_items.py`.

Every page of a recorded web is put into an index as a crawl would. Then two kinds of queries:

- `titles`: what a page calls itself, in lower case (what its web's pages all begin or end with is taken off).
- `link texts`: what other pages call it. Only texts of two words or more, or of seven letters, that lead to
  one page of the web alone; not that page's title. Nobody who wrote them thought of this index.

Printed: the share of queries whose page comes first, and among the first ten, the mean of 1/place (MRR), and
milliseconds a query. Webs are `schools` and `manuals` of the lab, or those that are named.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from honeyguide.lab.webs.recorded import open_web
from honeyguide.model import Page
from honeyguide.store.index import FullText

AMONG = 10
_SPACES = re.compile(r"\s+")
_ENDING = re.compile(r"\s+[—\u2013|-]\s+.*$|\s+v?\d+(\.\d+)+.*$")
"""What manuals add to the title of every page: name and version of the project."""


def main() -> None:
    """Print a table."""
    wanted = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted.add_argument("webs", nargs="*", default=["schools", "manuals"])
    wanted.add_argument("--queries", type=int, default=500, help="of each kind")
    told = wanted.parse_args()
    print("| web | queries | first | among ten | MRR | ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in told.webs:
        web = open_web(name)
        pages = {url: page for url in web.urls if (page := web.page(url)) is not None}
        with tempfile.TemporaryDirectory() as folder:
            index = FullText.open(Path(folder) / "index.sqlite")
            for row, page in enumerate(pages.values(), 1):
                index.add(row, page.url, title=page.title, text=page.content, language=page.language)
            index.commit()
            for kind, queries in (("titles", titles(pages)), ("link texts", link_texts(pages))):
                drawn = random.Random(0).sample(sorted(queries.items()), min(told.queries, len(queries)))
                print(f"| {name} | {len(drawn)} {kind} | {asked(index, dict(drawn))} |", flush=True)
            index.close()


def asked(index: FullText, queries: dict[str, str]) -> str:
    """The figures of one kind of query."""
    places = []
    started = time.process_time()
    for query, url in queries.items():
        urls = [hit.url for hit in index.search(query, AMONG)]
        places.append(urls.index(url) + 1 if url in urls else 0)
    passed = (time.process_time() - started) / len(queries) * 1e3
    first = sum(place == 1 for place in places) / len(places)
    among = sum(place > 0 for place in places) / len(places)
    rank = sum(1 / place for place in places if place) / len(places)
    return f"{first:.3f} | {among:.3f} | {rank:.3f} | {passed:.1f}"


def titles(pages: dict[str, Page]) -> dict[str, str]:
    """Titles that one page alone has."""
    return _of_one_page((said(_ENDING.sub("", page.title)), page.url) for page in pages.values())


def link_texts(pages: dict[str, Page]) -> dict[str, str]:
    """Texts of links that all lead to one page."""
    texts = (
        (said(link.anchor), link.url)
        for page in pages.values()
        for link in page.links
        if link.url in pages and link.url != page.url
    )
    found = _of_one_page((text, url) for text, url in texts if " " in text or len(text) >= 7)
    return {text: url for text, url in found.items() if text not in said(pages[url].title)}


def said(text: str) -> str:
    """A text as somebody would type it."""
    return _SPACES.sub(" ", text).strip(" .,;:¶»«→").lower()[:80]


def _of_one_page(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    pages: dict[str, set[str]] = defaultdict(set)
    for text, url in texts:
        if text:
            pages[text].add(url)
    return {text: next(iter(urls)) for text, urls in pages.items() if len(urls) == 1}


if __name__ == "__main__":
    main()
