"""The names that authors of parts import: a change here is a change of the public interface."""

from __future__ import annotations

import inspect

import honeyguide
from honeyguide import parts, testing

PARTS = [
    "Answer",
    "Ask",
    "Block",
    "Combine",
    "ContextGraph",
    "CrawlGraph",
    "Document",
    "Event",
    "Examples",
    "HoneyguideError",
    "Link",
    "LinkOrder",
    "LocalOrder",
    "OnlinePageModel",
    "Page",
    "PageModel",
    "Part",
    "Preparing",
    "Recalling",
    "Recipe",
    "Saved",
    "Scored",
    "SetUp",
    "Source",
    "Suggestion",
    "TeachablePageModel",
    "TextJudge",
    "Topic",
    "TopicError",
    "Verdict",
    "Via",
]
TESTING = ["WordJudge", "check_link_order", "check_page_model", "check_source", "made_up_examples"]
TOP = [
    "Collection",
    "CollectionError",
    "Crawl",
    "HoneyguideError",
    "MissingExtra",
    "Topic",
    "TopicError",
    "crawl",
    "ShardedCrawl",
    "recrawl",
]


def test_public_names_are_there_and_documented() -> None:
    assert parts.__all__ == PARTS
    assert testing.__all__ == TESTING
    assert set(TOP) <= set(honeyguide.__all__)
    for module in (honeyguide, parts, testing):
        for name in module.__all__:
            thing = getattr(module, name)
            assert not inspect.isclass(thing) or inspect.getdoc(thing), name
