from __future__ import annotations

import json
from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.cli import main
from honeyguide.collection.collection import Collection
from honeyguide.store.reviews import read_reviews


@pytest.fixture
async def crawled(tmp_path: Path) -> Path:
    await finish(small_crawl(tmp_path / "crawl", max_pages=60))
    return tmp_path / "crawl"


async def test_list_accept_reject_undo_apply(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "list", str(crawled), "--limit", "4", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown) == 4
    first, second = shown[0]["url"], shown[1]["url"]
    assert main(["review", "accept", str(crawled), first, second]) == 0
    assert main(["review", "undo", str(crawled)]) == 0
    with Collection.open(crawled) as collection:
        host = next(iter(collection.pages(relevant=None))).url.split("/")[2]
    assert main(["review", "reject", str(crawled), "--host", host]) == 0
    held = read_reviews(crawled)
    assert {url: one.said for url, one in held.pages.items()} == {first: "accept"}
    assert held.hosts[host].said == "reject"
    assert held.pages[first].score == pytest.approx(shown[0]["score"], abs=0.001)
    capsys.readouterr()
    assert main(["review", "list", str(crawled), "--decided", "--json"]) == 0
    assert [row["of"] for row in json.loads(capsys.readouterr().out)] == [host, first]
    assert main(["review", "apply", str(crawled), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["decisions"] == 4
    assert main(["review", "apply", str(crawled), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {}
    assert main(["review", "list", str(crawled), "--limit", "200", "--json"]) == 0
    assert first not in [row["url"] for row in json.loads(capsys.readouterr().out)]
    assert main(["review", "accept", str(crawled), second]) == 0
    assert main(["review", "apply", str(crawled)]) == 0
    told = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert int(told["pages judged again"]) > 0
    assert {"decisions taken in", "verdicts changed", "priorities changed"} < told.keys()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["accept"], "one of the two"),
        (["accept", "https://nowhere.example/"], "has no page"),
        (["reject", "--host", "nowhere.example"], "no page of host"),
        (["undo"], "no decision is left"),
        (["undo", "7"], "there is no decision 7 to undo"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(
    crawled: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", words[0], str(crawled), *words[1:]]) != 0
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


async def test_status_tells_what_is_uncertain_and_whether_it_is_too_early(
    crawled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", str(crawled)]) == 0
    told = capsys.readouterr().out
    assert "too early to say" in told
    assert "close to the line" in told
    assert main(["status", str(crawled), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["estimate"] is None
    assert facts["uncertain"]["advice"] in told
    assert 0.0 < facts["uncertain"]["line"] < 1.0
