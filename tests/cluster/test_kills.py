"""SIGKILL of shards, of nodes, of the coordinator and of all: nothing is lost, and the pages are one crawl's.

`HONEYGUIDE_KILLS=50` kills shards and nodes at 50 random moments on a cluster of three nodes, and a
coordinator with all its shards at ten more; by default it is a few.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from loopback import Recorder, crawl_all, outcomes, recording
from shards import all_ends, asked, check_shards, recording_aside, sharded_config, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection, import_ray

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]

VICTIM = Path(__file__).parents[1] / "support" / "cluster_victim.py"
KILLS = int(os.environ.get("HONEYGUIDE_KILLS", "4"))
EVERY = 2.0
"""Seconds between two snapshots."""


async def one_crawl(server: Recorder, folder: Path) -> None:
    """The same web by one crawl, to compare with."""
    await crawl_all(sharded_config(server.connect_to), folder)
    server.urls.clear()


async def test_a_killed_shard_goes_on(tmp_path: Path) -> None:
    connection = Connection("")
    try:
        async with recording(write) as server:
            await one_crawl(server, tmp_path / "one")
            config = sharded_config(server.connect_to, politeness={"delay": 0.2})
            job = ShardedCrawl(config, out=tmp_path / "many", shards=3)
            kills = [12, 40, 70]
            async for progress in job.run():
                if kills and progress.pages >= kills[0]:
                    shard = random.Random(kills[0]).choice(list(job.actors))
                    call = job.actors[shard].process.remote()
                    with suppress(
                        import_ray().exceptions.RayActorError
                    ):  # it is being started again from the last kill
                        os.kill(await asyncio.wrap_future(call.future()), signal.SIGKILL)
                        kills.pop(0)
            repeated = {url: count for url, count in asked(server.urls).items() if count > 1}
        assert not kills
        assert job.restarts >= 2
        assert all_ends(tmp_path / "many") == outcomes(tmp_path / "one")
        # At most what was under way, or in the transaction that was open, of each that died.
        assert len(repeated) <= 3 * 16
        check_shards(tmp_path / "many")
    finally:
        connection.close()


async def test_a_killed_coordinator_takes_its_shards_along_and_is_resumed(tmp_path: Path) -> None:
    async with recording(write) as server:
        await one_crawl(server, tmp_path / "one")
        command = [sys.executable, str(VICTIM), str(tmp_path / "many"), str(server.port), "2"]
        chance = random.Random(KILLS)
        moments = sorted(chance.sample(range(3, 92), max(2, KILLS // 5)))
        for most in (*moments, 10_000):
            process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
            assert process.stdout is not None
            said = ""
            async for line in process.stdout:
                said = line.decode().strip()
                if said.isdigit() and int(said) >= most:
                    process.send_signal(signal.SIGKILL)
                    break
            await process.communicate()
        assert said == "done nothing left to fetch"
    assert all_ends(tmp_path / "many") == outcomes(tmp_path / "one")
    check_shards(tmp_path / "many")


class Nodes:
    """A Ray cluster of nodes on this machine."""

    def __init__(self, count: int) -> None:
        import_ray()
        from ray.cluster_utils import Cluster

        self._next = 2
        head = {"num_cpus": 0, "node_ip_address": self._address(), "include_dashboard": False}
        self._cluster: Any = Cluster(
            initialize_head=True, head_node_args={**head, "object_store_memory": 100 << 20}
        )
        self.nodes = [self.add() for _ in range(count)]
        self._cluster.wait_for_nodes()

    def _address(self) -> str:
        self._next += 1
        return f"127.0.0.{self._next - 1}"

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self) -> Any:
        return self._cluster.add_node(
            num_cpus=3, node_ip_address=self._address(), object_store_memory=100 << 20
        )

    async def replace(self, place: int) -> None:
        """Kill a node with all its processes; another one joins."""
        await asyncio.to_thread(self._cluster.remove_node, self.nodes[place], False)
        self.nodes[place] = self.add()  # Ray wants the main thread for this

    def close(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    found = Nodes(2)
    yield found
    found.close()


async def test_nodes_and_shards_killed_at_random_moments(tmp_path: Path, nodes: Nodes) -> None:
    chance = random.Random(KILLS)
    with recording_aside(write) as server:
        await one_crawl(server, tmp_path / "one")
        config = sharded_config(server.connect_to, politeness={"delay": 0.2})
        done, crawls = 0, 0
        while done < KILLS:
            crawls += 1
            out = tmp_path / f"many{crawls}"
            job = ShardedCrawl(
                config,
                out=out,
                shards=3,
                ray=nodes.address,
                store=str(tmp_path / f"store{crawls}"),
                work=tmp_path / "work",
                snapshot_seconds=EVERY,
            )
            moments = sorted(chance.randrange(5, 95) for _ in range(min(4, KILLS - done)))
            server.urls.clear()
            async for progress in job.run():
                if moments and progress.pages >= moments[0]:
                    moments.pop(0)
                    done += 1
                    if chance.random() < 0.5:
                        await nodes.replace(chance.randrange(2))
                    else:
                        shard = chance.choice(list(job.actors))
                        call = job.actors[shard].process.remote()
                        try:
                            os.kill(await asyncio.wrap_future(call.future()), signal.SIGKILL)
                        except Exception:
                            continue  # it is being started again from the last kill
            assert job.reason == "nothing left to fetch"
            assert all_ends(out) == outcomes(tmp_path / "one")
            check_shards(out)
            done += len(moments)  # the crawl was over before its last moments came
            most = max(asked(server.urls).values())
            assert most <= 1 + 4, "a page was asked for more often than shards died"
