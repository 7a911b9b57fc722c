"""SIGINT and SIGTERM of a real `honeyguide crawl` over real HTTP: the end is quick, clean and resumable."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from honeyguide.collection.collection import Collection
from honeyguide.lab.webs.serve import WebServer
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime

HTML = (("Content-Type", "text/html"),)
TOPIC = """
[topic]
name = "owls"
keywords = ["owl"]
{examples}
[crawl]
seeds = ["http://a.example/0"]
recipe = "breadth-first"
max_pages = {pages}
max_pages_per_domain = "unlimited"
parse_workers = 1
[identity]
user_agent = "honeyguide-test/0.1 (+https://example.org/)"
[politeness]
delay = 0.0
ip_delay = 0.0
ip_at_once = 100
slow_factor = 0.0
[network]
connect_to = {{ "*" = "127.0.0.1:{port}" }}
"""


class Endless:
    """Pages that link to the next ones on many hosts; those named `stuck` never answer."""

    def __init__(self, *, hang: bool = True) -> None:
        self.hang = hang
        self.asked = 0
        self.stuck = 0

    def get(self, url: str) -> Served:
        host, path = url.split("/")[2:4]
        if path == "robots.txt":
            return Served(404)
        self.asked += 1
        if self.hang and host.startswith("stuck"):
            self.stuck += 1
            return Served(0, behaviour="hang")
        number = int(path or 0)
        hosts = [f"h{(number * 7 + step) % 40}.example" for step in range(3)]
        hosts += [f"stuck{number % 9}.example"]
        links = "".join(f'<a href="http://{name}/{number + 1}">owl</a> ' for name in hosts)
        return Served(200, HTML, f"<title>owl {number}</title>{links}".encode(), delay=0.01)


class Program:
    """A running `honeyguide` of its own process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def tell(self, number: signal.Signals, *, group: bool = False) -> None:
        if group:  # as a terminal does with Ctrl-C: the parse workers get it too
            os.killpg(self.process.pid, number)
        else:
            self.process.send_signal(number)

    async def end(self, seconds: float) -> tuple[int, str]:
        """Exit status and standard error, which must come within so many seconds."""
        _, said = await asyncio.wait_for(self.process.communicate(), seconds)
        assert self.process.returncode is not None
        return self.process.returncode, said.decode()


@asynccontextmanager
async def crawling(
    folder: Path, web: Endless, *words: str, pages: str = '"unlimited"', examples: str = ""
) -> AsyncIterator[Program]:
    async with WebServer(web) as server:
        topic = folder / "topic.toml"
        topic.write_text(TOPIC.format(port=server.port, pages=pages, examples=examples))
        process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-m",
                "honeyguide",
                "crawl",
                str(topic),
                "--trust",
                "--out",
                str(folder / "out"),
                *words,
            ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield Program(process)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def busy(program: Program, web: Endless, *, asked: int = 60, stuck: int = 1) -> None:
    """Wait until the crawl is well under way and holds requests that will not come back."""
    for _ in range(1200):
        if web.asked >= asked and web.stuck >= stuck:
            return
        if program.process.returncode is not None:
            break
        await asyncio.sleep(0.05)
    raise AssertionError(f"the crawl made only {web.asked} requests")


async def draining(web: Endless) -> None:
    """Wait until the crawl has stopped asking: the same count ten looks in a row."""
    looks: deque[int] = deque(maxlen=10)
    while len(looks) < 10 or len(set(looks)) > 1:
        looks.append(web.asked)
        await asyncio.sleep(0.05)


def check_resumable(folder: Path, *, reason: str) -> int:
    """The collection is whole and says why it stopped. Pages it holds."""
    with Collection.open(folder) as collection:
        assert collection.state.check() == []
        last = collection.state.sessions()[-1]
        assert last.stop is not None
        assert reason in str(last.reason)
        return collection.state.page_count()


async def resume(folder: Path, pages: int) -> None:
    web = Endless(hang=False)
    async with crawling(folder, web, pages=str(pages)) as program:
        status, said = await program.end(60)
    assert status == 0, said
    with Collection.open(folder / "out") as collection:
        assert collection.state.page_count() == pages
        assert collection.state.check() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_one_signal_drains_and_can_be_resumed(tmp_path: Path, number: signal.Signals) -> None:
    web = Endless()
    async with crawling(tmp_path, web) as program:
        await busy(program, web)
        program.tell(number, group=number is signal.SIGINT)
        status, said = await program.end(10)
    assert status == 0, said
    assert "Traceback" not in said
    assert "leaked" not in said
    held = check_resumable(tmp_path / "out", reason="interrupted")
    # Nothing that had been answered was thrown away: every request is a page or one of the stuck ones.
    assert web.asked - web.stuck - held <= 1
    await resume(tmp_path, held + 20)


async def test_a_stop_in_order_is_no_error_of_the_log(tmp_path: Path) -> None:
    web = Endless(hang=False)
    async with crawling(tmp_path, web, "--log-format", "json") as program:
        await busy(program, web, stuck=0)
        program.tell(signal.SIGTERM)
        status, said = await program.end(10)
    assert status == 0, said
    lines = [json.loads(line) for line in said.splitlines()]
    assert lines[-1]["message"] == f"interrupted; go on with: honeyguide resume {tmp_path / 'out'}"
    assert {line["level"] for line in lines} == {"info"}


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    web = Endless()
    async with crawling(tmp_path, web) as program:
        await busy(program, web, stuck=5)
        program.tell(signal.SIGINT)
        await draining(web)
        assert program.process.returncode is None, "requests are stuck, so it must still be draining"
        program.tell(signal.SIGINT)
        # Half the time that draining would have gone on for; a machine at rest needs 0.3 seconds.
        status, said = await program.end(2.5)
    assert status == 0, said
    assert "Traceback" not in said
    held = check_resumable(tmp_path / "out", reason="interrupted")
    await resume(tmp_path, held + 5)


async def test_a_signal_while_examples_are_fetched(tmp_path: Path) -> None:
    web = Endless()
    examples = 'examples = ["http://stuck1.example/1", "http://stuck2.example/1"]'
    async with crawling(tmp_path, web, examples=examples) as program:
        await busy(program, web, asked=1)
        program.tell(signal.SIGINT)
        status, said = await program.end(10)
    assert status == 0, said
    assert "Traceback" not in said


@pytest.mark.slow
async def test_a_signal_while_it_starts(tmp_path: Path) -> None:
    """Before the crawl runs there is nothing to drain: it just ends, and leaves nothing half made."""
    web = Endless()
    for wait in (0.05, 0.4, 0.8):
        async with crawling(tmp_path, web) as program:
            await asyncio.sleep(wait)
            program.tell(signal.SIGINT)
            status, said = await program.end(10)
        assert status in (0, 130, -signal.SIGINT), said
        if wait > 0.05:  # earlier than that, it is Python itself that is interrupted
            assert not re.search(r"Error", said), said
    await resume(tmp_path, 30)
