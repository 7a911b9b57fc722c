"""Death at every named fail point: nothing committed is lost, and the crawl ends as if nothing had been."""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from consistency import check_consistent, page_facts

from honeyguide import failpoint
from honeyguide.collection.collection import Collection
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.model import Seen
from honeyguide.store.schema import SINCE_2, TABLES

MORTAL = Path(__file__).parents[1] / "support" / "mortal.py"
UNCOMMITTED = 65
"""Pages of one transaction in a crawl with a virtual clock, and the one in flight."""
OFTEN = {"fetch.asked", "fetch.answered", "archive.written", "arrive.page"}
"""Fail points of every page."""
ONCE = {"begin.topic", "checkpoint.order", "checkpoint.files"}
"""Fail points that a small crawl passes only at its beginning or its end."""
AGAIN = ("revisit.version", "revisit.taken")
"""Fail points of pages that are visited again."""
ELSEWHERE = (
    "upgrade.", "merge.", "snapshot.", "restore.", "outbox.", "post.", "inbox.", "handover.", "retire.",
)  # fmt: skip
"""Fail points of other files' tests begin like this."""
FIRST = [name for name in failpoint.NAMES if name not in AGAIN and not name.startswith(ELSEWHERE)]
"""Fail points of a first crawl."""

Life = Callable[[Path, str, int, str], int]


@pytest.fixture(scope="module")
def life() -> Iterator[Life]:
    """Runs a crawl in a process of its own until it ends or dies; its exit status."""
    with subprocess.Popen(
        [sys.executable, str(MORTAL)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        lines, answers = process.stdin, process.stdout
        assert lines is not None
        assert answers is not None

        def run(folder: Path, recipe: str, pages: int, fail_at: str) -> int:
            lines.write(f"{folder} {recipe} {pages} {fail_at}\n")
            lines.flush()
            return int(answers.readline())

        yield run
        lines.close()


def committed(folder: Path) -> list[tuple[str, float, int, str]]:
    """What a dead crawl left behind; nothing when it died before it had begun."""
    if not (folder / "collection.json").exists():
        return []
    try:
        return page_facts(folder)
    except CollectionError as error:
        if str(error).endswith(("resume it", "`honeyguide crawl`")):
            return []
        raise


def die(life: Life, folder: Path, recipe: str, pages: int, fail_at: str) -> None:
    """Crash at a fail point; what was committed before is still there."""
    before = committed(folder)
    if fail_at.startswith("resume.") and not before:
        # There must be something to resume: a tail to cut, pages that the index lacks.
        assert life(folder, recipe, pages, "commit.state:2") == -signal.SIGKILL
        before = committed(folder)
    assert life(folder, recipe, pages, fail_at) == -signal.SIGKILL, f"{fail_at} was not reached"
    assert committed(folder)[: len(before)] == before, "a committed page was lost"


def check_end(folder: Path, whole: Path, *, deaths: int, warcio: bool = True) -> None:
    """Same pages as the uninterrupted crawl; few were asked for twice; all stores agree."""
    assert page_facts(folder) == page_facts(whole)
    check_consistent(folder, warcio=warcio)
    asked = Counter(folder.with_suffix(".asked").read_text().split())
    once = Counter(whole.with_suffix(".asked").read_text().split())
    assert asked.keys() == once.keys()
    assert (asked - once).total() <= deaths * UNCOMMITTED
    with Collection.open(folder) as ended, Collection.open(whole) as other:
        assert ended.state.counts() == other.state.counts()


def test_each_point_once(life: Life, tmp_path: Path) -> None:
    pages = 100
    whole = tmp_path / "whole"
    assert life(whole, "best-first", pages, "-") == 0
    for name in FIRST:
        folder = tmp_path / name.replace(".", "-")
        die(life, folder, "best-first", pages, f"{name}:{20 if name in OFTEN else 1}")
        assert life(folder, "best-first", pages, "-") == 0
        check_end(folder, whole, deaths=2, warcio=False)


def lives(folder: Path) -> list[tuple[str, Seen, str]]:
    """Every visit of every page."""
    with Collection.open(folder) as collection:
        found = sorted(collection.state.history.visits(), key=lambda visit: (visit.url, visit.number))
        return [(visit.url, visit.what, visit.digest) for visit in found]


def test_each_point_of_a_recrawl(life: Life, tmp_path: Path) -> None:
    base, whole = tmp_path / "base", tmp_path / "whole"
    assert life(base, "best-first", 80, "-") == 0
    shutil.copytree(base, whole)
    assert life(whole, "best-first", 0, "-") == 0
    check_consistent(whole)
    visits = lives(whole)
    assert {what for _, what, _ in visits} >= {Seen.SAME, Seen.TOUCHED, Seen.CHANGED, Seen.GONE}
    others = ("archive.torn", "commit.flushed", "commit.state", "commit.done", "resume.indexed")
    for name in (*AGAIN, *others):
        folder = tmp_path / name.replace(".", "-")
        shutil.copytree(base, folder)
        if name == "resume.indexed":  # there must be a page whose text is in the state only
            assert life(folder, "best-first", 0, "commit.state:2") == -signal.SIGKILL
        fail_at = f"{name}:{3 if name in AGAIN else 1}"
        assert life(folder, "best-first", 0, fail_at) == -signal.SIGKILL, name
        assert life(folder, "best-first", 0, "-") == 0
        assert lives(folder) == visits, name
        assert page_facts(folder)[:80] == page_facts(whole)[:80]
        check_consistent(folder, warcio=False)


def test_death_while_an_old_collection_is_brought_up_to_date(life: Life, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    assert life(folder, "best-first", 20, "-") == 0
    before = page_facts(folder)
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection, connection:
        for name in SINCE_2:
            connection.execute(f"DROP {'INDEX' if 'INDEX' in TABLES[name] else 'TABLE'} IF EXISTS {name}")
        connection.execute("PRAGMA user_version = 1")
    assert page_facts(folder) == before  # read as it is
    assert life(folder, "best-first", 0, "upgrade.state:1") == -signal.SIGKILL
    assert page_facts(folder) == before
    assert life(folder, "best-first", 0, "-") == 0
    check_consistent(folder, warcio=False)
    assert lives(folder)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["breadth-first", "best-first", "shark-search", "ache-like"])
def test_each_point_five_times(life: Life, tmp_path: Path, recipe: str) -> None:
    pages = 400
    whole = tmp_path / "whole"
    assert life(whole, recipe, pages, "-") == 0
    chance = random.Random(3)
    for name in FIRST:
        folder = tmp_path / name.replace(".", "-")
        deaths = 0
        for _ in range(1 if name in ONCE else 5):
            die(life, folder, recipe, pages, f"{name}:{chance.randrange(1, 60) if name in OFTEN else 1}")
            deaths += 2
            if len(committed(folder)) > pages - 64:
                break
            if name.startswith("resume."):  # go on a little, so that there is something new to resume
                life(folder, recipe, pages, "commit.state:2")
        while life(folder, recipe, pages, "-") != 0:
            pass
        check_end(folder, whole, deaths=deaths)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["breadth-first", "best-first", "shark-search", "ache-like"])
def test_fifty_deaths_at_random_moments(life: Life, tmp_path: Path, recipe: str) -> None:
    pages, deaths = 800, 0
    whole, folder = tmp_path / "whole", tmp_path / "broken"
    assert life(whole, recipe, pages, "-") == 0
    chance = random.Random(4)
    for _ in range(500):
        before = committed(folder)
        status = life(folder, recipe, pages, f"after:{chance.uniform(0.02, 0.3):.3f}")
        assert status in (0, -signal.SIGALRM)
        assert committed(folder)[: len(before)] == before, "a committed page was lost"
        deaths += status != 0
        if status == 0 or deaths >= 50:
            break
    assert life(folder, recipe, pages, "-") == 0
    check_end(folder, whole, deaths=deaths)


def test_only_tests_can_arm_them() -> None:
    failpoint.arm({"HONEYGUIDE_FAIL_AT": "commit.done"})
    failpoint.failpoint("commit.done")  # we are still here
    with pytest.raises(HoneyguideError, match="no such fail point; use one of"):
        failpoint.arm({"HONEYGUIDE_FAIL_AT": "nowhere", "HONEYGUIDE_TESTS": "1"})
    failpoint.arm({})
