"""Which link next? One published order a file; `base.py` has the protocol, `checks.py` its contract.

An order is built with what its constructor names: `judge` (the crawl's page model, for anchors and
contexts), `topic_terms` (the topic's keywords), `languages`, `seed`; everything else is an option with a
default.
"""

from __future__ import annotations

BUILT_IN: dict[str, str] = {
    "ache": "honeyguide.ordering.ache:Ache",
    "anchor-only": "honeyguide.ordering.anchor_only:AnchorOnly",
    "backlink-count": "honeyguide.ordering.backlink_count:BacklinkCount",
    "best-first": "honeyguide.ordering.best_first:BestFirst",
    "breadth-first": "honeyguide.ordering.breadth_first:BreadthFirst",
    "cbp": "honeyguide.ordering.cbp_slc:Cbp",
    "cbp-slc": "honeyguide.ordering.cbp_slc:CbpSlc",
    "context-graph": "honeyguide.ordering.context_graph:ContextGraphOrder",
    "depth-first": "honeyguide.ordering.depth_first:DepthFirst",
    "fcmrps": "honeyguide.ordering.fcmrps:Fcmrps",
    "fish-search": "honeyguide.ordering.fish_search:FishSearch",
    "hcla": "honeyguide.ordering.hcla:Hcla",
    "iterative-deepening": "honeyguide.ordering.iterative_deepening:IterativeDeepening",
    "link-context": "honeyguide.ordering.link_context:LinkContext",
    "opic": "honeyguide.ordering.opic:Opic",
    "pagerank": "honeyguide.ordering.pagerank:PageRank",
    "plsi-phits": "honeyguide.ordering.plsi_phits:PlsiPhits",
    "random": "honeyguide.ordering.random_order:RandomOrder",
    "scout": "honeyguide.ordering.scout:Scout",
    "scout-blocks": "honeyguide.ordering.scout:ScoutBlocks",
    "shark-fcmrps": "honeyguide.ordering.shark_fcmrps:SharkFcmrps",
    "shark-search": "honeyguide.ordering.shark_search:SharkSearch",
    "shark-webkb": "honeyguide.ordering.shark_webkb:SharkWebkb",
    "slc": "honeyguide.ordering.cbp_slc:Slc",
    "url-keywords": "honeyguide.ordering.url_keywords:UrlKeywords",
}
"""Where the orders are, by the name they have in `topic.toml`; each is imported when it is used.

SS1 and SS2 are `shark-webkb` with another page model.
"""
