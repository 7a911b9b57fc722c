"""A host changes its owner: what the former owner asked for stays its own, whatever arrives first."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from crawls import small_topic

from honeyguide.engine.neighbours import Batch, Mailbox, Neighbours
from honeyguide.errors import CollectionError
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.crawl import Crawl
from honeyguide.model import Outcome
from honeyguide.store.outbox import Traveller, held_by
from honeyguide.store.state import State

URL = "http://moved.example/7"
FOUND_ON = "http://other.example/"
HELD = Traveller(URL, FOUND_ON, 0.5, outcome=int(Outcome.ELSEWHERE), reason=held_by("03"), handed=True)


class Nobody:
    """Must not be asked: the shard is dealt no page."""

    async def fetch(self, request: Request) -> Response | Failure:
        raise AssertionError(request.url)

    async def close(self) -> None:
        pass


async def enter(folder: Path, *links: tuple[str, Traveller]) -> tuple[Outcome, str]:
    """What a shard says of the URL once it has these links, in this order, each of one sender."""
    mailbox = Mailbox()
    neighbours = Neighbours("00", ("00", "01"), lambda _: "00", mailbox)
    job = Crawl(
        small_topic(),
        out=folder,
        recipe="breadth-first",
        fetcher=Nobody(),
        neighbours=neighbours,
        parse_workers=1,
    )

    async def run() -> None:
        async for _ in job.run():
            pass

    async with asyncio.timeout(60):
        crawl = asyncio.create_task(run())
        while not mailbox.standing.open and not crawl.done():  # noqa: ASYNC110 - the mailbox has no such event
            await asyncio.sleep(0.01)
        for sender, link in links:
            mailbox.deliver(sender, "run", [Batch(sender, "run", 1, [link])])
            while mailbox.deliver(sender, "run", []) != (1, 1) and not crawl.done():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        job.stop()
        await crawl
    with State.open(folder / "state.sqlite", read_only=True) as state:
        (found,) = state.connection.execute("SELECT status, reason FROM url WHERE url = ?", (URL,)).fetchall()
    return Outcome(found[0]), found[1]


@pytest.mark.parametrize(
    "outcome", [Outcome.WAITING, Outcome.NOFOLLOW, Outcome.SCOPE], ids=lambda one: one.name
)
@pytest.mark.parametrize("held_first", [False, True])
async def test_a_link_that_is_quicker_than_the_former_owner(
    outcome: Outcome, held_first: bool, tmp_path: Path
) -> None:
    """A link to the URL was on its way to the former owner, and goes to the new one."""
    link = Traveller(URL, FOUND_ON, 0.5, outcome=int(outcome), reason="a rule" if outcome else "")
    order = [("01", link), ("03", HELD)]
    found = await enter(tmp_path / "shard", *(order[::-1] if held_first else order))
    assert found == (Outcome.ELSEWHERE, held_by("03")), "the URL has an outcome in two shards"


async def test_one_shard_alone_is_not_resumed(tmp_path: Path) -> None:
    """Without the others it would ask hosts that are theirs, and spend a budget of its own."""
    await enter(tmp_path / "00", ("01", Traveller(URL, FOUND_ON, 0.5)))
    for _ in range(2):  # the folder is let go
        with pytest.raises(CollectionError, match=r"00 is one shard of a crawl, .*; resume the whole"):
            async for _ in Crawl(small_topic(), out=tmp_path / "00", fetcher=Nobody()).run():
                pass
