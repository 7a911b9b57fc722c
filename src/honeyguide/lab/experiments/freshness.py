"""Study `freshness`: policies of coming back, on webs whose pages change, appear and vanish by known laws."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.runner.study import DataFinder, Progress, StudyFigure, StudyResult, StudyTable
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.generated.living import DAY, Laws, LivingWeb
from honeyguide.model import Topic
from honeyguide.plots.panels import Curve, Panel

START = 1_000_000_000.0


class FreshnessOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    seeds: tuple[int, ...] = (1, 2, 3)
    """One web each."""
    policies: tuple[str, ...] = ("uniform", "proportional", "gain", "optimal")
    hosts: int = 20
    pages: int = 300
    topics: int = 4
    every: float = 7.0
    """Days between two visits of a page, on average."""
    visits: int = 15
    """Visits of a page, on average: the length of the experiment."""
    learned: int = 10
    """Visits after which policies are compared."""


class Outcome(msgspec.Struct, frozen=True):
    """What one policy did on one web."""

    times: NDArray[np.float64]
    fresh: NDArray[np.float64]
    """Share of fresh pages at each time."""
    age: NDArray[np.float64]
    """Mean age in days at each time."""
    pages: int
    visits: int
    appeared: int
    """Pages on topic that appeared in time to be found."""
    delays: tuple[float, ...]
    """Days until they were, of those that were."""


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """One crawl for each policy and web."""
    del data, jobs  # generated, and quick enough one after the other
    chosen = msgspec.convert(options, FreshnessOptions)
    found: dict[str, list[Outcome]] = {policy: [] for policy in chosen.policies}
    begun = time.process_time()
    for seed in chosen.seeds:
        for policy in chosen.policies:
            found[policy].append(_crawl(seed, policy, chosen))
            progress(f"web {seed}: {policy}")
    return StudyResult(
        tables=(_table(found, chosen),),
        figures=(_figure(found, chosen),),
        timing={"seconds": time.process_time() - begun},
    )


def _crawl(seed: int, policy: str, options: FreshnessOptions) -> Outcome:
    spec = WebSpec(
        seed=seed,
        hosts=options.hosts,
        pages=options.pages,
        topics=options.topics,
        traps=0.0,
        slow=0.0,
        failing=0.0,
        redirecting=0.0,
        mirrors=0.0,
        closed=0.0,
        crawl_delay=0.0,
        noindex=0.0,
        nofollow=0.0,
        dead_links=0.0,
        gzip=0.0,
    )
    web = GeneratedWeb(spec)
    clock = VirtualClock(START)
    length = options.visits * options.every * DAY
    living = LivingWeb(web, clock, Laws(seed=seed, horizon=length), start=START)
    name = web.topics[0]
    topic = Topic(
        name, keywords=tuple(web.keywords(name)), seeds=tuple(seeds(web, name, distance=1, count=8))
    )

    def known(urls: Sequence[str]) -> NDArray[np.float64]:
        lives = [living.life(url) for url in urls]
        dying = living.laws.vanish / length
        return np.array([life.rate + dying for life in lives])

    crawl = Crawl(
        topic,
        recipe="best-first",
        clock=clock,
        fetcher=GeneratedFetcher(living, clock),
        change_rates=known if policy == "optimal" else None,
        keep_fresh=True,
        fresh_every=options.every * DAY,
        fresh_policy="gain" if policy == "optimal" else policy,
        max_pages="unlimited",
        max_pages_per_domain="unlimited",
        max_seconds=length,
    )
    seen: dict[str, list[float]] = {}
    visits = 0

    async def everything() -> None:
        nonlocal visits
        async for event in crawl.run():
            if event.kind in ("page", "revisit"):
                seen.setdefault(event.url, []).append(event.at)
                visits += event.kind == "revisit"

    asyncio.run(everything())
    return _measured(living, name, seen, visits=visits, length=length)


def _measured(
    living: LivingWeb, name: str, seen: dict[str, list[float]], *, visits: int, length: float
) -> Outcome:
    targets = {url for url in living.web.targets(name) if url in seen}
    times = START + np.linspace(0.0, length, 121)[1:]
    fresh, age = np.zeros(len(times)), np.zeros(len(times))
    held = np.zeros(len(times))
    for url in targets:
        life = living.life(url)
        for place, moment in enumerate(times.tolist()):
            last = max((at for at in seen[url] if at <= moment), default=None)
            if last is None:
                continue
            since = life.stale_since(last, moment)
            held[place] += 1
            fresh[place] += since is None
            age[place] += 0.0 if since is None else (moment - since) / DAY
    late = START + 0.8 * length  # those that appear after that have little time to be found
    appeared = [url for url in living.web.targets(name) if START < living.life(url).born < late]
    lasting = [url for url in appeared if living.life(url).died > living.life(url).born + 14 * DAY]
    delays = [(seen[url][0] - living.life(url).born) / DAY for url in lasting if url in seen]
    return Outcome(
        times=(times - START) / DAY,
        fresh=fresh / np.maximum(held, 1),
        age=age / np.maximum(held, 1),
        pages=len(targets),
        visits=visits,
        appeared=len(lasting),
        delays=tuple(delays),
    )


def _table(found: dict[str, list[Outcome]], options: FreshnessOptions) -> StudyTable:
    line = options.learned * options.every
    rows: list[tuple[str | int | float | None, ...]] = []
    best = _mean([_late(each.fresh, each.times, line) for each in found.get("optimal", [])])
    for policy, outcomes in found.items():
        late = _mean([_late(each.fresh, each.times, line) for each in outcomes])
        early = _mean([float(each.fresh[each.times <= line].mean()) for each in outcomes])
        age = _mean([_late(each.age, each.times, line) for each in outcomes])
        delays = [delay for each in outcomes for delay in each.delays]
        rows.append(
            (
                policy,
                sum(each.pages for each in outcomes),
                sum(each.visits for each in outcomes),
                round(early, 3),
                round(late, 3),
                f"{100 * (late / best - 1):+.1f} %" if best else "-",
                round(age, 2),
                f"{len(delays)} of {sum(each.appeared for each in outcomes)}",
                round(float(np.median(delays)), 1) if delays else None,
            )
        )
    return StudyTable(
        title="Freshness, age, and time until a new page is found",
        columns=(
            *("policy", "pages on topic", "visits", f"fresh, until visit {options.learned}"),
            *(f"fresh, after visit {options.learned}", "to optimal", "age in days", "new pages found"),
            "median days until then",
        ),
        rows=tuple(rows),
        note=(
            f"{len(options.seeds)} webs of {options.pages} pages; a page is visited {options.visits} times on"
            f" average, every {options.every:g} days. Age is the mean over the time after visit"
            f" {options.learned}; of the pages that appear, those count that did so before four fifths of the"
            " time and stayed for two weeks."
        ),
    )


def _late(values: NDArray[np.float64], times: NDArray[np.float64], line: float) -> float:
    return float(values[times > line].mean())


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _figure(found: dict[str, list[Outcome]], options: FreshnessOptions) -> StudyFigure:
    curves = {
        policy: np.mean([each.fresh for each in outcomes], axis=0) for policy, outcomes in found.items()
    }
    times = next(iter(found.values()))[0].times / options.every
    panel = Panel(
        title="Fresh pages",
        across="visits of a page, on average",
        up="share of the pages on topic",
        curves=tuple(Curve(policy, times, values) for policy, values in curves.items()),
    )
    return StudyFigure("freshness", (panel,), "Freshness of the collection")
