"""Logs: a line an event, as text or JSON, that nothing from the web can forge."""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from crawls import finish, small_crawl

from honeyguide.log import DEBUG, INFO, WARNING, say, stop_logs, write_logs, writes_logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    yield io.StringIO()
    stop_logs()


async def test_each_decision_of_a_crawl_is_a_line_at_debug(stream: io.StringIO) -> None:
    write_logs(stream, "json", DEBUG)
    job = small_crawl(None, max_pages=20)
    await finish(job)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert all({"time", "level", "event"} <= line.keys() for line in lines)
    counts = Counter(line["event"] for line in lines)
    assert counts["page"] == 20
    assert counts["crawl started"] == counts["crawl stopped"] == 1
    queued = {line["url"] for line in lines if line["event"] == "queued"}
    chosen = [line["url"] for line in lines if line["event"] == "chosen"]
    judged = [line for line in lines if line["event"] == "page"]
    assert {line["url"] for line in judged} <= set(chosen) <= queued
    assert all({"score", "on_topic", "parent"} <= line.keys() for line in judged)
    dropped = [line for line in lines if line["event"] == "dropped"]
    assert dropped
    assert all(line["outcome"] and line["reason"] for line in dropped)
    assert lines[-1]["reason"] == "budget of 20 pages is spent"


async def test_at_info_a_crawl_says_little(stream: io.StringIO) -> None:
    write_logs(stream, "json", INFO)
    await finish(small_crawl(None, max_pages=20))
    assert {json.loads(line)["level"] for line in stream.getvalue().splitlines()} == {"info"}
    assert "queued" not in stream.getvalue()


@pytest.mark.parametrize("kind", ["text", "json"])
def test_no_text_can_forge_a_line_or_steer_a_terminal(stream: io.StringIO, kind: str) -> None:
    write_logs(stream, kind)  # type: ignore[arg-type]
    say(INFO, "page", title='a\n2026 error "fake"=1 \x1b[31m\u202e', empty="", number=1.5, words=["a b"])
    (line,) = stream.getvalue().splitlines()
    assert line.isprintable()
    if kind == "text":
        assert ' info page title="a\\n2026 error' in line
        assert line.endswith(' empty="" number=1.5 words=["a b"]')
    else:
        assert json.loads(line)["title"].startswith("a\n2026 error")


def test_other_libraries_are_heard_from_warning_on_and_faults_have_a_traceback(stream: io.StringIO) -> None:
    write_logs(stream, "json", WARNING)
    logging.getLogger("aiohttp").info("hello")
    logging.getLogger("aiohttp").warning("look")
    say(INFO, "not wanted")
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("honeyguide").exception("error")
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["logger"], first["event"]) == ("aiohttp", "look")
    assert "ValueError: broken" in second["traceback"]
    assert writes_logs()
    stop_logs()
    assert not writes_logs()


def test_nothing_is_printed_where_nobody_asked_for_logs() -> None:
    """Python prints the message of a warning that no handler takes: the bare word "warning"."""
    program = "from honeyguide.log import WARNING, say; say(WARNING, 'warning', note='x')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
