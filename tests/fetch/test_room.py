"""Large bodies share a number of bytes, and one always gets on."""

from __future__ import annotations

import asyncio

from honeyguide.fetch.room import Room, give_back_large_blocks


async def test_the_oldest_goes_on_and_others_wait_for_it() -> None:
    room = Room(100)
    first, second = room.hold(), room.hold()
    await first.grow(90)
    waiting = asyncio.ensure_future(second.grow(20))
    await asyncio.sleep(0)
    assert not waiting.done()
    await first.grow(150)  # beyond the limit, but nobody is older
    await asyncio.sleep(0)
    assert not waiting.done()
    first.give_back()
    await waiting
    assert room.used == 20
    second.give_back()
    second.give_back()
    assert room.used == 0


async def test_one_that_gives_up_leaves_nothing_behind() -> None:
    room = Room(10)
    first, second, third = room.hold(), room.hold(), room.hold()
    await first.grow(10)
    tasks = [asyncio.ensure_future(hold.grow(5)) for hold in (second, third)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.gather(tasks[0], return_exceptions=True)
    second.give_back()
    first.give_back()
    await tasks[1]
    assert room.used == 5


def test_the_allocator_is_asked_once() -> None:
    assert give_back_large_blocks() is give_back_large_blocks()
