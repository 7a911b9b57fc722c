"""A disk that fails under SQLite and the archive: short writes, EIO, ENOSPC, failing fsync, death in a write.

Whatever call fails, the crawl ends with one line that a person can act on, and goes on from there to the same
pages as one that was never disturbed. Faults are put under the real programs, in the C library's calls.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from consistency import check_consistent, page_facts
from crawls import finish, small_crawl
from figures import RecordProperty

SUPPORT = Path(__file__).parents[1] / "support"
PAGES = 40
SHORT, EIO, ENOSPC, FSYNC, KILL = range(5)
NAMES = ("short write", "EIO", "ENOSPC", "fsync", "killed in a write")


class Ended(NamedTuple):
    """How a crawl on a faulty disk ended."""

    status: int
    calls: int
    said: str


Crawl = Callable[..., Ended]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    """Runs crawls on a faulty disk."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler (cc) to build the faulty disk with")
    library = tmp_path_factory.mktemp("faulty") / "faulty.so"
    source = SUPPORT / "faulty.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    with subprocess.Popen(
        ["env", f"LD_PRELOAD={library}", sys.executable, str(SUPPORT / "faulty.py"), str(library)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def run(folder: Path, kind: int, at: int = 0, count: int = 0, sync: str = "normal") -> Ended:
            stdin.write(f"{folder} {PAGES} {kind} {at} {count} {sync}\n")
            stdin.flush()
            return Ended(*json.loads(stdout.readline()))

        yield run
        stdin.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, float, int, str]]:
    folder = tmp_path_factory.mktemp("undisturbed") / "crawl"
    asyncio.run(finish(small_crawl(folder, max_pages=PAGES)))
    return page_facts(folder)


def try_one(
    crawl: Crawl,
    folder: Path,
    kind: int,
    at: int,
    count: int,
    sync: str,
    wanted: list[tuple[str, float, int, str]],
) -> Ended:
    """A crawl that is disturbed once, and its second go on a sound disk."""
    ended = crawl(folder, kind, at, count, sync)
    told = f"{NAMES[kind]} at {at} x{count} {sync}: {ended}"
    assert ended.status != 70, told
    assert ended.status in (0, 2) or kind == KILL, told
    if kind == SHORT:
        assert ended.status == 0, told
    again = crawl(folder, -1)
    assert again.status == 0, (told, again)
    assert page_facts(folder) == wanted, told
    check_consistent(folder, warcio=False)
    shutil.rmtree(folder)
    return ended


def calls_of(crawl: Crawl, folder: Path, kind: int, sync: str) -> int:
    """How many calls of a kind an undisturbed crawl makes."""
    made = crawl(folder, kind, 10**9, 1, sync)
    assert made.status == 0
    shutil.rmtree(folder)
    return made.calls


@pytest.mark.parametrize("kind", [SHORT, EIO, ENOSPC, FSYNC, KILL], ids=NAMES)
def test_some_calls_fail(
    crawl: Crawl, tmp_path: Path, undisturbed: list[tuple[str, float, int, str]], kind: int
) -> None:
    sync = "full" if kind == FSYNC else "normal"
    calls = calls_of(crawl, tmp_path / "crawl", kind, sync)
    assert calls > 5
    draw = random.Random(kind)
    for at in (1, draw.randrange(2, calls)):
        try_one(crawl, tmp_path / "crawl", kind, at, draw.choice((0, 1)), sync, undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SHORT, EIO, ENOSPC, FSYNC, KILL], ids=NAMES)
def test_every_call_fails_once(
    crawl: Crawl,
    tmp_path: Path,
    undisturbed: list[tuple[str, float, int, str]],
    kind: int,
    record_property: RecordProperty,
) -> None:
    """Each call in turn, once alone and once with all that follow (at most 50 of each)."""
    sync = "full" if kind == FSYNC else "normal"
    calls = calls_of(crawl, tmp_path / "crawl", kind, sync)
    places = range(1, calls + 1)
    tried = 0
    for count in (1, 0):
        for at in sorted(random.Random(kind).sample(places, min(50, calls))):
            try_one(crawl, tmp_path / "crawl", kind, at, count, sync, undisturbed)
            tried += 1
    record_property("figure", f"faulty disk, {NAMES[kind]}: {tried} of {tried} cases held ({calls} calls)")
