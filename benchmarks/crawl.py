"""A whole crawl: Honeyguide (fetch, parse, judge, rank, store, archive) beside Scrapy and Crawlee.

A generated web of pages of 20-60 KB with 50-100 links is written to files once and served by nginx (or, where
there is none, by a small server of its own) on loopback. Every host is an address of its own in 127.1.0.0/16,
so that no crawler needs a proxy or a resolver. All crawl the same web with the same concurrency, robots.txt
obeyed, no delay. CPU time is that of all processes of a crawler; start-up is left out for all alike, by
taking the difference between the long crawl and one of 50 pages. Scrapy and Crawlee keep their queues in
memory and store nothing; Honeyguide can be killed at any time and resumed. Run:

    python benchmarks/crawl.py [--quick] [--pages 5000] [--repeat 3] [--only honeyguide scrapy crawlee]

5,000 pages three times, medians. Honeyguide runs its default recipe, scout; beside it the plainer best-first,
and scout in one process (which is not offered to users, whose pages cannot be trusted): some nine minutes.
`--quick` is 600 pages once.

Scrapy and Crawlee are installed into build/bench-venv by the first run.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from compared.web import ROOT, WEB, Server, serving, write_web

OTHERS = ROOT / "build" / "bench-venv"
WARM_UP = 50
"""Pages of the short crawl that shows what starting costs."""
CRAWLERS = ("honeyguide", "scrapy", "crawlee")


def run_child(name: str, job: dict[str, object], *more: str) -> dict[str, float]:
    """One crawl in a fresh process: pages, seconds, CPU seconds of it and all its children."""
    python = sys.executable if name == "honeyguide" else str(OTHERS / "bin" / "python")
    script = Path(__file__).with_name("compared") / "crawlers.py"
    command = [python, str(script), name, json.dumps(job), *more]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    assert process.stdout is not None
    said = process.stdout.read().decode().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    if status or not said:
        raise SystemExit(f"{name} failed")
    facts: dict[str, float] = json.loads(said[-1])
    facts["cpu"] = usage.ru_utime + usage.ru_stime
    facts["memory_MiB"] = usage.ru_maxrss // 1024
    return facts


def run_pair(name: str, job: dict[str, object], server: Server) -> dict[str, float]:
    """A long crawl less a short one: what a page costs once everything has started."""
    short = run_child(name, {**job, "pages": WARM_UP})
    served = server.cpu_seconds()
    facts = run_child(name, job)
    facts["server_ms_per_page"] = 1000 * (server.cpu_seconds() - served) / facts["pages"]
    pages = facts["pages"] - short["pages"]
    facts["ms_per_page"] = 1000 * (facts["cpu"] - short["cpu"]) / pages
    facts["start_cpu_seconds"] = short["cpu"] - WARM_UP * facts["ms_per_page"] / 1000
    facts["pages_per_cpu_second"] = 1000 / facts["ms_per_page"]
    facts["pages_per_second"] = pages / (facts["seconds"] - short["seconds"])
    workers = facts.get("workers_cpu", 0.0) - short.get("workers_cpu", 0.0)
    facts["workers_ms_per_page"] = 1000 * workers / pages
    main = facts.get("main_cpu", 0.0) - short.get("main_cpu", 0.0)
    facts["main_ms_per_page"] = 1000 * main / pages
    return facts


def install_others() -> bool:
    """Scrapy and Crawlee in an environment of their own; false where they cannot be had."""
    python = OTHERS / "bin" / "python"
    if not python.exists():
        venv.create(OTHERS, with_pip=True)
    known = [python, "-c", "import scrapy, crawlee, parsel"]
    if subprocess.run(known, capture_output=True, check=False).returncode == 0:
        return True
    command = [python, "-m", "pip", "install", "--quiet", "scrapy", "crawlee[parsel]"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


REST = "loop and rest"
STAGES = {
    "archive": ("store/archive", "zlib", "_hashlib", "sha1"),
    "store": ("sqlite3", "store/"),
    "judge": ("relevance/", "text/"),
    "rank": ("ordering/",),
    "frontier": ("frontier/",),
    "urls, traps, scope": ("honeyguide/web/", "can_ada", "ada_url"),
    "parse pool": ("parse/",),
    "fetch": ("fetch/", "happyeyeballs", "brotli", "zstandard", "ssl.py"),
    "engine": ("engine/", "config/"),
}


def stage_of(file: str, name: str) -> str:
    where = f"{file.replace(str(ROOT), '')} {name}"
    return next((s for s, marks in STAGES.items() if any(mark in where for mark in marks)), "")


def stages(path: Path, pages: int, cpu_ms: float) -> dict[str, float]:
    """Milliseconds of a page by stage: a profile's own times, scaled to the unprofiled run.

    What a built-in function takes belongs to the stage that called it.
    """
    found: dict[str, float] = {}
    for (file, _, name), (_, _, own, _, callers) in pstats.Stats(str(path)).stats.items():  # type: ignore[attr-defined]
        stage = stage_of(file, name)
        if stage or file != "~":
            found[stage or REST] = found.get(stage or REST, 0.0) + own
            continue
        for (calling, _, caller), (_, _, share, _) in callers.items():
            stage = stage_of(calling, caller) or REST
            found[stage] = found.get(stage, 0.0) + share
    scale = cpu_ms / (1000 * sum(found.values()) / pages)
    return {
        stage: round(1000 * own / pages * scale, 3)
        for stage, own in sorted(found.items(), key=lambda item: -item[1])
    }


def where_it_goes(job: dict[str, object], facts: dict[str, float], profile: Path) -> dict[str, float]:
    """Where a page's milliseconds go: measured for workers and threads, profiled for the main thread."""
    profiled = run_child("honeyguide", job, str(profile))
    workers, main = facts["workers_ms_per_page"], facts["main_ms_per_page"]
    others = {"parse (workers)": workers, "index (thread)": facts["ms_per_page"] - workers - main}
    found = {name: round(spent, 3) for name, spent in others.items()}
    return found | stages(profile, int(profiled["pages"]), main)


def compare(results: dict[str, dict[str, float]]) -> dict[str, float]:
    """What the targets are about: CPU a page against the others', and what more processes bring."""
    ours = results.get("honeyguide")
    if ours is None:
        return {}
    found = {
        f"CPU of {name} / CPU of honeyguide": round(results[name]["ms_per_page"] / ours["ms_per_page"], 2)
        for name in ("scrapy", "crawlee")
        if name in results
    }
    plain, alone = results.get("honeyguide, best-first"), results.get("honeyguide, 1 process")
    if plain is not None and "scrapy" in results:
        ratio = results["scrapy"]["ms_per_page"] / plain["ms_per_page"]
        found["CPU of scrapy / CPU of honeyguide, best-first"] = round(ratio, 2)
    if alone is not None:
        gain = ours["pages_per_second"] / alone["pages_per_second"]
        found["pages a second of 'honeyguide' / of 'honeyguide, 1 process'"] = round(gain, 2)
        # Two cores have two seconds of CPU a second, and the server takes its share of them.
        every = ours["ms_per_page"] + ours["server_ms_per_page"]
        found["at most, on two cores shared evenly"] = round(2 * alone["ms_per_page"] / every, 2)
        alone_ms, main_ms = alone["main_ms_per_page"], ours["main_ms_per_page"]
        found["at most, with what the main thread does"] = round(alone_ms / main_ms, 2)
    return found


def table(rows: dict[str, dict[str, float]]) -> str:
    names = ("pages", "ms_per_page", "pages_per_cpu_second", "pages_per_second", "memory_MiB")
    lines = ["crawler".ljust(24) + "".join(name.rjust(22) for name in names)]
    for crawler, facts in rows.items():
        lines.append(crawler.ljust(24) + "".join(f"{facts[name]:22.1f}" for name in names))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="600 pages, once")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--only", nargs="*", default=list(CRAWLERS))
    parser.add_argument("--profile", type=Path, help="keep the profile here")
    measure(parser.parse_args())


def measure(given: argparse.Namespace) -> None:
    pages = given.pages or (600 if given.quick else 5_000)
    repeat = given.repeat or (1 if given.quick else 3)
    size = 6_000 if pages > 1_500 else 2_000
    web = WEB / str(size)
    topic, keywords, seeds = write_web(web, size)
    job: dict[str, object] = {
        "topic": topic,
        "keywords": keywords[:8],
        "seeds": seeds,
        "pages": pages,
        "concurrency": given.concurrency,
        "recipe": "scout",
    }
    crawlers = [name for name in given.only if name == "honeyguide"]
    if set(given.only) - {"honeyguide"}:
        if install_others():
            crawlers = list(given.only)
        else:
            print("Scrapy and Crawlee could not be installed; measuring Honeyguide alone")
    results: dict[str, dict[str, float]] = {}
    with serving(web) as server:
        runs: dict[str, list[dict[str, float]]] = {}
        variants = dict.fromkeys(crawlers, job)
        if not given.quick and "honeyguide" in crawlers:
            variants["honeyguide, best-first"] = {**job, "recipe": "best-first"}
            variants["honeyguide, 1 process"] = {**job, "in_process": True}
        for turn in range(repeat):
            for name, one in variants.items():
                print(f"{turn + 1} of {repeat}: {name}", file=sys.stderr, flush=True)
                runs.setdefault(name, []).append(run_pair(name.partition(",")[0], one, server))
        for name, facts in runs.items():
            results[name] = {key: statistics.median(run[key] for run in facts) for key in facts[0]}
        split: dict[str, float] = {}
        if "honeyguide" in results:
            profile = given.profile or Path(tempfile.mkdtemp()) / "profile"
            split = where_it_goes(job, results["honeyguide"], profile)
    print(table(results))
    ratios = compare(results)
    print("\n".join(f"{what}: {value}" for what, value in ratios.items()))
    if split:
        print("\nwhere a page's milliseconds of CPU go (Honeyguide)")
        print("\n".join(f"  {stage:24s}{value:8.3f}" for stage, value in split.items()))
    facts_of_all = {
        "server": server.name,
        "recipe": job["recipe"],
        "pages": pages,
        "repeat": repeat,
        "crawlers": results,
        "ratios": ratios,
        "stages_ms": split,
    }
    print(json.dumps(facts_of_all))


if __name__ == "__main__":
    main()
