"""One collection of many shards."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
from pathlib import Path

import msgspec
import numpy as np
import pytest

from honeyguide.collection.collection import Collection
from honeyguide.collection.merging import bring_up_to_date, merge_into, one_tally, pass_on_reviews
from honeyguide.errors import CollectionError
from honeyguide.failpoint import arm
from honeyguide.model import Outcome
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import add_review, read_reviews
from honeyguide.store.shards import new_manifest, save, shard_folder
from honeyguide.store.state import State
from honeyguide.testing.made_collection import TOPIC, MadeCollection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
A, B, C = "https://a.example/", "https://b.example/", "https://b.example/deep"
ELSEWHERE = Outcome.ELSEWHERE


def begin(root: Path, shards: int = 2) -> Path:
    """A collection of shards with nothing in them."""
    root.mkdir()
    save(root, new_manifest(shards))
    Layout.create(root, software="made", topic=TOPIC)
    (root / "shards").mkdir()
    return root


def made(root: Path) -> Path:
    """Two shards: a page of one links to pages of the other, and one link is on its way."""
    begin(root)
    with MadeCollection(shard_folder(root, "00"), archive=True) as shard:
        there = shard.address(B, host="b.example", status=ELSEWHERE, parent=1)
        way = shard.address("https://b.example/on-its-way", host="b.example", status=ELSEWHERE, parent=3)
        shard.page(A, host="a.example", title="Apes", text="apes and owls", at=10.0, links=[there, way],
                   head=HEAD, body=b"<p>apes and owls", digest="sha1:1", simhash=0b1011 << 30)  # fmt: skip
        shard.page("https://a.example/late", host="a.example", title="Late", text="late owls", at=30.0,
                   head=HEAD, body=b"<p>late owls", digest="sha1:3", simhash=0b1011 << 20)  # fmt: skip
        shard.dropped("https://a.example/trap", outcome=Outcome.TRAP, reason="loops")
        traveller = [
            "https://b.example/on-its-way",
            A,
            0.75,
            2,
            0,
            "link",
            "go there",
            "",
            {},
            {},
            0,
            "",
            0.9,
        ]
        shard.state.put_setting("outbox:01:000000000001", [traveller])
    with MadeCollection(shard_folder(root, "01"), archive=True) as shard:
        stub = shard.address(A, host="a.example", status=ELSEWHERE)
        shard.page(B, host="b.example", title="Bees", text="bees", at=20.0, parent=stub, anchor="bees",
                   head=HEAD, body=b"<p>bees", digest="sha1:1", simhash=0b1111 << 50)  # fmt: skip
        shard.page(C, host="b.example", title="Deep", text="deep owls", at=25.0, parent=2, links=[stub],
                   head=HEAD, body=b"<p>deep owls", digest="sha1:4", simhash=0b1010 << 20,
                   on_topic=False)  # fmt: skip
        shard.address("https://b.example/waits", host="b.example", priority=0.25, parent=2)
    return root


def test_everything_is_read_as_one(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        assert found.name == "made"
        status = found.status()
        assert (status.pages, status.relevant, status.known, status.waiting) == (4, 3, 7, 2)
        assert status.outcomes == {"fetched": 4, "trap": 1}
        assert status.hosts == 3
        assert not status.running
        assert [page.url for page in found.pages(relevant=None)] == [A, B, C, "https://a.example/late"]
        assert {hit.url for hit in found.search("owls")} == {A, "https://a.example/late"}
        assert found.page(B).text() == "bees"
        assert found.page(B).body()[0] == b"<p>bees"
        assert found.state.check() == []


def test_links_cross_shards(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        story = found.why(B)
        assert [step.url for step in story.path] == [A, B]
        state = found.state
        rows = {page.url: page.row for page in state.pages()}
        assert [state.url_text(row) for row in state.links_of(rows[A]).tolist()] == [
            B,
            "https://b.example/on-its-way",
        ]
        assert state.in_links(rows[A]) == [rows[C]]


def test_what_is_on_its_way_waits(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        story = found.why("https://b.example/on-its-way")
        assert (story.outcome, story.path[-1].anchor, story.priority) == ("waiting", "go there", 0.75)


def test_what_is_on_its_way_has_a_host_and_can_be_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "out"
    begin(root)
    sent, stray = "https://b.example/sent", "https://new.example:8080/stray"
    with MadeCollection(shard_folder(root, "00"), archive=True) as shard:
        # As a crawl writes them: an address of another shard has no host here.
        shard.address(sent, host="", status=ELSEWHERE, parent=3)
        shard.address(stray, host="", status=ELSEWHERE, parent=3)
        shard.page(A, host="a.example", title="Apes", text="apes", at=10.0, links=[1, 2],
                   head=HEAD, body=b"<p>apes", digest="sha1:1")  # fmt: skip
        shard.state.put_setting("outbox:01:000000000001", [[sent, A, 0.75]])
    with MadeCollection(shard_folder(root, "01"), archive=True) as shard:
        shard.page(B, host="b.example", title="Bees", text="bees", at=20.0,
                   head=HEAD, body=b"<p>bees", digest="sha1:2")  # fmt: skip
    merge_into(root, tmp_path / "one")
    with Collection.open(tmp_path / "one") as found:
        hosts = {host.row: (host.name, host.domain) for host, _ in found.state.hosts()}
        waiting = {
            record.url: hosts[record.host]
            for row in range(1, found.state.columns().size + 1)
            if (record := found.state.url_by_row(row)) is not None and record.status is Outcome.WAITING
        }
        assert waiting == {
            sent: ("b.example", "b.example"),
            stray: ("new.example:8080", "new.example"),
        }
        assert sorted(hosts) == [1, 2, 3]
        assert found.state.check() == []


def test_copies_are_found_across_shards(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        pages = {page.url: page for page in found.pages(relevant=None)}
        assert pages[B].duplicate_of == pages[A].row
        assert pages["https://a.example/late"].near_duplicate_of == pages[C].row


def test_the_journal_is_in_order_of_time(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        events = list(found.state.events(kind="page"))
        assert [event.url for event in events] == [A, B, C, "https://a.example/late"]
        assert [event.data["number"] for event in events] == [1, 2, 3, 4]


def test_merging_twice_changes_nothing(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    assert bring_up_to_date(root).pages == 4
    before = dump(root)
    again = bring_up_to_date(root)
    assert (again.pages, again.urls, again.events) == (0, 0, 0)
    assert dump(root) == before


def dump(root: Path) -> list[str]:
    connection = sqlite3.connect(Layout(root).state_file)
    try:
        return [line for line in connection.iterdump() if "INSERT" in line and '"change"' not in line]
    finally:
        connection.close()


def grow(root: Path) -> None:
    """A later commit of shard 01: its waiting URL is fetched, a page has another verdict."""
    folder = shard_folder(root, "01")
    with State.open(Layout(folder).state_file) as state:
        columns = state.columns()
        row = columns.size
        columns.status[row] = Outcome.FETCHED
        state.append_changes(columns, np.array([row], np.int32))
        state.end_urls([(int(Outcome.FETCHED), "", row)])
        first = state.page_by_row(3)
        assert first is not None
        page = msgspec.structs.replace(first, row=row, number=3, at=40.0, digest="sha1:9", title="New")
        state.save_page(page, [2])
        state.connection.execute("UPDATE page SET on_topic = 1, score = 0.8 WHERE row = 3")
        state.append_event("learned", "", {}, at=41.0)
        state.append_event("page", "https://b.example/waits", {"number": 3}, at=40.0)
        state.put_setting("tally", {"pages": 3, "relevant": 3, "bytes": 1, "requests": 3, "seconds": 90.0})
        state.commit()


def test_what_was_committed_since_is_added(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    bring_up_to_date(root)
    grow(root)
    with Collection.open(root) as found:
        assert [page.title for page in found.pages(relevant=None)] == ["Apes", "Bees", "Deep", "Late", "New"]
        deep = next(page for page in found.pages(relevant=None) if page.title == "Deep")
        assert (deep.on_topic, deep.score) == (True, 0.8)
        assert found.status().pages == 5
        assert found.status().seconds == 90.0
        assert found.status().waiting == 1
        assert found.state.check() == []


def test_a_merge_in_steps_says_what_one_at_once_says(tmp_path: Path) -> None:
    stepwise, at_once = made(tmp_path / "a"), made(tmp_path / "b")
    bring_up_to_date(stepwise)
    grow(stepwise)
    grow(at_once)
    bring_up_to_date(stepwise)
    bring_up_to_date(at_once)
    told = []
    for root in (stepwise, at_once):
        with Collection.open(root) as found:
            urls = [found.state.url_text(row) for row in range(1, found.status().known + 1)]
            told.append(
                (
                    sorted((url, found.why(url).outcome) for url in urls),
                    [(page.url, page.at, page.score) for page in found.pages(relevant=None)],
                    sorted(hit.url for hit in found.search("owls")),
                    found.status(),
                )
            )
    assert told[0] == told[1]


def test_a_shard_that_went_back_is_merged_anew(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    shutil.copytree(shard_folder(root, "01"), tmp_path / "snapshot")
    grow(root)
    with Collection.open(root) as found:
        assert found.status().pages == 5
    shutil.rmtree(shard_folder(root, "01"))
    shutil.copytree(tmp_path / "snapshot", shard_folder(root, "01"))
    with Collection.open(root) as found:
        assert found.status().pages == 4
        assert found.state.page_count() == 4
        assert found.why("https://b.example/waits").outcome == "waiting"
    assert not [path for path in root.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("point", ["merge.written", "merge.state", "merge.index", "merge.anew"])
def test_a_merge_that_is_killed_is_made_up_for(tmp_path: Path, point: str) -> None:
    root = made(tmp_path / "out")
    assert die_at(point, root) != 0
    with Collection.open(root) as found:
        assert found.status().pages == 4
        assert len(found.search("owls")) == 2
    grow(root)
    if point != "merge.anew":
        assert die_at(point, root) != 0
    with Collection.open(root) as found:
        assert found.status().pages == 5
        assert found.state.check() == []


def die_at(point: str, root: Path) -> int | None:
    """Exit status of a process that merges, and dies at a fail point."""
    process = multiprocessing.get_context("fork").Process(target=_die, args=(point, root))
    process.start()
    process.join()
    return process.exitcode


def _die(point: str, root: Path) -> None:
    arm({"HONEYGUIDE_TESTS": "1", "HONEYGUIDE_FAIL_AT": point})
    bring_up_to_date(root)
    os._exit(0)


def test_a_page_that_two_shards_hold_is_the_newer_one(tmp_path: Path) -> None:
    root = begin(tmp_path / "out")
    for name, at, title in (("00", 10.0, "old"), ("01", 20.0, "new")):
        with MadeCollection(shard_folder(root, name), archive=True) as shard:
            shard.page(A, host="a.example", title=title, text=title, at=at, head=HEAD, body=title.encode())
    with Collection.open(root) as found:
        assert [(page.title, page.number) for page in found.pages()] == [("new", 1)]
        row = found.page(A).record.row
        assert [old.title for old, _ in found.state.history.versions_of(row)] == ["old"]
        assert [hit.title for hit in found.search("new")] == ["new"]
        assert found.search("old") == []


def test_exports_of_shards(tmp_path: Path) -> None:
    with Collection.open(made(tmp_path / "out")) as found:
        assert found.export(tmp_path / "pages.jsonl") == 3
        assert found.export(tmp_path / "pages.warc.gz", format="warc") >= 3
        assert found.export(tmp_path / "links.gexf", format="gexf") == 3


def test_an_ordinary_collection_is_made(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    add_review(root, "reject", at=22.0, host="b.example", upto=99)
    add_review(root, "accept", at=23.0, url=A)
    merge_into(root, tmp_path / "one")
    shutil.rmtree(root)
    with Collection.open(tmp_path / "one") as found:
        assert [page.url for page in found.pages(relevant=None)] == [A, B, C, "https://a.example/late"]
        assert found.page(C).text() == "deep owls"
        assert len(found.search("owls")) == 2
        assert found.export(tmp_path / "pages.warc.gz", format="warc") == 2  # one host is rejected
        assert found.state.check() == []
    decisions = read_reviews(tmp_path / "one").standing
    assert [(one.said, one.upto) for one in decisions] == [("reject", 2), ("accept", 0)]
    assert Layout.open(tmp_path / "one").is_ours
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".part")]


def test_decisions_are_passed_on_to_shards(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    add_review(root, "reject", at=22.0, host="b.example", upto=2)
    lines = (root / "reviews.jsonl").read_bytes()
    shard = shard_folder(root, "01")
    assert pass_on_reviews(lines, shard)
    assert not pass_on_reviews(lines, shard)
    (decision,) = read_reviews(shard).standing
    assert (decision.host, decision.upto) == ("b.example", 1)  # one of its two pages was there then


def test_merging_where_something_is(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "mine.txt").touch()
    with pytest.raises(CollectionError, match="choose a new folder"):
        merge_into(root, tmp_path / "one")


def test_complete_archive_files_are_not_copied(tmp_path: Path) -> None:
    root = made(tmp_path / "out")
    archive = shard_folder(root, "00") / "archive"
    first = archive / "pages-00001.warc.gz"
    with State.open(Layout(shard_folder(root, "00")).state_file) as state:
        shutil.copy(first, archive / "pages-00002.warc.gz")
        state.put_setting("archive_end", ["pages-00002.warc.gz", first.stat().st_size])
        state.commit()
    merge_into(root, tmp_path / "one")
    made_files = sorted((tmp_path / "one" / "archive").iterdir())
    assert [path.name for path in made_files] == [f"pages-{n:05}.warc.gz" for n in (1, 2, 3)]
    assert made_files[0].stat().st_ino == first.stat().st_ino
    assert made_files[1].stat().st_nlink == made_files[2].stat().st_nlink == 1


def test_nothing_has_begun(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="has not begun"):
        Collection.open(begin(tmp_path / "out"))


def test_figures_of_shards() -> None:
    merged = one_tally(
        [
            {"pages": 30, "recent": 0.1, "since_relevant": 4, "seconds": 5.0, "score": 2.0},
            {"pages": 10, "recent": 0.5, "since_relevant": 9, "seconds": 7.0, "score": 1.0},
        ]
    )
    assert merged == {"pages": 40, "recent": 0.2, "since_relevant": 4, "seconds": 7.0, "score": 3.0}
