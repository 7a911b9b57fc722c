"""Metrics of a crawl without the portal: real HTTP beside a running crawl."""

from __future__ import annotations

import aiohttp
import pytest
from crawls import small_crawl

from honeyguide.errors import HoneyguideError
from honeyguide.job.metrics import NAMES, parse_place, serve_metrics


async def read(port: int, path: str) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}{path}") as answer,
    ):
        return answer.status, await answer.text()


async def test_a_running_crawl_tells_its_figures_and_whether_it_is_ready() -> None:
    job = small_crawl(None, max_pages=30)
    pages, told = 0, ""
    async with serve_metrics(job, port=0) as port:
        assert (await read(port, "/readyz"))[0] == 503
        assert await read(port, "/healthz") == (200, "ok\n")
        async for event in job.run():
            pages += event.kind == "page"
            if pages == 20 and not told:
                told = (await read(port, "/metrics"))[1]
                assert (await read(port, "/readyz"))[0] == 200
        _, last = await read(port, "/metrics")
    values = {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in told.splitlines()
        if line[:1] != "#"
    }
    assert set(NAMES) == {name.partition("{")[0] for name in values}
    assert values["honeyguide_crawl_running"] == values["honeyguide_sessions"] == 1
    assert 20 <= values["honeyguide_pages_total"] <= 30
    ended = sum(count for name, count in values.items() if name.startswith("honeyguide_ended_urls"))
    flying = values["honeyguide_known_urls"] - values["honeyguide_waiting_urls"] - ended
    assert 0 <= flying <= job.config.crawl.concurrency
    assert "\nhoneyguide_pages_total 30\n" in last
    assert "\nhoneyguide_crawl_running 0\n" in last


async def test_a_taken_port_is_refused_before_the_crawl_begins() -> None:
    job = small_crawl(None)
    async with serve_metrics(job, port=0) as port:
        with pytest.raises(HoneyguideError, match=f"{port}: Address already in use; choose another"):
            async with serve_metrics(job, port=port):
                pass


@pytest.mark.parametrize("wrong", ["nine", "", "127.0.0.1", "1:99999"])
def test_a_place_needs_a_port(wrong: str) -> None:
    with pytest.raises(HoneyguideError, match="write it as 9109"):
        parse_place(wrong)
