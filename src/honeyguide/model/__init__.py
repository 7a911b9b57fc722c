"""The nouns of a crawl, as frozen plain data. Nothing here imports upward."""

from honeyguide.model.context import ContextGraph, ContextNode
from honeyguide.model.document import Document
from honeyguide.model.event import Event
from honeyguide.model.examples import Examples
from honeyguide.model.graph import CrawlGraph
from honeyguide.model.host import Host
from honeyguide.model.outcome import Outcome
from honeyguide.model.page import Block, Link, Page, UrlId, Via
from honeyguide.model.scored import Scored
from honeyguide.model.seen import Seen
from honeyguide.model.topic import Topic
from honeyguide.model.verdict import BY_TEXT, Verdict

__all__ = [
    "BY_TEXT",
    "Block",
    "ContextGraph",
    "ContextNode",
    "CrawlGraph",
    "Document",
    "Event",
    "Examples",
    "Host",
    "Link",
    "Outcome",
    "Page",
    "Scored",
    "Seen",
    "Topic",
    "UrlId",
    "Verdict",
    "Via",
]
