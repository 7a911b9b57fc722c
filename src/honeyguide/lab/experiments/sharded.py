"""Study `sharded`: is a crawl of several shards as focused as one? Area of recall with 1, 2, 4 and 8."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import area_under_recall
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.sharded_crawl import Course, Sharing, sharded_crawl
from honeyguide.lab.runner.situation import Situation, Task, label_words, situation, tasks_of
from honeyguide.lab.runner.study import DataFinder, Progress, StudyResult, StudyTable
from honeyguide.lab.runner.world import World
from honeyguide.model import Document, Examples

BACKGROUND = 200
"""Pages given as texts to recipes that need some."""


class ShardedOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    experiments: tuple[str, ...] = ("schools", "webkb", "office", "manuals")
    """Where webs, topics, keywords and seeds are taken from; folders stand in for hosts on these."""
    own_hosts: tuple[str, ...] = ("manuals",)
    """The same of webs with several hosts, which are shared out as they are."""
    generated: tuple[str, ...] = ("generated:7:8000",)
    """Webs of many hosts, which are shared out as they are."""
    recipes: tuple[str, ...] = ("best-first", "scout")
    whole_graph: tuple[str, ...] = ("pagerank", "hcla", "plsi-phits")
    """Recipes that look at all links of their shard; they are given some pages of the web as texts."""
    shards: tuple[int, ...] = (1, 2, 4, 8)
    most_topics: int = 2
    """Of each web."""
    topics: dict[str, int] = {}
    """The same of single webs, where it is another number."""
    whole_graph_topics: int = 1
    """Of each web, for the recipes in `whole_graph`."""
    budget: int = 500
    cuts: int = 1
    """Ways in which hosts are given to shards, with a crawl of each; their mean counts."""
    unmerged: tuple[str, ...] = ("scout",)
    """Recipes that are also run without merging."""


class Cell(msgspec.Struct, frozen=True):
    """One crawl."""

    webs: str
    topic: str
    recipe: str
    shards: int
    merged: bool
    areas: tuple[float, ...]
    """Of each way in which hosts were given to shards."""
    links: float
    """Sent to other shards, a page."""
    largest: float
    """Share of the pages that the busiest shard fetched, times the number of shards: 1 is even."""

    @property
    def area(self) -> float:
        """The mean."""
        return float(np.mean(self.areas))


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Crawl every topic with every number of shards."""
    del data, jobs  # webs are found by name, and one crawl at a time fits into memory
    chosen = msgspec.convert(options, ShardedOptions)
    cells: list[Cell] = []
    ways = [(name, True) for name in chosen.experiments] + [(name, False) for name in chosen.own_hosts]
    webs = [(_recorded(name, chosen), name, split) for name, split in ways]
    texts = {
        id(world): _texts(world) for found, _, _ in webs for world, _ in found[: chosen.whole_graph_topics]
    }
    for found, name, split in webs:
        title = f"{name}, folders as hosts" if split and name in chosen.own_hosts else name
        for number, (world, there) in enumerate(found):
            some = texts[id(world)] if number < chosen.whole_graph_topics else None
            cells += _crawls(title, world, there, chosen, texts=some, split=split)
            progress(f"{title}: {there.task.title}")
    for name in chosen.generated:
        world = open_world(name)
        background = _texts(world)
        for number, there in enumerate(_generated(name, world, chosen)):
            some = background if number < chosen.whole_graph_topics else None
            cells += _crawls(name, world, there, chosen, texts=some, split=False)
            progress(f"{name}: {there.task.title}")
    return StudyResult(tables=_tables(cells, chosen))


def _recorded(name: str, options: ShardedOptions) -> list[tuple[World, Situation]]:
    experiment = load_experiment(name).experiment
    found: list[tuple[World, Situation]] = []
    for web in experiment.webs:
        world = open_world(web)
        tasks = tasks_of(experiment, web, world)
        # Not the first ones: an experiment lists related topics together.
        most = options.topics.get(name, options.most_topics)
        some = tasks[:: max(1, len(tasks) // most)][:most]
        found += [(world, situation(experiment, task, world, repetition=0, given=())) for task in some]
    return found


def _generated(name: str, world: World, options: ShardedOptions) -> list[Situation]:
    experiment = load_experiment("quick").experiment
    labels = sorted({label for labels in world.labels.values() for label in labels})
    found: list[Situation] = []
    for label in labels:
        if len(found) >= options.topics.get(name, options.most_topics):
            break
        task = Task(name, label, (label,), label_words(world, (label,)), distance=2)
        try:
            found.append(situation(experiment, task, world, repetition=0, given=()))
        except HoneyguideError:
            continue  # none of its pages can be reached
    return found


def _texts(world: World) -> tuple[Document, ...]:
    """Some pages of a web as texts; to be read before anything is crawled."""
    urls = sorted(world.labels)
    return tuple(world.documents(urls[:: max(1, len(urls) // BACKGROUND)][:BACKGROUND]))


def _crawls(
    name: str,
    world: World,
    there: Situation,
    options: ShardedOptions,
    *,
    texts: tuple[Document, ...] | None,
    split: bool,
) -> list[Cell]:
    """All crawls of one topic; those of the whole graph where there are texts for them."""
    pages = min(options.budget, len(there.links))
    plain = Examples(keywords=there.task.keywords, languages=there.task.languages)
    cells: list[Cell] = []
    recipes = options.recipes
    if texts is not None:
        recipes += options.whole_graph
    for recipe in recipes:
        examples = plain
        if recipe in options.whole_graph and texts is not None:
            examples = msgspec.structs.replace(plain, unlabelled=texts)
        for shards in options.shards:
            ways = (True, False) if recipe in options.unmerged and shards > 1 else (True,)
            for merged in ways:
                courses = [
                    sharded_crawl(
                        world,
                        there,
                        examples,
                        recipe=recipe,
                        pages=pages,
                        shards=shards,
                        sharing=Sharing(merged, split, cut),
                    )
                    for cut in range(options.cuts if shards > 1 else 1)
                ]
                areas = tuple(_area(world, there, course, pages) for course in courses)
                fetched = max(1, sum(len(course.urls) for course in courses))
                busiest = sum(max(course.pages) for course in courses) / fetched * shards
                sent = sum(course.links_sent for course in courses) / fetched
                cells.append(Cell(name, there.task.title, recipe, shards, merged, areas, sent, busiest))
    return cells


def _area(world: World, there: Situation, course: Course, pages: int) -> float:
    """Area under the curve of recall."""
    seen: set[str] = set()
    hits = np.zeros(len(course.urls), np.int64)
    for place, url in enumerate(course.urls):
        counts_as = world.stands_for(url)
        hits[place] = counts_as in there.targets and counts_as not in seen
        seen.add(counts_as)
    return area_under_recall(np.cumsum(hits), len(there.targets), pages)


def _change(alone: dict[str, float], here: dict[str, float]) -> str:
    """How much the mean differs, with the standard error of that over the topics."""
    base = float(np.mean([alone[topic] for topic in here]))
    if not base:
        return "-"
    differences = np.array([here[topic] - alone[topic] for topic in here]) / base
    told = f"{100 * differences.mean():+.1f} %"
    if len(differences) > 1:
        told += f" ± {100 * differences.std(ddof=1) / np.sqrt(len(differences)):.1f}"
    return told


def _tables(cells: Sequence[Cell], options: ShardedOptions) -> tuple[StudyTable, ...]:
    rows: list[tuple[str | int | float | None, ...]] = []
    for webs in dict.fromkeys(cell.webs for cell in cells):
        for recipe in options.recipes + options.whole_graph:
            for merged in (True, False):
                own = [c for c in cells if (c.webs, c.recipe) == (webs, recipe)]
                alone = {c.topic: c.area for c in own if c.shards == options.shards[0]}
                if not any(c.merged == merged and c.shards > 1 for c in own):
                    continue
                row: list[str | int | float | None] = [
                    webs,
                    recipe,
                    "merged" if merged else "apart",
                    len(alone),
                ]
                for shards in options.shards:
                    here = {
                        c.topic: c.area
                        for c in own
                        if c.shards == shards and (c.merged == merged or shards == 1)
                    }
                    mean = float(np.mean(list(here.values())))
                    row.append(round(mean, 4))
                    if shards != options.shards[0]:
                        row.append(_change(alone, here))
                sent = [c.links for c in own if c.shards == options.shards[-1]]
                row.append(round(float(np.mean(sent)), 1))
                rows.append(tuple(row))
    detail = [
        (cell.webs, cell.topic, cell.recipe, cell.shards, "merged" if cell.merged else "apart",
         round(cell.area, 4), " ".join(f"{area:.3f}" for area in cell.areas[:10] if len(cell.areas) > 1),
         round(cell.links, 2), round(cell.largest, 2))
        for cell in cells
    ]  # fmt: skip
    many = [f"{n} shards" if n > 1 else "1 shard" for n in options.shards]
    columns = [many[0]]
    for name in many[1:]:
        columns += [name, f"{name}, change"]
    return (
        StudyTable(
            title="Area of recall by number of shards",
            columns=("webs", "recipe", "learning", "topics", *columns, "links sent a page"),
            rows=tuple(rows),
            note="Mean over topics; the change with its standard error over them. Merged: what orders learn"
            " is added up over shards.",
        ),
        StudyTable(
            "Topic by topic",
            (
                *("webs", "topic", "recipe", "shards", "learning", "area", "of each cut"),
                *("links sent a page", "busiest shard"),
            ),
            tuple(detail),
        ),
    )
