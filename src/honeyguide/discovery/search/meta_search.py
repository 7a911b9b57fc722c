"""Meta-search: the same words to several engines at once, their answers fused."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from honeyguide.discovery.base import Answer, Ask, Suggestion
from honeyguide.discovery.rate_limit import Timekeeper
from honeyguide.discovery.search.base import SearchEngine
from honeyguide.discovery.search.collection_engine import Searchable
from honeyguide.discovery.search.engines import Within, make_engines
from honeyguide.discovery.search.fusion import Fused, reciprocal_rank_fusion
from honeyguide.discovery.search.queries import draw_query, log_terms, topic_terms
from honeyguide.discovery.search.rationed import RationedEngine
from honeyguide.model import Event, Examples

NOT_GIVEN: Final = object()
"""Stands for a service that the crawl does not have."""
START_QUERIES: Final = 3
"""Queries at the start of a crawl without seeds, and when nothing is left to fetch."""
DRAWS: Final = 50
"""Tries to draw a query that was not asked before."""
LOW_EVERY: Final = 10
"""While the frontier is low but not empty, a query each time this many pages went by."""


class Searched(msgspec.Struct, frozen=True):
    """What all engines together said to one query."""

    query: str
    fused: tuple[Fused, ...]
    requests: int
    notes: dict[str, str]
    """What went wrong, by engine."""
    failed: bool
    """Whether no engine answered."""
    counts: dict[str, int]

    @property
    def note(self) -> str:
        """One line for the journal."""
        said = [
            f"{name}: {self.notes[name]}" if name in self.notes else f"{name}: {count}"
            for name, count in self.counts.items()
        ]
        # Semicolons part the queries of one answer; see `MetaSearch.recall`.
        return f"query {self.query!r} ({', '.join(said)})".replace(";", ",")


async def search_all(engines: Sequence[RationedEngine], query: str, limit: int) -> Searched:
    """Ask all engines at once and fuse what they say."""
    found = await asyncio.gather(*(engine.search(query, limit) for engine in engines))
    answers = dict(zip((engine.name for engine in engines), found, strict=True))
    return Searched(
        query,
        tuple(reciprocal_rank_fusion({name: one.hits for name, one in answers.items()})),
        sum(one.requests for one in found),
        {name: one.note for name, one in answers.items() if one.note},
        not any(one.hits or not (one.failed or one.note) for one in found),
        {name: len(one.hits) for name, one in answers.items()},
    )


class MetaSearch:
    """Sends one to three random terms of the topic to several search engines, and queues what they find.

    Every `every` pages and when the frontier runs low, the first `results` answers of each engine are
    merged by reciprocal rank, duplicates removed. The terms come from a query log, else from `terms`,
    else from the topic's keywords and example pages. Queries and answers are in the journal; the draw
    goes by the crawl's seed and the number of queries so far, so a resumed crawl asks what an
    uninterrupted one would have asked. Engines that fail are left out; when all do, the crawl goes on
    without them.

    Args:
        engines: Who is asked; see `docs/systems/gp-hybrid.md`. By default nobody, but for the lab's web.
        terms: Words and phrases to draw from.
        query_log: File with one query a line; its words are drawn from.
        most_terms: Terms of a query at most.
        results: Results of each engine to a query.
        every: Pages between two queries, M.
        when_below: Ask too when fewer URLs wait.
        budget: Requests to engines in all.
        priority: Of the pages found; None puts them before links.

    References:
        The GP hybrid study, sections 4.4 and 4.6.
        Gautam Pant, Padmini Srinivasan, Filippo Menczer, "Crawling the Web", 2004.
    """

    name = "meta-search"
    occasions = frozenset({"start", "every", "low"})

    def __init__(
        self,
        *,
        engines: tuple[str | dict[str, object], ...] = (),
        terms: tuple[str, ...] = (),
        query_log: str = "",
        most_terms: int = 3,
        results: int = 10,
        every: int = 10,
        when_below: int = 20,
        budget: int = 500,
        priority: float | None = None,
        seed: int = 0,
        examples: Examples,
        clock: Timekeeper,
        http: object = NOT_GIVEN,
        web: object = NOT_GIVEN,
    ) -> None:
        if min(most_terms, results, every) < 1 or when_below < 0 or budget < 0:
            raise ValueError(
                "most_terms, results and every must be 1 at least, when_below and budget not negative;"
                " raise them"
            )
        within = Within(
            http=http if http is not NOT_GIVEN else None,  # type: ignore[arg-type]
            web=web if isinstance(web, Searchable) else None,
        )
        self.every: int | None = every
        self.when_below: int | None = when_below
        made: Sequence[SearchEngine] = make_engines(_listed(engines), within)
        self._engines = [RationedEngine(engine, clock) for engine in made]
        self._terms = chosen_terms(examples, terms=terms, query_log=query_log)
        self._most_terms = most_terms
        self._results = results
        self._budget = budget
        self._priority = priority
        self._seed = seed
        self._asked: set[str] = set()
        self._spent = 0
        self._told = False

    async def suggest(self, ask: Ask) -> Answer:
        """What the engines find for a random query, when it is time for one."""
        queries = self._wanted(ask)
        if not queries:
            return Answer()
        problem = self._problem()
        if problem:
            told, self._told = self._told, True
            return Answer() if told else Answer(note=problem, failed=True)
        suggestions: dict[str, Suggestion] = {}
        searched: list[Searched] = []
        for _ in range(queries):
            query = self._draw() if self._spent < self._budget else ""
            if not query:
                break
            one = await self._search(query)
            searched.append(one)
            for found in one.fused:
                suggestions.setdefault(found.url, self._suggestion(found, one.query))
        if not searched:
            return Answer()
        return Answer(
            tuple(suggestions.values()),
            sum(one.requests for one in searched),
            "; ".join(one.note for one in searched),
            failed=all(one.failed for one in searched),
        )

    def recall(self, events: Iterable[Event]) -> None:
        """Count queries and requests of the crawl so far."""
        own = [one for one in events if one.data.get("source") == self.name]
        self._spent = sum(int(str(one.data.get("requests", 0))) for one in own)
        notes = [part for one in own for part in str(one.data.get("note", "")).split("; ")]
        for _ in range(sum(part.startswith("query ") for part in notes)):
            self._draw()

    def _wanted(self, ask: Ask) -> int:
        """How many queries this occasion is worth."""
        if ask.occasion == "start":
            return 0 if ask.topic.seeds else START_QUERIES
        if ask.occasion == "low" and ask.waiting:
            # `every` has its own turn at multiples of M; both together would ask twice.
            due = ask.pages_fetched % LOW_EVERY == 0 and ask.pages_fetched % (self.every or 1) != 0
            return int(due)
        return START_QUERIES if ask.occasion == "low" else 1

    def _problem(self) -> str:
        """Why nobody can be asked, or empty."""
        if not self._engines:
            return "no search engine is named; add engines = [...] to [[discovery]]"
        if not self._terms:
            return "there are no words to search for; give keywords, terms or a query_log"
        if all(engine.given_up for engine in self._engines):
            return "all search engines failed too often; the crawl goes on without them"
        if self._spent >= self._budget:
            return f"the search budget of {self._budget} requests is spent"
        return ""

    def _draw(self) -> str:
        """The next query; none is asked twice. Empty when there are no others, or they are hard to hit."""
        source = random.Random(f"{self._seed} {len(self._asked)}")  # noqa: S311  Not a secret.
        for _ in range(DRAWS):
            query = draw_query(self._terms, source, most=self._most_terms)
            if query not in self._asked:
                self._asked.add(query)
                return query
        return ""

    async def _search(self, query: str) -> Searched:
        found = await search_all(self._engines, query, self._results)
        self._spent += found.requests
        return found

    def _suggestion(self, found: Fused, query: str) -> Suggestion:
        places = ", ".join(f"{name} {rank}" for name, rank in found.ranks.items())
        return Suggestion(
            found.url, f"found by {query!r} ({places})", self._priority, {"fusion": found.score}
        )


def chosen_terms(examples: Examples, *, terms: Sequence[str] = (), query_log: str = "") -> tuple[str, ...]:
    """What queries are drawn from: a query log, else a list, else the topic itself."""
    if query_log:
        return log_terms(Path(query_log).expanduser(), languages=examples.languages)
    given = tuple(dict.fromkeys(cleaned for text in terms if (cleaned := " ".join(text.split()))))
    return given or topic_terms(examples)


def _listed(engines: Sequence[str | Mapping[str, object]]) -> Sequence[str | Mapping[str, object]]:
    return (engines,) if isinstance(engines, str) else engines
