"""kill -9 at random moments: nothing committed is lost, and the crawl ends as if nothing had happened."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from consistency import check_consistent, page_facts
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection

VICTIM = Path(__file__).parents[1] / "support" / "victim.py"


def run_and_kill(folder: Path, pages: int, recipe: str, after: int) -> tuple[bool, int]:
    """Start the crawl, kill it once `after` pages were reported. (Whether it ended, last page seen.)"""
    command = [sys.executable, str(VICTIM), str(folder), str(pages), recipe]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = 0
        for seen, line in enumerate(process.stdout):
            if line.startswith("done"):
                return True, last
            last = int(line)
            if seen >= after:
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.read()
    return False, last


async def kill_often(tmp_path: Path, recipe: str, *, kills: int, pages: int, seed: int) -> None:
    await finish(small_crawl(tmp_path / "whole", recipe=recipe, max_pages=pages))
    chance = random.Random(seed)
    broken = tmp_path / "broken"
    done, committed = False, 0
    for _ in range(kills):
        done, last = run_and_kill(broken, pages, recipe, after=chance.randrange(pages // kills))
        assert done or last >= committed, "a committed page was lost"
        committed = last
        with Collection.open(broken) as collection:
            assert collection.status().pages >= last
    while not done:
        done, _ = run_and_kill(broken, pages, recipe, after=pages * 2)
    assert page_facts(broken) == page_facts(tmp_path / "whole")
    check_consistent(broken)
    check_consistent(tmp_path / "whole")


async def test_two_kills(tmp_path: Path) -> None:
    await kill_often(tmp_path, "best-first", kills=2, pages=100, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["breadth-first", "best-first", "shark-search", "ache-like"])
async def test_fifty_kills(tmp_path: Path, recipe: str) -> None:
    await kill_often(tmp_path, recipe, kills=50, pages=800, seed=2)
