"""Generated webs: a pure function of a seed and a URL, from a demo to 10 million pages, no storage.

The reading order is `spec` (what can be asked for), `sites` (hosts), `address` (URLs), `plan` (what
stands on a page), `html` (how it is written), `web` (everything joined), `walk` (what can be reached).
"""

from honeyguide.lab.webs.generated.fetcher import GeneratedFetcher
from honeyguide.lab.webs.generated.spec import BENCHMARK, DEMO, TEN_MILLION, PageTruth, WebSpec
from honeyguide.lab.webs.generated.walk import examples, graph, reachable, seeds
from honeyguide.lab.webs.generated.web import GeneratedWeb

__all__ = [
    "BENCHMARK",
    "DEMO",
    "TEN_MILLION",
    "GeneratedFetcher",
    "GeneratedWeb",
    "PageTruth",
    "WebSpec",
    "examples",
    "graph",
    "reachable",
    "seeds",
]
