"""What the archive gives back is what the crawl read."""

from __future__ import annotations

import gzip
from pathlib import Path

import brotli
import pytest
from loopback import config_for, crawl_all, recording

from honeyguide.collection.collection import Collection
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime


async def test_two_codings_in_two_headers(tmp_path: Path) -> None:
    text = b"<title>Owls</title><p>The barn owl hunts at night. The owl eats mice."
    body = brotli.compress(gzip.compress(text))
    headers = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"), ("Content-Encoding", "br"))
    async with recording({"http://a.example/": Served(200, headers, body)}) as server:
        await crawl_all(config_for(["http://a.example/"], server.connect_to), tmp_path / "out")
    with Collection.open(tmp_path / "out") as collection:
        assert collection.status().relevant == 1
        assert collection.page("http://a.example/").body()[0] == text
