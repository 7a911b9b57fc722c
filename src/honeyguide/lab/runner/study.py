"""Studies: experiments other than crawls, such as comparing page models on labelled text.

A study is a module that lies beside its experiment file and has

    def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult

The experiment file has `kind = "study"` and names it. What it returns must not depend on the machine:
times go into `StudyResult.timing`, which is kept out of the JSON.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.plots.panels import Panel
from honeyguide.topic.file import nearest

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"
"""The experiments that come with Honeyguide."""
Cell: TypeAlias = str | int | float | None
Progress: TypeAlias = Callable[[str], None]
"""Called with a few words about what is done, as often as one likes."""


class StudyTable(msgspec.Struct, frozen=True):
    """A table of a study."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


class StudyFigure(msgspec.Struct, frozen=True):
    """A figure of a study, by the name of its file."""

    name: str
    panels: tuple[Panel, ...]
    title: str = ""


class StudyResult(msgspec.Struct, frozen=True):
    """What a study found."""

    tables: tuple[StudyTable, ...]
    figures: tuple[StudyFigure, ...] = ()
    notes: tuple[str, ...] = ()
    timing: Mapping[str, float] = {}
    """Seconds by name; kept out of the JSON."""


class DataFinder:
    """Finds data sets: in `HONEYGUIDE_DATA`, or in `shared/data` beside the repository.

    Args:
        roots: Folders to look in instead.
    """

    def __init__(self, roots: tuple[Path, ...] | None = None) -> None:
        named = os.environ.get("HONEYGUIDE_DATA")
        beside = Path(__file__).resolve().parents[5] / "shared" / "data"
        self.roots = roots if roots is not None else (*((Path(named),) if named else ()), beside)

    def file(self, name: str) -> Path:
        """A file or folder such as `text/20newsgroups.tar.gz`."""
        for root in self.roots:
            if (root / name).exists():
                return root / name
        raise HoneyguideError(
            f"the data set {name} is not here; set HONEYGUIDE_DATA to a folder that holds {name}"
        )


class Study(Protocol):
    """The function `run` of a study's module."""

    def __call__(
        self, options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int
    ) -> StudyResult:
        """Run the study."""
        ...


def study_names(folder: Path) -> tuple[str, ...]:
    """The modules beside an experiment file, any of which may be a study."""
    return tuple(sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")))


def check_study(name: str, folder: Path) -> str:
    """The module of a study; `-` may stand for `_`. Nothing is imported for it."""
    module = name.replace("-", "_")
    names = study_names(folder)
    if module not in names:
        raise HoneyguideError(f"no study {name!r} in {folder}; {nearest(module, names)}")
    return module


def find_study(name: str, folder: Path) -> Study:
    """The function that runs a study."""
    module = check_study(name, folder)
    if folder.resolve() == EXPERIMENTS:
        module = f"honeyguide.lab.experiments.{module}"
    run: Study | None = getattr(importlib.import_module(module), "run", None)
    if run is None:
        raise HoneyguideError(f"the study {name!r} has no function `run`; add it to its module")
    return run
