"""A crawl by shards to be killed: `python cluster_victim.py FOLDER PORT SHARDS` prints its pages."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from shards import sharded_config

from honeyguide.cluster.coordinator import ShardedCrawl


async def main() -> None:
    folder, port, shards = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    config = sharded_config({"*.example": f"127.0.0.1:{port}"}, politeness={"delay": 0.2})
    job = ShardedCrawl(config, out=folder, shards=shards)
    async for progress in job.run():
        print(progress.pages, flush=True)
    print("done", job.reason, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
