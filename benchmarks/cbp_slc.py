"""Cost of judging a page with its blocks and anchors, and of cutting large pages into blocks.

    python benchmarks/cbp_slc.py [--json]

The page has about 30 KB of HTML with 80 links; the model is `pu-voting` trained on 20 examples and 400
unlabelled documents. CPU time of this process, best and median of many rounds.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable

from honeyguide.model import Document, Examples, Page
from honeyguide.ordering.cbp_slc import CbpSlc
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.relevance import PuVoting

LIMIT_MS = 4.0


def words(generator: random.Random, count: int, topic: int) -> str:
    """Zipf-like words; a quarter of them of one of ten topics."""
    return " ".join(
        f"topic{topic}word{generator.randrange(60)}"
        if generator.random() < 0.25
        else f"word{int(generator.paretovariate(0.7)) % 20_000}"
        for _ in range(count)
    )


def page_html(generator: random.Random, *, links: int = 80, size: int = 30_000) -> bytes:
    """Sections with paragraphs and lists of links, about a tenth of them on topic."""
    parts = ["<html><body><header><h1>Title</h1></header><main>"]
    done = 0
    while len("".join(parts)) < size - 400:
        topic = generator.randrange(10)
        parts.append(
            f"<section><h2>{words(generator, 4, topic)}</h2><p>{words(generator, 90, topic)}</p><ul>"
        )
        for _ in range(min(5, links - done)):
            done += 1
            parts.append(
                f'<li><a href="/p{done}">{words(generator, 3, topic)}</a> {words(generator, 9, topic)}</li>'
            )
        parts.append("</ul></section>")
    return ("".join(parts) + "</main></body></html>").encode()


def timed(work: Callable[[], object], rounds: int) -> dict[str, float]:
    """Milliseconds of CPU."""
    values = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        values.append(1000.0 * (time.process_time() - started))
    return {"best_ms": round(min(values), 3), "median_ms": round(statistics.median(values), 3)}


def main() -> None:
    generator = random.Random(1)
    model = PuVoting().fit(
        Examples(
            positives=tuple(Document(words(generator, 300, 0)) for _ in range(20)),
            unlabelled=tuple(Document(words(generator, 300, i % 10)) for i in range(400)),
        )
    )
    order = CbpSlc(model, keep_rejected=True)
    body = page_html(generator)
    page = parse_page(ParseJob("https://a.example/", body, blocks=True))
    assert isinstance(page, Page)

    def judge_and_rank() -> None:
        order.rank(page, model.judge(page), page.links)

    flat = b"<body>" + b"<div><p>x <a href=/a>y</a></p></div>" * 5000
    deep = b"<body>" + b"<div>" * 450 + b'<a href="/x">x</a>' + b"</div>" * 450
    rows = {
        f"judge page, {len(page.blocks)} blocks, anchors and contexts of {len(page.links)} links": timed(
            judge_and_rank, 200
        ),
        "judge the page alone": timed(lambda: model.judge(page), 200),
        "anchors one call each (for comparison)": timed(
            lambda: [model.judge_texts([link.anchor]) for link in page.links], 50
        ),
        f"parse {len(body) // 1000} KB without blocks": timed(
            lambda: parse_page(ParseJob("https://a.example/", body)), 50
        ),
        f"parse {len(body) // 1000} KB with blocks": timed(
            lambda: parse_page(ParseJob("https://a.example/", body, blocks=True)), 50
        ),
        "blocks of 20,000 elements": timed(
            lambda: parse_page(ParseJob("https://a.example/", flat, blocks=True)), 5
        ),
        "blocks of 10,000 elements": timed(
            lambda: parse_page(ParseJob("https://a.example/", flat[: len(flat) // 2], blocks=True)), 5
        ),
        "blocks of 450 levels": timed(
            lambda: parse_page(ParseJob("https://a.example/", deep, blocks=True)), 20
        ),
    }
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=2))
        return
    for name, row in rows.items():
        print(f"{name:70} best {row['best_ms']:8.3f} ms   median {row['median_ms']:8.3f} ms")
    print(f"limit for the first line: {LIMIT_MS} ms")


if __name__ == "__main__":
    main()
