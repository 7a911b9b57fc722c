"""Nothing is cut off an archive by a state that does not know it."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from crawls import WEB, finish, small_crawl, small_topic

from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import CollectionError
from honeyguide.job.crawl import Crawl, begin_again
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Outcome

PAGES = "archive/pages-00001.warc.gz"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("end") / "owls"
    asyncio.run(finish(small_crawl(out, max_pages=20)))
    return out


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "owls"))


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        connection.execute(statement, values)
        connection.commit()


@pytest.mark.parametrize("value", ['["pages-00001.warc.gz",900]', '["pages-00001.warc.gz","x"]', "[]", "7"])
def test_a_wrong_end_cuts_nothing(folder: Path, value: str) -> None:
    before = (folder / PAGES).read_bytes()
    change(folder, "UPDATE setting SET value = ? WHERE key = 'archive_end'", value)
    with pytest.raises(CollectionError, match="not the archive of this state"):
        asyncio.run(finish(small_crawl(folder, max_pages=25)))
    assert (folder / PAGES).read_bytes() == before


def test_an_end_that_was_forgotten_moves_nothing(folder: Path) -> None:
    change(folder, "DELETE FROM setting WHERE key = 'archive_end'")
    with pytest.raises(CollectionError, match="not the archive of this state"):
        asyncio.run(finish(small_crawl(folder, max_pages=25)))
    assert (folder / PAGES).exists()


def test_the_state_of_another_crawl_cuts_nothing(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    topic = msgspec.structs.replace(small_topic(), seeds=small_topic().seeds[::-1])
    clock = VirtualClock()
    crawl = Crawl(topic, out=other, clock=clock, fetcher=GeneratedFetcher(WEB, clock), max_pages=5)
    asyncio.run(finish(crawl))
    shutil.copy(other / "state.sqlite", folder / "state.sqlite")
    before = (folder / PAGES).read_bytes()
    with pytest.raises(CollectionError, match="not the archive of this state"):
        asyncio.run(finish(small_crawl(folder, max_pages=25)))
    assert (folder / PAGES).read_bytes() == before


def test_an_older_state_keeps_what_came_after_it(folder: Path) -> None:
    old = (folder / "state.sqlite").read_bytes()
    size = (folder / PAGES).stat().st_size
    asyncio.run(finish(small_crawl(folder, max_pages=30)))
    whole = (folder / PAGES).read_bytes()
    (folder / "state.sqlite").write_bytes(old)
    asyncio.run(finish(small_crawl(folder, max_pages=25)))
    assert (folder / f"{PAGES}.uncommitted").read_bytes() == whole[size:]


def test_one_damaged_record_does_not_stop_a_crawl(folder: Path) -> None:
    archive = bytearray((folder / PAGES).read_bytes())
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        (offset,) = connection.execute("SELECT max(offset) FROM page").fetchone()
    archive[offset + 30 : offset + 40] = bytes(10)
    (folder / PAGES).write_bytes(archive)
    asyncio.run(finish(small_crawl(folder, max_pages=25)))


def test_beginning_again_follows_no_link(folder: Path, tmp_path: Path) -> None:
    """A collection without a page is cleared; its archive may be a link to somebody's own."""
    change(folder, "DELETE FROM page")
    change(folder, "DELETE FROM setting WHERE key LIKE 'robots:%'")
    change(folder, "DELETE FROM url")
    change(folder, "DELETE FROM change")
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        record = (1).to_bytes(4, "little") * 2 + bytes(16) + bytes([Outcome.DNS])
        connection.execute("INSERT INTO change VALUES (1, ?)", (record,))
        texts = ("", "", "", "", "", "")
        row = (1, 0, "http://a.example/", 1, int(Outcome.DNS), 0.0, 0, 0, 0, 0, *texts)
        connection.execute(f"INSERT INTO url VALUES ({', '.join('?' * 16)})", row)
        connection.commit()
    (folder / "state.sqlite.lock").unlink()  # which names this process
    treasure = tmp_path / "warcs"
    (folder / "archive").rename(treasure)
    (folder / "archive").symlink_to(treasure)
    assert not begin_again(folder)
    assert (treasure / "pages-00001.warc.gz").exists()
    (folder / "archive").unlink()
    treasure.rename(folder / "archive")
    assert begin_again(folder)
