"""New, changed, newly on topic, gone and back; texts and exports as of a date; over real HTTP."""

from __future__ import annotations

import asyncio
import json
import time
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from changing import SITE, Story
from consistency import check_by_warcio, check_consistent

from honeyguide.cli import main
from honeyguide.collection.change_feed import change_feed
from honeyguide.collection.collection import Collection
from honeyguide.collection.text_diff import differences
from honeyguide.errors import CollectionError
from honeyguide.store.archive_reader import iterate

pytestmark = pytest.mark.realtime

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    made = Story(tmp_path_factory.mktemp("changes") / "owls")
    asyncio.run(made.happen())
    return made


def paths(changes: list[tuple[str, str]]) -> dict[str, str]:
    return {url.removeprefix(SITE): kind for kind, url in changes}


def test_what_became_of_each_page(story: Story) -> None:
    with Collection.open(story.out) as collection:
        found = collection.changes(story.first)
        assert paths([(each.kind, each.url) for each in found]) == {
            "/": "changed",
            "/text": "changed",
            "/late": "on topic",
            "/gone": "gone",
            "/new": "new",
        }
        text = next(each for each in found if each.url.endswith("/text"))
        # From what it said at that moment to what it says now, not only the last step.
        assert [(each.sign, each.text) for each in text.difference] == [
            ("-", "Pellets were here."),
            ("+", "Claws at last."),
        ]
        late = next(each for each in found if each.url.endswith("/late"))
        assert (late.was_on_topic, late.on_topic) == (False, True)
        gone = next(each for each in found if each.url.endswith("/gone"))
        assert gone.reason == "HTTP 404"
        assert [each.url for each in collection.changes(story.second)] == [f"{SITE}/text"]
        between = collection.changes(story.first, until=story.second)
        text = next(each for each in between if each.url.endswith("/text"))
        assert ("+", "Feathers came.") in [(each.sign, each.text) for each in text.difference]
        everything = paths([(each.kind, each.url) for each in collection.changes("1970-01-01")])
        assert set(everything.values()) == {"new"}
    check_consistent(story.out)


def test_search_as_of(story: Story) -> None:
    with Collection.open(story.out) as collection:

        def found(query: str, as_of: float | None) -> list[str]:
            return [hit.url.removeprefix(SITE) for hit in collection.search(query, as_of=as_of)]

        assert found("pellets", None) == []
        assert found("pellets", story.first) == ["/text"]
        assert found("feathers", story.first) == []
        assert found("feathers", story.second) == ["/text"]
        assert found("claws", None) == ["/text"]
        assert found("ural", story.first) == ["/gone"]
        assert found("ural", story.second) == []
        (hit,) = collection.search("ural")  # not lost: shown as gone
        assert hit.gone.startswith("20")
        assert collection.page(f"{SITE}/gone").gone() == hit.gone
        assert found("burrowing", story.first) == []
        page = collection.page(f"{SITE}/text")
        assert "Pellets" in page.as_of(story.first).text()
        assert b"Feathers" in page.as_of(story.second).body()[0]
        assert len(page.versions()) == 3
        with pytest.raises(CollectionError, match="first fetched"):
            page.as_of("1990-01-01")


def test_exports_as_of(story: Story, tmp_path: Path) -> None:
    with Collection.open(story.out) as collection:
        collection.export(tmp_path / "then.jsonl", text=True, as_of=story.first)
        rows = [json.loads(line) for line in (tmp_path / "then.jsonl").read_text().splitlines()]
        assert paths([("", row["url"]) for row in rows]).keys() == {"/", "/text", "/gone", "/same"}
        assert "Pellets" in next(row["text"] for row in rows if row["url"].endswith("/text"))
        collection.export(tmp_path / "now.jsonl", text=True)
        rows = [json.loads(line) for line in (tmp_path / "now.jsonl").read_text().splitlines()]
        assert "Claws" in next(row["text"] for row in rows if row["url"].endswith("/text"))
        with pytest.raises(CollectionError, match="leave --as-of out"):
            collection.export(tmp_path / "sheet.md", format="datasheet", as_of=story.first)


def test_archives_hold_all_versions(story: Story, tmp_path: Path) -> None:
    with Collection.open(story.out) as collection:
        pages = collection.export(tmp_path / "all.warc.gz", format="warc")
        assert pages == 6, "visits are not pages"
        collection.export(tmp_path / "then.warc.gz", format="warc", as_of=story.first)
        assert collection.export(tmp_path / "all.wacz", format="wacz", text=True) == 6
    check_by_warcio(tmp_path / "all.warc.gz")
    answers = list(iterate(tmp_path / "all.warc.gz"))
    text = [answer for answer in answers if answer.url.endswith("/text")]
    assert [answer.kind for answer in text] == ["response"] * 3
    same = [(answer.kind, answer.status) for answer in answers if answer.url.endswith("/same")]
    assert same == [("response", 200), ("revisit", 0), ("revisit", 0)]  # 304: an empty block
    gone = [answer.status for answer in answers if answer.url.endswith("/gone")]
    assert gone == [200, 404, 404]
    assert [answer.kind for answer in iterate(tmp_path / "then.warc.gz")] == ["response"] * 4
    with zipfile.ZipFile(tmp_path / "all.wacz") as package:
        listed = package.read("pages/pages.jsonl").decode().splitlines()[1:]
        assert sorted(json.loads(line)["url"] for line in listed) == [
            f"{SITE}{path}" for path in ("/", "/gone", "/late", "/new", "/same", "/text")
        ]


def test_replay_tools_resolve_the_revisits(story: Story, tmp_path: Path) -> None:
    """Every revisit names, by address, date and digest, a response that the same file holds."""
    from warcio.archiveiterator import ArchiveIterator

    with Collection.open(story.out) as collection:
        collection.export(tmp_path / "all.warc.gz", format="warc")
    held: set[tuple[str, str, str]] = set()
    revisits = 0
    with (tmp_path / "all.warc.gz").open("rb") as stream:
        for record in ArchiveIterator(stream):
            fields = record.rec_headers
            digest = fields.get_header("WARC-Payload-Digest")
            if record.rec_type == "response":
                address = fields.get_header("WARC-Target-URI")
                held.add((address, fields.get_header("WARC-Date"), digest))
            elif record.rec_type == "revisit":
                revisits += 1
                address = fields.get_header("WARC-Refers-To-Target-URI")
                assert (address, fields.get_header("WARC-Refers-To-Date"), digest) in held
                profile = fields.get_header("WARC-Profile")
                # An empty block: replay software takes the headers of the answer that it refers to.
                not_modified = int(fields.get_header("Content-Length")) == 0
                assert profile.endswith("server-not-modified" if not_modified else "identical-payload-digest")
    assert revisits > 0


def test_feed(story: Story) -> None:
    with Collection.open(story.out) as collection:
        found = collection.changes(story.first)
    feed = ElementTree.fromstring(
        change_feed(found, title="owls & <more>", at=0.0, address="http://x/?a=1&b")
    )
    titles = [str(entry.findtext(f"{ATOM}title")) for entry in feed.iter(f"{ATOM}entry")]
    assert sorted(titles) == ["Changed: owl", "Changed: owl", "Gone: owl", "New: owl", "Newly on topic: owl"]
    names = [entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")]
    assert len(set(names)) == len(names)


def test_verbs(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(story.out)
    assert main(["changes", folder, "--since", "1d", "--json"]) == 0
    assert {each["kind"] for each in json.loads(capsys.readouterr().out)} == {"new"}
    assert main(["changes", folder, "--since", repr_time(story.first)]) == 0
    told = capsys.readouterr().out
    assert "- Pellets were here." in told
    assert "+ Claws at last." in told
    assert main(["changes", folder, "--feed", "--out", str(tmp_path / "owls.atom")]) == 0
    ElementTree.parse(tmp_path / "owls.atom")
    assert main(["changes", folder, "--since", "yesterday"]) == 2
    assert "is not a date; write 2026-11-01" in capsys.readouterr().err
    assert main(["search", folder, "pellets", "--as-of", repr_time(story.first)]) == 0
    assert "/text" in capsys.readouterr().out
    assert main(["search", folder, "ural"]) == 0
    assert "gone since" in capsys.readouterr().out
    out = str(tmp_path / "then.csv")
    assert main(["export", folder, "--format", "csv", "--out", out, "--as-of", repr_time(story.first)]) == 0
    assert "/gone" in (tmp_path / "then.csv").read_text()


def repr_time(at: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).isoformat()


def test_a_diff_of_hostile_texts_is_quick() -> None:
    begun = time.process_time()
    found = differences("a. b. " * 50_000, "b. a. c. " * 50_000, most=10)
    assert len(found) <= 10
    assert time.process_time() - begun < 2.0
