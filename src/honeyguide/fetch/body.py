"""The body of one answer while it arrives: counted, decoded under a limit, kept when it breaks off."""

from __future__ import annotations

from honeyguide.fetch.answer import Head
from honeyguide.fetch.base import Request
from honeyguide.fetch.decode import PIECE, BadEncoding, Decoder, codings
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.room import Hold

LARGE = 256 * 1024
"""Bytes from which a body needs room among the large ones."""


class Body:
    """What came of a body.

    A 2xx page that is too large or cannot be decoded is a failure; other answers keep what came, since their
    status and headers are what matters.
    """

    __slots__ = (
        "_decoder",
        "_pieces",
        "_purpose",
        "_types",
        "fault",
        "good",
        "head",
        "hold",
        "limit",
        "over",
        "received",
        "slow",
        "unwanted",
    )

    def __init__(self, request: Request, options: FetchOptions, hold: Hold) -> None:
        self._purpose = request.purpose
        self._types = request.types
        self.hold = hold
        self.limit = min(request.max_bytes, options.max_bytes)
        self.head: Head | None = None
        self.good = False
        """Whether the answer is 2xx."""
        self.received = 0
        """Bytes as sent, transfer coding removed."""
        self.over = False
        self.slow = False
        """Whether it was given up as too slow."""
        self.fault: BadEncoding | None = None
        self.unwanted = ""
        """The media type that nobody wants."""
        self._pieces: list[bytes] = []
        self._decoder: Decoder | None = None

    def begin(self, head: Head, max_error_bytes: int) -> bool:
        """Take the head; false when the body need not be read."""
        self.head = head
        self.good = 200 <= head.status < 300
        if not self.good:
            self.limit = min(self.limit, max_error_bytes)
        said = head.fields.get
        if self.good and self._refused(said("content-type", ""), said("content-length", "")):
            return False
        coded = said("content-encoding")
        names = codings(coded.replace("\n", ",")) if coded else ()
        try:
            self._decoder = Decoder(names, self.limit) if names else None
        except BadEncoding as error:
            self.fault = error
            return False
        return True

    def _refused(self, kind: str, length: str) -> bool:
        """Answers that need not be read: of a type nobody wants, or too large by their own account."""
        if self._types and kind:
            kind = kind.partition("\n")[0].lower()
            if not kind.startswith(self._types):
                self.unwanted = kind.partition(";")[0][:80]
                return True
        length = length.partition("\n")[0]
        self.over = self._purpose == "page" and length.isdecimal() and int(length) > self.limit
        return self.over

    def take(self, piece: bytes) -> bool:
        """Count, keep and decode one piece; false when a limit is reached or it cannot be decoded."""
        room = self.limit - self.received if self._decoder is None else self.limit + PIECE - self.received
        if len(piece) > room:
            self.over = True
            piece = piece[: max(0, room)]
        self.received += len(piece)
        self._pieces.append(piece)
        if self._decoder is not None:
            try:
                if not self._decoder.feed(piece):
                    self.over = True
            except BadEncoding as error:
                self.fault = error
                return False
        if self.over and self.good and self._purpose == "page":
            # Such an answer ends as a failure: what it wanted to fill the memory with is let go of.
            self.drop()
        return not self.over

    def drop(self) -> None:
        """Let go of what was received."""
        self._pieces.clear()
        if self._decoder is not None:
            self._decoder.drop()

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.received + (0 if self._decoder is None else self._decoder.decoded)

    @property
    def payload(self) -> bytes:
        """What was received, content coding still on."""
        if len(self._pieces) != 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    @property
    def decoded(self) -> bytes:
        """The body with its content coding removed."""
        if self.fault is not None:
            return b""
        return self.payload if self._decoder is None else self._decoder.body()

    @property
    def refused(self) -> bool:
        """Whether it ends as too large."""
        return self.over and self.good and self._purpose == "page"

    @property
    def complete(self) -> bool:
        """Whether the content coding came to its end."""
        return self._decoder is None or self._decoder.complete
