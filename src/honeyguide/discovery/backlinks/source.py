"""Backlinks as a discovery source: context graphs before the crawl, parents of hits during it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from honeyguide.discovery.backlinks.context import GraphLimits, context_graph
from honeyguide.discovery.backlinks.journal import answers, as_answer
from honeyguide.discovery.backlinks.rationed import Rationed
from honeyguide.discovery.backlinks.recorded_links import KnowsLinks
from honeyguide.discovery.backlinks.service import Within, make_service
from honeyguide.discovery.base import Answer, Ask, SetUp
from honeyguide.discovery.rate_limit import Timekeeper
from honeyguide.model import Event, Examples
from honeyguide.store.state import State

NOT_GIVEN: Final = object()
"""Stands for a service that the crawl does not have."""
NOBODY: Final = (
    "no backlink service is named and nobody was asked: the crawl learns from its own links (bootstrap)"
)
IN_PASSING: Final = 2.0
"""Seconds that a question during the crawl may wait for its turn: the crawl has other things to do."""


class Backlinks:
    """Asks a backlink service which pages link to a page.

    *Set-up*: context graphs of the example pages, for the page model `layered-bayes`. *Backlink mode*
    (`on_pages`): the parents of each page on topic are fetched next, or, with the order `scout`, when that
    finds them worth it. Every answer is kept in the journal; a resumed crawl asks nothing twice, and
    `service = {kind = "journal", path = "..."}` repeats a crawl without asking at all.

    Args:
        service: Who is asked; see `docs/systems/cfc.md`. By default nobody, but for the lab's own web: the
            journal then says that the crawl bootstraps.
        depth: Layers of the context graphs, N; 0 builds none.
        layer_cap: Most places of one graph in a layer; beyond that a sample is drawn.
        parents: Most answers to one question.
        setup_requests: Most questions of the set-up; each layer has an equal share.
        setup_pages: Most pages fetched in the set-up for their text; each layer has an equal share.
        on_pages: Backlink mode.
        backlink_budget: Most requests of backlink mode, in all.

    References:
        Diligenti et al., "Focused crawling using context graphs", VLDB 2000, sections 3.1 and 3.3.
    """

    name = "backlinks"
    every: int | None = None
    when_below: int | None = None

    def __init__(
        self,
        *,
        service: dict[str, object] | None = None,
        depth: int = 4,
        layer_cap: int = 300,
        parents: int = 50,
        setup_requests: int = 1000,
        setup_pages: int = 1000,
        on_pages: bool = False,
        backlink_budget: int = 500,
        clock: Timekeeper,
        http: object = NOT_GIVEN,
        state: object = NOT_GIVEN,
        web: object = NOT_GIVEN,
    ) -> None:
        if depth < 0 or layer_cap < 1 or parents < 1 or backlink_budget < 0:
            raise ValueError("depth, layer_cap, parents and backlink_budget must not be negative or zero")
        within = Within(
            http=http if http is not NOT_GIVEN else None,  # type: ignore[arg-type]
            state=state if isinstance(state, State) else None,
            web=web if isinstance(web, KnowsLinks) else None,
        )
        self._service = Rationed(make_service(service, within), clock)
        self._nobody = service is None and within.web is None
        self._limits = GraphLimits(depth, layer_cap, parents, setup_requests, setup_pages)
        self._parents = parents
        self._budget = backlink_budget
        self._spent = 0
        self.occasions = frozenset({"page"} if on_pages else ())

    async def prepare(self, setup: SetUp) -> Examples:
        """The examples with their context graph."""
        if not self._limits.depth or not setup.examples.positives:
            return setup.examples
        if self._nobody:  # nobody is asked, so nobody's silence is put down
            setup.record(self.name, "", Answer(note=NOBODY, failed=True))
            return setup.examples
        graph = await context_graph(setup, self._service, self._limits, source=self.name)
        facts: dict[str, object] = {
            "layers": [len(layer) for layer in graph.layers],
            "documents": len(graph.documents),
            "requests": graph.requests,
            "fetched": graph.fetched,
            "seconds": round(graph.seconds, 3),
            "notes": list(graph.notes),
        }
        setup.learned(self.name, facts)
        return msgspec.structs.replace(setup.examples, context=graph)

    async def suggest(self, ask: Ask) -> Answer:
        """The parents of a page on topic, within the budget."""
        if ask.page is None:
            return Answer()
        url = ask.page.url
        if self._spent >= self._budget:
            return Answer(note=f"budget of {self._budget} requests is spent")
        found = await self._service.ask(url, self._parents, patience=IN_PASSING)
        self._spent += found.requests
        return as_answer(url, found)

    def recall(self, events: Iterable[Event]) -> None:
        """Count what was spent and keep what was answered, so that nothing is asked twice."""
        kept = list(events)
        for url, urls in answers(kept, self.name).items():
            self._service.kept[url] = tuple(urls)
        asked = [one for one in kept if one.data.get("source") == self.name and not one.url]
        self._spent = sum(int(str(one.data.get("requests", 0))) for one in asked)
