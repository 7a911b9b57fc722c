"""How many may be connected to the portal, and how long a request may take to arrive.

No token is needed to connect, so connecting must cost us little. A request has to be there, headers and all,
in `HEAD_SECONDS`, however slowly its bytes trickle. `MOST` connections are kept; one more takes the place of
the one that has waited longest for its request. So whoever sends a whole request is answered, even while
others open thousands of connections and say nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
MOST = 256


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP protocol, with a deadline for the head of a request and a limit of connections."""

    head_seconds = HEAD_SECONDS
    most = MOST

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, if there is room for it or can be made."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            silent = [
                (one._head_timer.when(), number, one)
                for number, one in enumerate(self.connections)
                if isinstance(one, PatientProtocol) and one._head_timer is not None
            ]
            (min(silent)[2] if silent else self)._let_go()
        if not transport.is_closing():
            self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take what came; from the end of one request to the head of the next the deadline runs."""
        if not self._answering:
            self._wait_for_head()
        super().data_received(data)
        if self._answering:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The other side has gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._let_go)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _let_go(self) -> None:
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()
