"""CPU time and size of the full-text index, and of queries on it.

    .venv/bin/python benchmarks/index.py [WEB.warc.gz ...]

Default webs: schools (English, long) and office-help (English and Chinese) of ../shared/data/webs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from honeyguide.store.archive_reader import iterate
from honeyguide.store.index import FullText

PAGES = 2000
QUERIES = ("water", "world war", '"united states"', "species -bird", "文件", "单元格格式", "insert table")


def texts(web: Path) -> list[tuple[str, str, str]]:
    found = []
    for answer in iterate(web):
        tree = LexborHTMLParser(answer.payload.decode("utf-8", "replace"))
        body = tree.body.text(separator=" ") if tree.body else ""
        found.append(
            (
                answer.url,
                tree.css_first("title").text() if tree.css_first("title") else "",
                " ".join(body.split()),
            )
        )
    step = max(1, len(found) // PAGES)
    return found[::step][:PAGES]


def main() -> None:
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "webs"
    named = [Path(name) for name in sys.argv[1:]]
    for web in named or [folder / "schools.warc.gz", folder / "office-help.warc.gz"]:
        pages = texts(web)
        characters = sum(len(text) for _, _, text in pages) / len(pages)
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary) / "index.sqlite"
            index = FullText.open(path)
            start = time.process_time()
            for number, (url, title, text) in enumerate(pages, 1):
                index.add(number, url, title=title, text=text, language="en", score=0.5)
                if number % 50 == 0:
                    index.commit()
            index.commit()
            cost = (time.process_time() - start) / len(pages) * 1e6
            index.close()
            size = path.stat().st_size / len(pages)
            print(
                f"{web.name}: {len(pages)} pages of {characters:.0f} characters: {cost:.0f} µs,"
                f" {size:.0f} bytes a page"
            )
            index = FullText.open(path, read_only=True)
            for query in QUERIES:
                start = time.process_time()
                for _ in range(10):
                    index.search(query)
                spent = (time.process_time() - start) * 100
                print(f"  {query:<20} {index.count(query):>6} pages {spent:8.2f} ms")
            index.close()


if __name__ == "__main__":
    main()
