"""Rules for the whole source that no linter checks."""

from __future__ import annotations

import ast
import io
import pickle
from pathlib import Path

import numpy as np
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.store.models import read_saved
from honeyguide.store.state import State

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src" / "honeyguide").rglob("*.py"))
FORBIDDEN = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_pickle_anywhere(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not imported(tree) & FORBIDDEN
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec", "compile", "__import__"), path
        if isinstance(node, ast.Attribute) and node.attr == "load" and isinstance(node.value, ast.Name):
            # numpy would unpickle object arrays if it were told to; nothing here ever calls it bare.
            assert node.value.id not in ("np", "numpy", "torch"), path


class Canary:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_the_canary_sings(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Canary(tmp_path / "sung")))
    assert (tmp_path / "sung").exists()


def test_a_pickled_model_is_refused_and_not_run(tmp_path: Path) -> None:
    poison = pickle.dumps(Canary(tmp_path / "sung"))
    objects = io.BytesIO()
    np.save(objects, np.array([Canary(tmp_path / "sung")], dtype=object), allow_pickle=True)
    for body in (poison, objects.getvalue(), b"PK\x03\x04" + poison):
        for ending in (".npz", ".json", ".npy", ""):
            (tmp_path / f"model-7{ending}").write_bytes(body)
        with pytest.raises(HoneyguideError):
            read_saved(tmp_path, "model-7")
    assert not (tmp_path / "sung").exists()


def test_a_pickled_state_is_refused_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").write_bytes(pickle.dumps(Canary(tmp_path / "sung")) * 100)
    with pytest.raises(HoneyguideError):
        State.open(tmp_path / "state.sqlite")
    assert not (tmp_path / "sung").exists()
