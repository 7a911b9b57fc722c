"""What a crawl of 100 million or a billion pages would take, from measured costs of one page and one URL.

    python benchmarks/at_scale.py [--pages 100e6 1e9] [--vcpu-hour 0.04] ... [--write docs/scale.md]

Measured inputs are read from docs/bench.json (`make bench`) and, once it is there, docs/cluster.json
(`benchmarks/cluster.py --json docs/cluster.json`). Everything else is an assumption, printed as such, and an
option. Nothing here was run at that size.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, fields
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BENCH, CLUSTER = HERE / "docs" / "bench.json", HERE / "docs" / "cluster.json"
BEGIN, END = "<!-- begin: benchmarks/at_scale.py -->", "<!-- end: benchmarks/at_scale.py -->"


@dataclass(frozen=True)
class Assumed:
    """What is not measured here; each is an option of the same name."""

    urls_a_page: float = 10.0  # URLs that a fetched page makes known for the first time
    wire_kb: float = 30.0  # kilobytes of an answer on the wire, compressed
    archive_kb: float = 35.0  # kilobytes of a page in the archive, request and headers included
    index_kb: float = 6.0  # kilobytes of a relevant page in the full-text index
    relevant: float = 0.3  # share of pages that are relevant, and so are indexed
    page_kb: float = 2.0  # kilobytes of a page's rows in the state, journal and links included
    shard_urls: float = 10e6  # known URLs of one shard, at most
    use: float = 0.5  # share of its core that a shard uses on the average
    node_cores: float = 16.0  # cores of a node; one is left to Ray and the system
    largest: float = 20_000.0  # pages taken of one host, at most
    delay: float = 5.0  # seconds between two requests to a host
    vcpu_hour: float = 0.04  # US dollars for a core and its memory (4 GB), on demand
    disk_month: float = 0.08  # US dollars for a gigabyte of SSD and month
    store_month: float = 0.023  # US dollars for a gigabyte of object store and month


@dataclass(frozen=True)
class Measured:
    cpu_ms: float  # a page, all of it, on one machine
    more: float  # factor for shards
    sent_bytes: float  # to other shards, a page
    messages: float  # a page
    base_mb: float  # resident, one shard
    url_bytes: float  # resident, a known URL
    file_bytes: float  # in the state, a known URL
    cluster_measured: bool


def measured() -> Measured:
    bench = json.loads(BENCH.read_text())
    small, large = bench["scale, scout"]["sizes"]
    urls = large["urls"] - small["urls"]
    url_bytes = 1e6 * (large["resident_MB"] - small["resident_MB"]) / urls
    more, sent, messages = 1.15, 700.0, 0.05
    there = CLUSTER.is_file()
    if there:
        cost = json.loads(CLUSTER.read_text())["cost"]
        rows = {row["shards"]: row for row in cost if row.get("crawls", 1) == 1}
        most = rows[max(rows)]
        more = max(1.0, most["ms a page"] / rows[0]["ms a page"])
        sent, messages = most["bytes a page"], most["messages a page"]
    return Measured(
        cpu_ms=bench["crawl"]["crawlers"]["honeyguide"]["ms_per_page"],
        more=more,
        sent_bytes=sent,
        messages=messages,
        base_mb=small["resident_MB"] - small["urls"] * url_bytes / 1e6,
        url_bytes=url_bytes,
        file_bytes=1e6 * (large["file_MB"] - small["file_MB"]) / urls,
        cluster_measured=there,
    )


def computed(pages: float, given: Assumed, unit: Measured) -> dict[str, str]:
    """One column of the table."""
    known = pages * given.urls_a_page
    shards = max(1, math.ceil(known / given.shard_urls))
    a_node = int(given.node_cores) - 1
    nodes = math.ceil(shards / a_node)
    rate = given.use * 1000.0 / (unit.cpu_ms * unit.more) * shards
    busy = pages / rate
    polite = given.largest * given.delay  # the largest host, asked without a break
    seconds = max(busy, polite)
    rate = pages / seconds
    state = known * unit.file_bytes + 1e3 * pages * given.page_kb
    archive = 1e3 * pages * given.archive_kb
    index = 1e3 * pages * given.relevant * given.index_kb
    memory = a_node * (unit.base_mb / 1e3 + given.shard_urls * unit.url_bytes / 1e9)
    compute = nodes * given.node_cores * given.vcpu_hour * seconds / 3600
    disks = (state + archive + index) / 1e9 * given.disk_month * max(1.0, seconds / 86400 / 30)
    store = (state + archive + index) / 1e9 * given.store_month
    return {
        "known URLs": f"{known / 1e9:,.1f} billion",
        "shards": f"{shards:,}",
        f"nodes of {given.node_cores:.0f} cores": f"{nodes:,}",
        "memory a node": f"{memory:,.0f} GB",
        "pages a second": f"{rate:,.0f}",
        "time, if no host had to be spared": f"{busy / 3600:,.1f} hours",
        "time": f"{seconds / 3600:,.1f} hours",
        "network in": f"{rate * given.wire_kb * 8 / 1e6:,.2f} Gbit/s",
        "network in a node": f"{rate * given.wire_kb * 8 / 1e3 / nodes:,.0f} Mbit/s",
        "links between shards": f"{rate * unit.sent_bytes / 1e6:,.1f} MB/s",
        "state": f"{state / 1e12:,.2f} TB",
        "archive": f"{archive / 1e12:,.1f} TB",
        "index": f"{index / 1e12:,.2f} TB",
        "disk a node": f"{(state + archive + index) / nodes / 1e12:,.2f} TB",
        "compute": f"${compute:,.0f}",
        "disks, one month": f"${disks:,.0f}",
        "snapshots in an object store, a month": f"${store:,.0f}",
    }


def _option(name: str, value: float) -> str:
    return f"`--{name.replace('_', '-')} {value:g}`"


def text(sizes: list[float], given: Assumed) -> str:
    unit = measured()
    columns = [computed(pages, given, unit) for pages in sizes]
    heads = [f"{pages / 1e6:,.0f} M pages" for pages in sizes]
    lines = ["| | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    lines += [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]]
    source = "docs/cluster.json" if unit.cluster_measured else "assumed: docs/cluster.json is not there"
    lines += [
        "",
        f"Measured (docs/bench.json): {unit.cpu_ms:.1f} ms CPU a page, {unit.base_mb:.0f} MB a shard and"
        f" {unit.url_bytes:.0f} bytes of memory a known URL, {unit.file_bytes:.0f} bytes of disk a known URL."
        f" Shards: {100 * (unit.more - 1):+.0f} % CPU, {unit.messages:.3f} messages and"
        f" {unit.sent_bytes:.0f} bytes a page ({source}).",
        "",
        "Assumed: " + ", ".join(_option(one.name, getattr(given, one.name)) for one in fields(Assumed)) + ".",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", nargs="+", type=float, default=[100e6, 1e9])
    for one in fields(Assumed):
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=float, default=one.default)
    parser.add_argument("--write", type=Path, help="put the table into this page, between its marks")
    asked = parser.parse_args()
    given = Assumed(**{one.name: getattr(asked, one.name) for one in fields(Assumed)})
    told = text(asked.pages, given)
    if asked.write:
        page = asked.write.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        asked.write.write_text(f"{before}{BEGIN}\n{told}{END}{after}", encoding="utf-8")
    print(told, end="")


if __name__ == "__main__":
    main()
