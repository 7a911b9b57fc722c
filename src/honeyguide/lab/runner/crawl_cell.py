"""One crawl of an experiment: the real engine on a web of the lab, watched from outside."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from functools import lru_cache

import numpy as np

from honeyguide.config.load import check_values
from honeyguide.config.recipes import Part, find_recipe
from honeyguide.config.schema import UNLIMITED, Config
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.visit import Visit, Visitor
from honeyguide.frontier import Waiting
from honeyguide.job.assemble import Equipment, Given, make_crawler, open_stores
from honeyguide.job.examples import prepare
from honeyguide.job.parts import blocks_for, chosen, make, own_part
from honeyguide.lab.measures import CrawlRecord, Fetched
from honeyguide.lab.measures.extras import Finished, find_extra
from honeyguide.lab.measures.oracle import oracle
from honeyguide.lab.runner.cells import CellResult, described
from honeyguide.lab.runner.load import given_to, recipe_values
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.schema import Experiment, GivenTable, RecipeEntry
from honeyguide.lab.runner.situation import Situation, Task, situation
from honeyguide.lab.runner.world import Asks, World
from honeyguide.model import Document, Event, Examples, Page
from honeyguide.parse.base import Blocks
from honeyguide.relevance.base import PageModel


class Watched:
    """A visitor that notes what each page cost and grades it; the crawl does not see the grades."""

    def __init__(self, visitor: Visitor, grades: dict[str, float], judge: PageModel) -> None:
        self._visitor = visitor
        self._grades = grades
        self._judge = judge
        self.crawler: Crawler | None = None
        self.cost: dict[str, int] = {}
        """Requests so far when a page came, by URL."""

    async def visit(self, waiting: Waiting) -> Visit:
        """The visit, noted."""
        visit = await self._visitor.visit(waiting)
        page = visit.page
        if page is not None and self.crawler is not None:
            spent = self.crawler.tally.requests + visit.requests
            for url in (page.url, page.canonical):
                self.cost.setdefault(url, spent)
            self._grade(page)
        return visit

    async def close(self) -> None:
        """Close it."""
        await self._visitor.close()

    def _grade(self, page: Page) -> None:
        if page.url not in self._grades:
            self._grades[page.url] = self._judge.judge(page).score
        if page.canonical:
            self._grades[page.canonical] = self._grades[page.url]


class Bench:
    """All recipes of one topic in one process: what they share is made once."""

    def __init__(self, experiment: Experiment, task: Task, repetition: int) -> None:
        self.experiment = experiment
        self.world: World = open_world(task.web)
        self.repetition = repetition
        given = [given_to(experiment, entry) for entry in experiment.recipes]
        self.situation: Situation = situation(
            experiment, task, self.world, repetition=repetition, given=given
        )
        self._grades: dict[str, float] = {}
        self._judge: PageModel | None = None

    @property
    def judge(self) -> PageModel:
        """The page model that grades for all recipes."""
        if self._judge is None:
            table, task = self.experiment.evaluation, self.situation.task
            random = np.random.default_rng(self.experiment.random_seed)
            pool = sorted(self.situation.targets)
            drawn = [pool[place] for place in random.permutation(len(pool))[: table.targets]]
            examples = Examples(
                keywords=task.keywords,
                positives=tuple(self.world.documents(drawn)),
                languages=task.languages,
            )
            part = own_part("relevance", Part(table.model, dict(table.options)))
            model: PageModel = make("relevance", part, {"seed": 0, "examples": examples})
            self._judge = model.fit(examples)
        return self._judge

    def examples(self, given: GivenTable) -> Examples:
        """What a recipe knows of the topic."""
        there, task = self.situation, self.situation.task
        return Examples(
            keywords=task.keywords if given.keywords else (),
            positives=tuple(self.world.documents(there.examples[: given.examples])),
            negatives=tuple(self.world.documents(there.negatives[: given.negatives])),
            unlabelled=texts(
                task.web,
                given.unlabelled,
                task.site,
                limit=given.unlabelled_limit,
                seed=self._seed,
                without=given.unlabelled_without,
            ),
            taxonomy=task.path if given.taxonomy else (),
            languages=task.languages,
        )

    @property
    def _seed(self) -> int:
        return self.experiment.random_seed + self.repetition

    def config(self, entry: RecipeEntry, examples: Examples) -> Config:
        """The crawl as a topic file would say it, without waiting and without limits but the budget."""
        limit = self.experiment.max_pages_per_domain
        budget = self.situation.budget
        crawl: dict[str, object] = {
            "seeds": self.situation.seeds,
            "recipe": entry.name,
            "max_pages": min(budget, entry.max_pages or budget),
            "max_pages_per_domain": UNLIMITED if limit is None else limit,
            "random_seed": self._seed,
        }
        if self.experiment.max_depth is not None:
            crawl["max_depth"] = self.experiment.max_depth
        polite = {"delay": 0, "ip_delay": 0, "slow_factor": 0, "max_retries": 0, "max_crawl_delay": 0}
        topic = {"name": self.situation.task.name, "keywords": examples.keywords}
        return check_values({"topic": topic, "crawl": crawl, "politeness": polite, **recipe_values(entry)})

    def run(self, entry: RecipeEntry) -> CellResult:
        """Crawl."""
        started = time.process_time()
        given = given_to(self.experiment, entry)
        examples = self.examples(given)
        config = self.config(entry, examples)
        recipe = chosen(config, modules=True)
        clock = VirtualClock()
        asks = Asks(given.backlinks, given.search, examples.unlabelled, self._seed)
        blocks = needs_blocks(entry)
        judge = self.judge
        replay = self.world.replay(clock, site=self.situation.task.site, blocks=blocks, asks=asks)
        watched = Watched(replay.visitor, self._grades, judge)
        stores, _ = open_stores(config, None, clock)
        with stores.state:
            services = {"clock": clock, "state": stores.state, **replay.services}
            own = Given(services=services, examples=examples)
            equipment = Equipment(config, recipe, clock, stores, watched, own)
            prepared = asyncio.run(prepare(equipment))
            crawler = make_crawler(equipment, prepared.examples, prepared=prepared.sources)
            watched.crawler = crawler
            events = [*prepared.events, *asyncio.run(_all_events(crawler, watched))]
            record, urls = self._record(events, watched, entry.row, crawler)
            finished = Finished(
                self.situation, record, urls, tuple(events), stores.state, crawler,
                crawler.model, crawler.order,
            )  # fmt: skip
            extras = {
                name: float(value)
                for extra in self.experiment.extra_measures
                for name, value in find_extra(extra)(finished).items()
            }
        ended = Counter(str(event.data["outcome"]) for event in events if event.kind == "outcome")
        return self._result(
            record,
            requests=crawler.tally.requests,
            given=described(given, len(examples.unlabelled)),
            outcomes=dict(sorted(ended.items())),
            extras=extras,
            reason=crawler.stopping,
            cpu_seconds=time.process_time() - started,
        )

    def run_oracle(self) -> CellResult:
        """The upper bound: what knowing labels and graph would give."""
        started = time.process_time()
        there = self.situation
        best = oracle(there.links, there.targets, there.seeds)
        fetched = tuple(
            Fetched(place, url in there.targets, 0.0, requests=place + 1)
            for place, url in enumerate(best.order[: there.budget])
        )
        record = CrawlRecord(fetched, len(there.targets), name="oracle")
        return self._result(
            record,
            requests=len(fetched),
            given="labels and graph (upper bound)",
            cpu_seconds=time.process_time() - started,
        )

    def _result(self, record: CrawlRecord, **facts: object) -> CellResult:
        there = self.situation
        return CellResult(
            record, there.seeds, there.nearest_target, len(there.links), there.budget, **facts,  # type: ignore[arg-type]
        )  # fmt: skip

    def _record(
        self, events: list[Event], watched: Watched, name: str, crawler: Crawler
    ) -> tuple[CrawlRecord, tuple[str, ...]]:
        targets, seen = self.situation.targets, set[str]()
        fetched: list[Fetched] = []
        urls: list[str] = []
        for event in events:
            if event.kind != "page":
                continue
            counts_as = self.world.stands_for(event.url)
            hit = counts_as in targets and counts_as not in seen
            seen.add(counts_as)
            urls.append(event.url)
            fetched.append(
                Fetched(
                    len(urls),
                    hit,
                    round(self._grades.get(event.url, 0.0), 6),
                    int(str(event.data["depth"])),
                    int(str(event.data["bytes"])),
                    watched.cost.get(event.url, 0),
                )
            )
        seconds = crawler.ordering_seconds
        return CrawlRecord(tuple(fetched), len(targets), seconds, name), tuple(urls)


def needs_blocks(entry: RecipeEntry) -> Blocks:
    """Whether a recipe's order looks at content blocks, and how they are cut."""
    usual = find_recipe(entry.name).ordering
    name = entry.ordering.order or usual.name
    inherited = usual.options if name == usual.name else {}
    return blocks_for(own_part("ordering", Part(name, {**inherited, **entry.ordering.options})))


async def _all_events(crawler: Crawler, web: Watched) -> list[Event]:
    try:
        return [event async for event in crawler.run()]
    finally:
        await web.close()


@lru_cache(maxsize=4)
def texts(
    web: str, source: str, site: str, *, limit: int, seed: int, without: tuple[str, ...] = ()
) -> tuple[Document, ...]:
    """Unlabelled text as `[given]` describes it."""
    if source == "none":
        return ()
    world = open_world(source.removeprefix("web:") if source.startswith("web:") else web)
    urls = world.pages("")
    if source == "other sites":
        urls = [url for url in urls if world.sites.get(url) != site]
    elif source == "same site":
        urls = world.pages(site)
    if without:
        urls = [url for url in urls if world.sites.get(url) not in without]
    drawn = np.sort(np.random.default_rng(seed).permutation(len(urls))[:limit])
    return tuple(world.documents([urls[place] for place in drawn]))


@lru_cache(maxsize=2)
def bench(experiment_json: str, task: Task, repetition: int) -> Bench:
    """The bench of a topic, kept for its next recipe; a process works on few at a time."""
    return Bench(Experiment.model_validate_json(experiment_json), task, repetition)


__all__ = ["Bench", "bench", "needs_blocks", "texts"]
