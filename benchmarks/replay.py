"""How fast a recorded web is replayed through the real engine, breadth first, judging included.

Each row is a process of its own, so that memory is its own. Rates are per CPU second, since the machine
may be shared. `judge` and `visit` are the shares of the page model and of reading (or parsing) pages.
Run: .venv/bin/python benchmarks/replay.py [WEB] [START]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

from honeyguide.config.load import check_values
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.lab.webs.recorded import RecordedVisits, open_web
from honeyguide.model import Examples, Page, Verdict
from honeyguide.relevance.tf_cosine import TfCosine

CASES = ("cached", "uncached", "open", "unjudged")


class Timed(RecordedVisits):
    """Visits that know how long they took."""

    spent = 0.0

    async def visit(self, waiting: Waiting) -> Visit:
        """As always."""
        started = time.process_time()
        visit = await super().visit(waiting)
        self.spent += time.process_time() - started
        return visit


class TimedModel(TfCosine):
    """The default page model, that knows how long it took."""

    spent = 0.0
    idle = False

    def judge(self, page: Page) -> Verdict:
        """As always, unless told not to."""
        started = time.process_time()
        verdict = Verdict(0.0, False) if self.idle else super().judge(page)
        self.spent += time.process_time() - started
        return verdict


def measure(case: str, web: str, start: str) -> dict[str, object]:
    """Replay once."""
    recorded = open_web(web)
    if case != "uncached":
        recorded.prepare()
    visits = Timed(recorded, cached=case != "uncached", closed=case != "open")
    model = TimedModel()
    model.idle = case == "unjudged"
    config = check_values(
        {
            "topic": {"name": "birds", "keywords": ["bird", "owl", "feather"]},
            "crawl": {
                "seeds": [start],
                "recipe": "breadth-first",
                "max_pages": "unlimited",
                "max_pages_per_domain": "unlimited",
            },
        }
    )
    model.fit(Examples(keywords=("bird", "owl", "feather")))
    job = Crawl(config, visitor=visits, clock=VirtualClock(), relevance=model)

    async def everything() -> None:
        async for _ in job.run():
            pass

    started = time.process_time()
    run_here(everything)
    spent = time.process_time() - started
    return {
        "case": case,
        "pages": job.tally.pages,
        "requests": job.tally.requests,
        "cpu seconds": round(spent, 2),
        "pages per second": round(job.tally.pages / spent),
        "judge": round(model.spent / spent, 3),
        "visit": round(visits.spent / spent, 3),
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Print one JSON line a case."""
    words = sys.argv[1:]
    if words[:1] == ["--case"]:
        print(json.dumps(measure(words[1], words[2], words[3])))
        return
    web = words[0] if words else "schools"
    start = words[1] if len(words) > 1 else "http://schools.example/wp/index/subject.htm"
    open_web(web).prepare()
    for case in CASES:
        command = [sys.executable, __file__, "--case", case, web, start]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(done.stdout, end="", flush=True)


if __name__ == "__main__":
    main()
