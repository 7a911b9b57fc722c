"""The demo: a generated web on loopback, crawled by three recipes, with the truth beside them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.config.load import check_values
from honeyguide.config.schema import Config
from honeyguide.errors import MissingExtra, TopicError
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.lab.measures import CrawlRecord, Fetched, downloads_to, harvest_rate, recall_curve
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec, examples, reachable, seeds
from honeyguide.lab.webs.serve import start_server

RECIPES = ("breadth-first", "best-first", "scout")
COLUMNS = {
    "recipe": "recipe",
    "pages": "pages",
    "found": "targets found",
    "recall": "recall",
    "harvest": "harvest",
    "to_half": "pages to 50 %",
    "to_most": "pages to 80 %",
    "seconds": "seconds",
}
SPEC = WebSpec(hosts=60, pages=3_600, topics=6, slow_seconds=0.2, crawl_delay_seconds=0.1)
"""Small enough for a coffee break, with everything in it: hubs, tunnels, mirrors, traps, slow hosts."""
EXAMPLES = 10
"""Addresses of pages on topic that the recipes are given, with eight words."""
START_DISTANCE = 2
"""Links between the start pages and the topic: nobody needs a crawler for what is next door."""
MARKER = ".honeyguide-demo"
"""Only a folder with this file in it is emptied."""
MOST_PAGES = 3_500
"""Nearly all that can be reached; the last thirty, on hosts that answer rarely, take half a minute."""
FOCUSED_PAGES = 2_400


class DemoResult(msgspec.Struct, frozen=True):
    """What the demo shows."""

    rows: list[dict[str, object]]
    plot: Path | None
    """The picture; None where nothing can be drawn."""
    next_steps: list[str]


def demo_config(web: GeneratedWeb, topic: str, port: int, recipe: str) -> Config:
    """A topic file's values for the generated web, served on loopback."""
    return check_values(
        {
            "topic": {
                "name": topic,
                "keywords": web.keywords(topic)[:8],
                "examples": examples(web, topic, EXAMPLES),
            },
            "crawl": {
                "seeds": seeds(web, topic, distance=START_DISTANCE),
                "recipe": recipe,
                # A focused crawl has found what there is long before it has fetched everything.
                "max_pages": MOST_PAGES if recipe == RECIPES[0] else FOCUSED_PAGES,
                "max_pages_per_domain": 250,
                "max_seconds": 300,  # for a busy machine; a quiet one needs a minute for all three
                "concurrency": 64,
            },
            "identity": {"user_agent": "honeyguide-demo/0.1 (+https://example.org/; demo@example.org)"},
            "politeness": {"delay": 0.0, "ip_delay": 0.0, "max_retries": 0, "slow_factor": 0.0},
            "network": {"allow_net": ["127.0.0.0/8"], "connect_to": {"*": f"127.0.0.1:{port}"}},
        }
    )


def run_demo(
    out: Path,
    *,
    topic: str = "",
    on_page: Callable[..., None] | None = None,
    say: Callable[[str], object] | None = None,
) -> DemoResult:
    """Generate, serve, crawl by each recipe, compare."""
    web = GeneratedWeb(SPEC)
    say = say or str
    topic = topic or web.topics[0]
    if topic not in web.topics:
        raise TopicError(f"the demo's web has no topic {topic!r}; choose one of {', '.join(web.topics)}")
    _empty(out)
    starts = seeds(web, topic, distance=START_DISTANCE)
    targets = reachable(web, topic, starts)
    say(f"topic {topic}: {len(targets)} pages on it can be reached, among {len(web.hosts())} hosts")
    records: list[CrawlRecord] = []
    rows: list[dict[str, object]] = []
    folder = out
    with start_server(SPEC) as server:
        for recipe in RECIPES:
            say(f"crawling by {recipe} ...")
            started = time.monotonic()
            config = demo_config(web, topic, server.port, recipe)
            try:
                _crawl(config, out / recipe, on_page)
            except MissingExtra as missing:
                say(f"{recipe} is left out: {missing}")
                continue
            folder = out / recipe
            with Collection.open(out / recipe) as collection:
                record = as_record(collection, recipe, targets, web)
            records.append(record)
            rows.append(row_of(record, time.monotonic() - started))
    try:
        plot = _draw(records, out, f"Demo: {topic}")
    except MissingExtra as missing:
        say(f"no picture: {missing}")
        plot = None
    return DemoResult(rows, plot, _next_steps(folder, topic))


def _draw(records: list[CrawlRecord], out: Path, title: str) -> Path:
    # Only now: a base install cannot draw, and its demo is worth running all the same.
    from honeyguide.lab.measures.curves import harvest_and_recall
    from honeyguide.plots.panels import draw

    panels = harvest_and_recall(records)
    draw(panels, out / "demo.svg", title=title)
    return draw(panels, out / "demo.png", title=title)


def _empty(out: Path) -> None:
    if out.exists() and any(out.iterdir()) and not (out / MARKER).exists():
        raise TopicError(f"{out} holds files that no demo wrote; choose another folder with --out")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / MARKER).touch()


def _crawl(config: Config, folder: Path, on_page: Callable[..., None] | None) -> None:
    job = Crawl(config, out=folder)

    async def watch() -> None:
        started = time.monotonic()
        async for event in job.run():
            if event.kind == "page" and on_page is not None:
                tally = job.tally
                on_page(
                    pages=tally.pages,
                    relevant=tally.relevant,
                    rate=tally.pages / max(1e-3, time.monotonic() - started),
                    recipe=config.crawl.recipe,
                    last=event.url,
                )

    run_here(watch)


def as_record(collection: Collection, name: str, targets: set[str], web: GeneratedWeb) -> CrawlRecord:
    """A finished crawl as the measures take it, judged by the generated web's truth.

    A target counts once, whichever of its copies (mirror, session, print version) came first.
    """
    fetched = []
    left = set(targets)
    for page in collection.pages(relevant=None):
        own = web.truth(page.url).original or page.url
        hit = own in left
        left.discard(own)
        fetched.append(Fetched(page.row, hit, float(hit), page.depth, page.bytes, page.number))
    return CrawlRecord(name=name, fetched=tuple(fetched), reachable=len(targets))


def row_of(record: CrawlRecord, seconds: float) -> dict[str, object]:
    """One line of the table."""
    curve = recall_curve(record)
    return {
        "recipe": record.name,
        "pages": len(record.fetched),
        "found": sum(one.on_target for one in record.fetched),
        "recall": round(float(curve[-1]), 4) if len(curve) else 0.0,
        "harvest": round(harvest_rate(record), 4),
        "to_half": downloads_to(record, 0.5),
        "to_most": downloads_to(record, 0.8),
        "seconds": round(seconds, 1),
    }


def _next_steps(folder: Path, topic: str) -> list[str]:
    word = topic.split(maxsplit=1)[0]
    program = ".venv/bin/honeyguide" if Path(".venv/bin/honeyguide").exists() else "honeyguide"
    steps = {
        f"{program} search {folder} {word}": "search what was found",
        f"{program} report {folder}": "figures and a picture",
        f"{program} serve {folder}": "look at it in the browser",
        f"{program} export {folder} --format csv": "take it elsewhere",
    }
    width = max(map(len, steps))
    return [
        *(f"{step:{width}}   # {what}" for step, what in steps.items()),
        f'{program} topic new "my topic" --keywords word another --seeds https://example.org/',
    ]
