"""Snapshots of a shard: whole or not there, and the shard goes on from one as from its own folder."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from consistency import check_consistent, page_facts
from crawls import finish, small_crawl

from honeyguide.cluster.ray_cluster import ClusterError
from honeyguide.cluster.snapshots import Snapshots, Superseded, check_store

TAKE = """
import sys
from pathlib import Path
from honeyguide.cluster.snapshots import Snapshots
Snapshots(sys.argv[1], "00").take(Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled") / "00"
    asyncio.run(finish(small_crawl(folder, max_pages=40)))
    return folder


async def test_a_restored_shard_goes_on_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    store = Snapshots(str(tmp_path / "store"), "00")
    await finish(small_crawl(tmp_path / "00", max_pages=30))
    store.take(tmp_path / "00")
    await finish(small_crawl(tmp_path / "00", max_pages=60))
    store.take(tmp_path / "00")
    assert store.restore(tmp_path / "again" / "00")
    await finish(small_crawl(tmp_path / "again" / "00", max_pages=90))
    await finish(small_crawl(tmp_path / "00", max_pages=90))
    assert page_facts(tmp_path / "again" / "00") == page_facts(tmp_path / "00")
    check_consistent(tmp_path / "again" / "00", warcio=False)
    # The bytes of the archive were copied once.
    chunks = sorted(path.name for path in (tmp_path / "store" / "00" / "archive").rglob("*.warc.gz.*"))
    assert len(chunks) == 2
    assert chunks[0].endswith(".0-" + chunks[1].rpartition(".")[2].partition("-")[0])
    with pytest.raises(Superseded):
        store.take(tmp_path / "00")
    assert store.is_newer(tmp_path / "00")
    assert not store.is_newer(tmp_path / "again" / "00")


@pytest.mark.parametrize("place", ["snapshot.copied", "snapshot.taken"])
def test_killed_over_a_snapshot(tmp_path: Path, crawled: Path, place: str) -> None:
    store = tmp_path / "store"
    Snapshots(str(store), "00").take(crawled)
    environment = {**os.environ, "HONEYGUIDE_TESTS": "1", "HONEYGUIDE_FAIL_AT": place}
    died = subprocess.run(
        [sys.executable, "-c", TAKE, str(store), str(crawled)], env=environment, check=False
    )
    assert died.returncode == -signal.SIGKILL
    newest = Snapshots(str(store), "00").newest()
    assert newest is not None
    assert newest.number == (1 if place == "snapshot.copied" else 2)
    assert Snapshots(str(store), "00").restore(tmp_path / "00", claim=False)
    assert page_facts(tmp_path / "00") == page_facts(crawled)


def test_a_torn_record_is_passed_over(tmp_path: Path, crawled: Path) -> None:
    store = Snapshots(str(tmp_path / "store"), "00")
    store.take(crawled)
    store.take(crawled, ended=True)
    (tmp_path / "store" / "00" / "snapshot-0000000002.json").write_bytes(b'{"number": 2,')
    newest = store.newest()
    assert newest is not None
    assert newest.number == 1


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ClusterError, match="cannot be written"):
        check_store(str(tmp_path / "file" / "store"))
    with pytest.raises(ClusterError, match="nowhere"):
        check_store("nowhere://bucket/path")
    check_store(str(tmp_path / "new"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 on this machine."""
    pytest.importorskip("s3fs", reason="needs s3fs: pip install -c constraints.txt s3fs")
    moto = pytest.importorskip(
        "moto.server", reason="needs moto: pip install -c constraints.txt 'moto[s3,server]'"
    )
    server = moto.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    import s3fs

    s3fs.S3FileSystem(skip_instance_cache=True).mkdir("honeyguide")
    yield "s3://honeyguide/owls"
    server.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_bucket_is_as_good_as_a_folder(bucket: str, tmp_path: Path, crawled: Path) -> None:
    check_store(bucket)
    store = Snapshots(bucket, "00")
    assert store.newest() is None
    for _ in range(4):
        store.take(crawled, ended=True)
    assert store.restore(tmp_path / "00")
    assert page_facts(tmp_path / "00") == page_facts(crawled)
    check_consistent(tmp_path / "00", warcio=False)
    with pytest.raises(ClusterError, match="cannot be written"):
        check_store("s3://no-such-bucket/owls")
