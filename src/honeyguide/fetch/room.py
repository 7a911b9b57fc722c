"""Memory for large bodies: they share a number of bytes, and give them back to the system when dropped."""

from __future__ import annotations

import asyncio
import ctypes
import sys
from functools import lru_cache
from typing import Final

_MAPPED: Final = 4 << 20
"""Bytes from which on a block is mapped by itself."""
_KEPT: Final = 8 << 20
"""Free bytes at the end of the heap that are kept."""
_TRIM, _MAP = -1, -3
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's <malloc.h>."""


class Hold:
    """What one body takes of a room; nothing until it grows."""

    __slots__ = ("_room", "_size")

    def __init__(self, room: Room) -> None:
        self._room = room
        self._size = 0

    async def grow(self, size: int) -> None:
        """Have `size` bytes in all, waiting while there is no room.

        The oldest body is never made to wait, so one always comes to its end; a body that comes in drops
        keeps no more from others than it has received.
        """
        await self._room.grow(self, size - self._size)

    def fits(self, size: int) -> bool:
        """Have `size` bytes in all; false when whoever fills them has to wait, which is done with `grow`."""
        return self._room.fits(self, size - self._size)

    def give_back(self) -> None:
        """The body is gone. Doing so twice is allowed."""
        self._room.give_back(self)


class Room:
    """Bytes that large bodies may take together, from their arrival until they have been dealt with.

    Args:
        limit: Bytes. One body may go beyond it, so twice the largest body is the most that is ever held.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._holds: dict[Hold, None] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def hold(self) -> Hold:
        """A share that is empty so far."""
        return Hold(self)

    async def grow(self, hold: Hold, more: int) -> None:
        """See `Hold.grow`."""
        while not self.fits(hold, more):
            more = 0
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    def fits(self, hold: Hold, more: int) -> bool:
        """See `Hold.fits`."""
        self._holds.setdefault(hold)
        hold._size += more
        self.used += more
        return self.used <= self.limit or next(iter(self._holds)) is hold

    def give_back(self, hold: Hold) -> None:
        """See `Hold.give_back`."""
        if hold not in self._holds:
            return
        del self._holds[hold]
        self.used -= hold._size
        hold._size = 0
        waiting, self._waiting = self._waiting, []
        for turn in waiting:
            if not turn.done():
                turn.set_result(None)


@lru_cache(maxsize=1)
def give_back_large_blocks() -> bool:
    """Let glibc map blocks of four megabytes and more by themselves; whether that was possible.

    By default it learns, from the first large block that is freed, to take such blocks from its heap, where
    one small object above them keeps their memory for good: a crawl that has met a hundred hostile pages of
    megabytes stays 25 MB larger. Pages of usual size are below the limit, and so are the 280 KB that
    deflating a record takes for a moment and the arrays of a megabyte that page models and orders work on:
    mapped each time, their pages are cleared each time (50 faults a page, .1 ms of 3). The price are some
    10 MB that stay after hostile pages. Elsewhere than on Linux with glibc nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        settings = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(settings(_MAP, _MAPPED)) and bool(settings(_TRIM, _KEPT))
