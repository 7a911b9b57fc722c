"""Crawls that die at fail points, one forked child each, so that imports are paid once.

`python mortal.py` reads lines `FOLDER RECIPE PAGES FAIL_AT` and answers each with how the child ended: 0, or
minus the signal. With 0 PAGES the child visits all pages of the collection again, in a web that has changed.
FAIL_AT may also be `-` for no death, or `after:SECONDS` for one at that moment. Every URL a child asks for is
noted in `FOLDER.asked`.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import sys
import zlib
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from crawls import WEB, finish, small_crawl, small_topic

from honeyguide import failpoint
from honeyguide.engine.clock import VirtualClock
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher


class Noting(GeneratedFetcher):
    """Notes what it is asked for before it answers."""

    def __init__(self, clock: VirtualClock, log: Path) -> None:
        super().__init__(WEB, clock)
        self._log = log

    async def fetch(self, request: Request) -> Response | Failure:
        """As the generated web answers."""
        with self._log.open("a") as log:
            log.write(request.url + "\n")
        return await super().fetch(request)


class Changed(Noting):
    """The same web later: some pages say more, some are gone, some link to a page that nobody knew."""

    async def fetch(self, request: Request) -> Response | Failure:
        """As the generated web answers today."""
        answer = await super().fetch(request)
        if (
            isinstance(answer, Failure)
            or answer.status != 200
            or not answer.body.rstrip().endswith(b"</html>")
        ):
            return answer
        kind = zlib.crc32(request.url.encode()) % 10
        if kind == 0:
            return msgspec.structs.replace(
                answer, status=404, payload=b"", body=b"", response_head=b"HTTP/1.1 404 Not Found\r\n\r\n"
            )
        more = {2: b'<a href="later.html">later</a>', 3: b"<!-- 1 -->"}
        body = answer.body.replace(b"</body>", more.get(kind, b"") + b"</body>")
        if kind == 1:  # in the article: what stands beside it is no change of a page
            body = body.replace(b"</h1>", b"</h1><p>Something was added.</p>", 1)
        payload = gzip.compress(body, mtime=0) if answer.header("content-encoding") == "gzip" else body
        return msgspec.structs.replace(answer, payload=payload, body=body)


def child(folder: Path, recipe: str, pages: int, fail_at: str) -> None:
    """One crawl, or what there is of it."""
    if fail_at.startswith("after:"):
        signal.setitimer(
            signal.ITIMER_REAL, float(fail_at[6:])
        )  # SIGALRM, which nobody catches: death at once
    elif fail_at != "-":
        failpoint.arm({"HONEYGUIDE_TESTS": "1", "HONEYGUIDE_FAIL_AT": fail_at})
    clock = VirtualClock()
    asked = (Noting if pages else Changed)(clock, folder.with_suffix(".asked"))
    if not pages:
        crawl = Crawl(small_topic(), out=folder, recipe=recipe, clock=clock, fetcher=asked)
        asyncio.run(again(crawl))
        return
    crawl = Crawl(small_topic(), out=folder, recipe=recipe, clock=clock, fetcher=asked, max_pages=pages)
    asyncio.run(finish(crawl))


async def again(crawl: Crawl) -> None:
    """Visit everything once more."""
    async for _ in crawl.recrawl():
        pass


def main() -> None:
    """Serve until the end of the input."""
    asyncio.run(finish(small_crawl(None, max_pages=2)))  # compiled code is loaded once, not by every child
    for line in sys.stdin:
        folder, recipe, pages, fail_at = line.split()
        process = os.fork()
        if not process:
            try:
                child(Path(folder), recipe, int(pages), fail_at)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
