"""Cost of the frontier: one page with 50 links, as the number of known URLs grows.

    python benchmarks/frontier.py            # 1 M URLs on disk, the lab case, reprioritise
    python benchmarks/frontier.py --million 10

URLs of 70 characters, 50 links a page of which about 20 are new, hosts with a power law. One page is:
add 50, pop, finish, release; commit every 50 pages. CPU time, not wall time: machines are shared.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from honeyguide.frontier import Found, Frontier
from honeyguide.model import Outcome
from honeyguide.store.state import State

LINKS, NEW, COMMIT_EVERY = 50, 20, 50


class SyntheticLinks:
    """Pages of links, made ahead of the clock in batches."""

    def __init__(self, hosts: int, *, seed: int = 1) -> None:
        self._random = np.random.default_rng(seed)
        self._hosts = hosts
        self._known = 0

    def page(self, new: int, *, parent: int) -> list[Found]:
        """The links of one page: `new` fresh ones, the others repeated from what is known."""
        fresh = list(range(self._known, self._known + new))
        old = self._random.integers(0, max(1, self._known), LINKS - new).tolist() if self._known else []
        self._known += new
        priorities = self._random.random(LINKS).tolist()
        return [self._found(n, p, parent) for n, p in zip([*old, *fresh], priorities, strict=False)]

    def _found(self, number: int, priority: float, parent: int) -> Found:
        mixed = (number * 0x9E3779B97F4A7C15 + 12345) & (1 << 64) - 1
        # A power law: host k has a share of about 1/k.
        host = int(self._hosts ** ((mixed >> 11) / (1 << 53)))
        url = f"https://host{host:07d}.example.org/{number:012d}/{'a' * 28}"
        return Found(
            url=url,
            id=mixed - (1 << 63),
            host=f"host{host:07d}.example.org",
            domain=f"host{host:07d}.example.org",
            priority=priority,
            depth=3,
            parent=parent,
            anchor="an anchor of a few words",
            context="a context of some twelve words around the link, as a page would have it in its text",
            factors={"parent": 0.5, "anchor": priority},
        )


def memory() -> float:
    """Resident memory now, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def fill(
    state: State, frontier: Frontier, links: SyntheticLinks, *, target: int, clock: list[float]
) -> float:
    """Grow the frontier to `target` URLs; returns CPU ms a page over the last 5,000 pages."""
    spent: list[float] = []
    while frontier.known < target:
        batch = [links.page(NEW, parent=max(1, frontier.known)) for _ in range(COMMIT_EVERY)]
        start = time.process_time()
        for found in batch:
            one_page(frontier, found, clock)
        frontier.flush()
        state.commit()
        spent.append((time.process_time() - start) / COMMIT_EVERY * 1000)
    return float(np.mean(spent[-100:]))


def one_page(frontier: Frontier, found: list[Found], clock: list[float]) -> None:
    clock[0] += 0.01
    frontier.add(found, "max")
    waiting = frontier.pop(clock[0])
    if waiting is not None:
        frontier.host(waiting.host).ready_at = clock[0] + 1.0
        frontier.finish(waiting.row, Outcome.FETCHED)
        frontier.release(waiting.host)


def measure_disk(million: float) -> dict[str, float]:
    target = int(million * 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.sqlite"
        before = memory()
        links, clock = SyntheticLinks(hosts=max(1000, target // 20)), [0.0]
        result: dict[str, float] = {"urls": target, "baseline_mb": round(before)}
        with State.open(path) as state:
            frontier = Frontier(state)
            step = min(1_000_000, target)
            for size in range(step, target + 1, step):
                cost = fill(state, frontier, links, target=size, clock=clock)
                print(f"{size:>10,} URLs  {cost:.3f} ms a page  {memory():,.0f} MB", flush=True)
                result[f"ms_a_page_at_{size // 1000}k"] = round(cost, 3)
            result["resident_mb"] = round(memory())
            result["file_mb"] = round(path.stat().st_size / 1e6)
            result["waiting"] = frontier.waiting
            del frontier
        with State.open(path) as state:
            start, cpu = time.perf_counter(), time.process_time()
            frontier = Frontier(state)
            result["resume_s"] = round(time.perf_counter() - start, 2)
            result["resume_cpu_s"] = round(time.process_time() - cpu, 2)
            assert frontier.waiting == result["waiting"]
    result["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return result


def measure_lab(pages: int = 5000, *, new: int = LINKS) -> float:
    """CPU ms a page with a state in memory; every link new is the worst case."""
    links, clock = SyntheticLinks(hosts=500), [0.0]
    batches = [links.page(new, parent=1) for _ in range(pages)]
    with State.open(None) as state:
        frontier = Frontier(state)
        start = time.process_time()
        for number, found in enumerate(batches):
            one_page(frontier, found, clock)
            if number % COMMIT_EVERY == 0:
                frontier.flush()
                state.commit()
        return round((time.process_time() - start) / pages * 1000, 4)


def measure_reprioritise(changed: int = 10_000, *, known: int = 200_000) -> float:
    """CPU ms to change 10,000 waiting URLs, written and committed."""
    links = SyntheticLinks(hosts=5000)
    with tempfile.TemporaryDirectory() as folder, State.open(Path(folder) / "state.sqlite") as state:
        frontier = Frontier(state)
        while frontier.known < known:
            frontier.add(links.page(LINKS, parent=0), "max")
        frontier.flush()
        state.commit()
        random = np.random.default_rng(3)
        priorities = np.full(frontier.known, np.nan)
        priorities[random.permutation(frontier.known)[:changed]] = random.random(changed)
        start = time.process_time()
        assert frontier.reprioritise(priorities) == changed
        frontier.flush()
        state.commit()
        return round((time.process_time() - start) * 1000, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", type=float, default=1.0, help="URLs to know in the end, in millions")
    arguments = parser.parse_args()
    measure_lab(200)  # compiles or loads the kernels
    measure_reprioritise(100, known=1000)
    print(json.dumps({"lab_ms_a_page_all_new": measure_lab(), "lab_ms_a_page_20_new": measure_lab(new=20)}))
    print(json.dumps({"reprioritise_10k_ms": measure_reprioritise()}))
    print(json.dumps(measure_disk(arguments.million), indent=1))


if __name__ == "__main__":
    main()
