"""Fixtures of the fetch tests."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # so that tests can import tests.fetch.servers

from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions

LOOPBACK = ip_network("127.0.0.0/8")


@pytest.fixture
def fetcher() -> Callable[..., HttpFetcher]:
    """Makes fetchers that may dial loopback, with a short deadline."""

    def make(**settings: object) -> HttpFetcher:
        options = FetchOptions(**{"deadline": 5.0, **settings})  # type: ignore[arg-type]
        return HttpFetcher(options, clock=time.time, guard=EgressGuard([LOOPBACK]))

    return make
