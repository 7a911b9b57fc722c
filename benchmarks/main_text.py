"""How well main text is found, by a public yardstick: `python benchmarks/main_text.py PATH`.

PATH is a checkout of Scrapinghub's article extraction benchmark (MIT), on GitHub as
scrapinghub/article-extraction-benchmark: 181 news and blog pages in `html/`, and the article bodies that
people marked in `ground-truth.json`. It is not part of this project. As there, texts are compared by
sequences of four words: precision and recall are means over pages, F1 is that of the means. Printed for the
main text that models judge (`Page.content`) and for all visible text. Articles are what the yardstick has:
it says nothing of shops, forums or documentation.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page

WORDS = 4


def sequences(text: str) -> Counter[tuple[str, ...]]:
    """How often each sequence of words occurs."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[start : start + WORDS]) for start in range(max(1, len(words) - WORDS + 1)))


def compared(truth: str, found: str) -> tuple[float, float]:
    """Precision and recall of one page's text."""
    right, said = sequences(truth), sequences(found)
    both = sum((right & said).values())
    return both / max(1, said.total()), both / max(1, right.total())


def main() -> None:
    """Read every page and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path, help="a checkout of the benchmark")
    folder = parser.parse_args().path
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    figures: dict[str, list[tuple[float, float]]] = {"main text": [], "all text": []}
    for name, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        page = parse_page(ParseJob(truth.get("url") or "http://localhost/", body, "text/html; charset=utf-8"))
        texts = (page.content, page.text) if isinstance(page, Page) else ("", "")
        for found, text in zip(figures.values(), texts, strict=True):
            found.append(compared(truth["articleBody"], text))
    for name, pairs in figures.items():
        precision, recall = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        f1 = 2 * precision * recall / (precision + recall)
        print(f"{name:10} pages {len(pairs)}  F1 {f1:.3f}  precision {precision:.3f}  recall {recall:.3f}")


if __name__ == "__main__":
    main()
