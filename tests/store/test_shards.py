"""`shards.json`."""

from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.errors import CollectionError
from honeyguide.store.shards import (
    FILE,
    Manifest,
    is_sharded,
    load,
    new_manifest,
    require_count,
    save,
    shard_folder,
    shard_names,
    with_more,
    with_retired,
)


def test_round_trip(tmp_path: Path) -> None:
    assert not is_sharded(tmp_path)
    manifest = new_manifest(3, store="s3://bucket/crawl", software="1.2")
    save(tmp_path, manifest)
    assert is_sharded(tmp_path)
    assert load(tmp_path) == manifest
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert shard_folder(tmp_path, "02") == tmp_path / "shards" / "02"


def test_names_sort_like_numbers_up_to_a_hundred() -> None:
    assert shard_names(11)[-2:] == ("09", "10")
    assert len(set(shard_names(150))) == 150


@pytest.mark.parametrize("count", [0, -1, 10_001])
def test_a_count_that_cannot_be(count: int) -> None:
    with pytest.raises(CollectionError, match="use 1 to 10000"):
        shard_names(count)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "restore it"),
        ("[]", "restore it"),
        ('{"version": 1}', "restore it"),
        ('{"version": "1", "shards": ["00"]}', "restore it"),
        ('{"version": 2, "shards": ["00"]}', "newer honeyguide"),
        ('{"version": 0, "shards": ["00"]}', "version 0"),
        ('{"version": 1, "shards": []}', "0 shards"),
        ('{"version": 1, "shards": ["00", "00"]}', "one name"),
        ('{"version": 1, "shards": ["../../etc"]}', "a shard named"),
        ('{"version": 1, "shards": ["/etc"]}', "a shard named"),
        ('{"version": 1, "shards": ["00\\n"]}', "a shard named"),
        ('{"version": 1, "shards": ["\\u0660\\u0660"]}', "a shard named"),
        ('{"version": 1, "shards": ["00"], "assignment": "modulo"}', "rendezvous"),
        ("[" * 100_000, "restore it"),
        (" " * 2_000_000, "more than"),
    ],
)
def test_a_hostile_manifest_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(CollectionError, match=message):
        load(tmp_path)


def test_none(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="does not consist of shards"):
        load(tmp_path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    save(tmp_path, new_manifest(2))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "01").symlink_to(elsewhere)
    with pytest.raises(CollectionError, match="symbolic link"):
        load(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).symlink_to(tmp_path / FILE)
    with pytest.raises(CollectionError, match="symbolic link"):
        load(tmp_path / "other")


def test_what_cannot_be_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="a shard named"):
        save(tmp_path, Manifest(1, ("..",)))
    assert not is_sharded(tmp_path)


def test_another_count(tmp_path: Path) -> None:
    manifest = new_manifest(4)
    require_count(tmp_path, manifest, None)
    require_count(tmp_path, manifest, 4)
    with pytest.raises(CollectionError, match="has 4 shards, not 3; leave out --shards"):
        require_count(tmp_path, manifest, 3)


def test_shards_join_and_leave(tmp_path: Path) -> None:
    fewer = with_more(new_manifest(4), -2)
    assert (fewer.shards, fewer.leaving) == (("00", "01"), ("02", "03"))
    left = with_retired(fewer, "02")
    assert (left.at_work, left.retired) == (("00", "01", "03"), ("02",))
    more = with_more(left, 2)
    assert more.shards == ("00", "01", "04", "05"), "names of shards that left are not used again"
    assert more.folders == ("00", "01", "02", "03", "04", "05")
    save(tmp_path, more)
    assert load(tmp_path) == more
    with pytest.raises(CollectionError, match="4 of 4 shards cannot be taken away; at least one must stay"):
        with_more(new_manifest(4), -4)


def test_a_shard_that_left_and_owns_hosts_cannot_be(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 1, "shards": ["00"], "retired": ["00"]}')
    with pytest.raises(CollectionError, match="two shards of one name"):
        load(tmp_path)
    (tmp_path / FILE).write_text('{"version": 1, "shards": ["00"], "leaving": ["../x"]}')
    with pytest.raises(CollectionError, match="a shard named"):
        load(tmp_path)


def test_another_count_names_the_way(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="or resume it with --remove-shards 1"):
        require_count(tmp_path, new_manifest(4), 3)
    with pytest.raises(CollectionError, match="or resume it with --add-shards 2"):
        require_count(tmp_path, new_manifest(4), 6)
