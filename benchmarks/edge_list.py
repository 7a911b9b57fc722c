"""Edge lists on disk: time, memory and size of the index, and time of a lookup.

    python benchmarks/edge_list.py [--edges 2000000] [--numbered]

Names are URLs; `--numbered` writes a vertex file and edges of numbers, as published web graphs have.
Memory is the growth of the process's peak while the index is built: it must not grow with the file.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from honeyguide.discovery.backlinks.edge_list import EdgeList

VERTICES = 200_000


def name(number: int) -> str:
    return f"http://host{number % 5000}.example/folder/page-{number}.html"


def write(folder: Path, edges: int, *, numbered: bool) -> Path:
    generator = np.random.default_rng(1)
    path = folder / "edges.tsv"
    with path.open("w") as file:
        for start in range(0, edges, 100_000):
            count = min(100_000, edges - start)
            sources = generator.integers(0, VERTICES, count).tolist()
            targets = (VERTICES * generator.random(count) ** 3).astype(int).tolist()
            text = str if numbered else name
            file.write("".join(f"{text(s)}\t{text(t)}\n" for s, t in zip(sources, targets, strict=True)))
    if numbered:
        (folder / "vertices.tsv").write_text("".join(f"{i}\t{name(i)}\n" for i in range(VERTICES)))
    return path


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--edges", type=int, default=2_000_000)
    arguments.add_argument("--numbered", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        path = write(folder, given.edges, numbered=given.numbered)
        vertices = str(folder / "vertices.tsv") if given.numbered else ""
        edges = EdgeList(str(path), vertices=vertices)
        before, started = peak(), time.process_time()
        edges.build()
        built = time.process_time() - started
        grown = peak() - before
        chosen = random.Random(1)
        asked = [name(chosen.randrange(VERTICES)) for _ in range(1000)]
        started = time.process_time()
        found = sum(len(edges.lookup(url, 50)) for url in asked)
        looked_up = (time.process_time() - started) / len(asked)
        size = sum(one.stat().st_size for one in (folder / "edges.tsv.index").rglob("*") if one.is_file())
        print(
            json.dumps(
                {
                    "edges": given.edges,
                    "numbered": given.numbered,
                    "file_mib": round(path.stat().st_size / 2**20, 1),
                    "index_mib": round(size / 2**20, 1),
                    "cpu_seconds_per_million_edges": round(built / given.edges * 1e6, 2),
                    "peak_memory_growth_mib": round(grown, 1),
                    "lookup_ms": round(1000 * looked_up, 3),
                    "answers": found,
                }
            )
        )


if __name__ == "__main__":
    main()
