"""A folder whose addresses bring nothing but "not found": it is left alone after a few dozen requests."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawls import finish

from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.lab.webs.served import Served
from honeyguide.model import Topic

PAGES = 60
HTML = (("Content-Type", "text/html"),)


class Encyclopaedia:
    """Each article has ten pictures whose pages are gone, with texts that promise much."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def get(self, url: str) -> Served:
        self.asked.append(url)
        path = url.partition("example/")[2]
        if not path.startswith("wp/"):
            return Served(404, HTML, b"not found")
        number = int(path.removeprefix("wp/owl").removesuffix(".htm"))
        pictures = "".join(
            f'<p><a href="/images/{number}/{each}.jpg.htm">barn owl at its nest {each}</a></p>'
            for each in range(10)
        )
        body = f"<title>Owl {number}</title><p>{'The barn owl is an owl. ' * 9}{number}</p>{pictures}"
        onward = f'<a href="/wp/owl{number + 1}.htm">next</a>' if number < PAGES else ""
        return Served(200, HTML, (body + onward).encode())

    @property
    def pictures(self) -> int:
        return sum("/images/" in url for url in self.asked)


def crawl(web: Encyclopaedia, out: Path, pages: int, **settings: object) -> Crawl:
    clock = VirtualClock()
    topic = Topic("owls", keywords=("owl", "barn owl"), seeds=("http://schools.example/wp/owl1.htm",))
    return Crawl(
        topic,
        out=out,
        recipe="best-first",
        clock=clock,
        fetcher=GeneratedFetcher(web, clock),
        max_pages=pages,
        **settings,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("trap_zones", [True, False])
async def test_a_folder_without_pages_is_left_alone(tmp_path: Path, trap_zones: bool) -> None:
    web = Encyclopaedia()
    job = crawl(web, tmp_path / "made", PAGES + 1, trap_zones=trap_zones)
    await finish(job)
    assert job.tally.pages == PAGES
    if trap_zones:
        assert 24 <= web.pictures <= 24 + 3 * PAGES * 10 // 100
    else:
        assert web.pictures == PAGES * 10


async def test_that_is_remembered_over_a_stop_at_any_place(tmp_path: Path) -> None:
    once, twice = Encyclopaedia(), Encyclopaedia()
    await finish(crawl(once, tmp_path / "once", PAGES))
    for pages in (3, 4, 5, PAGES):
        await finish(crawl(twice, tmp_path / "twice", pages))
    first, second = ([url for url in web.asked if "robots" not in url] for web in (once, twice))
    assert first == second
    assert once.pictures < 100
