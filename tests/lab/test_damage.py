"""The fuzzer over collections: a few of its cases, and proof that it finds what it looks for."""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import pytest
from figures import RecordProperty

from honeyguide.cli.lab_damage import VERBS
from honeyguide.lab.damage import Subject, Trial, make_subjects, try_cases
from honeyguide.lab.damage.spoiling import files_of
from honeyguide.store.layout import Layout


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Subject, ...]:
    return tuple(make_subjects(tmp_path_factory.mktemp("sound")))


def test_a_few_cases(subjects: tuple[Subject, ...], tmp_path: Path) -> None:
    quick = {name: use for name, use in VERBS.items() if name in ("status", "resume")}
    for case in try_cases(Trial(subjects, quick, 5, tmp_path), range(4)):
        assert case.broken == (), case


def test_every_verb_once(subjects: tuple[Subject, ...], tmp_path: Path) -> None:
    (case,) = try_cases(Trial(subjects, VERBS, 5, tmp_path), [100])
    assert case.broken == (), case
    assert [use.verb for use in case.uses] == list(VERBS)


def test_the_same_seed_does_the_same_harm(subjects: tuple[Subject, ...], tmp_path: Path) -> None:
    first, second = (list(try_cases(Trial(subjects, {}, 5, tmp_path), range(8))) for _ in range(2))
    assert first == second
    assert len({case.damage.kind for case in first}) > 3


def test_it_finds_what_is_wrong(subjects: tuple[Subject, ...], tmp_path: Path) -> None:
    def crash(_folder: Path, _chance: random.Random) -> tuple[int, str]:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def lose(folder: Path, _chance: random.Random) -> tuple[int, str]:
        shutil.rmtree(folder / "archive", ignore_errors=True)
        return 0, ""

    def reach_out(folder: Path, _chance: random.Random) -> tuple[int, str]:
        (folder.parent / "outside" / "new").touch()
        return 70, "internal error"

    found = [
        next(try_cases(Trial(subjects, {"resume": use}, 5, tmp_path), [3])).broken
        for use in (crash, lose, reach_out)
    ]
    assert "died with -9" in found[0][0]
    assert "committed records of pages-00001.warc.gz are gone" in found[1]
    assert any("ended with 70" in line for line in found[2])
    assert "something outside the collection was changed" in found[2]


def test_the_subjects_are_what_they_should_be(subjects: tuple[Subject, ...]) -> None:
    ended, killed = subjects
    assert len(killed.pages) > len(ended.pages) > 0
    assert "state.sqlite-wal" in files_of(killed.folder)
    archive = Layout(killed.folder).archive_folder / "pages-00001.warc.gz"
    assert archive.stat().st_size >= len(killed.archive[archive.name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_many_cases(
    subjects: tuple[Subject, ...], tmp_path: Path, seed: int, record_property: RecordProperty
) -> None:
    cases = list(try_cases(Trial(subjects, VERBS, seed, tmp_path), range(300)))
    assert [case for case in cases if case.broken] == []
    record_property("figure", f"damage, seed {seed}: {len(cases)} of {len(cases)} cases held")
