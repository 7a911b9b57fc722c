"""Set-ups that cannot work are refused in one clear line, before anything is started."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import aiohttp
import msgspec
import pytest
from loopback import config_for

from honeyguide.cli import main
from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import ClusterError, Connection, import_ray
from honeyguide.cluster.scripts import recrawl
from honeyguide.cluster.shard import Shard
from honeyguide.cluster.snapshots import Claim
from honeyguide.engine.neighbours import Standing
from honeyguide.errors import CollectionError, HoneyguideError, MissingExtra
from honeyguide.job.metrics import serve_metrics
from honeyguide.store.layout import Layout
from honeyguide.store.lock import Lock
from honeyguide.store.shards import is_sharded, new_manifest, save, with_more, with_retired

CONFIG = config_for(["http://a.example/"], {})


async def run(job: ShardedCrawl) -> None:
    async for _ in job.run():
        pass


def test_no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"honeyguide\[cluster\]"):
        import_ray()


def test_no_cluster_at_the_address() -> None:
    with pytest.raises(ClusterError, match=r"no Ray cluster answers at 127\.0\.0\.1:1 .*; check the address"):
        Connection("127.0.0.1:1")


def test_a_cluster_that_does_not_let_us_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself says no more than that it failed, also where all it lacks is the cluster's token."""

    def refused(**_: object) -> None:
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr(import_ray(), "init", refused)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(ClusterError, match=rf"{address} answers, but .*RAY_AUTH_MODE=token"):
            Connection(address)


async def test_two_coordinators_on_one_folder(tmp_path: Path) -> None:
    job = ShardedCrawl(CONFIG, out=tmp_path / "many", shards=2)
    Layout.create(tmp_path / "many", topic="")
    lock = Lock(tmp_path / "many" / "shards.json")
    with pytest.raises(CollectionError, match="is in use by"):
        await run(job)
    lock.close()


async def test_two_coordinators_on_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = str(tmp_path / "store")
    (tmp_path / "store").mkdir()
    first = Claim(store, "one")
    first.take()
    with pytest.raises(ClusterError, match="another collection"):
        Claim(store, "two").take()
    held = tmp_path / "store" / "coordinator.json"
    elsewhere = {**msgspec.json.decode(held.read_bytes()), "machine": "node7"}
    held.write_bytes(msgspec.json.encode(elsewhere))
    with pytest.raises(ClusterError, match=r"another coordinator works on .* of node7"):
        Claim(store, "one").take()
    first.release()
    Claim(store, "one").take()


async def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    job = ShardedCrawl(CONFIG, out=tmp_path / "many", shards=2, store=str(tmp_path / "file" / "store"))
    with pytest.raises(ClusterError, match=r"cannot be written .*; check its name"):
        await run(job)


async def test_what_did_not_begin_does_not_bind_the_next_try(tmp_path: Path) -> None:
    """A mistyped store or address is not what the collection has from then on."""
    out = tmp_path / "many"
    (tmp_path / "file").write_text("")
    for ray, store in (("", tmp_path / "file" / "store"), ("127.0.0.1:1", tmp_path / "store")):
        with pytest.raises(ClusterError):
            await run(ShardedCrawl(CONFIG, out=out, shards=2, ray=ray, store=str(store)))
    assert not is_sharded(out)
    assert len(ShardedCrawl(CONFIG, out=out, shards=3, store=str(tmp_path / "other")).manifest.shards) == 3


def test_another_number_of_shards_or_another_store(tmp_path: Path) -> None:
    Layout.create(tmp_path / "many", topic="")
    save(tmp_path / "many", new_manifest(3, store="/mnt/owls"))
    with pytest.raises(CollectionError, match="has 3 shards, not 4; leave out --shards"):
        ShardedCrawl(CONFIG, out=tmp_path / "many", shards=4)
    with pytest.raises(
        CollectionError, match="has its shards in /mnt/owls, not in s3://b/x; leave out --store"
    ):
        ShardedCrawl(CONFIG, out=tmp_path / "many", store="s3://b/x")


def test_a_cluster_needs_a_store(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="--ray needs --store"):
        ShardedCrawl(CONFIG, out=tmp_path / "many", shards=2, ray="10.0.0.1:6379")


def test_what_shards_cannot_do_is_said(tmp_path: Path) -> None:
    out = tmp_path / "many"
    Layout.create(out, topic="")
    save(out, with_retired(with_more(new_manifest(2), -1), "01"))
    with pytest.raises(CollectionError, match=r"shards have left .*many.* honeyguide merge .* --rejudge"):
        ShardedCrawl(CONFIG, out=out, on_change="rejudge")
    with pytest.raises(CollectionError, match=r"consists of shards, .*; leave out on_event"):
        recrawl(out, on_event=print)


async def test_metrics_of_all_shards(tmp_path: Path) -> None:
    job = ShardedCrawl(CONFIG, out=tmp_path / "many", shards=2)
    job._standings |= {"00": Standing(pages=3, relevant=1, known=20), "01": Standing(pages=5, waiting=7)}
    async with serve_metrics(job, port=0) as port, aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
            told = await answer.text()
        async with session.get(f"http://127.0.0.1:{port}/readyz") as answer:
            assert answer.status == 503
    for line in ("pages_total 8", "relevant_pages_total 1", "known_urls 20", "waiting_urls 7", "shards 2"):
        assert f"\nhoneyguide_{line}\n" in told, line


def test_another_version_on_another_machine(tmp_path: Path) -> None:
    shard = Shard("00", ("00", "01"), str(tmp_path / "00"), CONFIG, software="honeyguide/0.0.1")
    with pytest.raises(ClusterError, match=r"was started by honeyguide/0\.0\.1; install the same version"):
        shard.start({}, {})


def test_the_command_line_says_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["crawl", "https://example.org/", "--keywords", "owl", "--out", str(tmp_path / "many")]
    assert main([*words, "--ray", "10.0.0.1:6379"]) == 2
    assert "--ray needs --store" in capsys.readouterr().err
    assert main([*words, "--shards", "0"]) == 2
    assert "0 shards cannot be" in capsys.readouterr().err
    assert issubclass(ClusterError, HoneyguideError)
