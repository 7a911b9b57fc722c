"""All marks of speed in one table: what `make bench` prints.

Runs the benchmarks that have a mark, one after the other, each in processes of its own: whole crawls beside
Scrapy and Crawlee (medians of three, ratios), parsing beside lxml, hosts that drip, growth with two recipes,
and the longest block of the event loop in each. About ten minutes on two cores; `--quick` takes two. Run:

    python benchmarks/table.py [--quick] [--out build/bench.json] [--only parse drip]
    python benchmarks/table.py --docs      # the figures of docs/reliability.md from docs/bench.json

The JSON has what every benchmark said, the table is made from it, and so is the table in docs/reliability.md.
To renew the latter, copy `build/bench.json` to `docs/bench.json` and run the second command.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- figures of docs/bench.json: begin -->\n", "<!-- end -->\n"

RUNS = {
    "crawl": ("crawl.py --pages 2000 --repeat 3", "crawl.py --quick"),
    "parse": ("parse.py", "parse.py 20"),
    "drip": ("drip.py --hosts 1000 --pages 10000 --repeat 3", "drip.py --hosts 100 --pages 400"),
    "scale": ("scale.py --thousands 100 1000", "scale.py --thousands 20 50 --pages 200"),
    "scale, scout": (
        "scale.py --thousands 100 1000 --recipe scout",
        "scale.py --thousands 20 50 --pages 200 --recipe scout",
    ),
}
"""By name, what is run, and what is run for a first look."""


class Row(NamedTuple):
    """One line of the table."""

    what: str
    figure: float
    mark: float
    more: str = ""
    """Beside the figure."""
    least: bool = False
    """Whether the mark is a lower bound."""

    @property
    def met(self) -> bool:
        """Whether the mark is reached."""
        return self.figure >= self.mark if self.least else self.figure <= self.mark


def rows(facts: dict[str, Any]) -> Iterator[Row]:
    """The lines that can be made of what was measured."""
    makers: dict[str, Callable[[dict[str, Any]], Iterator[Row]]] = {
        "crawl": crawl_rows,
        "parse": parse_rows,
        "drip": drip_rows,
        "scale": scale_rows,
        "scale, scout": scale_rows,
    }
    for name, make in makers.items():
        if name in facts:
            yield from make(facts[name])


def crawl_rows(found: dict[str, Any]) -> Iterator[Row]:
    """Whole crawls."""
    crawlers, ratios = found["crawlers"], found["ratios"]
    ours = crawlers["honeyguide"]
    for other in ("scrapy", "crawlee"):
        if other in crawlers:
            ratio = ratios[f"CPU of {other} / CPU of honeyguide"]
            beside = f"{crawlers[other]['ms_per_page']:.1f} and {ours['ms_per_page']:.1f} ms"
            what = f"CPU a page: {other.title()}'s times ours, {found.get('recipe', 'best-first')}"
            yield Row(what, ratio, 5.0, beside, least=True)
    plain = "CPU of scrapy / CPU of honeyguide, best-first"
    if plain in ratios:
        costs = [crawlers[name]["ms_per_page"] for name in ("scrapy", "honeyguide, best-first")]
        beside = " and ".join(f"{cost:.1f}" for cost in costs) + " ms"
        yield Row("CPU a page: Scrapy's times ours, best-first", ratios[plain], 5.0, beside, least=True)
    both = "pages a second of 'honeyguide' / of 'honeyguide, 1 process'"
    if both in ratios:
        speeds = [crawlers[name]["pages_per_second"] for name in ("honeyguide", "honeyguide, 1 process")]
        beside = " and ".join(f"{speed:.0f}" for speed in speeds) + " a second"
        yield Row("pages a second: two processes against one", ratios[both], 1.9, beside, least=True)
    yield Row("crawl: longest block of the loop (ms)", ours["longest_block_ms"], 50.0)


def parse_rows(found: dict[str, Any]) -> Iterator[Row]:
    """Parsing alone, beside lxml on the same pages."""
    for corpus, stages in found.items():
        if corpus == "command":
            continue
        lxml = stages.get("lxml: tree, text, links")
        beside = f"lxml's tree, text and links: {lxml / 1000:.2f}" if lxml else ""
        yield Row(f"parse, {corpus} pages (ms of CPU)", stages["parse_page"] / 1000, 0.8, beside)
        yield Row(
            f"parse with blocks, {corpus} pages (ms of CPU)", stages["parse_page with blocks"] / 1000, 1.5
        )


def drip_rows(found: dict[str, Any]) -> Iterator[Row]:
    """Good hosts beside dripping ones."""
    what = f"throughput with {found['hosts']:,} dripping hosts, of that without"
    cpu = f"by the crawl's CPU {found['cpu_ratio']:.2f}" if "cpu_ratio" in found else ""
    yield Row(what, found["ratio"], 0.9, cpu, least=True)
    yield Row("dripping hosts: longest block of the loop (ms)", found["longest_block_ms"], 50.0)


def scale_rows(found: dict[str, Any]) -> Iterator[Row]:
    """Growth."""
    small, large = found["sizes"][0], found["sizes"][-1]
    recipe, urls = large["recipe"], f"{large['urls'] / 1e6:g} M URLs"
    beside = f"{small['cpu_ms_per_page']:.2f} and {large['cpu_ms_per_page']:.2f} ms a page"
    yield Row(f"{recipe}: slower at {urls} than at a tenth, times", found["factor"], 1.3, beside)
    yield Row(f"{recipe}: memory at {urls} (MB)", large["resident_MB"], 1_000.0)
    yield Row(
        f"{recipe}: resume at {urls} (s of CPU)",
        large["resume_cpu_s"],
        5.0,
        f"{large['resume_s']} s by the clock",
    )
    yield Row(f"{recipe}: longest block of the loop at {urls} (ms)", large["longest_block_ms"], 50.0)


def table(facts: dict[str, Any]) -> str:
    """For a terminal."""
    lines = [f"{'':66}{'figure':>9}{'mark':>9}"]
    for row in rows(facts):
        sign = "≥" if row.least else "≤"
        more = f"   ({row.more})" if row.more else ""
        end = "" if row.met else "   not met"
        lines.append(f"{row.what:66}{row.figure:9.2f}{sign:>4}{row.mark:5g}{end}{more}")
    stages = facts.get("crawl", {}).get("stages_ms", {})
    if stages:
        lines.append("where a page's CPU goes (ms): " + _stages(stages))
    lines.append(_about(facts))
    return "\n".join(lines)


def _stages(stages: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in stages.items())


def _about(facts: dict[str, Any]) -> str:
    machine = facts["machine"]
    return (
        f"{facts['date']}, commit {facts['commit']}, Python {machine['python']}, {machine['cores']} cores,"
        f" load {machine['load_before']} before and {machine['load_after']} after, {facts['minutes']} minutes"
    )


def markdown(facts: dict[str, Any]) -> str:
    """For docs/reliability.md."""
    lines = ["| | figure | mark | |", "| --- | --- | --- | --- |"]
    for row in rows(facts):
        met = "" if row.met else "**not met**"
        said = f"{row.figure:.2f}" + (f" ({row.more})" if row.more else "")
        lines.append(f"| {row.what} | {said} | {'≥' if row.least else '≤'} {row.mark:g} | {met} |")
    stages = facts.get("crawl", {}).get("stages_ms", {})
    if stages:
        lines += ["", f"Where a page's CPU goes (ms): {_stages(stages)}."]
    return "\n".join((*lines, "", f"Measured by `make bench`: {_about(facts)}.", ""))


def with_figures(page: str, facts: dict[str, Any]) -> str:
    """A page of the documentation with its table made again."""
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit("the page has no place for the figures")
    return f"{before}{BEGIN}{markdown(facts)}{END}{after}"


def measured(name: str, script: str) -> dict[str, Any] | None:
    """What one benchmark says in its last line; None when it fails."""
    print(f"== {name}: benchmarks/{script}", file=sys.stderr, flush=True)
    file, *options = script.split()
    command = [sys.executable, str(ROOT / "benchmarks" / file), *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        print(f"{script} failed (exit {done.returncode})", file=sys.stderr)
        return None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.json")
    parser.add_argument("--only", nargs="*", choices=list(RUNS), default=list(RUNS))
    parser.add_argument("--docs", action="store_true", help="renew docs/reliability.md from docs/bench.json")
    given = parser.parse_args()
    if given.docs:
        page = ROOT / "docs" / "reliability.md"
        page.write_text(
            with_figures(page.read_text(), json.loads((ROOT / "docs" / "bench.json").read_text()))
        )
        return
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    load, started = os.getloadavg()[0], time.monotonic()
    facts: dict[str, Any] = {"date": time.strftime("%Y-%m-%d"), "commit": commit or "unknown"}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        found = measured(name, RUNS[name][given.quick])
        if found is not None:
            facts[name] = found | {"command": f"benchmarks/{RUNS[name][given.quick]}"}
        facts["minutes"] = round((time.monotonic() - started) / 60, 1)
        facts["machine"] = {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load_before": round(load, 1),
            "load_after": round(os.getloadavg()[0], 1),
        }
        # After each: what was measured stays if the rest is broken off.
        given.out.write_text(json.dumps(facts, indent=1) + "\n")
    print(table(facts))
    print(f"all figures: {given.out}")
    if set(given.only) - facts.keys():
        sys.exit(1)


if __name__ == "__main__":
    main()
