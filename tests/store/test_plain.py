"""Nothing inside a collection is opened through a link, and nothing that is not a file."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.engine import control
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.lock import Lock
from honeyguide.store.plain import open_plain, read_plain, require_folder, require_plain
from honeyguide.store.reviews import add_review, read_reviews
from honeyguide.store.state import State

TREASURE = b"years of work\n" * 20_000


def link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def second_name(path: Path, target: Path) -> None:
    os.link(target, path)


def pipe(path: Path, _target: Path) -> None:
    os.mkfifo(path)


def listening(path: Path, _target: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path, _target: Path) -> None:
    path.mkdir()


OTHERS: list[Callable[[Path, Path], None]] = [link, pipe, listening, folder]


@pytest.mark.parametrize("make", OTHERS)
def test_only_plain_files_are_opened(tmp_path: Path, make: Callable[[Path, Path], None]) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_bytes(TREASURE)
    make(tmp_path / "x", treasure)
    for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT | os.O_APPEND, os.O_RDWR):
        with pytest.raises(CollectionError, match="only plain files"):
            open_plain(tmp_path / "x", flags)
    with pytest.raises(CollectionError, match="only plain files"):
        require_plain(tmp_path / "x")
    assert treasure.read_bytes() == TREASURE


def test_a_second_name_may_be_read_but_not_written(tmp_path: Path) -> None:
    (tmp_path / "treasure").write_bytes(TREASURE)
    second_name(tmp_path / "x", tmp_path / "treasure")
    assert read_plain(tmp_path / "x") == TREASURE
    with pytest.raises(CollectionError, match="second name"):
        open_plain(tmp_path / "x", os.O_WRONLY)
    with pytest.raises(CollectionError, match="second name"):
        require_plain(tmp_path / "x", writing=True)


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    require_plain(tmp_path / "x")
    require_folder(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "x")


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_plain(tmp_path / "x", most=5) == b"12345"
    with pytest.raises(CollectionError, match="more than 4 bytes"):
        read_plain(tmp_path / "x", most=4)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("plain") / "owls"
    asyncio.run(finish(small_crawl(out, max_pages=30)))
    add_review(out, "accept", at=0.0, url="https://a.example/")
    return out


def use(root: Path) -> None:
    """Everything that reads or writes: resume, review, steer, search, export."""
    asyncio.run(finish(small_crawl(root, max_pages=40)))
    add_review(root, "reject", at=1.0, url="https://b.example/")
    control.ask(root, session=1, paused=True)
    with Collection.open(root) as collection:
        collection.search("a")
        collection.export(root.parent / "out.warc.gz", format="warc")
        collection.export(root.parent / "out.md", format="datasheet")


NAMES = [
    "archive/pages-00001.warc.gz",
    "archive",
    "models",
    "state.sqlite",
    "state.sqlite-wal",
    "state.sqlite.lock",
    "index.sqlite",
    "reviews.jsonl",
    "control.json",
    "control.json.lock",
    "collection.json",
    "topic.toml",
    "examples.json",
]


@pytest.mark.parametrize("make", [link, second_name, pipe])
@pytest.mark.parametrize("name", NAMES)
def test_a_strangers_collection_reaches_nothing_outside(
    crawled: Path, tmp_path: Path, name: str, make: Callable[[Path, Path], None]
) -> None:
    root = tmp_path / "owls"
    shutil.copytree(crawled, root)
    target = tmp_path / "treasure"
    place = root / name
    if place.is_dir():
        if make is second_name:
            pytest.skip("folders have one name")
        place.rename(target)
        before = {path.name: path.read_bytes() for path in target.iterdir()}
    else:
        target.write_bytes((place.read_bytes() if place.exists() else b"") + TREASURE)
        before = {"": target.read_bytes()}
        place.unlink(missing_ok=True)
    make(place, target)
    with suppress(HoneyguideError):
        use(root)
    after = {path.name: path.read_bytes() for path in target.iterdir()} if target.is_dir() else None
    assert (after or {"": target.read_bytes()}) == before


def test_readers_and_writers_know_the_difference(crawled: Path, tmp_path: Path) -> None:
    root = tmp_path / "owls"
    shutil.copytree(crawled, root)
    os.link(root / "state.sqlite", tmp_path / "snapshot")
    Collection.open(root).close()
    with pytest.raises(CollectionError, match="second name"):
        State.open(root / "state.sqlite")
    (root / "reviews.jsonl").unlink()
    (root / "reviews.jsonl").symlink_to("/dev/zero")
    with pytest.raises(CollectionError, match="symbolic link"):
        read_reviews(root)
    (root / "other.lock").symlink_to(tmp_path / "made")
    with pytest.raises(CollectionError, match="symbolic link"):
        Lock(root / "other")
    assert not (tmp_path / "made").exists()
