from __future__ import annotations

import time
from pathlib import Path

import pytest

from honeyguide.testing.made_collection import MadeCollection
from honeyguide.ui.jobs import Job, Jobs
from honeyguide.ui.work import FoundLinks, Task

pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "c"
    with MadeCollection(path) as made:
        for number in range(4_000):
            made.page(f"http://h{number % 50}.example/{number}", host=f"h{number % 50}.example",
                      title=f"page {number}", text=f"owls word{number % 97} word{number % 89} nest " * 60,
                      links=[number // 2 + 1])  # fmt: skip
    return path


def ended(job: Job) -> Job:
    assert job.ended.wait(60)
    return job


def test_a_job_tells_its_result_and_has_one_name(folder: Path) -> None:
    jobs = Jobs(folder)
    first = jobs.start("links", Task("links"), into=FoundLinks, meanwhile="older")
    assert first.result == "older"
    assert jobs.start("links", Task("links")) is first
    found = ended(first).result
    assert isinstance(found, FoundLinks)
    assert found.analysis.pages == 4_000
    assert (first.state, first.problem) == ("done", "")
    assert jobs.get("links") is first
    jobs.close()


def test_what_goes_wrong_is_told(tmp_path: Path, folder: Path) -> None:
    jobs = Jobs(tmp_path)
    missing = ended(jobs.start("directory", Task("directory")))
    assert missing.state == "failed"
    assert "is not a collection" in missing.problem
    jobs.close()
    jobs = Jobs(folder)
    broken = ended(jobs.start("x", Task("export", "no-such-format")))
    assert "broke off" in broken.problem
    jobs.close()
    assert jobs.start("late", Task("links")).state == "waiting"


def test_closing_ends_the_work_and_leaves_nothing(folder: Path) -> None:
    jobs = Jobs(folder)
    under_way = jobs.start("site", Task("export", "directory"))
    waiting = jobs.start("more", Task("export", "csv"))
    deadline = time.monotonic() + 60
    while not under_way.done and time.monotonic() < deadline:
        time.sleep(0.01)
    assert under_way.state == "running"
    jobs.close(timeout=30)
    assert not under_way.busy
    assert not waiting.busy
    assert under_way.problem == waiting.problem == "the portal was closed"
    assert not list((folder / "exports").iterdir())
