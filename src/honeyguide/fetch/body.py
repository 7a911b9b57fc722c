"""Reading one body: streamed, counted, decoded under a limit, and kept when it breaks off."""

from __future__ import annotations

import asyncio

import aiohttp

from honeyguide.fetch.base import Request
from honeyguide.fetch.decode import PIECE, BadEncoding, Decoder, codings
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.room import Hold
from honeyguide.fetch.trouble import detail_of, outcome_of
from honeyguide.model import Outcome

LARGE = 256 * 1024
"""Bytes from which a body needs room among the large ones."""


class Body:
    """The body of one answer while it arrives.

    `read` takes bytes until the end, a limit, the deadline or a fault; `end` then says what the exchange
    amounts to. A 2xx page that is too large or cannot be decoded is a failure; other answers keep what
    came, since their status and headers are what matters.
    """

    def __init__(
        self,
        answer: aiohttp.ClientResponse,
        request: Request,
        *,
        options: FetchOptions,
        hold: Hold,
    ) -> None:
        self._answer = answer
        self._request = request
        self._options = options
        self._hold = hold
        self._good = 200 <= answer.status < 300
        limit = min(request.max_bytes, options.max_bytes)
        self.limit = limit if self._good else min(limit, options.max_error_bytes)
        self._pieces: list[bytes] = []
        self.received = 0
        """Bytes as sent, transfer coding removed."""
        self._over = False
        self._slow = False
        self._decoder: Decoder | None = None
        self._fault: BadEncoding | None = None
        self._unwanted = ""
        self._body_began = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def read(self, scope: asyncio.Timeout) -> None:
        """Read until the end or a limit. Network faults and the deadline are raised, to be given to `end`."""
        if self._good and self._refused():
            return
        names = codings(",".join(self._answer.headers.getall("Content-Encoding", ())))
        try:
            self._decoder = Decoder(names, self.limit) if names else None
            await self._stream(scope)
        except BadEncoding as error:
            self._fault = error

    def _refused(self) -> bool:
        """Answers that need not be read: of a type nobody wants, or too large by their own account."""
        kind = self._answer.headers.get("Content-Type", "").strip().lower()
        if self._request.types and kind and not kind.startswith(self._request.types):
            self._unwanted = kind.partition(";")[0][:80]
            return True
        length = self._answer.headers.get("Content-Length", "")
        self._over = self._request.purpose == "page" and length.isdecimal() and int(length[:18]) > self.limit
        return self._over

    async def _stream(self, scope: asyncio.Timeout) -> None:
        content = self._answer.content
        try:
            while piece := await content.readany():
                if not self._take(piece):
                    return
                if self._size > LARGE:
                    # Many large bodies at once would fill the memory; the others' senders have to wait.
                    await self._hold.grow(self._size)
                if self._timer is None and self._options.floor_speed and not content.is_eof():
                    self._watch(scope)
        except BadEncoding:
            raise
        except Exception:
            # aiohttp raises before it hands out what it had already received.
            buffered = getattr(content, "_buffer", None)
            for piece in tuple(buffered or ()):
                if not self._take(bytes(piece)):
                    break
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _take(self, piece: bytes) -> bool:
        """Count, keep and decode one piece; false when a limit is reached."""
        room = self.limit - self.received if self._decoder is None else self.limit + PIECE - self.received
        if len(piece) > room:
            self._over = True
            piece = piece[: max(0, room)]
        self.received += len(piece)
        self._pieces.append(piece)
        if self._decoder is not None and not self._decoder.feed(piece):
            self._over = True
        if self._over and self._good and self._request.purpose == "page":
            # Such an answer ends as a failure: what it wanted to fill the memory with is let go of.
            self.drop()
        return not self._over

    def drop(self) -> None:
        """Let go of what was received."""
        self._pieces.clear()
        if self._decoder is not None:
            self._decoder.drop()

    @property
    def _size(self) -> int:
        """Bytes held."""
        return self.received + (0 if self._decoder is None else self._decoder.decoded)

    def _watch(self, scope: asyncio.Timeout) -> None:
        """Look at the average speed once the grace time has passed, and every second from then on."""
        loop = asyncio.get_running_loop()
        self._body_began = loop.time()

        def look() -> None:
            seconds = loop.time() - self._body_began
            if self.received < self._options.floor_speed * seconds:
                self._slow = True
                if not scope.expired():  # the deadline may be passing this very moment
                    scope.reschedule(loop.time())
            else:
                self._timer = loop.call_later(1.0, look)

        self._timer = loop.call_later(self._options.floor_after, look)

    @property
    def payload(self) -> bytes:
        """What was received, content coding still on."""
        if len(self._pieces) != 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    @property
    def decoded(self) -> bytes:
        """The body with its content coding removed."""
        if self._fault is not None:
            return b""
        return self.payload if self._decoder is None else self._decoder.body()

    def end(self, trouble: Exception | None) -> tuple[Outcome, str]:
        """`FETCHED` with why the body is incomplete (or nothing), or another outcome with a detail."""
        if self._unwanted:
            return Outcome.NOT_A_PAGE, f"content type {self._unwanted}"
        if self._over and self._good and self._request.purpose == "page":
            return Outcome.TOO_LARGE, f"more than {self.limit} bytes"
        if trouble is not None:
            return self._broken_off(trouble)
        if self._fault is not None:
            return (
                (Outcome.BAD_ENCODING, detail_of(self._fault))
                if self._good
                else (Outcome.FETCHED, "encoding")
            )
        if self._over:
            return Outcome.FETCHED, "length"
        whole = self._decoder is None or self._decoder.complete
        return Outcome.FETCHED, "" if whole else "disconnect"

    def _broken_off(self, trouble: Exception) -> tuple[Outcome, str]:
        outcome = outcome_of(trouble)
        late = outcome is Outcome.TIMEOUT
        if self._good and not self.received:
            if late:
                return outcome, "too slow" if self._slow else "deadline passed in the body"
            return outcome, detail_of(trouble)
        if self._fault is not None and self._good:
            return Outcome.BAD_ENCODING, detail_of(self._fault)
        return Outcome.FETCHED, "time" if late else "disconnect"
