"""How well main text is found, by two public yardsticks: `python benchmarks/main_text.py PATH [PATH]`.

PATH is a checkout of either; neither is part of this project.

- Scrapinghub's article extraction benchmark (MIT; scrapinghub/article-extraction-benchmark on GitHub): 181
  English news and blog pages, and the article bodies that people marked. As there, texts are compared by
  sequences of four words: precision and recall are means over pages, F1 is that of the means.
- trafilatura's evaluation (Apache-2.0; adbar/trafilatura on GitHub): some 950 pages, most in German, and for
  each a few passages that belong to its text, and a few that do not. As there, passages found are counted.

Printed for the main text that models judge (`Page.content`), for all visible text, and for trafilatura and
resiliparse, with CPU a page (ours is that of the whole of parsing, links included). Both yardsticks have
articles mostly: they say little of forums or documentation. The rules were tuned on the first and on one half
of the second; `kept aside` is the other half.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.web.charset import decode_html

WORDS = 4
Extractor = Callable[[bytes, str], str]


def ours(body: bytes, url: str) -> str:
    """What models judge."""
    page = parse_page(ParseJob(url, body, "text/html"))
    return page.content if isinstance(page, Page) else ""


def all_text(body: bytes, url: str) -> str:
    """All that a reader sees."""
    page = parse_page(ParseJob(url, body, "text/html"))
    return page.text if isinstance(page, Page) else ""


def by_trafilatura(body: bytes, url: str) -> str:
    """The extractor of the Markdown export, with its own settings."""
    import trafilatura

    text = decode_html(body, "text/html")[0]
    return str(trafilatura.extract(text, url=url, include_comments=False) or "")


def by_resiliparse(body: bytes, url: str) -> str:
    """The quickest of the others."""
    from resiliparse.extract.html2text import extract_plain_text

    del url
    return str(extract_plain_text(decode_html(body, "text/html")[0], main_content=True))


EXTRACTORS: dict[str, Extractor] = {
    "main text": ours,
    "all text": all_text,
    "trafilatura": by_trafilatura,
    "resiliparse": by_resiliparse,
}


def sequences(text: str) -> Counter[tuple[str, ...]]:
    """How often each sequence of words occurs."""
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[start : start + WORDS]) for start in range(max(1, len(words) - WORDS + 1)))


def compared(truth: str, found: str) -> tuple[float, float]:
    """Precision and recall of one page's text."""
    right, said = sequences(truth), sequences(found)
    both = sum((right & said).values())
    return both / max(1, said.total()), both / max(1, right.total())


def articles(folder: Path, extract: Extractor) -> dict[str, tuple[float, float, int, float]]:
    """Precision, recall, pages and seconds of CPU by the first yardstick."""
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    pairs, spent = [], 0.0
    for name, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        begun = time.process_time()
        found = extract(body, truth.get("url") or "http://localhost/")
        spent += time.process_time() - begun
        pairs.append(compared(truth["articleBody"], found))
    precision, recall = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return {"articles": (precision, recall, len(pairs), spent)}


def passages(folder: Path, extract: Extractor) -> dict[str, tuple[float, float, int, float]]:
    """The same by the second, whole and for the half that was kept aside."""
    cases = json.loads((folder / "tests" / "evaldata.json").read_text(encoding="utf-8"))
    counts = {"passages": [0, 0, 0, 0], "passages, kept aside": [0, 0, 0, 0]}
    spent = dict.fromkeys(counts, 0.0)
    for address, case in cases.items():
        paths = [folder / "tests" / kind / case["file"] for kind in ("cache", "eval")]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            continue
        body, url = path.read_bytes(), address if address.startswith("http") else "http://localhost/"
        begun = time.process_time()
        text = " ".join(extract(body, url).split())
        seconds = time.process_time() - begun
        right = sum(" ".join(passage.split()) in text for passage in case["with"])
        wrong = sum(" ".join(passage.split()) in text for passage in case["without"])
        aside = hashlib.md5(address.encode(), usedforsecurity=False).digest()[0] % 2 == 1
        for name in ["passages", "passages, kept aside"] if aside else ["passages"]:
            spent[name] += seconds
            for place, more in enumerate((right, wrong, len(case["with"]), 1)):
                counts[name][place] += more
    return {
        name: (right / max(1, right + wrong), right / max(1, wanted), pages, spent[name])
        for name, (right, wrong, wanted, pages) in counts.items()
    }


def main() -> None:
    """Read every page and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="a checkout of a yardstick")
    for folder in parser.parse_args().paths:
        measure = articles if (folder / "ground-truth.json").exists() else passages
        for name, extract in EXTRACTORS.items():
            try:
                found = measure(folder, extract)
            except ImportError as error:
                print(f"{name:12} is not installed ({error.name})")
                continue
            for yardstick, (precision, recall, pages, seconds) in found.items():
                f1 = 2 * precision * recall / (precision + recall)
                print(
                    f"{name:12} {yardstick:22} pages {pages:4}  F1 {f1:.3f}  precision {precision:.3f}  "
                    f"recall {recall:.3f}  {1000 * seconds / pages:5.1f} ms",
                    flush=True,
                )


if __name__ == "__main__":
    main()
