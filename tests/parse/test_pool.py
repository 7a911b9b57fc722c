from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from honeyguide.model import Outcome, Page
from honeyguide.parse.base import PackedPage, ParseFailure, ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.parse.pool import ROOM, ParsePool
from honeyguide.store.packed import pack_answer

pytestmark = pytest.mark.realtime

# Without the pre-scan this takes the tree builder many seconds.
HANGING = ParseJob("https://bomb.example/", b"<div>" * 150_000)


def job(number: int) -> ParseJob:
    body = f"<title>Page {number}</title><p>Text <a href=/{number}>link</a></p>"
    return ParseJob(f"https://example.org/{number}.html", body.encode(), blocks=number % 2 == 0)


async def test_same_answer_as_in_process() -> None:
    pool = ParsePool(1)
    try:
        for number in (1, 2):
            assert await pool.parse(job(number)) == parse_page(job(number))
        failure = await pool.parse(ParseJob("https://example.org/", b"", content_type="image/png"))
        assert failure == ParseFailure(Outcome.NOT_A_PAGE, "content type 'image/png'")
    finally:
        await pool.close()


async def test_no_workers_parses_here() -> None:
    pool = ParsePool(0)
    assert await pool.parse(job(1)) == parse_page(job(1))
    await pool.close()


def seconds_worked(process: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def busy(process: int) -> None:
    """Wait until a worker has worked on its document for a while."""
    before = seconds_worked(process)
    async with asyncio.timeout(60):
        while seconds_worked(process) < before + 0.1:  # noqa: ASYNC110 - another process does
            await asyncio.sleep(0.01)


async def test_a_hanging_document_costs_one_worker() -> None:
    pool = ParsePool(2, deadline=1.0, scan=False)
    try:
        jobs = [job(0), HANGING, *(job(number) for number in range(2, 40))]
        answers = await asyncio.gather(*(pool.parse(one) for one in jobs))
        assert isinstance(answers[1], ParseFailure)
        assert answers[1].outcome == Outcome.PARSE_TIMEOUT
        titles = [answer.title for answer in answers if isinstance(answer, Page)]
        assert titles == ["Page 0", *(f"Page {number}" for number in range(2, 40))]
        assert pool.replaced == 1
        assert isinstance(await pool.parse(job(3)), Page)
    finally:
        await pool.close()


async def test_a_killed_worker_is_replaced() -> None:
    pool = ParsePool(1, deadline=30.0, scan=False)
    try:
        assert isinstance(await pool.parse(job(1)), Page)
        hanging = asyncio.create_task(pool.parse(HANGING))
        behind = asyncio.create_task(pool.parse(job(2)))
        await busy(pool.processes()[0])
        os.kill(pool.processes()[0], signal.SIGKILL)
        answer = await hanging
        assert isinstance(answer, ParseFailure)
        assert answer.outcome == Outcome.PARSE_FAILED
        assert "died" in answer.detail
        assert isinstance(await behind, Page)
    finally:
        await pool.close()


async def test_memory_is_limited() -> None:
    pool = ParsePool(1, memory_limit=300 << 20, deadline=30.0)
    try:
        answer = await pool.parse(ParseJob("https://example.org/", b"<p>" + b"word " * 20_000_000))
        assert isinstance(answer, ParseFailure)
        assert answer.outcome == Outcome.PARSE_FAILED
        assert isinstance(await pool.parse(job(1)), Page)
    finally:
        await pool.close()


async def test_a_worker_without_memory_fails_the_job() -> None:
    pool = ParsePool(1, memory_limit=1 << 20)
    try:
        answer = await pool.parse(job(1))
        assert isinstance(answer, ParseFailure)
        assert answer.outcome == Outcome.PARSE_FAILED
    finally:
        await pool.close()


async def test_many_jobs_few_workers_keep_their_order() -> None:
    pool = ParsePool(2)
    try:
        answers = await asyncio.gather(*(pool.parse(job(number)) for number in range(300)))
        assert [answer.title for answer in answers if isinstance(answer, Page)] == [
            f"Page {number}" for number in range(300)
        ]
        assert len(pool.processes()) == 2
    finally:
        await pool.close()


async def test_large_documents_pass() -> None:
    pool = ParsePool(1)
    try:
        big = ParseJob("https://example.org/", b"<p>" + b"some words " * 400_000)
        answers = await asyncio.gather(*(pool.parse(big) for _ in range(3)))
        assert all(isinstance(answer, Page) and len(answer.text) == 2_000_000 for answer in answers)
    finally:
        await pool.close()


async def test_cancelled_jobs_do_not_disturb_others() -> None:
    pool = ParsePool(1)
    try:
        tasks = [asyncio.create_task(pool.parse(job(number))) for number in range(20)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(answer, Page) for answer in answers] == [False, True] * 10
    finally:
        await pool.close()


async def test_close_ends_processes_and_jobs() -> None:
    pool = ParsePool(1, scan=False)
    assert isinstance(await pool.parse(job(1)), Page)
    hanging = asyncio.create_task(pool.parse(HANGING))
    (process,) = pool.processes()
    await busy(process)
    await pool.close()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    with pytest.raises(RuntimeError, match="closed"):
        await pool.parse(job(1))


async def test_worker_imports_stay_light() -> None:
    heavy = {"numba", "sklearn", "matplotlib", "scipy", "pydantic", "aiohttp"}
    script = f"import sys, honeyguide.parse.worker; print(sorted({heavy} & set(sys.modules)))"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        script,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert output.strip() == b"[]"


async def test_jobs_that_come_while_a_worker_starts_get_their_own_answers() -> None:
    """A job given between the connection and the worker's hello was once sent twice: all later answers
    went to the wrong pages."""
    pool = ParsePool(2)
    urls = [f"https://example.org/{number}" for number in range(60)]

    async def title(url: str, wait: float) -> str:
        await asyncio.sleep(wait)
        page = await pool.parse(ParseJob(url, f"<title>{url}</title>".encode()))
        assert isinstance(page, Page)
        assert page.url == url
        return page.title

    try:
        waits = [number / 100 for number in range(60)]
        assert await asyncio.gather(*map(title, urls, waits)) == urls
        assert pool.replaced == 0
    finally:
        await pool.close()


@pytest.mark.parametrize("workers", [0, 1])
async def test_a_page_and_its_answer_packed(workers: int) -> None:
    pool = ParsePool(workers)
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    asked = msgspec.structs.replace(job(1), head=head)
    try:
        found = await pool.parse_and_pack(asked)
        ready = pack_answer(head, asked.body)
        assert found == (parse_page(asked) if ready is None else PackedPage(parse_page(asked), ready))  # type: ignore[arg-type]
        assert await pool.parse(asked) == parse_page(asked)
        image = msgspec.structs.replace(asked, content_type="image/png")
        assert isinstance(await pool.parse_and_pack(image), ParseFailure)
    finally:
        await pool.close()


async def test_answers_of_all_sizes_arrive_whole_and_in_order() -> None:
    """Far longer than what is read at a time, and many short ones behind it."""
    pool = ParsePool(1)
    try:
        sizes = (10, 300_000, 20, 1_500_000, *range(30), 700_000, 5)
        jobs = [ParseJob(f"https://example.org/{n}", b"<p>" + b"owl " * size) for n, size in enumerate(sizes)]
        answers = await asyncio.gather(*(pool.parse(one) for one in jobs))
        assert answers == [parse_page(one) for one in jobs]
        assert pool.replaced == 0
        (worker,) = pool._workers
        await pool.parse(job(1))
        assert len(worker.get_buffer(-1)) == ROOM  # what the long ones took is given back
    finally:
        await pool.close()
