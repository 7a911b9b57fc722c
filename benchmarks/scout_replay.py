"""Scout on the topics of `lab run scout`, in a fifth of the time, and what its settings owe to the webs.

    python benchmarks/scout_replay.py [--webs webkb manuals] [--cap 400] [--settings | --best-first]

The page model and the order are the real ones; the engine is a heap. Texts are taken apart once for all
settings. With the defaults the areas differ from the lab's by some thousandths (the engine has trap rules
and demotes hosts). `--best-first` adds that order, and a table of groups. `--settings` tries several
settings, then leaves each web out once: the setting with the largest mean over the other webs (each web
counts the same) is tried on it. A setting chosen with a web at hand looks better there than it is.
"""

from __future__ import annotations

import argparse
import heapq
import time
from typing import Any

import msgspec
import numpy as np

from honeyguide.engine.admission import FOLLOWED_KINDS
from honeyguide.lab.measures import area_under_recall
from honeyguide.lab.measures.oracle import oracle
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.schema import GivenTable
from honeyguide.lab.runner.situation import Situation, Task, situation, tasks_of
from honeyguide.lab.webs.recorded import Recorded, RecordedVisits, open_web
from honeyguide.model import Examples, Page, UrlId, Verdict
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.scout import Scout
from honeyguide.relevance.calibrated import Calibrated
from honeyguide.text.tokens import Analyser
from honeyguide.web import url_id

WEBS = ("schools", "office-help", "webkb", "manuals")
SETTINGS: dict[str, dict[str, float]] = {
    "shipped": {},
    "trust 20": {"trust": 20.0},
    "trust 400": {"trust": 400.0},
    "folders not explored": {"by_folder": 0.0},
    "folders explored half as much": {"by_folder": 0.15},
    "hosts explored half as much": {"by_host": 0.25},
    "no hubs": {"hubs": 0.0},
}
BEST_FIRST = "best-first"


class Remembering(Calibrated):
    """The default page model; what it read of a page is kept for the next crawl of the topic."""

    read: dict[UrlId, Any]

    def _features(self, page: Page) -> Any:
        if page.id not in self.read:
            self.read[page.id] = self._read(page.title, page.content)
        return self.read[page.id]


class Site:
    """The pages that a crawl may meet, with the links that it may follow."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._visits = RecordedVisits(recorded)
        self._ids = frozenset(map(url_id, recorded.urls))
        self._pages: dict[UrlId, Page | None] = {}
        self.terms: dict[UrlId, list[str]] = {}

    def start(self, url: str) -> UrlId:
        """The page that an address means."""
        return url_id(self._recorded.resolve(url) or url)

    def page(self, number: UrlId) -> Page | None:
        """A page as the engine would hand it to the order; None where there is none."""
        if number not in self._pages:
            page = self._recorded.archive.store().page(number)
            if page is not None:
                links = tuple(
                    link
                    for link in page.links
                    if link.id in self._ids and link.kind in FOLLOWED_KINDS and link.id != page.id
                    if not (link.nofollow or page.nofollow)
                )
                page = msgspec.structs.replace(page, links=links)
            self._pages[number] = page
        return self._pages[number]


class Subject:
    """A topic, ready to be crawled for several times."""

    def __init__(self, there: Situation, site: Site, cap: int) -> None:
        self.task: Task = there.task
        self._site = site
        self._seeds = [site.start(url) for url in there.seeds]
        self._targets = frozenset(map(url_id, there.targets))
        self._budget = min(there.budget, cap)
        best = oracle(there.links, there.targets, there.seeds).order[: self._budget]
        self._oracle = np.cumsum([url in there.targets for url in best], dtype=np.int64)
        self._read: dict[UrlId, Any] = {}

    def area(self, name: str) -> float:
        """Crawl with a setting, or best-first; area under recall, divided by the oracle's."""
        task, site = self.task, self._site
        model = Remembering()
        model.fit(Examples(keywords=task.keywords, languages=task.languages))
        model.read = self._read
        scout = Scout(
            model,
            languages=task.languages,
            topic_terms=task.keywords,
            **SETTINGS.get(name, {}),  # type: ignore[arg-type]
        )
        order: LinkOrder = scout if name in SETTINGS else BestFirst()
        analyser = Analyser(task.languages)
        priority = dict.fromkeys(self._seeds, np.inf)
        found = {number: place for place, number in enumerate(priority)}
        heap = [(-np.inf, place, number) for number, place in found.items()]
        done: set[UrlId] = set()
        hits: list[bool] = []
        while heap and len(hits) < self._budget:
            key, _, number = heapq.heappop(heap)
            if number in done or -key != priority[number]:
                continue
            done.add(number)
            page = site.page(number)
            if page is None:
                scout.gone(number)
                continue
            hits.append(number in self._targets)
            if number in site.terms:
                analyser.remember(page.content, site.terms[number])
            else:
                site.terms[number] = analyser.terms(page.content)
            verdict = model.judge(page)
            order.learn(page, verdict)
            for one in order.rank(page, verdict, page.links):
                target = page.links[one.link].id
                better = order.combine == "max" and one.priority > priority.get(target, np.inf)
                if target not in found or (better and target not in done):
                    found.setdefault(target, len(found))
                    priority[target] = one.priority
                    heapq.heappush(heap, (-one.priority, found[target], target))
            revised = scout.revised()
            for target, changed in zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True):
                if target not in done and priority.get(target, np.inf) != np.inf:
                    priority[target] = changed
                    heapq.heappush(heap, (-changed, found[target], target))
            if model.observe(page, verdict) and order is scout:
                for target, score, on_topic in model.remembered():
                    scout.rejudged(Page("", target), Verdict(score, on_topic))
        reachable = len(self._targets)
        mine = area_under_recall(np.cumsum(hits, dtype=np.int64), reachable, self._budget)
        return mine / area_under_recall(self._oracle, reachable, self._budget)


def subjects(webs: list[str], cap: int) -> list[Subject]:
    """The topics of `lab run scout`."""
    experiment = load_experiment("scout").experiment
    found: list[Subject] = []
    for name in webs:
        world, recorded = open_world(name), open_web(name)
        sites: dict[str, Site] = {}
        for task in tasks_of(experiment, name, world):
            if task.site not in sites:
                sites[task.site] = Site(recorded.subset(site=task.site) if task.site else recorded)
            there = situation(experiment, task, world, repetition=0, given=[GivenTable(keywords=True)])
            found.append(Subject(there, sites[task.site], cap))
    return found


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--webs", nargs="+", default=list(WEBS), choices=WEBS)
    parser.add_argument("--cap", type=int, default=1500, help="pages at most")
    parser.add_argument("--settings", action="store_true", help="try other settings, and leave webs out")
    parser.add_argument("--best-first", action="store_true", help="that order, too, and a table of groups")
    asked = parser.parse_args()
    known = subjects(asked.webs, asked.cap)
    means: dict[str, dict[str, float]] = {}
    groups: dict[str, dict[str, list[float]]] = {}
    names = list(SETTINGS) if asked.settings else ["shipped", *[BEST_FIRST] * asked.best_first]
    print("setting".ljust(30), *(web.rjust(12) for web in asked.webs), "        mean   seconds")
    for name in names:
        started = time.perf_counter()
        areas: dict[str, list[float]] = {}
        for one in known:
            area = one.area(name)
            areas.setdefault(one.task.web, []).append(area)
            groups.setdefault(one.task.group, {}).setdefault(name, []).append(area)
        means[name] = {web: float(np.mean(values)) for web, values in areas.items()}
        everything = float(np.mean([value for values in areas.values() for value in values]))
        figures = (*(f"{means[name][web]:12.3f}" for web in asked.webs), f"{everything:12.3f}")
        print(name.ljust(30), *figures, f"{time.perf_counter() - started:9.0f}", flush=True)
    if asked.best_first:
        print("\ngroup".ljust(31), *(name.rjust(12) for name in names))
        for group, found in groups.items():
            print(group.ljust(30), *(f"{float(np.mean(found[name])):12.3f}" for name in names))
    if asked.settings and len(asked.webs) > 1:
        print("\nleft out".ljust(13), "chosen on the others".ljust(30), "has there   best there   shipped")
        for left_out in asked.webs:
            others = [web for web in asked.webs if web != left_out]
            chosen = max(means, key=lambda name: sum(means[name][web] for web in others))
            best = max(every[left_out] for every in means.values())
            has, shipped = means[chosen][left_out], means["shipped"][left_out]
            print(f"{left_out:12} {chosen:30} {has:9.3f} {best:12.3f} {shipped:9.3f}")


if __name__ == "__main__":
    main()
