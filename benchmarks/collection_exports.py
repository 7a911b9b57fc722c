"""Exports, links and directory of a large collection: processor seconds and peak memory of each.

    python benchmarks/collection_exports.py [--pages 100000] [--folder KEPT] [--only warc wacz ...] [--json]

Makes a collection of so many pages (36 subjects, archived HTML of about 3 KB, 10 links a page) and runs each
verb of the command line in a process of its own. Memory is the largest resident set of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from honeyguide.testing.made_collection import MadeCollection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: made\r\n\r\n"
VERBS = {
    **{
        form: ("export", "--format", form, "--output", "{out}")
        for form in ("jsonl", "csv", "parquet", "warc", "wacz", "gexf", "opml", "datasheet", "datasheet-html")
    },
    "links": ("links", "--limit", "100", "--json"),
    "duplicates": ("links", "--duplicates", "--json"),
    "directory": ("directory", "--output", "{out}"),
}


def make(folder: Path, pages: int) -> None:
    """Pages of 36 subjects with words of their own, on pages / 100 hosts."""
    draw = random.Random(1)
    common = [f"common{rank}" for rank in range(3_000)]
    weights = [1 / (rank + 10) for rank in range(len(common))]
    subjects = [[f"subject{number}term{term}" for term in range(60)] for number in range(36)]
    hosts = max(10, pages // 100)
    with MadeCollection(folder, archive=True) as made:
        for number in range(pages):
            subject = subjects[draw.randrange(36)]
            words = draw.choices(common, weights, k=180) + draw.choices(subject, k=60)
            draw.shuffle(words)
            text = " ".join(words)
            host = f"host{int(hosts * draw.random() ** 2)}.example"
            made.page(
                f"http://{host}/{number}",
                host=host,
                title=f"Page {number} on {words[0]}",
                text=text,
                score=0.5 + draw.random() / 2,
                on_topic=draw.random() < 0.9,
                links=[draw.randrange(1, number + 2) for _ in range(10)],
                head=HEAD,
                body=f"<!doctype html><title>Page {number}</title><p>{text}</p>".encode(),
            )


def measure(folder: Path, name: str, out: Path) -> dict[str, object]:
    """Run one verb; what it took."""
    verb, *options = VERBS[name]
    words = [
        sys.executable,
        "-m",
        "honeyguide",
        verb,
        str(folder),
        *(each.format(out=out) for each in options),
    ]
    begun = time.perf_counter()
    process = os.fork()
    if process == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.execv(words[0], words)
    _, status, used = os.wait4(process, 0)
    size = sum(path.stat().st_size for path in out.iterdir()) if out.is_dir() else 0
    return {
        "what": name,
        "ok": status == 0,
        "cpu s": round(used.ru_utime + used.ru_stime, 1),
        "wall s": round(time.perf_counter() - begun, 1),
        "peak MB": round(used.ru_maxrss / 1024),
        "file MB": round((out.stat().st_size if out.is_file() else size) / 1e6, 1) if out.exists() else 0.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="keep the collection here, or use the one that is there")
    parser.add_argument("--only", nargs="+", choices=VERBS, default=list(VERBS))
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary) / "collection"
        if not folder.exists():
            make(folder, asked.pages)
        rows = [measure(folder, name, Path(temporary) / f"out-{name}") for name in asked.only]
    if asked.json:
        print(json.dumps(rows, indent=2))
        return
    for row in (dict(zip(rows[0], rows[0], strict=True)), *rows):
        print("".join(f"{value!s:>14}" for value in row.values()))


if __name__ == "__main__":
    main()
