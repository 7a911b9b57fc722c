"""What the trap rules know, across a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.engine.checkpoint import ZoneMemory
from honeyguide.job.crawl import run_here
from honeyguide.store.state import State
from honeyguide.web.zones import Zones


def plain(zones: Zones) -> object:
    values, arrays = zones.save()
    return values, {name: array.tolist() for name, array in arrays.items()}


def crawl(folder: Path, pages: int) -> Path:
    run_here(lambda: finish(small_crawl(folder, max_pages=pages)))
    return folder


def restored(folder: Path, *, models: bool = True) -> tuple[int, Zones]:
    zones = Zones()
    with State.open(folder / "state.sqlite", read_only=True) as state:
        fed = ZoneMemory(state, folder / "models" if models else None, zones).restore()
    return fed, zones


def test_a_finished_crawl_has_nothing_to_read_again(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "made", 40)
    fed, zones = restored(folder)
    everything, anew = restored(folder, models=False)
    assert (fed, everything) == (0, 40)
    assert plain(zones) == plain(anew)
    crawl(folder, 55)
    assert (folder / "models" / "zones-55.npz").is_file()
    assert plain(restored(folder)[1]) == plain(restored(folder, models=False)[1])
    crawl(folder, 57)
    assert sorted(path.name for path in (folder / "models").glob("zones-*")) == [
        "zones-55.npz",
        "zones-57.npz",
    ]


def test_without_its_file_everything_is_read_again(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "made", 20)
    (folder / "models" / "zones-20.npz").unlink()
    assert restored(folder)[0] == 20


@pytest.mark.parametrize("kept", [-40, 100, 0])
def test_with_a_damaged_file_everything_is_read_again(tmp_path: Path, kept: int) -> None:
    folder = crawl(tmp_path / "made", 20)
    path = folder / "models" / "zones-20.npz"
    path.write_bytes(path.read_bytes()[:kept] + bytes(40))
    fed, zones = restored(folder)
    assert fed == 20
    assert plain(zones) == plain(restored(folder, models=False)[1])


def test_what_was_not_found_since_is_known_after_a_kill(tmp_path: Path) -> None:
    """The file is as old as the last save; the journal has what came after it."""
    folder = crawl(tmp_path / "made", 20)
    before = len(restored(folder)[1].save()[0]["failed"])  # type: ignore[arg-type]
    ends = (("client_error", "HTTP 404"), ("client_error", "HTTP 410"), ("not_a_page", "content type x/y"))
    with State.open(folder / "state.sqlite") as state:
        for number, (outcome, reason) in enumerate((*ends, ("server_error", "HTTP 500"))):
            data: dict[str, object] = {"outcome": outcome, "reason": reason}
            state.append_event("outcome", f"http://made.example/dead/{number}", data, at=1.0)
        state.commit()
    fed, zones = restored(folder)
    failed = zones.save()[0]["failed"]
    assert fed == 0
    assert isinstance(failed, dict)
    assert len(failed) == before + 1
    assert [count for zone, count in failed.items() if "dead" in zone] == [3]
