"""Processing cost of FCMRPS against best-first on the same pages.

Processing is what the paper calls so: parsing a page, finding its links, judging it and ranking its links;
no downloading, no storing. All orders are given the same pages in the same order. Prints CPU time a page
and the ratio to best-first; the paper's is 2.60 / 2.34 = 1.11, ours must stay at or below 1.15.

    python benchmarks/fcmrps.py [--web schools] [--pages 400] [--rounds 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

from honeyguide.lab.webs.generated import DEMO, GeneratedWeb
from honeyguide.lab.webs.recorded import open_web
from honeyguide.model import Examples, Page
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.breadth_first import BreadthFirst
from honeyguide.ordering.fcmrps import Fcmrps
from honeyguide.ordering.shark_fcmrps import SharkFcmrps
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.relevance.taxonomy_cosine import TaxonomyCosine

PATHS = {
    "schools": ("Science|科学", "Biology|生物", "Birds|鸟类"),
    "office-help": ("Office Suites|办公软件", "Spreadsheets|电子表格"),
    "generated": ("Arts", "Music"),
}
LANGUAGES = ("en", "zh")


def bodies(web: str, count: int) -> list[tuple[str, bytes]]:
    """Addresses and HTML of pages, spread over the whole web."""
    if web == "generated":
        made = GeneratedWeb(DEMO)
        urls = list(made.pages())
        chosen = urls[:: max(1, len(urls) // count)][:count]
        return [(url, made.get(url).body) for url in chosen]
    archive = open_web(web).archive
    urls = list(archive.catalogue.sites)
    chosen = urls[:: max(1, len(urls) // count)][:count]
    return [(url, archive.answers.read(archive.records[url]).payload) for url in chosen]


def process(pages: list[tuple[str, bytes]], model: TaxonomyCosine, order: LinkOrder) -> tuple[float, float]:
    """CPU seconds of everything, and of ranking alone."""
    ranking = 0.0
    started = time.process_time()
    for url, body in pages:
        page = parse_page(ParseJob(url, body, "text/html; charset=utf-8"))
        if not isinstance(page, Page):
            continue
        verdict = model.judge(page)
        before = time.process_time()
        order.rank(page, verdict, page.links)
        ranking += time.process_time() - before
    return time.process_time() - started, ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--web", default="schools", choices=sorted(PATHS))
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("HONEYGUIDE_DATA", str(Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = PATHS[options.web]
    pages = bodies(options.web, options.pages)
    model = TaxonomyCosine().fit(Examples(taxonomy=path, languages=LANGUAGES))
    orders: dict[str, LinkOrder] = {
        "breadth-first": BreadthFirst(),
        "best-first": BestFirst(),
        "shark-search": SharkFcmrps(model),
        "fcmrps": Fcmrps(path, (), LANGUAGES, personal_table=False),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in orders}
    for _ in range(options.rounds):  # taking turns: a busy machine slows all of them alike
        for name, order in orders.items():
            times[name].append(process(pages, model, order))
    # Parsing and judging are the same work for all: taken together, their noise does not hide the ranking.
    common = statistics.median(total - ranked for found in times.values() for total, ranked in found)
    ranking = {name: statistics.median(ranked for _, ranked in found) for name, found in times.items()}
    best = common + ranking["best-first"]
    rows = [
        {
            "order": name,
            "processing_ms_per_page": round(1000 * (common + seconds) / len(pages), 3),
            "ranking_ms_per_page": round(1000 * seconds / len(pages), 3),
            "ratio_to_best_first": round((common + seconds) / best, 3),
        }
        for name, seconds in ranking.items()
    ]
    if options.json:
        print(json.dumps({"web": options.web, "pages": len(pages), "rows": rows}, indent=2))
        return
    print(f"{options.web}, {len(pages)} pages, median of {options.rounds} rounds")
    for row in rows:
        print(
            f"{row['order']:14} {row['processing_ms_per_page']:8.3f} ms/page   ranking "
            f"{row['ranking_ms_per_page']:7.3f} ms/page   {row['ratio_to_best_first']:.3f} x best-first"
        )


if __name__ == "__main__":
    main()
