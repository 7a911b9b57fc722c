from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from loopback import recording
from warm import run_command

from honeyguide.cli.seed_file import add_seeds
from honeyguide.cli.topic_find_seeds import find_seeds
from honeyguide.config.load import load
from honeyguide.errors import HoneyguideError, TopicError
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime

TOPIC = "# my owls\n[topic]\nname = 'owls'\nkeywords = ['owl', 'barn owl']\n"
JSON = (("Content-Type", "application/json"),)


async def find(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The real program in a process of its own."""
    words = ("topic", "find-seeds", "topic.toml", *words)
    return await asyncio.to_thread(run_command, *words, cwd=folder, timeout=60)


async def refused(folder: Path, **options: Any) -> str:
    """The same in a thread, where it fails: what it says."""
    with pytest.raises(HoneyguideError) as caught:
        await asyncio.to_thread(find_seeds, folder / "topic.toml", **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def results(url: str) -> Served:
    found = [
        {"url": f"https://owls{number}.example.org/page", "title": f"Owls {number}"} for number in range(4)
    ]
    return Served(200, JSON, json.dumps({"results": found}).encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topic.toml").write_text(TOPIC)
    return tmp_path


async def test_words_alone_give_seeds_and_write_them(folder: Path) -> None:
    async with recording(results) as server:
        words = (
            "--searxng",
            f"http://127.0.0.1:{server.port}",
            "--allow-net",
            "127.0.0.0/8",
            "--queries",
            "2",
        )
        done = await find(folder, *words, "--json", "--write")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["url"] for row in found] == [f"https://owls{number}.example.org/page" for number in range(2)]
    assert found[0]["title"] == "Owls 0"
    assert len(server.urls) == 2
    text = (folder / "topic.toml").read_text()
    assert text.startswith("# my owls\n")
    assert list(load(folder / "topic.toml").crawl.seeds) == [row["url"] for row in found]


def test_seeds_are_added_to_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "topic.toml").write_text(TOPIC, encoding="utf-8-sig")
    assert add_seeds(tmp_path / "topic.toml", ["https://owls.example/"]) == 1
    assert load(tmp_path / "topic.toml").crawl.seeds == ("https://owls.example/",)


async def test_a_local_engine_is_not_asked_unless_its_network_is_open(folder: Path) -> None:
    async with recording(results) as server:
        said = await refused(folder, searxng=(f"http://127.0.0.1:{server.port}",), queries=1)
    assert "no search engine answered" in said
    assert said.endswith("is not a public address (loopback)); open its network, as --allow-net 127.0.0.0/8")
    assert server.urls == []


async def test_rubbish_from_an_engine(folder: Path) -> None:
    async with recording(lambda url: Served(200, JSON, b"<html>")) as server:
        engine = (f"http://127.0.0.1:{server.port}",)
        said = await refused(folder, searxng=engine, allow_net=("127.0.0.0/8",), queries=1)
    assert "is not JSON" in said


async def test_without_engines_or_words(folder: Path) -> None:
    assert "add --searxng" in await refused(folder)
    assert "raise them" in await refused(folder, queries=0)
    (folder / "topic.toml").write_text("[topic]\nname = 'owls'\n")
    assert "no words to search for" in await refused(folder, searxng=("https://searx.example",))


def test_seeds_are_added_once_and_comments_stay(tmp_path: Path) -> None:
    path = tmp_path / "topic.toml"
    path.write_text(TOPIC + "[crawl]\nseeds = ['https://a.example/'] # mine\n")
    assert add_seeds(path, ["https://a.example/", "https://b.example/", "https://b.example/"]) == 1
    assert list(load(path).crawl.seeds) == ["https://a.example/", "https://b.example/"]
    assert "# my owls" in path.read_text()
    path.write_text(TOPIC + "crawl = 3\n")
    with pytest.raises(TopicError):
        add_seeds(path, ["https://b.example/"])
