"""Crawls that cannot begin: what is said, through the real program and real servers on loopback."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from loopback import page, recording, redirect
from warm import run_command

from honeyguide.config.load import load
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime

WEB = {
    "/closed/robots.txt": Served(200, (), b"User-agent: *\nDisallow: /\n"),
    "/round/": redirect("/"),
    "/moved/": redirect("/new"),
    "/members/": Served(403),
    "/busy/": Served(429, (("Retry-After", "3600"),)),
    "/good/": page("/more"),
}


def answer(url: str) -> Served | None:
    """By host and path."""
    host, _, path = url.removeprefix("http://").partition("/")
    return WEB.get(f"/{host.partition('.')[0]}/{path}")


async def crawl(
    port: int, host: str, folder: Path, *more: str, out: str = "out"
) -> subprocess.CompletedProcess[str]:
    environment = {"HONEYGUIDE_NETWORK_CONNECT_TO": f'{{"*" = "127.0.0.1:{port}"}}', "HOME": str(folder)}
    words = ("crawl", f"http://{host}.example/", "--keywords", "owl", "--out", out, "--max-pages", "1", *more)
    return await asyncio.to_thread(run_command, *words, cwd=folder, env=environment, timeout=60)


@pytest.mark.parametrize(
    ("host", "said"),
    [
        (
            "closed",
            "seed http://closed.example/: disallowed by robots.txt (Disallow: / (line 2)); its owner wants no"
            " crawler there: name other seeds, or ask for permission",
        ),
        ("round", "it goes in circles, as where a cookie is wanted (none is ever sent): name others"),
        (
            "moved",
            "seed http://moved.example/ leads to http://moved.example/new: HTTP error 4xx (HTTP 404); check"
            " the address and the network, then run the same command again",
        ),
        ("members", "HTTP error 4xx (HTTP 403); it does not want us: name other seeds, or ask its owner"),
    ],
)
async def test_why_no_page_was_fetched_and_what_to_do(tmp_path: Path, host: str, said: str) -> None:
    async with recording(answer) as server:
        done = await crawl(server.port, host, tmp_path)
    assert done.returncode == 2
    told = "what begins, a warning that nobody is named in the user agent, and the reason"
    assert done.stderr.count("\n") == 3, told
    assert done.stderr.endswith(said + "\n")


async def test_a_limit_on_time_holds_while_every_host_wants_to_be_left_alone(tmp_path: Path) -> None:
    async with recording(answer) as server:
        done = await crawl(server.port, "busy", tmp_path, "--max-seconds", "3")
    assert done.returncode == 0, done.stderr
    told = dict(line.split("\t") for line in done.stdout.splitlines())
    assert told["stopped"] == "budget of 3 seconds is spent"
    assert told["no page yet"] == "busy.example: HTTP 429; it is tried again when the same command goes on"
    assert "nothing may be asked before" in done.stderr
    assert "(busy.example: HTTP 429)" in done.stderr
    words = ("why", "out", "http://busy.example/")
    done = await asyncio.to_thread(run_command, *words, cwd=tmp_path, env={"HOME": str(tmp_path)}, timeout=60)
    assert "reason\tbusy.example is left alone until 20" in done.stdout
    assert "UTC, after a failed request\n" in done.stdout


async def test_who_has_spent_the_budget_is_told_how_to_go_on(tmp_path: Path) -> None:
    async with recording(answer) as server:
        done = await crawl(server.port, "good", tmp_path, "--log-format", "text")
    assert done.returncode == 0, done.stderr
    assert "for more pages: honeyguide resume out --max-pages 2" in done.stderr


async def test_the_folder_one_is_in_gives_the_topic_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "barn owls"
    folder.mkdir()
    async with recording(answer) as server:
        done = await crawl(server.port, "good", folder, out=".")
    assert done.returncode == 0, done.stderr
    assert load(folder / "topic.toml").topic.name == "barn owls"
