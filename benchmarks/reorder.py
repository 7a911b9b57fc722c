"""What HCLA costs: total CPU beside best-first over the same pages, and time of a reordering by links known.

    python benchmarks/reorder.py [--web webkb schools] [--runs update unlimited full] [--repeat 2] [--cached]
        [--pages 1500]

Needs the recorded webs `webkb`, `office-help` and `schools` (see docs/lab.md). CPU time of this process
only, BLAS on one thread. The text corpus is decomposed before the clock starts, as the literature does (off
line); what that takes is printed too. Crawls are repeated in turn and the least CPU time counts, since
other processes only ever add to it; the full recomputation, which takes minutes on `schools`, is made once.

Pages are parsed when they are visited, as in a live crawl; `--cached` takes parsed pages from the lab's
cache, which leaves little but ordering and book-keeping to compare.
"""

# ruff: noqa: E402

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before numpy is imported: threads would count twice

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from honeyguide.config.load import check_values
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.recorded import RecordedVisits, open_web
from honeyguide.model import CrawlGraph, Examples, Page, Verdict
from honeyguide.ordering.hcla import Hcla, HclaOptions
from honeyguide.relevance.lsi import Lsi

CASES: dict[str, dict[str, Any]] = {
    "webkb": {
        "site": "wisconsin",
        "seed": "http://www.cs.wisc.edu/",
        "keywords": "student university interests favourite activities graduate home",
        "corpus": 7000,
    },
    "office-help": {
        "site": "en-us",
        "seed": "http://en.office.example/text/scalc/main0000.html",
        "keywords": "writer text document paragraph page style footnote header footer",
        "corpus": 1000,
    },
    "schools": {
        "site": None,
        "seed": "http://schools.example/wp/e/Earth.htm",
        "keywords": "bird species wings feathers nest eggs",
        "corpus": 3000,
    },
}


EVERYTHING = 1_000_000
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "update": ("HCLA N=50", {}),
    "unlimited": ("HCLA N=50, no limits", {"fetched_kept": EVERYTHING, "frontier_kept": EVERYTHING}),
    "full": ("HCLA N=50, full recomputation", {"method": "full"}),
}


class Timed(Hcla):
    """HCLA that notes the time of each reordering and how many links were known."""

    def __init__(self, model: Lsi, **options: Any) -> None:
        super().__init__(model, HclaOptions(**options))
        self.times: list[tuple[int, float]] = []

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        started = time.process_time()
        priorities = super().reorder(graph)
        self.times.append((len(graph.sources), time.process_time() - started))
        return priorities


class Shadowed(Timed):
    """The same with the full recomputation, while an updated space follows: how far apart do they come?"""

    def __init__(self, model: Lsi, **options: Any) -> None:
        super().__init__(model, **options)
        self.shadow = Hcla(model)
        self.agreement: list[float] = []
        self.shadow_seconds = 0.0

    def learn(self, page: Page, verdict: Verdict) -> None:
        super().learn(page, verdict)
        started = time.process_time()
        self.shadow.learn(page, verdict)
        self.shadow_seconds += time.process_time() - started

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        priorities = super().reorder(graph)
        started = time.process_time()
        updated = self.shadow.reorder(graph)
        there = ~np.isnan(priorities)
        if there.sum() > 2:
            self.agreement.append(float(scipy.stats.spearmanr(priorities[there], updated[there])[0]))
        self.shadow_seconds += time.process_time() - started
        return priorities


class FromFirstVisit:
    """A web that notes when the crawl proper begins: fitting comes before it."""

    def __init__(self, web: RecordedVisits) -> None:
        self._web = web
        self.started: float | None = None

    async def visit(self, waiting: Waiting) -> Visit:
        if self.started is None:
            self.started = time.process_time()
        return await self._web.visit(waiting)

    async def close(self) -> None:
        await self._web.close()


def crawled(
    case: dict[str, Any],
    web: Any,
    examples: Examples,
    *,
    cached: bool,
    pages: int = EVERYTHING,
    **parts: Any,
) -> tuple[float, int]:
    """CPU seconds and pages of one crawl, to the end by default."""
    values = {
        "topic": {"name": "cost", "keywords": list(examples.keywords)},
        "crawl": {
            "seeds": [case["seed"]],
            "recipe": "best-first",
            "max_pages": pages,
            "max_pages_per_domain": "unlimited",
        },
        "politeness": {"delay": 0, "ip_delay": 0, "slow_factor": 0},
    }
    visits = FromFirstVisit(RecordedVisits(web, site=case["site"], cached=cached))
    crawl = Crawl(check_values(values), examples=examples, visitor=visits, clock=VirtualClock(), **parts)

    async def everything() -> None:
        async for _ in crawl.run():
            pass

    asyncio.run(everything())
    return time.process_time() - (visits.started or 0.0), crawl.tally.pages


def slope(times: list[tuple[int, float]]) -> float:
    """Exponent of growth: 1 is linear. The first reordering, which starts from nothing, is left out."""
    links, seconds = np.array(times[1:]).T
    return float(np.polyfit(np.log(links), np.log(np.maximum(seconds, 1e-6)), 1)[0])


def described(order: Timed, total: float, best: float, fit: float) -> dict[str, Any]:
    """The figures of one run beside best-first's CPU seconds."""
    agreement = order.agreement if isinstance(order, Shadowed) else []
    shown = order.times[:: max(1, len(order.times) // 8)]
    return {
        "cpu": round(total, 2),
        "times best-first": round(total / best, 2),
        "times best-first, with fitting": round((total + fit) / best, 2),
        "reordering": round(sum(seconds for _, seconds in order.times), 2),
        "growth exponent": round(slope(order.times), 2),
        "milliseconds by links": [[links, round(1000 * seconds, 1)] for links, seconds in shown],
        "agreement": [round(float(np.mean(agreement)), 3), round(min(agreement), 3)] if agreement else [],
    }


def measured(name: str, chosen: list[str], *, cached: bool, repeat: int, most: int) -> dict[str, Any]:
    case = CASES[name]
    web = open_web(name)
    urls = [url for url in web.urls if case["site"] is None or web.sites[url] != case["site"]]
    examples = Examples(
        keywords=tuple(case["keywords"].split()),
        unlabelled=web.text_documents(urls, limit=case["corpus"]),
    )
    started = time.process_time()
    model = Lsi().fit(examples)
    fit = time.process_time() - started
    crawled(case, web, examples, cached=cached, pages=50)  # compiled code is loaded before the clock starts
    best, pages = float("inf"), 0
    totals: dict[str, float] = {}
    orders: dict[str, Timed] = {}
    for turn in range(repeat):
        seconds, pages = crawled(case, web, examples, cached=cached, pages=most)
        best = min(best, seconds)
        for run in chosen:
            if run == "full" and turn:
                continue
            order = (Shadowed if run == "full" else Timed)(model, **RUNS[run][1])
            parts = {"relevance": model, "ordering": order}
            seconds, same = crawled(case, web, examples, cached=cached, pages=most, **parts)
            seconds -= order.shadow_seconds if isinstance(order, Shadowed) else 0.0
            if abs(same - pages) > pages // 100:  # which of two copies is met first is a matter of order
                raise SystemExit(f"{run} fetched {same} pages and best-first {pages}: nothing to compare")
            if seconds < totals.get(run, float("inf")):
                totals[run], orders[run] = seconds, order
    runs = {RUNS[run][0]: described(orders[run], totals[run], best, fit) for run in chosen}
    return {
        "web": name, "site": case["site"] or "all", "parsing": not cached, "pages": pages,
        "fit": round(fit, 2), "best-first cpu": round(best, 2), "runs": runs,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=list(RUNS))
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--cached", action="store_true", help="take parsed pages from the lab's cache")
    parser.add_argument("--pages", type=int, default=EVERYTHING, help="stop crawls after so many")
    chosen = parser.parse_args()
    found = []
    for name in chosen.web:
        one = measured(name, chosen.runs, cached=chosen.cached, repeat=chosen.repeat, most=chosen.pages)
        found.append(one)
        print(f"{name} ({one['site']}), {one['pages']} pages, parsing {'on' if one['parsing'] else 'off'}")
        print(f"  best-first {one['best-first cpu']} s CPU; LSI fitted beforehand in {one['fit']} s")
        for label, run in one["runs"].items():
            print(
                f"  {label}: {run['cpu']} s, {run['times best-first']} x best-first "
                f"({run['times best-first, with fitting']} with fitting); "
                f"reordering {run['reordering']} s, time ~ links^{run['growth exponent']}"
            )
            print(
                "    ms by links known: "
                + ", ".join(f"{links}: {ms}" for links, ms in run["milliseconds by links"])
            )
            if run["agreement"]:
                mean, least = run["agreement"]
                print(f"    rank correlation with the update: {mean} on average, {least} at least")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
