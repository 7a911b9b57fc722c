"""Scout on the topics of `lab run scout`, in a fifth of the time, and what its settings owe to the webs.

    python benchmarks/scout_replay.py [--experiment broad] [--webs webkb manuals] [--half | --other-starts]
        [--missing] [--settings | --parts | --examples | --best-first | --labels]
        [--only "uneven lengths" ...]

The page model and the order are the real ones; the engine is an array of priorities. Texts are taken apart
once for all rows. Below each row stands how good the verdicts on the fetched pages are in the end. With the
defaults the areas differ from the lab's by some thousandths (the engine has trap
rules and demotes hosts). `--best-first` adds that order, and a table of groups. `--settings` tries several
settings, then leaves each web out once: the setting with the largest mean over the other webs (each web
counts the same) is tried on it. A setting chosen with a web at hand looks better there than it is. `--parts`
leaves one part out at a time. `--examples` gives ten pages on topic, which are no targets for any row, beside
the keywords and instead of them. `--labels` tells the order what pages truly are, and in another row fetches
the targets among the URLs that wait before all others: what is still missing then is targets that no known
page links to. `--half` takes about two topics of three and 800 pages at most.
`--other-starts` begins where the lab does not, with which the defaults were chosen: on schools at other pages
three links away, on office at the front pages of other modules (WebKB and manuals have one start each).
A crawl that begins a little otherwise ends quite otherwise. `--missing` makes three crawls of each topic,
each on the web without another twentieth of its pages, as some always fail: their mean moves less by chance.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from typing import Any, NamedTuple

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
from honeyguide.model import Document, Examples, Page, UrlId, Verdict, Via
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.scout import Scout
from honeyguide.relevance.calibrated import Calibrated
from honeyguide.text.tokens import Analyser
from honeyguide.web import url_id

WEBS = ("schools", "office-help", "webkb", "manuals")
SETTINGS: dict[str, dict[str, Any]] = {
    "shipped": {},
    "fellows": {"fellows": 1.0},
    "uneven lengths": {"even_lengths": False},
    "trust 400": {"trust": 400.0},
    "folders explored half as much": {"by_folder": 0.15},
    "folders explored twice as much": {"by_folder": 0.6},
}
PARTS: dict[str, dict[str, Any]] = {
    "shipped": {},
    "without exploring": {"by_host": 0.0, "by_folder": 0.0},
    "without learned weights": {"trust": 1e12},
    "without fellow links": {"without": ["neighbours", "same page", "same list", "same place on site"]},
    "without the texts of lists": {"without": ["topic in list", "list's likeness"]},
    "without words": {"without": ["words of anchors", "words of address"]},
    "without likeness": {"without": ["parents' likeness", "anchor's likeness"]},
    "without parents": {"without": ["best parent", "parents", "grandparents"]},
    "without host and folder": {"without": ["host", "folder"]},
    "without hubs": {"hubs": 0.0},
    "with fellows": {"fellows": 1.0},
    "verdicts by texts alone": {"by_links": False},
}
BEST_FIRST = "best-first"
WITH_EXAMPLES = "ten examples"
EXAMPLES_ONLY = "ten examples, no keywords"
TRUE_LABELS = "true labels as verdicts"
KNOWN_FIRST = "targets that wait come first"
LEFT_OUT = frozenset(
    {"Birds", "Mammals", "Medicine", "Astronomy", "African geography", "Food and agriculture"}
)
"""Topics of schools that `--half` leaves out: the easy ones."""
MISSING = 0.05
CRAWLS = 3
"""With `--missing`: share of the pages that cannot be had, and crawls of each topic."""
MODULES = ("simpress", "sdraw", "smath", "scalc")
"""Parts of the office suite whose front pages `--other-starts` begins at."""


class Crawled(NamedTuple):
    """What came of a crawl."""

    area: float
    """Under recall, divided by the oracle's."""
    multiple: float | None
    """Pages to nine tenths of the targets as a multiple of the oracle's; None: one did not get there."""
    f1: float
    """Of the verdicts on the fetched pages, as they are in the end."""


class Remembering(Calibrated):
    """The default page model; what it read of a page is kept for the next crawl of the topic."""

    read: dict[UrlId, Any]

    def _features(self, page: Page) -> Any:
        if page.id not in self.read:
            self.read[page.id] = self._read(page.title, page.content)
        return self.read[page.id]._replace(links=self._links_to(page))


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

    def __init__(self, there: Situation, site: Site, cap: int, documents: tuple[Document, ...]) -> None:
        self.task: Task = there.task
        self._site = site
        self._documents = documents
        self._seeds = [site.start(url) for url in there.seeds]
        self._targets = frozenset(map(url_id, there.targets))
        self._budget = min(there.budget, cap)
        best = oracle(there.links, there.targets, there.seeds).order[: self._budget]
        self._oracle = np.cumsum([url in there.targets for url in best], dtype=np.int64)
        self._read: dict[UrlId, Any] = {}

    def crawl(self, name: str, missing: int = 0) -> Crawled:
        """Crawl with a setting, or best-first; other than 0: which pages cannot be had."""
        task, site = self.task, self._site
        keywords = () if name == EXAMPLES_ONLY else task.keywords
        positives = self._documents if name in (WITH_EXAMPLES, EXAMPLES_ONLY) else ()
        options = dict(SETTINGS.get(name) or PARTS.get(name, {}))
        even, by_links = options.pop("even_lengths", True), options.pop("by_links", name != BEST_FIRST)
        model = Remembering(even_lengths=even, by_links=by_links)
        model.fit(Examples(keywords=keywords, positives=positives, languages=task.languages))
        # What was read of a page has its evidence for the keywords.
        model.read = self._read if keywords else {}
        scout = Scout(model, languages=task.languages, topic_terms=keywords, **options)
        model.hear_links(scout)
        order: LinkOrder = BestFirst() if name == BEST_FIRST else scout
        analyser = Analyser(task.languages)
        found = {number: place for place, number in enumerate(dict.fromkeys(self._seeds))}
        # Priorities in the order of discovery: of equal ones, the first is found first, as in the frontier.
        waiting = np.full(4096, -np.inf)
        waiting[: len(found)] = np.inf
        numbers = list(found)
        hits: list[bool] = []
        fetched: list[Page] = []
        while len(hits) < self._budget:
            place = int(waiting[: len(numbers)].argmax())
            if waiting[place] == -np.inf:
                break
            promise, waiting[place] = float(waiting[place]), -np.inf
            number = numbers[place]
            page = site.page(number)
            if page is None or (missing and number not in self._seeds and _is_missing(number, missing)):
                scout.gone(number)
                continue
            if np.isfinite(promise):
                page = msgspec.structs.replace(page, via=Via(1, priority=promise))
            fetched.append(page)
            hits.append(number in self._targets)
            if number in site.terms:
                analyser.remember(page.content, site.terms[number])
            else:
                site.terms[number] = analyser.terms(page.content)
            verdict = model.judge(page)
            if name == TRUE_LABELS:
                verdict = Verdict(0.98, True) if hits[-1] else Verdict(0.02, False)
            order.learn(page, verdict)
            while len(numbers) + len(page.links) > len(waiting):
                waiting = np.concatenate([waiting, np.full_like(waiting, -np.inf)])
            for one in order.rank(page, verdict, page.links):
                target = page.links[one.link].id
                first = name == KNOWN_FIRST and target in self._targets
                priority = np.inf if first else one.priority
                place = found.setdefault(target, len(numbers))
                if place == len(numbers):
                    numbers.append(target)
                    waiting[place] = priority
                elif order.combine == "max" and waiting[place] > -np.inf:
                    waiting[place] = max(waiting[place], priority)
            revised = scout.revised()
            places = np.array([found[target] for target in revised.ids.tolist()], np.int64)
            changed = np.isfinite(waiting[places])
            waiting[places[changed]] = revised.priorities[changed]
            if model.observe(page, verdict) and order is scout and name != TRUE_LABELS:
                for target, today in model.remembered():
                    scout.rejudged(Page("", target), today)
        reachable, found_by = len(self._targets), np.cumsum(hits, dtype=np.int64)
        area = area_under_recall(found_by, reachable, self._budget)
        pages = [int(np.searchsorted(curve, 0.9 * reachable)) + 1 for curve in (found_by, self._oracle)]
        there = pages[0] <= len(found_by) and pages[1] <= len(self._oracle)
        said = [model.judge(page).on_topic for page in fetched]
        both = sum(map(all, zip(hits, said, strict=True)))
        return Crawled(
            area / area_under_recall(self._oracle, reachable, self._budget),
            pages[0] / pages[1] if there else None,
            2.0 * both / max(1, sum(hits) + sum(said)),
        )


def _is_missing(number: UrlId, draw: int) -> bool:
    return random.Random(number * 31 + draw).random() < MISSING


def elsewhere(task: Task) -> list[Task]:
    """A topic from other starts; on schools they are drawn."""
    if task.web == "schools":
        return [task]
    if task.web != "office-help":
        return []
    fronts = [task.seeds[0].replace(task.seeds[0].split("/")[-2], module) for module in MODULES]
    others = [front for front in fronts if front != task.seeds[0] and f"/{task.labels[0]}/" not in front]
    return [msgspec.structs.replace(task, seeds=(front,)) for front in others]


def subjects(
    webs: list[str],
    name_or_path: str = "scout",
    *,
    half: bool = False,
    fresh: bool = False,
    examples: int = 0,
) -> list[Subject]:
    """The topics of an experiment, about two of three, or all from other starts."""
    experiment = load_experiment(name_or_path).experiment
    found: list[Subject] = []
    for name in webs:
        world, recorded = open_world(name), open_web(name)
        sites: dict[str, Site] = {}
        known = tasks_of(experiment, name, world)
        for place, task in enumerate(
            [other for one in known for other in elsewhere(one)] if fresh else known
        ):
            if half and (task.name in LEFT_OUT or (name == "webkb" and (place // 4 + place) % 2)):
                continue
            if task.site not in sites:
                sites[task.site] = Site(recorded.subset(site=task.site) if task.site else recorded)
            given = [GivenTable(keywords=True, examples=examples)]
            there = situation(experiment, task, world, repetition=int(fresh), given=given)
            documents = tuple(world.documents(there.examples[:examples]))
            found.append(Subject(there, sites[task.site], 800 if half else 1500, documents))
    return found


def main() -> None:
    """Crawl and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--experiment", default="scout", metavar="NAME", help="whose topics: a name, or a file"
    )
    parser.add_argument("--webs", nargs="+", choices=WEBS, help="all of the experiment's by default")
    how_many = parser.add_mutually_exclusive_group()
    how_many.add_argument("--half", action="store_true", help="two topics of three, 800 pages at most")
    how_many.add_argument("--other-starts", action="store_true", help="schools and office from other pages")
    parser.add_argument("--missing", action="store_true", help="three crawls each, without a twentieth")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--settings", action="store_true", help="try other settings, and leave webs out")
    which.add_argument("--parts", action="store_true", help="leave one part out at a time")
    which.add_argument("--examples", action="store_true", help="ten examples beside keywords, and alone")
    which.add_argument("--best-first", action="store_true", help="that order, too, and a table of groups")
    which.add_argument("--labels", action="store_true", help="with true labels as verdicts, and with a seer")
    parser.add_argument("--only", nargs="+", metavar="ROW", help="rows to run, by name; all by default")
    asked = parser.parse_args()
    asked.webs = asked.webs or list(load_experiment(asked.experiment).experiment.webs)
    if asked.other_starts:
        asked.webs = [web for web in asked.webs if web in WEBS[:2]]
    known = subjects(
        asked.webs,
        asked.experiment,
        half=asked.half,
        fresh=asked.other_starts,
        examples=10 if asked.examples else 0,
    )
    means: dict[str, dict[str, float]] = {}
    groups: dict[str, dict[str, list[float]]] = {}
    names = list(SETTINGS if asked.settings else PARTS) if asked.settings or asked.parts else ["shipped"]
    names += [WITH_EXAMPLES, EXAMPLES_ONLY] * asked.examples + [BEST_FIRST] * asked.best_first
    names += [TRUE_LABELS, KNOWN_FIRST] * asked.labels
    if asked.only:
        if unknown := sorted(set(asked.only) - set(names)):
            parser.error(f"no row {unknown[0]!r}; choose from: {', '.join(names)}")
        names = [name for name in names if name in asked.only]
    print("setting".ljust(30), *(web.rjust(12) for web in asked.webs), "        mean   seconds")
    for name in names:
        started = time.perf_counter()
        areas: dict[str, list[float]] = {}
        crawled: dict[str, list[Crawled]] = {}
        draws = range(1, CRAWLS + 1) if asked.missing else (0,)
        for one, draw in itertools.product(known, draws):
            came = one.crawl(name, draw)
            areas.setdefault(one.task.web, []).append(came.area)
            crawled.setdefault(one.task.web, []).append(came)
            groups.setdefault(one.task.group, {}).setdefault(name, []).append(came.area)
        means[name] = {web: float(np.mean(values)) for web, values in areas.items()}
        everything = float(np.mean([value for values in areas.values() for value in values]))
        figures = (*(f"{means[name][web]:12.3f}" for web in asked.webs), f"{everything:12.3f}")
        print(name.ljust(30), *figures, f"{time.perf_counter() - started:9.0f}", flush=True)
        told: list[str] = []
        for web in asked.webs:
            there = [came.multiple for came in crawled[web] if came.multiple is not None]
            told.append(f"{np.mean(there):.1f} ({len(there)}/{len(crawled[web])})" if there else "-")
        print("  times the oracle's to 90 %".ljust(30), *(each.rjust(12) for each in told))
        f1 = {web: [came.f1 for came in crawled[web]] for web in asked.webs}
        f1["all"] = list(itertools.chain(*f1.values()))
        print("  F1 of the verdicts".ljust(30), *(f"{np.mean(web):12.3f}" for web in f1.values()), flush=True)
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
            has, shipped = means[chosen][left_out], means.get("shipped", means[chosen])[left_out]
            print(f"{left_out:12} {chosen:30} {has:9.3f} {best:12.3f} {shipped:9.3f}")


if __name__ == "__main__":
    main()
