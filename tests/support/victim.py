"""A crawl to be killed: `python victim.py FOLDER PAGES` prints each committed page's number."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from crawls import small_crawl


async def main() -> None:
    crawl = small_crawl(Path(sys.argv[1]), recipe=sys.argv[3], max_pages=int(sys.argv[2]))
    async for event in crawl.run():
        if event.kind == "page":
            print(event.data["number"], flush=True)
    print("done", crawl.reason, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
