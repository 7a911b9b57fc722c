"""The verbs of a crawl, through real processes, over real HTTP on loopback."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import SPEC, TOPIC_NAME, WEB, small_topic
from warm import run_command

from honeyguide.cli import main
from honeyguide.cli.crawl import not_fetched
from honeyguide.collection.collection import Status
from honeyguide.lab.webs.generated.walk import examples
from honeyguide.lab.webs.serve import start_server
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime


def honeyguide(*words: object, status: int = 0) -> str:
    """Run a command in its own process; what it printed."""
    done = run_command(*words)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def write_topic(path: Path, port: int, **crawl: object) -> Path:
    """A topic file for the served web."""
    topic = small_topic()
    values = {"seeds": list(topic.seeds), "concurrency": 16, **crawl}
    lines = [
        "[topic]",
        f"name = {json.dumps(TOPIC_NAME)}",
        f"keywords = {json.dumps(list(topic.keywords))}",
        "[crawl]",
        *(f"{key} = {json.dumps(value)}" for key, value in values.items()),
        "[politeness]",
        "delay = 0.0",
        "ip_delay = 0.0",
        "[network]",
        'allow_net = ["127.0.0.0/8"]',
        f'connect_to = {{ "*" = "127.0.0.1:{port}" }}',
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with start_server(SPEC) as server:
        yield server.port


@pytest.fixture(scope="module")
def collection(port: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of 60 pages, then taken up to 120 by `resume`."""
    folder = tmp_path_factory.mktemp("crawl")
    topic = write_topic(folder / "topic.toml", port, max_pages=60)
    out = folder / "collection"
    first = json.loads(honeyguide("crawl", topic, "--trust", "--out", out, "--json"))
    assert first["pages"] == 60
    assert first["stopped"] == "budget of 60 pages is spent"
    second = json.loads(honeyguide("resume", out, "--max-pages", 120, "--json"))
    assert second["pages"] == 120
    return out


def test_status_counts_add_up(collection: Path) -> None:
    status = json.loads(honeyguide("status", collection, "--json"))
    assert status["pages"] == 120
    assert status["known"] == status["waiting"] + sum(status["outcomes"].values())
    assert status["sessions"] == 2
    assert not status["running"]


def test_the_same_command_goes_on(collection: Path, port: int, tmp_path: Path) -> None:
    topic = write_topic(tmp_path / "topic.toml", port, max_pages=20)
    out = tmp_path / "again"
    honeyguide("crawl", topic, "--trust", "--out", out)
    done = json.loads(honeyguide("crawl", topic, "--trust", "--out", out, "--max-pages", 30, "--json"))
    assert done["pages"] == 30


def test_figures_are_told_where_no_picture_can_be_written(collection: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(collection, copy, ignore=shutil.ignore_patterns("report.png"))
    (copy / "report.png").mkdir()
    done = run_command("report", copy)
    assert done.returncode == 0
    assert "pages\t120\n" in done.stdout
    assert f"warning: no picture: {copy}/report.png: Is a directory; name another place" in done.stderr


def test_report_has_numbers_and_a_picture(collection: Path) -> None:
    report = json.loads(honeyguide("report", collection, "--json"))
    assert report["pages"] == 120
    assert report["relevant"] == sum(report["hosts"].values())
    assert Path(report["plot"]).read_bytes().startswith(b"\x89PNG")


def test_search_finds_and_why_tells_its_story(collection: Path) -> None:
    word = WEB.keywords(TOPIC_NAME)[0].split()[0]
    hits = json.loads(honeyguide("search", collection, word, "--json"))
    assert hits
    story = json.loads(honeyguide("why", collection, hits[0]["url"], "--json"))
    assert story["outcome"] == "fetched"
    assert story["on_topic"]
    assert story["terms"]
    assert story["path"][0]["source"] == "seed"
    assert story["path"][-1]["url"] == hits[0]["url"]
    assert "found by" in honeyguide("why", collection, hits[0]["url"])


def test_a_search_on_a_terminal_lists_results_below_each_other(
    collection: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    word = WEB.keywords(TOPIC_NAME)[0].split()[0]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["search", str(collection), word, "--limit", "2"]) == 0
    shown = capsys.readouterr()
    assert sum("http://" in line for line in shown.out.splitlines()) == 2
    assert "for the next: --offset 2" in shown.err


def test_why_names_the_rule_that_dropped_a_url(collection: Path) -> None:
    from honeyguide.collection.collection import Collection
    from honeyguide.model import Outcome

    with Collection.open(collection) as opened:
        state = opened.state
        dropped = next(
            record
            for row in range(1, opened.status().known + 1)
            if (record := state.url_by_row(row))
            and record.status in (Outcome.NOFOLLOW, Outcome.TRAP, Outcome.ROBOTS)
        )
    story = json.loads(honeyguide("why", collection, dropped.url, "--json"))
    assert story["outcome"] == dropped.status.name.lower()
    assert story["reason"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_exports(collection: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"pages.{form}"
    told = json.loads(honeyguide("export", collection, "--format", form, "--to", target, "--text", "--json"))
    if form == "jsonl":
        rows = [json.loads(line) for line in target.read_text().splitlines()]
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(target.read_text("utf-8-sig"))))
        assert honeyguide("export", collection, "--format", form, "--out", "-").startswith("url,title,")
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        rows = parquet.read_table(target).to_pylist()
    assert len(rows) == told["pages"] > 10
    assert all(row["url"].startswith("http://") and row["text"] for row in rows)


def test_a_collection_in_use_is_refused(collection: Path) -> None:
    from honeyguide.store.state import State

    with State.open(collection / "state.sqlite"):
        message = honeyguide("resume", collection, "--max-pages", 130, status=2)
    assert "in use" in message.splitlines()[-1]
    assert "Traceback" not in message


def test_a_folder_of_another_topic_is_refused(collection: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(
        '[topic]\nname = "owls"\nkeywords = ["owl"]\n[crawl]\nseeds = ["https://example.org/"]\n'
    )
    message = honeyguide("crawl", other, "--trust", "--out", collection, status=2)
    assert "choose another folder" in message


def test_unknown_url_and_missing_collection(collection: Path, tmp_path: Path) -> None:
    assert "never met" in honeyguide("why", collection, "https://nowhere.example/", status=2)
    for verb in ("status", "report", "resume"):
        assert "no such folder" in honeyguide(verb, tmp_path / "none", status=2)


def test_an_unreachable_seed_is_told(tmp_path: Path) -> None:
    topic = tmp_path / "topic.toml"
    topic.write_text(
        '[topic]\nname = "owls"\nkeywords = ["owl"]\n[crawl]\nseeds = ["http://nowhere.invalid/"]\n'
    )
    message = honeyguide("crawl", topic, "--trust", "--out", tmp_path / "out", status=2)
    assert "no page was fetched; seed http://nowhere.invalid/: host name not found" in message


def test_a_crawl_says_that_its_backlink_service_fails(port: int, tmp_path: Path) -> None:
    topic = write_topic(tmp_path / "topic.toml", port, max_pages=5, recipe="cfc")
    service = '{kind = "http", template = "http://links.example/?u={url}", path = "rows.*", rate = 1000}'
    shown = json.dumps(examples(WEB, TOPIC_NAME, 4))
    text = topic.read_text().replace("[crawl]", f"examples = {shown}\n[crawl]")
    topic.write_text(f'{text}[[discovery]]\nsource = "backlinks"\nservice = {service}\n')
    told = json.loads(honeyguide("crawl", topic, "--trust", "--out", tmp_path / "out", "--json"))
    assert told["pages"] == 5
    assert len(told["warnings"]) == 3, "then the service is left alone"
    assert told["warnings"][0].startswith("backlinks: ")
    assert "the crawl goes on without it" in told["warnings"][2]


def test_the_end_of_a_crawl_names_what_left_out_many_urls() -> None:
    status = Status(
        pages=50, relevant=10, harvest=0.2, known=1000, waiting=600,
        outcomes={"fetched": 50, "trap": 300, "client_error": 10, "robots": 11, "redirected": 29},
        hosts=1, requests=90, bytes=1, seconds=1.0, sessions=1, running=False, reason="",
    )  # fmt: skip
    told = not_fetched(status)
    assert [line.partition(":")[0] for line in told] == [Outcome.TRAP.label, Outcome.ROBOTS.label]
    assert told[0].endswith("300 (30 %, see trap_zones in [crawl])")
