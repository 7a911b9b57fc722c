"""HCLA against PLSI+PHITS on papers: the second experiment of the HCLA study, on two subsets of Cora.

The study's 37,000 papers are not at hand. One subset has 11,881 papers with the words of their titles (and
Information_Retrieval among its classes), the other 2,277 papers with abstracts and seven other classes. Half
of the papers, drawn by chance, is the unlabelled text that both orders learn from, and the source of
the query; the other half is crawled along its citations, from the topic's best-linked paper on; then the
halves change places. Citation contexts are in neither subset: the title of the paper that a link leads
to stands for them, which in the first subset is all the text that the paper has.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import msgspec
import numpy as np

from cora import (
    Papers,
    PaperWeb,
    address,
    halves,
    read_abstracts,
    read_titles,
    telling_words,
)
from honeyguide.config.load import check_values
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.measures import (
    CrawlRecord,
    Fetched,
    area_under_recall,
    bootstrap,
    f1_at_recall,
    precision_at_recall,
)
from honeyguide.lab.measures.curves import averaged_panels
from honeyguide.lab.runner.study import Cell, DataFinder, Progress, StudyFigure, StudyResult, StudyTable
from honeyguide.model import Examples

INFORMATION_RETRIEVAL = (
    "Information_Retrieval",
    "Information_Retrieval/Digital_Library",
    "Information_Retrieval/Extraction",
    "Information_Retrieval/Filtering",
    "Information_Retrieval/Retrieval",
)
RECALLS = (0.1, 0.5, 1.0)
LEAST_TARGETS = 10
"""Topics with fewer reachable papers in a half are left out: precision at recall 0.1 would be one paper."""
PUBLISHED: tuple[tuple[Cell, ...], ...] = (
    ("HCLA", 0.88, 0.72, 0.54, 0.18, 0.59, 0.70),
    ("PLSI+PHITS", 0.86, 0.74, 0.47, 0.18, 0.60, 0.64),
)


class CoraHclaOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an experiment file may set."""

    subsets: tuple[str, ...] = ("titles", "abstracts")
    reorder_every: int = 25
    k: int = 50
    query_words: int = 10
    seed: int = 0


class Row(msgspec.Struct, frozen=True):
    """One way to crawl."""

    label: str
    recipe: str
    ordering: dict[str, object] = {}
    model: str | None = "lsi"


def rows(options: CoraHclaOptions) -> tuple[Row, ...]:
    """What is compared."""
    every: dict[str, object] = {"reorder_every": options.reorder_every}
    plsi = {**every, "factors": options.k}
    return (
        Row("BRFS", "breadth-first", model=None),
        Row("best-first, LSI", "best-first"),
        Row("HCLA", "hcla", {**every, "anchor_terms": True}),
        Row("PLSI+PHITS", "plsi-phits", {**plsi, "anchor_terms": True}),
        Row("HCLA, links only", "hcla", every),
        Row("PLSI+PHITS, links only", "plsi-phits", plsi),
        Row("HCLA, links only, frontier in the space", "hcla", {**every, "frontier_weight": 1.0}),
    )


class Task(msgspec.Struct, frozen=True):
    """One topic in one half of one subset."""

    path: Path
    subset: str
    label: str
    half: int
    options: CoraHclaOptions


class Done(msgspec.Struct, frozen=True):
    """What came of a task: nothing when too few of the topic's papers can be reached."""

    task: Task
    records: tuple[CrawlRecord, ...] = ()
    seconds: tuple[float, ...] = ()
    keywords: tuple[str, ...] = ()
    papers: int = 0


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Run the study; tasks are shared out among `jobs` processes."""
    chosen = msgspec.convert(options, CoraHclaOptions)
    path = data.file("text/cora.tar.gz")
    tasks = list(_tasks(path, chosen))
    done: list[Done] = []
    if jobs > 1:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            for one in pool.map(crawl_task, tasks):
                done.append(one)
                progress(_told(one))
    else:
        for task in tasks:
            done.append(crawl_task(task))
            progress(_told(done[-1]))
    useful = [one for one in done if one.records]
    seconds = np.array([one.seconds for one in useful])
    return StudyResult(
        tables=tuple(_tables(useful, chosen)),
        figures=tuple(_figures(useful, chosen)),
        notes=tuple(_notes(done)),
        timing={
            f"{row.label}: CPU seconds a crawl": round(float(seconds[:, place].mean()), 2)
            for place, row in enumerate(rows(chosen))
            if len(seconds)
        },
    )


def crawl_task(task: Task) -> Done:
    """All rows on one topic of one half."""
    papers = _read(task.path, task.subset)
    parts = halves(papers, task.options.seed)
    web, corpus = papers.part(parts[task.half]), papers.part(parts[1 - task.half])
    links = web.neighbours()
    members = [name for name in web.texts if task.label in web.labels[name]]
    if not members:
        return Done(task)
    seed = max(members, key=lambda name: (len(links[name]), name))
    reached = _reached(links, seed)
    targets = {address(name) for name in members if name in reached}
    if len(targets) < LEAST_TARGETS:
        return Done(task, papers=len(reached))
    keywords = telling_words(corpus, task.label, task.options.query_words)
    examples = Examples(keywords=keywords, unlabelled=corpus.documents())
    records, seconds = [], []
    for row in rows(task.options):
        started = time.process_time()
        records.append(
            _crawl(
                row,
                PaperWeb(web),
                seed=address(seed),
                examples=examples,
                targets=targets,
                pages=len(reached),
                task=task,
            )
        )
        seconds.append(time.process_time() - started)
    return Done(task, tuple(records), tuple(seconds), keywords, len(reached))


def _crawl(
    row: Row, web: PaperWeb, *, seed: str, examples: Examples, targets: set[str], pages: int, task: Task
) -> CrawlRecord:
    """One crawl by the engine, to the end of what can be reached."""
    values: dict[str, dict[str, object]] = {
        "topic": {"name": task.label.replace("/", " "), "keywords": examples.keywords},
        "crawl": {
            "seeds": [seed],
            "recipe": row.recipe,
            "max_pages": pages,
            "max_pages_per_domain": "unlimited",
            "random_seed": task.options.seed,
        },
        "politeness": {"delay": 0, "ip_delay": 0, "slow_factor": 0},
        "ordering": dict(row.ordering),
        "relevance": {"model": row.model, "k": task.options.k} if row.model else {},
    }
    crawl = Crawl(check_values(values), examples=examples, visitor=web, clock=VirtualClock())

    async def urls() -> list[str]:
        return [event.url async for event in crawl.run() if event.kind == "page"]

    fetched = tuple(Fetched(place, url in targets) for place, url in enumerate(asyncio.run(urls())))
    return CrawlRecord(fetched, len(targets), name=row.label)


def _tasks(path: Path, options: CoraHclaOptions) -> Iterator[Task]:
    for subset in options.subsets:
        labels: tuple[str, ...] = INFORMATION_RETRIEVAL
        if subset == "abstracts":
            found = {label for labels in _read(path, subset).labels.values() for label in labels}
            labels = tuple(sorted(found))
        for label in labels:
            for half in (0, 1):
                yield Task(path, subset, label, half, options)


_papers: dict[tuple[Path, str], Papers] = {}


def _read(path: Path, subset: str) -> Papers:
    if (path, subset) not in _papers:
        _papers[path, subset] = read_titles(path) if subset == "titles" else read_abstracts(path)
    return _papers[path, subset]


def _reached(links: Mapping[str, Sequence[str]], seed: str) -> set[str]:
    reached, waiting = {seed}, deque([seed])
    while waiting:
        for other in links[waiting.popleft()]:
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def _told(done: Done) -> str:
    return f"{done.task.subset}: {done.task.label}, half {done.task.half + 1}"


def _tables(done: Sequence[Done], options: CoraHclaOptions) -> Iterator[StudyTable]:
    columns = (
        "",
        *(f"P at R={r}" for r in RECALLS),
        *(f"F1 at R={r}" for r in RECALLS),
        "area",
        "0.95 interval",
    )
    for subset in options.subsets:
        there = [one for one in done if one.task.subset == subset]
        if not there:
            continue
        shown: list[tuple[Cell, ...]] = []
        for place, row in enumerate(rows(options)):
            records = [one.records[place] for one in there]
            areas = [_area(one) for one in records]
            interval = bootstrap(areas, np.random.default_rng(0))
            shown.append((
                row.label,
                *(_mean([precision_at_recall(one, r) for one in records]) for r in RECALLS),
                *(_mean([f1_at_recall(one, r) for one in records]) for r in RECALLS),
                round(float(np.mean(areas)), 3),
                f"{interval.low:.3f} to {interval.high:.3f}",
            ))  # fmt: skip
        title = (
            "Subset of Cora, titles only (11,881 papers): Information_Retrieval and its subcategories"
            if subset == "titles"
            else "Subset of Cora, abstracts (2,277 papers): its seven classes"
        )
        note = (
            f"Means over {len(there)} crawls (topics by halves), N = {options.reorder_every}, "
            f"k = K = {options.k}. Area: mean recall over the crawl. "
            "Titles of cited papers stand for citation contexts."
        )
        yield StudyTable(title, columns, tuple(shown), note)
    yield _paired(done, options)
    yield StudyTable(
        "Table 5 of the study: Information_Retrieval in the full Cora (37,000 papers)",
        columns[:7],
        PUBLISHED,
        "With citation contexts as anchor text, N = 25. Not comparable number by number with our subsets.",
    )


def _paired(done: Sequence[Done], options: CoraHclaOptions) -> StudyTable:
    """HCLA against PLSI+PHITS crawl by crawl: the means above differ less than the topics do."""
    places = {row.label: place for place, row in enumerate(rows(options))}
    shown: list[tuple[Cell, ...]] = []
    for subset in options.subsets:
        there = [one for one in done if one.task.subset == subset]
        for kind, end in (("with titles as anchor text", ""), ("links only", ", links only")):
            pairs = [
                (one.records[places["HCLA" + end]], one.records[places["PLSI+PHITS" + end]]) for one in there
            ]
            gains = [_area(ours) - _area(other) for ours, other in pairs]
            if gains:
                interval = bootstrap(gains, np.random.default_rng(0))
                ahead = sum(gain > 0.0 for gain in gains)
                between = f"{interval.low:+.3f} to {interval.high:+.3f}"
                mean = round(float(np.mean(gains)), 3)
                shown.append((f"{subset}, {kind}", mean, between, ahead, len(gains)))
    columns = ("subset", "mean", "0.95 interval", "HCLA ahead", "crawls")
    return StudyTable("Area of HCLA minus area of PLSI+PHITS, paired by crawl", columns, tuple(shown))


def _figures(done: Sequence[Done], options: CoraHclaOptions) -> Iterator[StudyFigure]:
    for subset in options.subsets:
        there = [one for one in done if one.task.subset == subset]
        if there:
            runs = {
                row.label: [one.records[place] for one in there] for place, row in enumerate(rows(options))
            }
            longest = max(len(one.fetched) for records in runs.values() for one in records)
            panels = averaged_panels(runs, np.random.default_rng(0), budget=longest, window=100)
            yield StudyFigure(f"cora-{subset}", panels, f"Subset of Cora: {subset}")


def _notes(done: Sequence[Done]) -> Iterator[str]:
    for one in done:
        if one.records:
            targets = one.records[0].reachable
            words = ", ".join(one.keywords)
            yield f"{_told(one)}: {targets} targets among {one.papers} papers in reach; query: {words}"
        else:
            yield f"{_told(one)}: left out, fewer than {LEAST_TARGETS} targets in reach"


def _area(record: CrawlRecord) -> float:
    return area_under_recall(record.hits(), record.reachable, len(record.fetched))


def _mean(values: Sequence[float | None]) -> float:
    return round(float(np.mean([value or 0.0 for value in values])), 3)
