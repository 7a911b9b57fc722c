"""Reads a lab web in process: real fetch results, a virtual clock, no sockets."""

from __future__ import annotations

from http.client import responses
from typing import Protocol

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.decode import BadEncoding, Decoder, codings
from honeyguide.lab.webs.served import Servable, Served
from honeyguide.model import Outcome


class Clock(Protocol):
    """The part of the crawl's clock that a fetch needs."""

    def now(self) -> float:
        """The time in seconds."""
        ...

    def advance(self, seconds: float) -> None:
        """Say that something took this long."""
        ...


class GeneratedFetcher:
    """A `Fetcher` over any servable web. Equal calls give equal answers and equal times.

    Every request takes `latency` plus the answer's own delay, and a hanging host takes `deadline`
    seconds; that time is added to the clock, never waited for.

    Args:
        web: What to read from.
        clock: The crawl's clock.
        latency: Seconds every request takes.
        deadline: Seconds after which a request is given up.
    """

    def __init__(self, web: Servable, clock: Clock, *, latency: float = 0.02, deadline: float = 30.0) -> None:
        self._web = web
        self._clock = clock
        self._latency = latency
        self._deadline = deadline

    async def fetch(self, request: Request) -> Response | Failure:
        """The web's answer for the URL."""
        answer = self._web.get(request.url)
        started = self._clock.now()
        seconds = self._latency + answer.delay
        late = answer.behaviour == "hang" or seconds > self._deadline
        seconds = self._deadline if late else seconds
        self._clock.advance(seconds)
        if late:
            return Failure(request.url, Outcome.TIMEOUT, "no answer in time", "", started, seconds)
        if answer.behaviour == "reset":
            return Failure(request.url, Outcome.CONNECTION, "connection reset", "", started, seconds)
        return self._response(request, answer, started=started, seconds=seconds)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _response(
        self, request: Request, answer: Served, *, started: float, seconds: float
    ) -> Response | Failure:
        payload = answer.body
        truncated = ""
        if answer.behaviour == "cut":
            payload, truncated = payload[: len(payload) // 2], "disconnect"
        coding = next((value for name, value in answer.headers if name.lower() == "content-encoding"), "")
        try:
            decoder = Decoder(codings(coding), request.max_bytes)
            decoder.feed(payload)
        except BadEncoding as error:
            return Failure(request.url, Outcome.BAD_ENCODING, str(error), "", started, seconds)
        if decoder.full:
            detail = f"more than {request.max_bytes} bytes"
            return Failure(request.url, Outcome.TOO_LARGE, detail, "", started, seconds)
        reason = responses.get(answer.status, "")
        return Response(
            url=request.url,
            status=answer.status,
            headers=answer.headers,
            body=decoder.body(),
            payload=payload,
            reason=reason,
            truncated=truncated,
            started_at=started,
            seconds=seconds,
            request_head=request_head(request.url),
            response_head=response_head(answer, reason, len(payload)),
        )


def request_head(url: str) -> bytes:
    """The request as a client would send it, for the archive."""
    host, slash, path = url.partition("://")[2].partition("/")
    return f"GET {slash or '/'}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def response_head(answer: Served, reason: str, length: int) -> bytes:
    """Status line and headers as a server would send them, for the archive."""
    lines = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in answer.headers)]
    return ("\r\n".join([*lines, f"Content-Length: {length}"]) + "\r\n\r\n").encode()
