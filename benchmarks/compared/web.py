"""The benchmark's web: pages of 20-60 KB with 50-100 links as files, and a server for them on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "build" / "bench-web-3"
PORT = 8765
SEEDS = 12


def write_web(folder: Path, pages: int) -> list[str]:
    """Write every page of a generated web as a file, its hosts turned into addresses. Seeds."""
    from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec

    spec = WebSpec(
        words_per_page=4_300, links_per_page=60, pages=pages, hosts=max(20, pages // 60), slow=0.0,
        failing=0.0, redirecting=0.0, traps=0.0, mirrors=0.0, closed=0.0, crawl_delay=0.0, gzip=0.0,
        tunnels=0.0, dead_links=0.0,
    )  # fmt: skip
    marker = folder / "seeds.json"
    if marker.exists():
        return list(json.loads(marker.read_text()))
    shutil.rmtree(folder, ignore_errors=True)
    web = GeneratedWeb(spec)
    address = {host: f"127.1.{n // 250}.{n % 250 + 1}" for n, host in enumerate(web.hosts())}
    pattern = re.compile("|".join(re.escape(host) for host in sorted(address, key=len, reverse=True)))

    def local(text: str) -> str:
        return pattern.sub(lambda match: f"{address[match[0]]}:{PORT}", text)

    for host in web.hosts():
        (folder / address[host]).mkdir(parents=True)
        (folder / address[host] / "robots.txt").write_text(local(web.robots(host)))
    urls = dict.fromkeys(web.pages())
    for url in list(urls):  # homes, sections and articles; what else they name is one step away
        urls |= dict.fromkeys(web.out_links(url))
    for url in urls:
        host, _, path = url.partition("://")[2].partition("/")
        if web.get(url).status != 200 or "?" in path:
            continue
        place = folder / address[host] / (path + "index.html" if path.endswith("/") or not path else path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(local(web.get(url).body.decode()))
    topic = web.topics[0]
    seeds = [local(url) for url in web.seeds(topic, distance=1, count=SEEDS)]
    marker.write_text(json.dumps([topic, web.keywords(topic), seeds]))
    return [topic, web.keywords(topic), seeds]  # type: ignore[list-item]


NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  default_type text/html; charset utf-8;
  open_file_cache max=20000 inactive=600s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 0.0.0.0:{port} backlog=4096; root {web}/$server_addr; index index.html; }}
}}
"""


class Server(NamedTuple):
    """The server of the benchmark."""

    name: str
    process: int

    def cpu_seconds(self) -> float:
        """Processor time of its processes so far."""
        ticks = 0
        for number in (self.process, *_children(self.process)):
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def _children(process: int) -> list[int]:
    return [int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@contextmanager
def serving(web: Path) -> Iterator[Server]:
    """Serve the files."""
    folder = Path(tempfile.mkdtemp())
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program:
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=PORT, web=web))
        command = [program, "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "/dev/null"]
    else:
        command = [sys.executable, __file__, str(web)]
    process = subprocess.Popen(command)
    time.sleep(1.0)
    try:
        yield Server("nginx" if program else "asyncio", process.pid)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def serve_files(web: Path) -> None:
    """The server for machines without nginx: every file in memory, one write an answer."""
    answers: dict[str, bytes] = {}
    for path in web.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            name = str(path.relative_to(web)).removesuffix("index.html")
            answers[name] = head.encode() + body

    class Talk(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport
            self.host = transport.get_extra_info("sockname")[0]

        def data_received(self, data: bytes) -> None:
            path = data.split(b" ", 2)[1].decode()
            found = answers.get(self.host + path, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
            self.transport.write(found)  # type: ignore[attr-defined]

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Talk, "0.0.0.0", PORT, backlog=4096)
        await server.serve_forever()

    import uvloop

    uvloop.run(run())


if __name__ == "__main__":
    serve_files(Path(sys.argv[1]))
