"""Answers are packed for the archive where pages are parsed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from archive_check import check_archive
from loopback import HTML, config_for, crawl_all, page, recording

from honeyguide.lab.webs.served import Served
from honeyguide.store import archive
from honeyguide.store.packed import QUICK, joined

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(QUICK is None, reason="ISA-L is not built for this machine"),
]


async def test_plain_pages_arrive_packed_and_compressed_ones_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = page("/squeezed", "/missing")
    squeezed = Served(200, (*HTML, ("Content-Encoding", "gzip")), gzip.compress(page(text="tawny").body))
    taken: list[bytes] = []

    def noting(head: bytes, payload: bytes, deflated: bytes) -> bytes:
        taken.append(payload)
        return joined(head, payload, deflated)

    monkeypatch.setattr(archive, "joined", noting)
    async with recording({"http://a.example/": plain, "http://a.example/squeezed": squeezed}) as server:
        crawl, _ = await crawl_all(config_for(["http://a.example/"], server.connect_to), tmp_path / "out")
    assert crawl.tally.pages == 2
    assert taken == [plain.body]
    for file in (tmp_path / "out").rglob("*.warc.gz"):
        check_archive(file)
