"""Which shard owns a host."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from honeyguide.cluster.assignment import Assignment, owner_of
from honeyguide.store.shards import shard_names

DOMAINS = [f"site{number}.example{number % 7}.org" for number in range(20_000)]


def test_owners_never_change_between_versions() -> None:
    """Folders on disks depend on these; a change needs another name in the manifest."""
    names = shard_names(8)
    owners = [owner_of(domain, names) for domain in ("example.org", "bbc.co.uk", "münchen.de", "127.0.0.1")]
    assert owners == ["06", "01", "07", "06"]


def test_order_of_names_does_not_matter() -> None:
    names = shard_names(5)
    assert all(owner_of(d, names) == owner_of(d, names[::-1]) for d in DOMAINS[:500])


@pytest.mark.parametrize("count", [2, 4, 8, 16])
def test_shards_get_equal_parts(count: int) -> None:
    owners = Counter(owner_of(domain, shard_names(count)) for domain in DOMAINS)
    fair = len(DOMAINS) / count
    assert len(owners) == count
    # Five standard deviations of a fair draw.
    assert max(abs(n - fair) for n in owners.values()) < 5 * (fair * (1 - 1 / count)) ** 0.5


def test_a_new_shard_takes_only_what_it_wins() -> None:
    before, after = shard_names(4), shard_names(5)
    moved = Counter(owner_of(d, after) for d in DOMAINS if owner_of(d, before) != owner_of(d, after))
    assert set(moved) == {"04"}
    assert moved["04"] == pytest.approx(len(DOMAINS) / 5, rel=0.08)


def test_a_shard_that_leaves_gives_up_only_its_own() -> None:
    before, after = ("00", "01", "02", "03"), ("00", "01", "03")
    moved = [d for d in DOMAINS if owner_of(d, before) != owner_of(d, after)]
    assert {owner_of(d, before) for d in moved} == {"02"}
    assert set(Counter(owner_of(d, after) for d in moved)) == {"00", "01", "03"}


def test_hosts_of_one_domain_stay_together() -> None:
    owners = Assignment(shard_names(16))
    urls = ["https://a.example.org/", "http://b.example.org:8080/x", "https://example.org/"]
    assert len({owners.of_url(url) for url in urls}) == 1


def test_another_process_says_the_same() -> None:
    program = (
        "from honeyguide.cluster.assignment import owner_of\n"
        "print(' '.join(owner_of(f'd{n}.org', ('00', '01', '02')) for n in range(50)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [owner_of(f"d{n}.org", ("00", "01", "02")) for n in range(50)]


def test_no_shards() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Assignment(())
