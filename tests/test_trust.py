from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from honeyguide.trust import is_ours, is_trusted, remember_trust, seal, state_folder


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HONEYGUIDE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_seal_is_known_again_and_cannot_be_guessed(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = seal("a")
    assert is_ours("a", sealed)
    assert not is_ours("b", sealed)
    assert not is_ours("a", "")
    assert not is_ours("", seal(""))
    assert stat.S_IMODE((state / "key").stat().st_mode) == 0o600
    monkeypatch.setenv("HONEYGUIDE_STATE", str(state / "another-user"))
    assert not is_ours("a", sealed)


def test_processes_that_begin_at_once_agree_on_a_key(state: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: seal("a"), range(64)))) == 1
    assert [path.name for path in state.iterdir()] == ["key"]


def test_a_damaged_key_is_replaced(state: Path) -> None:
    before = seal("a")
    (state / "key").write_bytes(b"short")
    assert seal("a") not in ("", before)


def test_answers_are_remembered_for_a_file_and_what_it_reaches(state: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    assert not is_trusted(one, ["x"])
    remember_trust(one, ["x"])
    remember_trust(one, ["x"])
    assert is_trusted(one, ["x"])
    assert not is_trusted(one, ["x", "y"])
    assert not is_trusted(two, ["x"])
    assert len((state / "trusted").read_text().splitlines()) == 1


def test_where_nothing_can_be_kept_everything_is_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HONEYGUIDE_STATE", str(tmp_path / "file" / "below"))
    assert seal("a") == ""
    assert is_ours("a", "")
    assert is_trusted(tmp_path, ["x"])


def test_the_state_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HONEYGUIDE_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "/x")
    assert state_folder() == Path("/x/honeyguide")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/owl")
    assert state_folder() == Path("/home/owl/.local/state/honeyguide")
    assert os.environ["HOME"] == "/home/owl"
