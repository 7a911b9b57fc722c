from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from honeyguide.cli.topic_check import check
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.job.crawl import Crawl
from honeyguide.job.examples import read_examples, told_missed
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Document, Topic

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from crawls import WEB, finish, small_crawl, small_topic


def texts(base: Path, *background: str) -> list[str]:
    topic = Topic("owls", keywords=("owl",), background=background)
    return [one.text for one in read_examples(topic, base).examples.unlabelled]


def test_a_folder_gives_its_files_and_patterns_still_do(tmp_path: Path) -> None:
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "b.txt").write_text("barn owl")
    (tmp_path / "notes" / "deep" / "a.html").write_text("<p>tawny owl</p>")
    (tmp_path / "notes" / ".hidden").write_text("not read")
    (tmp_path / "single.txt").write_text("eagle owl")
    assert texts(tmp_path, "notes", "single.txt") == ["eagle owl", "barn owl", "tawny owl"]


async def test_a_collection_and_its_archive_give_their_pages(tmp_path: Path) -> None:
    await finish(small_crawl(tmp_path / "owls", max_pages=12))
    whole = texts(tmp_path, "owls")
    assert len(whole) >= 10
    assert all(whole)
    archive = next((tmp_path / "owls" / "archive").glob("*.warc.gz"))
    assert texts(tmp_path, str(archive)) == whole


def test_examples_cannot_be_folders(tmp_path: Path) -> None:
    topic = Topic("owls", examples=(".",))
    with pytest.raises(TopicError, match="is a folder"):
        read_examples(topic, tmp_path)


def test_the_check_of_a_topic_knows_folders(tmp_path: Path) -> None:
    for name in ("notes", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "a.txt").write_text("barn owl")
    topic = '[topic]\nname = "owls"\nkeywords = ["owl"]\nbackground = ["{}"]\n[crawl]\nseeds = ["https://a.example/"]'
    file = tmp_path / "topic.toml"
    file.write_text(topic.format("notes"))
    check(file, quiet=True)
    file.write_text(topic.format("empty"))
    with pytest.raises(TopicError, match=r"topic.toml:4: .*no file in 'empty'; put texts there"):
        check(file, quiet=True)


def plain(path: Path) -> Document:
    return Document(path.read_text(), url=path.name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good" / "deep").mkdir(parents=True)
    for name, text in {
        "good/b.txt": "bee",
        "good/a.txt": "ant",
        "good/deep/c.txt": "cat",
        "empty.txt": " ",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def texts_of(documents: tuple[Document, ...]) -> list[str]:
    return [document.text for document in documents]


def test_files_patterns_and_addresses(folder: Path) -> None:
    topic = Topic(
        name="x",
        keywords=("k",),
        examples=("good/*.txt", "https://example.org/", "good/a.txt"),
        negatives=(str(folder / "good" / "b.txt"),),
        background=("good/**/*.txt", "HTTPS://example.org/x"),
        taxonomy="A/B_C/",
        languages=("en", "de"),
    )
    read = read_examples(topic, folder, read_file=plain, corpora=False)
    assert texts_of(read.examples.positives) == ["ant", "bee"]
    assert texts_of(read.examples.negatives) == ["bee"]
    assert texts_of(read.examples.unlabelled) == ["ant", "bee", "cat"]
    assert read.examples.taxonomy == ("A", "B C")
    assert read.examples.languages == ("en", "de")
    assert read.to_fetch.positives == ("https://example.org/",)
    assert read.to_fetch.unlabelled == ("HTTPS://example.org/x",)
    assert read.to_fetch

    complete = read.complete({"https://example.org/": Document("web")}.get)
    assert texts_of(complete.positives) == ["ant", "bee", "web"]
    assert texts_of(complete.unlabelled) == ["ant", "bee", "cat"]
    assert complete.keywords == ("k",)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("good", "'good' is a folder; name its files, such as 'good/*.html'"),
        ("none.txt", "'examples' in [topic]: no file "),
        ("none/*.txt", "no file matches 'none/*.txt'"),
        ("empty.txt", "none of its 1 files holds any text"),
    ],
)
def test_patterns_that_cannot_serve(folder: Path, pattern: str, expected: str) -> None:
    with pytest.raises(TopicError) as caught:
        read_examples(Topic(name="x", examples=(pattern,)), folder, read_file=plain)
    assert expected in str(caught.value)


def test_nothing_given_is_nothing_read(tmp_path: Path) -> None:
    read = read_examples(Topic(name="x"), tmp_path)
    assert not read.to_fetch
    assert read.examples.positives == ()


def test_examples_that_could_not_be_fetched_are_named_with_the_reason() -> None:
    told = told_missed([(f"https://a.example/{number}", "HTTP 404") for number in range(7)], most=2)
    assert told == "https://a.example/0: HTTP 404; https://a.example/1: HTTP 404; and 5 more"


async def test_a_model_that_lacks_examples_says_which_could_not_be_fetched() -> None:
    clock = VirtualClock()
    gone = "http://nowhere.example/owl"
    topic = msgspec.structs.replace(small_topic(), examples=(gone,))
    crawl = Crawl(
        topic, relevance="content-svm", clock=clock, fetcher=GeneratedFetcher(WEB, clock), max_pages=5
    )
    with pytest.raises(TopicError, match=f"needs examples.*could not be fetched: {gone}"):
        [event async for event in crawl.run()]
