"""Which link next? One published order a file; `base.py` has the protocol, `checks.py` its contract.

An order is built with what its constructor names: `judge` (the crawl's page model, for anchors and
contexts), `topic_terms` (the topic's keywords), `languages`, `seed`; everything else is an option with a
default.
"""

from __future__ import annotations

from honeyguide.ordering.ache import Ache
from honeyguide.ordering.anchor_only import AnchorOnly
from honeyguide.ordering.backlink_count import BacklinkCount
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.breadth_first import BreadthFirst
from honeyguide.ordering.cbp_slc import Cbp, CbpSlc, Slc
from honeyguide.ordering.context_graph import ContextGraphOrder
from honeyguide.ordering.depth_first import DepthFirst
from honeyguide.ordering.fcmrps import Fcmrps
from honeyguide.ordering.fish_search import FishSearch
from honeyguide.ordering.hcla import Hcla
from honeyguide.ordering.iterative_deepening import IterativeDeepening
from honeyguide.ordering.link_context import LinkContext
from honeyguide.ordering.opic import Opic
from honeyguide.ordering.pagerank import PageRank
from honeyguide.ordering.plsi_phits import PlsiPhits
from honeyguide.ordering.random_order import RandomOrder
from honeyguide.ordering.scout import Scout
from honeyguide.ordering.shark_fcmrps import SharkFcmrps
from honeyguide.ordering.shark_search import SharkSearch
from honeyguide.ordering.shark_webkb import SharkWebkb
from honeyguide.ordering.url_keywords import UrlKeywords

BUILT_IN: dict[str, type[LinkOrder]] = {
    "ache": Ache,
    "anchor-only": AnchorOnly,
    "backlink-count": BacklinkCount,
    "best-first": BestFirst,
    "breadth-first": BreadthFirst,
    "cbp": Cbp,
    "cbp-slc": CbpSlc,
    "context-graph": ContextGraphOrder,
    "depth-first": DepthFirst,
    "fcmrps": Fcmrps,
    "fish-search": FishSearch,
    "hcla": Hcla,
    "iterative-deepening": IterativeDeepening,
    "link-context": LinkContext,
    "opic": Opic,
    "pagerank": PageRank,
    "plsi-phits": PlsiPhits,
    "random": RandomOrder,
    "scout": Scout,
    "shark-fcmrps": SharkFcmrps,
    "shark-search": SharkSearch,
    "shark-webkb": SharkWebkb,
    "slc": Slc,
    "url-keywords": UrlKeywords,
}
"""Orders by the name they have in `topic.toml`. SS1 and SS2 are `shark-webkb` with another page model."""
