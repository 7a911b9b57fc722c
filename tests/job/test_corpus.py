from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from honeyguide.cli.topic_check import check
from honeyguide.errors import TopicError
from honeyguide.job.corpus import read_corpus
from honeyguide.job.crawl import read_document
from honeyguide.model import Topic
from honeyguide.topic.examples import gather

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from crawls import finish, small_crawl

CORPUS = partial(read_corpus, read_file=read_document)


def texts(base: Path, *background: str) -> list[str]:
    topic = Topic("owls", keywords=("owl",), background=background)
    gathered = gather(topic, to_document=read_document, base=base, to_corpus=CORPUS)
    return [one.text for one in gathered.examples.unlabelled]


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
        gather(topic, to_document=read_document, base=tmp_path, to_corpus=CORPUS)


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
