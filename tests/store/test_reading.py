"""Collections in folders that cannot be written to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from honeyguide.errors import CollectionError
from honeyguide.store.index import FullText
from honeyguide.store.state import State


@pytest.fixture
def folder() -> Iterator[Path]:
    """One with an odd name that any user can look into."""
    made = Path(tempfile.mkdtemp(prefix="odd ?#%name"))
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


def without_rights(work: Callable[[], str]) -> str:
    """What a user says who may write nothing here. For root, whom no mode stops, in a process of nobody's."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            os.write(writing, work().encode())
        except BaseException as error:  # to be seen by the test
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as stream:
        return stream.read().decode()


def read(folder: Path) -> str:
    """Something of the state and of the index."""
    try:
        (folder / "new").touch()
    except PermissionError:
        pass
    else:
        return "could write"
    try:
        with State.open(folder / "state.sqlite", read_only=True) as state:
            index = FullText.open(folder / "index.sqlite", read_only=True)
            found = f"{state.setting('clock')} {index.size()}"
            index.close()
            return found
    except CollectionError as error:
        return str(error)


def fill(folder: Path) -> None:
    index = FullText.open(folder / "index.sqlite")
    index.add(1, "http://a.example/", title="Owl", text="barn owl")
    index.commit()
    index.close()


def test_a_collection_is_read_where_nothing_can_be_written(folder: Path) -> None:
    with State.open(folder / "state.sqlite") as state:
        state.put_setting("clock", 1.5)
        state.commit()
    fill(folder)
    assert sorted(path.name for path in folder.iterdir() if path.stat().st_size) == [
        "index.sqlite",
        "state.sqlite",
        "state.sqlite.lock",
    ]
    folder.chmod(0o555)
    assert without_rights(lambda: read(folder)) == "1.5 1"


def test_what_was_not_ended_in_order_is_not_read_by_halves(folder: Path) -> None:
    fill(folder)
    with State.open(folder / "state.sqlite") as state:
        state.put_setting("clock", 1.5)
        state.commit()
        for path in folder.glob("state.sqlite*"):
            shutil.copy(path, folder / f"copy{path.name}")
    for path in folder.glob("state.sqlite*"):
        path.unlink()
    for path in folder.glob("copy*"):
        path.rename(folder / path.name.removeprefix("copy"))
    (folder / "state.sqlite-shm").unlink()
    folder.chmod(0o555)
    assert without_rights(lambda: read(folder)).endswith("copy it to a folder of your own, and read that")
