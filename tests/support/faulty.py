"""Crawls on a disk that fails, one forked child each (see `faulty.c`, which must be loaded before).

`python faulty.py LIBRARY` reads lines `FOLDER PAGES KIND AT COUNT SYNC` and answers each with: exit status,
how many calls of that kind it made, and the error it told, as JSON. KIND -1 is a sound disk.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from crawls import finish, small_crawl

from honeyguide.cli.failure import explain


def child(library: ctypes.CDLL, words: list[str]) -> tuple[int, str]:
    """One crawl, or what there is of it."""
    folder, pages, kind, at, count, sync = words
    crawl = small_crawl(Path(folder), max_pages=int(pages))
    crawl.config = crawl.config.model_copy(
        update={"storage": crawl.config.storage.model_copy(update={"sync": sync})}
    )
    library.fault_arm(folder.encode(), int(kind), ctypes.c_long(int(at)), ctypes.c_long(int(count)))
    try:
        asyncio.run(finish(crawl))
    except Exception as error:
        return explain(error)[1], explain(error)[0]
    return 0, ""


def main() -> None:
    """Serve until the end of the input."""
    library = ctypes.CDLL(sys.argv[1])
    asyncio.run(finish(small_crawl(None, max_pages=2)))  # compiled code is loaded once, not by every child
    for line in sys.stdin:
        reading, writing = os.pipe()
        process = os.fork()
        if not process:
            os.close(reading)
            status, said = child(library, line.split())
            os.write(writing, json.dumps([status, library.fault_seen(), said]).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            told = pipe.read()
        os.waitpid(process, 0)
        sys.stdout.write((told.decode() or '[-9, 0, ""]') + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
