"""How fast the lab's generated web is: pages written in process, and pages served over HTTP.

Rates are per CPU second of the side that is measured, since the machine may be shared.
Run: .venv/bin/python benchmarks/lab_web.py
"""

from __future__ import annotations

import asyncio
import json
import resource
import time

from honeyguide.lab.webs.generated import BENCHMARK, DEMO, TEN_MILLION, GeneratedWeb, WebSpec
from honeyguide.lab.webs.generated.draws import Draws
from honeyguide.lab.webs.serve import start_server

PLAIN = WebSpec(slow=0.0, failing=0.0, redirecting=0.0, gzip=0.0)


def sample(web: GeneratedWeb, count: int) -> list[str]:
    """Articles from all over the web, found by arithmetic."""
    draws, sites = Draws(5), web._sites.all
    chosen = []
    for _ in range(count):
        site = sites[draws.below(len(sites))]
        chosen.append(f"http://{site.name}{web._addresses.article(site, draws.below(site.articles)).path}")
    return chosen


def generation(spec: WebSpec, count: int) -> dict[str, float]:
    start = time.process_time()
    web = GeneratedWeb(spec)
    built = time.process_time() - start
    urls = sample(web, count)
    for url in urls[:200]:
        web.get(url)
    start = time.process_time()
    size = sum(len(web.get(url).body) for url in urls)
    spent = time.process_time() - start
    start = time.process_time()
    links = sum(len(web.out_links(url)) for url in urls)
    walked = time.process_time() - start
    return {
        "build_s": round(built, 3),
        "pages_per_cpu_s": round(count / spent),
        "bytes_per_page": round(size / count),
        "links_per_page": round(links / count, 1),
        "out_links_per_cpu_s": round(count / walked),
        "memory_MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def ask(port: int, urls: list[str]) -> None:
    """One keep-alive connection, one request at a time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for url in urls:
        writer.write(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()


async def flood(port: int, urls: list[str]) -> None:
    await asyncio.gather(*(ask(port, urls[part::32]) for part in range(32)))


def serving(spec: WebSpec, count: int) -> dict[str, float]:
    urls = sample(GeneratedWeb(spec), count)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with start_server(spec) as handle:
        pass
    idle = resource.getrusage(resource.RUSAGE_CHILDREN)
    with start_server(spec) as handle:
        start = time.perf_counter()
        asyncio.run(flood(handle.port, urls))
        wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_up = idle.ru_utime + idle.ru_stime - before.ru_utime - before.ru_stime
    spent = after.ru_utime + after.ru_stime - idle.ru_utime - idle.ru_stime - start_up
    return {"pages_per_server_cpu_s": round(count / spent), "pages_per_wall_s": round(count / wall)}


if __name__ == "__main__":
    result = {
        "demo": generation(DEMO, 5_000),
        "benchmark": generation(BENCHMARK, 1_000),
        "ten_million": generation(TEN_MILLION, 5_000),
        "served": serving(PLAIN, 20_000),
    }
    print(json.dumps(result, indent=2))
