from __future__ import annotations

import asyncio
import json
import shlex
import subprocess
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import TypeAlias

import pytest
from crawls import finish, small_crawl

from honeyguide.cli import main

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asyncio.run(finish(small_crawl(tmp_path / "bees 100%", max_pages=10)))
    return tmp_path / "bees 100%"


def test_units_that_systemd_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["schedule", str(folder), "--every", "week", "--at", "03:30", "--budget", "500", "--json"]) == 0
    )
    units = json.loads(capsys.readouterr().out)
    assert list(units) == ["honeyguide-bees-100.service", "honeyguide-bees-100.timer"]
    service, timer = (ConfigParser(interpolation=None) for _ in units)
    service.read_string(units["honeyguide-bees-100.service"])
    timer.read_string(units["honeyguide-bees-100.timer"])
    assert timer["Timer"]["OnCalendar"] == "Mon *-*-* 03:30:00"
    words = shlex.split(service["Service"]["ExecStart"])
    assert words[1:5] == ["recrawl", str(folder).replace("%", "%%"), "--budget", "500"]
    assert main(["schedule", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "systemctl --user enable --now honeyguide-bees-100.timer" in told


def test_cron_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schedule", str(folder), "--cron", "--older-than", "7d"]) == 0
    minute, hour, day, month, weekday, *rest = capsys.readouterr().out.strip().split(" ")
    assert (day, month, weekday) == ("*", "*", "*")
    assert 1 <= int(hour) <= 5
    assert 0 <= int(minute) < 60
    assert shlex.split(" ".join(rest).replace("\\%", "%"))[1:] == [
        "recrawl",
        str(folder),
        "--older-than",
        "7d",
        "--quiet",
    ]
    assert main(["schedule", str(folder), "--at", "25:00"]) == 2
    assert "write a time of day" in capsys.readouterr().err


def test_recrawl_says_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recrawl", str(folder), "--budget", "0"]) == 2
    assert main(["recrawl", str(folder), "--share", "2"]) == 2
    assert main(["recrawl", str(folder), "--older-than", "soon"]) == 2
    assert "write a number and a unit" in capsys.readouterr().err
    assert main(["recrawl", str(folder / "nowhere")]) == 2
