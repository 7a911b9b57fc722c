"""From an exception to the outcome it stands for."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from honeyguide.fetch.decode import BadEncoding
from honeyguide.fetch.egress import EgressRefused
from honeyguide.model import Outcome

_RULES: tuple[tuple[tuple[type[BaseException], ...], Outcome], ...] = (
    ((EgressRefused,), Outcome.EGRESS),
    ((BadEncoding,), Outcome.BAD_ENCODING),
    ((TimeoutError,), Outcome.TIMEOUT),
    ((aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError), Outcome.TLS),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), Outcome.DNS),
    ((aiohttp.ClientPayloadError,), Outcome.CONNECTION),
    ((aiohttp.ClientResponseError, HttpProcessingError, aiohttp.InvalidURL), Outcome.BAD_HTTP),
    ((aiohttp.ClientConnectionError, OSError), Outcome.CONNECTION),
)
"""First match wins; each rule is tried on the exception and on everything behind it."""


def outcome_of(error: BaseException) -> Outcome:
    """The outcome an exception of the HTTP client stands for; `BAD_HTTP` when nothing else fits."""
    chain = tuple(_chain(error))
    for kinds, outcome in _RULES:
        if any(isinstance(link, kinds) for link in chain):
            return outcome
    return Outcome.BAD_HTTP


def detail_of(error: BaseException) -> str:
    """One short printable line about an exception."""
    refused = next((link for link in _chain(error) if isinstance(link, EgressRefused)), error)
    said = refused.message if isinstance(refused, aiohttp.ClientResponseError) else str(refused)
    text = " ".join(said.split()) or type(refused).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(5):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__
