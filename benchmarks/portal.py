"""The portal on a large collection: time to the first byte of each view, and what readers cost a crawl.

    python benchmarks/portal.py [--pages 100000] [--readers 50] [--crawl-pages 1500] [--rounds 3]
        [--only views|readers] [--folder KEPT] [--json]

`views` makes a collection of so many pages (with ten known addresses each), serves its folder by `honeyguide
serve` and asks for every view, the first time and warm (the middle of nine). `server_ms` is the processor
time that the portal used for one warm request: it fails when a page takes more than 200 ms.

`readers` crawls a generated web over HTTP on loopback, in turn without a portal, with one that nobody
reads, and with one whose live view so many readers watch, and compares the crawl's pages a second. Crawl,
web server, portal and readers are processes of their own and share this machine's cores; `portal_cpu_s` is
what the portal itself used.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

from honeyguide.collection.collection import Collection
from honeyguide.config.load import freeze
from honeyguide.lab.demo import demo_config
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
from honeyguide.lab.webs.serve import start_server
from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection

TOKEN = "benchmark-token-0123456789"
REPEAT = 9
NOT_PAGES = ("event stream", "metrics", "style sheet", "growth picture", "page, reasons")
MOST_MS = 200.0
"""Server time a page may take."""


def make(folder: Path, pages: int) -> None:
    """A collection with words of Zipf's distribution, a few hundred hosts and some languages."""
    rng = random.Random(1)
    words = [f"word{rank}" for rank in range(20_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    hosts = [f"host{number}.example" for number in range(max(10, pages // 200))]
    with MadeCollection(folder) as made:
        for number in range(pages):
            host = hosts[int(len(hosts) * rng.random() ** 2)]
            first = made._columns.size + 2
            links = range(first, first + 9)
            title, *text = rng.choices(words, cum_weights=weights, k=120)
            row = made.page(
                f"http://{host}/{number}",
                host=host,
                title=f"Page {number} about {title}",
                text=" ".join(text),
                score=rng.random(),
                on_topic=rng.random() < 0.7,
                language=rng.choice(("en", "en", "en", "de", "zh", "")),
                at=1_700_000_000.0 + number,
                links=[*links, rng.randrange(1, first)],
                terms=((title, 0.5),),
            )
            for link in range(9):
                status = Outcome.WAITING if link % 3 else Outcome.ROBOTS
                made.address(
                    f"http://{host}/{number}/{link}",
                    host=host,
                    status=status,
                    priority=rng.random(),
                    parent=row,
                    anchor=title,
                    reason="" if link % 3 else "Disallow: /",
                )


@contextmanager
def portal(folder: Path) -> Iterator[tuple[str, int, subprocess.Popen[str]]]:
    """`honeyguide serve` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "honeyguide", "serve", str(folder), "--new", "--port", "0", "--no-open",
         "--json", "--until-input-ends", "--token", TOKEN],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    told = ""
    while not told.endswith("}\n"):
        told += process.stdout.readline()
    where = urlsplit(json.loads(told)["portal"])
    assert where.hostname is not None
    assert where.port is not None
    try:
        yield where.hostname, where.port, process
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(30)


def first_byte(host: str, port: int, path: str) -> tuple[float, int]:
    """Milliseconds until the answer begins, and its length."""
    connection = http.client.HTTPConnection(host, port, timeout=120)
    started = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    answer.read(1)
    passed = 1e3 * (time.perf_counter() - started)
    size = 0 if "event-stream" in (answer.getheader("content-type") or "") else len(answer.read())
    if answer.status != 200:
        raise SystemExit(f"{path}: status {answer.status}")
    connection.close()
    return passed, size


def views(pages: int, kept: Path | None) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as base:
        folder = (kept or Path(base)) / "large"
        if not folder.exists():
            started = time.perf_counter()
            make(folder, pages)
            print(f"made {pages:,} pages in {time.perf_counter() - started:.0f} s", file=sys.stderr)
        with Collection.open(folder) as collection:
            row = next(collection.state.pages(after=pages // 2)).row
        root = "/c/large"
        paths = {
            "home": "/",
            "new topic": "/new",
            "compare": "/compare?left=large&right=large",
            "live view": f"{root}/",
            "growth picture": f"{root}/growth.svg",
            "event stream": f"{root}/events",
            "browse": f"{root}/search",
            "browse, deep": f"{root}/search?page={min(2000, pages // 40)}",
            "browse, filters and sort": f"{root}/search?language=de&least=0.4&sort=worst&verdict=all",
            "browse, one host": f"{root}/search?host=host3.example",
            "search, rare words": f"{root}/search?q=word9000+word12",
            "search, frequent word": f"{root}/search?q=word0",
            "search, frequent, filters": f"{root}/search?q=word0&language=de&least=0.5",
            "page, why": f"{root}/page/{row}",
            "page, read": f"{root}/page/{row}/read?q=word0",
            "page, reasons": f"{root}/page/{row}/why.json",
            "page, links out": f"{root}/page/{row}/links",
            "page, links in": f"{root}/page/{row}/links?way=in",
            "review": f"{root}/review",
            "review, decisions": f"{root}/review/decisions",
            "directory": f"{root}/directory",
            "exports": f"{root}/exports",
            "topic": f"{root}/topic",
            "frontier": f"{root}/urls?outcome=waiting",
            "left out by robots": f"{root}/urls?outcome=robots&page=40",
            "metrics": "/metrics",
            "style sheet": "/static/portal.css",
        }  # fmt: skip
        rows: list[dict[str, object]] = []
        with portal(folder.parent) as (host, port, process):
            while True:
                try:
                    cold, _ = first_byte(host, port, "/c/large/")
                    break
                except ConnectionRefusedError:
                    time.sleep(0.05)
            for name, path in paths.items():
                once, size = first_byte(host, port, path)
                once = cold if path == "/c/large/" else once
                used = cpu_of(process.pid)
                warm = statistics.median(first_byte(host, port, path)[0] for _ in range(REPEAT))
                server = 1e3 * (cpu_of(process.pid) - used) / REPEAT
                times = {
                    "first_ms": round(once, 1), "warm_ms": round(warm, 1), "server_ms": round(server, 1)
                }  # fmt: skip
                rows.append({"view": name, **times, "bytes": size})
            shown = {name: path for name, path in paths.items() if name not in NOT_PAGES}
            painted = paints(host, port, shown)
            for line in rows:
                line["paint_ms"] = round(painted[str(line["view"])]) if line["view"] in painted else ""
        return rows


def paints(host: str, port: int, paths: dict[str, str]) -> dict[str, float]:
    """Milliseconds until Chromium has painted content, the middle of three; nothing where there is none."""
    program = shutil.which("chromium")
    if program is None:
        return {}
    found: dict[str, float] = {}
    script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"http://{host}:{port}/?token={TOKEN}")
        for name, path in paths.items():
            times = []
            for _ in range(3):
                page.goto(f"http://{host}:{port}{path}")
                while not (painted := float(page.evaluate(script))):
                    page.wait_for_timeout(20)
                times.append(painted)
            found[name] = statistics.median(times)
        browser.close()
    return found


class Readers:
    """Live views, read in one process of their own."""

    CODE = """
import selectors, socket, sys
host, port, token, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
ask = f"GET /events HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nAuthorization: Bearer {token}\\r\\n\\r\\n".encode()
chosen = selectors.DefaultSelector()
for _ in range(count):
    one = socket.create_connection((host, port)); one.sendall(ask); one.setblocking(False)
    chosen.register(one, selectors.EVENT_READ)
got = ticks = 0
print("ready", flush=True)
while True:
    for key, _ in chosen.select():
        data = key.fileobj.recv(1 << 16)
        if not data:
            print(got, ticks, flush=True); sys.exit()
        got += len(data); ticks += data.count(b"event: figures")
"""

    def __init__(self, host: str, port: int, count: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.CODE, host, str(port), TOKEN, str(count)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"


def crawl(config: Path, out: Path, pages: int) -> tuple[float, float]:
    """One crawl in a process of its own: pages a second (of its own clock), and its CPU seconds."""
    process = subprocess.Popen(
        [sys.executable, "-m", "honeyguide", "crawl", str(config), "--trust", "--out", str(out), "--quiet",
         "--max-pages", str(pages)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("the crawl failed")
    with Collection.open(out) as collection:
        found = collection.status()
    return found.pages / found.seconds, usage.ru_utime + usage.ru_stime


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def one_round(kind: str, config: Path, out: Path, pages: int, readers: int) -> tuple[float, float, float]:
    """Pages a second, CPU seconds of the crawl, CPU seconds of the portal while it ran."""
    if kind == "no portal":
        return (*crawl(config, out, pages), 0.0)
    with portal(out) as (host, port, process):
        while True:
            try:
                first_byte(host, port, "/static/icon.svg")
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        watching = Readers(host, port, readers) if kind == "readers" else None
        before = cpu_of(process.pid)
        speed, used = crawl(config, out, pages)
        spent = cpu_of(process.pid) - before
        if watching is not None:
            watching.process.kill()
            watching.process.wait()
            assert watching.process.stdout is not None
            watching.process.stdout.close()
    return speed, used, spent


def slowdown(pages: int, readers: int, rounds: int) -> list[dict[str, object]]:
    spec = WebSpec(hosts=60, pages=max(3_600, 3 * pages), topics=6, slow=0.0, failing=0.0)
    web = GeneratedWeb(spec)
    kinds = ("no portal", "portal", "readers")
    found: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as base, start_server(spec) as server:
        config = Path(base) / "topic.toml"
        config.write_text(freeze(demo_config(web, web.topics[0], server.port, "best-first")))
        for turn in range(rounds):
            for kind in kinds[turn % 3 :] + kinds[: turn % 3]:
                out = Path(base) / f"{kind.replace(' ', '-')}-{turn}"
                found[kind].append(one_round(kind, config, out, pages, readers))
                print(f"{kind}: {found[kind][-1][0]:.1f} pages/s", file=sys.stderr)
    base_speed = statistics.median(speed for speed, _, _ in found["no portal"])
    rows: list[dict[str, object]] = []
    for kind in kinds:
        speed = statistics.median(one[0] for one in found[kind])
        pairs = [
            100 * (1 - one[0] / other[0]) for one, other in zip(found[kind], found["no portal"], strict=True)
        ]
        used = statistics.median(one[1] for one in found[kind])
        spent = statistics.median(one[2] for one in found[kind])
        rows.append(
            {
                "crawl with": kind if kind != "readers" else f"{readers} readers",
                "pages_a_second": round(speed, 1),
                "slower_percent": round(100 * (1 - speed / base_speed), 1),
                "paired_percent": round(statistics.median(pairs), 1),
                "crawl_cpu_s": round(used, 2),
                "portal_cpu_s": round(spent, 2),
                "portal_percent_of_crawl": round(100 * spent / used, 1),
            }
        )
    return rows


def show(rows: list[dict[str, object]]) -> None:
    names = list(rows[0])
    widths = [max(len(name), *(len(str(row[name])) for row in rows)) for name in names]
    for row in [dict(zip(names, names, strict=True)), *rows]:
        print("  ".join(str(row[name]).ljust(width) for name, width in zip(names, widths, strict=True)))


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--pages", type=int, default=100_000)
    options.add_argument("--readers", type=int, default=50)
    options.add_argument("--crawl-pages", type=int, default=1_500)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", choices=("views", "readers"))
    options.add_argument("--folder", type=Path, help="keep the collection of `views` here")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    result: dict[str, list[dict[str, object]]] = {}
    if chosen.only != "readers":
        result["views"] = views(chosen.pages, chosen.folder)
    if chosen.only != "views":
        result["readers"] = slowdown(chosen.crawl_pages, chosen.readers, chosen.rounds)
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        for rows in result.values():
            show(rows)
            print()
    slow = [str(row["view"]) for row in result.get("views", []) if float(str(row["server_ms"])) > MOST_MS]
    if slow:
        raise SystemExit(f"over {MOST_MS:.0f} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
