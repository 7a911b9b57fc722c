"""Where all recipes of a topic start from, and what counts as found: the same for each of them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.fingerprint import digest_of
from honeyguide.lab.runner.schema import ALL, Experiment, FarSeeds, GivenTable
from honeyguide.lab.runner.world import World, has_label
from honeyguide.topic.file import nearest
from honeyguide.web.url import canonical

DEFAULT_SEEDS = FarSeeds(distance=2)
_LEAST_SHARE = 0.5
"""Start pages that reach fewer of the targets than this are passed over while there are others."""
_TRIED = 60


class Task(msgspec.Struct, frozen=True):
    """One topic on one web (or one site of it)."""

    web: str
    name: str
    labels: tuple[str, ...]
    keywords: tuple[str, ...]
    site: str = ""
    seeds: tuple[str, ...] = ()
    """Empty: chosen by `distance`."""
    distance: int = 0
    seed_count: int = 1
    seeds_inside: tuple[str, ...] = ()
    group: str = ""
    languages: tuple[str, ...] = ("en",)
    taxonomy: str = ""
    """Path in a subject tree; empty: the first label."""
    budget: int = 0
    """Pages, where they are fewer than the experiment's; 0: as many as that says."""

    @property
    def path(self) -> tuple[str, ...]:
        """The labels from the root of the subject tree down."""
        return tuple((self.taxonomy or self.labels[0]).split("/"))

    @property
    def title(self) -> str:
        """Name and site."""
        return f"{self.name} @ {self.site}" if self.site else self.name


class Situation(msgspec.Struct, frozen=True):
    """A task with everything drawn and counted."""

    task: Task
    seeds: tuple[str, ...]
    targets: frozenset[str]
    """Reachable pages on topic that were shown to nobody."""
    links: Mapping[str, list[str]]
    """Followable links of every page in reach."""
    examples: tuple[str, ...]
    negatives: tuple[str, ...]
    budget: int
    nearest_target: int
    """Links from the nearest seed to the nearest target."""


def tasks_of(experiment: Experiment, name: str, world: World) -> list[Task]:
    """All topics of an experiment on one of its webs, generated ones included."""
    found: list[Task] = []
    seeds = {site.name: site.seeds for site in experiment.sites}
    known_labels = {label for labels in world.labels.values() for label in labels}
    for topic in experiment.topics:
        if topic.web not in (None, name):
            continue
        for label in topic.labels:
            if not has_label(known_labels, [label]):
                raise HoneyguideError(
                    f"web {name} has no page labelled {label!r} (topic {topic.name!r}); "
                    f"{nearest(label, known_labels)}"
                )
        for site in topic.sites or ("",):
            if site and site not in world.sites.values():
                sites = sorted(set(world.sites.values()))
                raise HoneyguideError(f"web {name} has no site {site!r}; {nearest(site, sites)}")
            start = topic.seeds if topic.seeds is not None else seeds.get(site, ())
            words = topic.keywords or label_words(world, topic.labels)
            task = Task(name, topic.name, topic.labels, tuple(words), site, group=topic.group or topic.name)
            task = msgspec.structs.replace(
                task, languages=topic.languages, taxonomy=topic.taxonomy, budget=topic.budget or 0
            )
            found.append(_started(task, start or DEFAULT_SEEDS))
    for entry in experiment.generate:
        if entry.web in (None, name):
            chosen = largest_labels(world, entry.levels, entry.under, entry.minimum)[: entry.count]
            for label in chosen:
                group = entry.group or f"level {entry.levels}"
                task = Task(name, label, (label,), label_words(world, (label,)), group=group)
                found.append(_started(task, entry.seeds or DEFAULT_SEEDS))
    return found


def _started(task: Task, start: tuple[str, ...] | FarSeeds) -> Task:
    if isinstance(start, FarSeeds):
        return msgspec.structs.replace(
            task, distance=start.distance, seed_count=start.count, seeds_inside=start.inside
        )
    return msgspec.structs.replace(task, seeds=tuple(canonical(url) or url for url in start))


def label_words(world: World, labels: Sequence[str]) -> tuple[str, ...]:
    """Words for topics without keywords: the web's own, or those of the labels' last two parts."""
    known = tuple(word for label in labels for word in world.keywords(label))
    if known:
        return known
    parts = [part for label in labels for part in reversed(label.split("/")[-2:])]
    words = (word for part in parts for word in re.split(r"[\W_]+", part.lower()))
    return tuple(
        dict.fromkeys(word for word in words if len(word) > 2 and word not in ("and", "the", "before"))
    )


def largest_labels(world: World, levels: int, under: Iterable[str], minimum: int) -> list[str]:
    """Labels of so many parts by their number of pages, the largest first."""
    counts: dict[str, int] = {}
    for labels in world.labels.values():
        for label in {"/".join(one.split("/")[:levels]) for one in labels if one.count("/") >= levels - 1}:
            counts[label] = counts.get(label, 0) + 1
    below = tuple(under)
    kept = [
        label
        for label, count in counts.items()
        if count >= minimum and (not below or has_label([label], below))
    ]
    return sorted(kept, key=lambda label: (-counts[label], label))


def situation(
    experiment: Experiment, task: Task, world: World, *, repetition: int, given: Sequence[GivenTable]
) -> Situation:
    """Draw examples and start pages, and count what can be reached.

    Args:
        experiment: For its budget and random seed.
        task: The topic.
        world: Its web.
        repetition: Other repetitions draw otherwise.
        given: What each recipe is given: examples are drawn for the one that gets most.
    """
    random = np.random.default_rng(
        int(digest_of(task.web, task.name, task.site, str(experiment.random_seed + repetition))[:15], 16)
    )
    on_topic = {url for url, labels in world.labels.items() if has_label(labels, task.labels)}
    here = {url for url in on_topic if not task.site or world.sites.get(url) == task.site}
    examples = _draw(random, on_topic, here, task=task, given=given, key="examples")
    off_topic = set(world.labels) - on_topic
    off_here = {url for url in off_topic if not task.site or world.sites.get(url) == task.site}
    negatives = _draw(random, off_topic, off_here, task=task, given=given, key="negatives")
    wanted = here - set(examples)
    seeds = task.seeds or far_seeds(world, task, wanted, random)
    links = world.followed(seeds, task.site)
    targets = frozenset(wanted & links.keys())
    if not targets:
        raise HoneyguideError(
            f"no target of topic {task.title!r} can be reached on {task.web} "
            f"from {', '.join(seeds) or 'nowhere'}; choose other seeds or labels"
        )
    budget = len(links) if experiment.budget == ALL else min(int(experiment.budget), len(links))
    budget = min(budget, task.budget or budget)
    depths = depths_from(links, seeds)
    return Situation(
        task, tuple(seeds), targets, links, examples, negatives, budget, min(depths[url] for url in targets)
    )


def _draw(
    random: np.random.Generator,
    everywhere: set[str],
    here: set[str],
    *,
    task: Task,
    given: Sequence[GivenTable],
    key: str,
) -> tuple[str, ...]:
    """Pages to show: as many as the recipe that gets most may see."""
    count = max((int(getattr(one, key)) for one in given), default=0)
    if not count:
        return ()
    sources = {one.examples_from for one in given if getattr(one, key)}
    if len(sources) > 1:
        raise HoneyguideError("recipes take examples from different places; use one examples_from for all")
    elsewhere = sources == {"other sites"}
    if elsewhere and not task.site:
        raise HoneyguideError(f'topic {task.name!r} is on no site; examples_from = "other sites" needs sites')
    pool = sorted(everywhere - here if elsewhere else here)
    if key == "examples" and not elsewhere and count > len(pool) // 2:
        raise HoneyguideError(
            f"{count} examples of {task.title!r} leave too few of its {len(pool)} targets; ask for fewer"
        )
    chosen = random.permutation(len(pool))[:count]
    return tuple(pool[place] for place in chosen)


def depths_from(links: Mapping[str, Iterable[str]], starts: Iterable[str]) -> dict[str, int]:
    """Links from the nearest start to every page in reach."""
    depth = dict.fromkeys(starts, 0)
    waiting = deque(depth)
    while waiting:
        page = waiting.popleft()
        for link in links.get(page, ()):
            if link not in depth:
                depth[link] = depth[page] + 1
                waiting.append(link)
    return depth


def far_seeds(world: World, task: Task, targets: set[str], random: np.random.Generator) -> list[str]:
    """Pages at least so far from every target that still lead to most of them.

    Where no page is that far away, the farthest ones are taken: in a well-linked web most topics are
    two links from anywhere.
    """
    links = world.followed(world.pages(task.site), task.site)
    backward: dict[str, list[str]] = {}
    for page, found in links.items():
        for link in found:
            backward.setdefault(link, []).append(page)
    away = depths_from(backward, sorted(targets & links.keys()))
    inside = [url for url in away if not task.seeds_inside or any(text in url for text in task.seeds_inside)]
    shuffled = [inside[place] for place in random.permutation(len(inside))]
    # Exactly the requested distance first, then farther, then the farthest of the nearer ones.
    shuffled.sort(key=lambda url: (away[url] < task.distance, abs(away[url] - task.distance)))
    chosen: list[str] = []
    for url in shuffled[:_TRIED]:
        if len(targets & depths_from(links, [url]).keys()) >= _LEAST_SHARE * len(targets):
            chosen.append(url)
        if len(chosen) >= task.seed_count:
            break
    return chosen or shuffled[: task.seed_count]
