"""Sitemaps and robots.txt are read where pages are parsed, under the same limits."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator

import pytest

from honeyguide.parse.base import ParseFailure, ParseJob, Reading
from honeyguide.parse.pool import ParsePool
from honeyguide.parse.read import read
from honeyguide.web.robots import Robots

SITEMAP = "http://a.example/sitemap.xml.gz"
ROBOTS = b"User-agent: other\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 3\nSitemap: /s.xml\nAllow: /a*b$\n"
LONG_ROBOTS = ROBOTS + b"".join(b"Disallow: /closed/%d/\n" % number for number in range(20_000))


@pytest.fixture
async def pool() -> AsyncIterator[ParsePool]:
    pool = ParsePool(1)
    yield pool
    await pool.close()


async def longest_block(work: asyncio.Task[object]) -> float:
    """Longest the loop worked without a turn until the work was done, in CPU time."""
    longest, before = 0.0, time.thread_time()
    while not work.done():
        await asyncio.sleep(0)
        longest, before = max(longest, time.thread_time() - before), time.thread_time()
    return longest


async def test_a_listing(pool: ParsePool) -> None:
    body = (
        b"<urlset>"
        + b"".join(b"<url><loc>http://a.example/%d</loc></url>" % n for n in range(3))
        + b"</urlset>"
    )
    found = await pool.listing(SITEMAP, gzip.compress(body))
    assert isinstance(found, Reading)
    assert found.urls == ("http://a.example/0", "http://a.example/1", "http://a.example/2")


async def test_a_listing_that_takes_too_long_ends_like_a_page() -> None:
    pool = ParsePool(1, deadline=0.3)
    # 50 MB of empty elements in 56 KB.
    body = gzip.compress(b"<urlset>" + b"<a/>" * 12_000_000)
    answer = await pool.listing(SITEMAP, body)
    await pool.close()
    assert isinstance(answer, ParseFailure)


@pytest.mark.realtime
async def test_the_loop_turns_while_robots_are_read(pool: ParsePool) -> None:
    await pool.robots("http://a.example/robots.txt", ROBOTS, "bee")
    work: asyncio.Task[object] = asyncio.create_task(
        pool.robots("http://a.example/robots.txt", LONG_ROBOTS, "bee")
    )
    assert await longest_block(work) < 0.05
    found = work.result()
    assert isinstance(found, Reading)
    assert not Robots.unpack(found.rules).allowed("bee", "http://a.example/closed/19999/x")


@pytest.mark.parametrize("body", [ROBOTS, LONG_ROBOTS[:100_000], b"", b"User-agent: bee\nDisallow: /x\n"])
def test_packed_rules_answer_as_the_file_does(body: bytes) -> None:
    found = read(ParseJob("http://a.example/robots.txt", body, what="robots", agent="bee"))
    assert isinstance(found, Reading)
    whole, packed = Robots.parse(body), Robots.unpack(found.rules)
    for path in ("/", "/x", "/ab", "/axb", "/axbc", "/closed/7/", "/closed/19999/y"):
        url = "http://a.example" + path
        assert packed.rule("bee", url) == whole.rule("bee", url)
        assert packed.allowed("bee", url) == whole.allowed("bee", url)
    assert packed.crawl_delay("bee") == whole.crawl_delay("bee")
    assert packed.sitemaps == whole.sitemaps
