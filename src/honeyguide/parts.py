"""Everything that authors of page models, link orders and sources import, in one stable place.

The names of this module and of `honeyguide.testing` are public: they keep their meaning within a major
version. Everything else inside the package may move.

- A **page model** says whether a page is on topic: `PageModel` (`OnlinePageModel` and `TeachablePageModel`
  add learning during a crawl). It gets `Examples` and `Page`, and gives `Verdict`.
- A **link order** says which link is next: `LinkOrder`; `LocalOrder` is a base class for orders without
  memory. It gets `Page`, `Verdict` and `Link`, and gives `Scored`.
- A **source** says where else pages could be: `Source` (`Preparing` and `Recalling` add a set-up and a
  memory). It gets `Ask`, and gives `Answer` with `Suggestion`.
- A **recipe** names three of them: `Recipe`, `Part`.

What a model or an order has learned is kept as `Saved`: arrays and JSON values, never code. CONTRIBUTING.md
has an example of each kind.

Example:
    >>> from honeyguide.parts import LocalOrder, Scored
    >>> class ShortFirst(LocalOrder):
    ...     def rank(self, page, verdict, links):
    ...         return [Scored(i, verdict.score - len(link.url) / 1000) for i, link in enumerate(links)]
    >>> ShortFirst().combine
    'max'
"""

from __future__ import annotations

from honeyguide.config.recipes import Part, Recipe
from honeyguide.discovery.base import Answer, Ask, Preparing, Recalling, SetUp, Source, Suggestion
from honeyguide.errors import HoneyguideError, TopicError
from honeyguide.model import (
    Block,
    ContextGraph,
    CrawlGraph,
    Document,
    Event,
    Examples,
    Link,
    Page,
    Scored,
    Topic,
    Verdict,
    Via,
)
from honeyguide.ordering.base import Combine, LinkOrder, LocalOrder, TextJudge
from honeyguide.relevance.base import OnlinePageModel, PageModel, TeachablePageModel
from honeyguide.store.models import Saved

__all__ = [
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
