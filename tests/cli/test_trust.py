"""Topic files and collections from elsewhere: asked about once, read without asking."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crawls import finish, small_crawl
from warm import run_command

from honeyguide.cli import main
from honeyguide.errors import CollectionError
from honeyguide.job.crawl import run_here
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import add_review

TOPIC = """
[topic]
name = "owls"
keywords = ["owl"]
examples = ["/etc/passwd"]
[crawl]
seeds = ["http://127.0.0.1:1/"]
[network]
allow_net = ["127.0.0.0/8"]
[politeness]
max_retries = 0
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HONEYGUIDE_STATE", str(tmp_path / "state"))
    (tmp_path / "topic.toml").write_text(TOPIC)
    return tmp_path


def crawl(home: Path, *more: str) -> tuple[str, int]:
    done = run_command("crawl", "topic.toml", "--out", "out", "--quiet", *more, cwd=home)
    return done.stderr, done.returncode


def test_a_topic_file_that_reaches_outside_is_not_used_unasked(home: Path) -> None:
    said, status = crawl(home)
    assert status == 2
    assert "reads /etc/passwd" in said
    assert "127.0.0.0/8" in said
    assert "--trust" in said
    assert not (home / "out").exists()
    said, status = crawl(home, "--trust")
    assert "no page was fetched" in said  # nobody listens on port 1
    said, status = crawl(home)  # asked once
    assert "no page was fetched" in said
    (home / "topic.toml").write_text(TOPIC.replace("127.0.0.0/8", "10.0.0.0/8"))
    said, status = crawl(home)
    assert "asks hosts in 10.0.0.0/8" in said


@pytest.mark.parametrize(("answer", "told"), [(b"y\n", "no page was fetched"), (b"\n", "was not used")])
def test_a_person_is_asked(home: Path, answer: bytes, told: str) -> None:
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "honeyguide", "crawl", "topic.toml", "--out", "out", "--quiet"]
    with subprocess.Popen(command, cwd=home, stdin=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        os.write(mine, answer)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        process.wait()
    os.close(mine)
    assert "[y/N]" in said
    assert told in said


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection that another user made."""
    monkeypatch.setenv("HONEYGUIDE_STATE", str(tmp_path / "theirs"))
    folder = tmp_path / "owls"
    run_here(lambda: finish(small_crawl(folder, max_pages=15)))
    monkeypatch.setenv("HONEYGUIDE_STATE", str(tmp_path / "mine"))
    return folder


def test_a_collection_from_elsewhere_is_read_and_not_written(
    foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in foreign.rglob("*") if path.is_file()}
    assert main(["status", str(foreign), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 15
    assert main(["search", str(foreign), "a"]) == 0
    assert main(["export", str(foreign), "--format", "csv", "--out", str(foreign.parent / "x.csv")]) == 0
    assert main(["resume", str(foreign), "--max-pages", "20"]) == 2
    assert "honeyguide trust" in capsys.readouterr().err
    with pytest.raises(CollectionError, match="made elsewhere"):
        add_review(foreign, "accept", at=0.0, url="https://a.example/")
    with pytest.raises(CollectionError, match="made elsewhere"):
        run_here(lambda: finish(small_crawl(foreign, max_pages=20)))
    assert {path: path.read_bytes() for path in before} == before
    assert main(["trust", str(foreign)]) == 0
    run_here(lambda: finish(small_crawl(foreign, max_pages=20)))
    add_review(foreign, "accept", at=0.0, url="https://a.example/")


def test_a_copy_or_a_moved_collection_of_ones_own_stays_so(tmp_path: Path) -> None:
    run_here(lambda: finish(small_crawl(tmp_path / "owls", max_pages=5)))
    shutil.copytree(tmp_path / "owls", tmp_path / "copy")
    (tmp_path / "owls").rename(tmp_path / "moved")
    for name in ("copy", "moved"):
        assert Layout.open(tmp_path / name).is_ours


def test_a_topic_file_that_a_stranger_changed_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "owls"
    run_here(lambda: finish(small_crawl(folder, max_pages=5)))
    text = (folder / "topic.toml").read_text()
    (folder / "topic.toml").write_text(text.replace("allow_net = []", 'allow_net = ["10.0.0.0/8"]'))
    assert main(["resume", str(folder), "--max-pages", "6"]) == 2
    assert "asks hosts in 10.0.0.0/8" in capsys.readouterr().err
