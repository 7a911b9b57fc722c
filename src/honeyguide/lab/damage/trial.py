"""One case after the other: spoil a copy of a collection, use it in every way, see what is left.

Each case runs in a forked child with limits on time and memory, so that a crash or an endless loop is a
finding and not the end of the run.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.lab.damage.spoiling import EXCHANGE, Damage, spoil
from honeyguide.lab.damage.subject import Subject, committed_pages

Use: TypeAlias = Callable[[Path, random.Random], tuple[int, str]]
"""Does something with a collection: the exit status, and what it said."""

SECONDS = 60
MEMORY = 8 << 30
REFUSED = 2
"""Exit status of a clear error."""
MADE_AGAIN = (
    "index.sqlite",
    "models/",
    "examples.json",
    "prepared.json",
    "control.json",
    "state.sqlite.lock",
)
"""What a crawl can do without, or make again."""
BY_CONTENT = ("flip", "overwrite", "cut", "append", "lose", "replace")


class Used(msgspec.Struct, frozen=True):
    """How one use of a damaged collection ended."""

    verb: str
    status: int
    said: str


class Case(msgspec.Struct, frozen=True):
    """What was done and what came of it."""

    number: int
    subject: str
    damage: Damage
    uses: tuple[Used, ...]
    broken: tuple[str, ...]
    """Promises that were not kept; empty when all were."""


class Trial(msgspec.Struct, frozen=True):
    """What a run tries."""

    subjects: tuple[Subject, ...]
    verbs: Mapping[str, Use]
    """By name, in the order in which they are tried; what matters most comes last."""
    seed: int
    work: Path
    """A folder for the copies."""
    loud: bool = False
    """Whether what the verbs print is shown."""


def try_cases(trial: Trial, numbers: Iterable[int]) -> Iterator[Case]:
    """Try cases by their numbers."""
    for number in numbers:
        yield _try(trial, number)


def _try(trial: Trial, number: int) -> Case:
    chance = random.Random(f"{trial.seed}:{number}")  # noqa: S311 - repeatable, not secret
    subject = chance.choice(trial.subjects)
    work = trial.work / f"case-{number}"
    folder, outside = work / "collection", work / "outside"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(subject.folder, folder)
    outside.mkdir()
    damage = spoil(folder, outside, chance)
    before = _snapshot(outside)
    uses = tuple(_used(trial, folder, f"{trial.seed}:{number}"))
    broken = [
        *_unclear(uses),
        *(_made_again(damage, uses)),
        *([] if _snapshot(outside) == before else ["something outside the collection was changed"]),
        *_lost(subject, folder, damage),
    ]
    shutil.rmtree(work)
    return Case(number, subject.name, damage, uses, tuple(broken))


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


def _used(trial: Trial, folder: Path, chance: str) -> list[Used]:
    """Every verb in one child; one that dies is the last of them."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _live(trial, folder, chance, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    uses = [msgspec.json.decode(line, type=Used) for line in lines]
    if code := os.waitstatus_to_exitcode(status):
        verb = [*trial.verbs, "the end"][len(uses)]
        why = "took too long" if code == -signal.SIGALRM else f"died with {code}"
        uses.append(Used(verb, code, why))
    return uses


def _live(trial: Trial, folder: Path, chance: str, answers: int) -> None:
    """The child: never returns."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0,) if trial.loud else (0, 1, 2):
            os.dup2(quiet, stream)
        for name, use in trial.verbs.items():
            drawn = random.Random(f"{chance}:{name}")  # noqa: S311 - as above
            status, said = use(folder, drawn)
            os.write(answers, msgspec.json.encode(Used(name, status, said)) + b"\n")
        code = 0
    except BaseException:
        told = traceback.format_exc(limit=-3)
        os.write(answers, msgspec.json.encode(Used("harness", 70, told)) + b"\n")
        code = 0
    finally:
        sys.stdout.flush()
        os._exit(code)


def _unclear(uses: Iterable[Used]) -> Iterator[str]:
    for use in uses:
        if use.status not in (0, REFUSED):
            yield f"{use.verb} ended with {use.status}: {use.said}"
        elif "Traceback" in use.said:
            yield f"{use.verb} showed a traceback: {use.said}"
        elif use.status == REFUSED and ";" not in use.said and ":" not in use.said:
            yield f"{use.verb} does not say what to do: {use.said}"


def _made_again(damage: Damage, uses: Iterable[Used]) -> Iterator[str]:
    """What can be made again must not stop a crawl."""
    if damage.kind not in (*BY_CONTENT, EXCHANGE) or not all(
        name.startswith(MADE_AGAIN) for name in damage.files
    ):
        return
    for use in uses:
        if use.verb == "resume" and use.status:
            yield f"resume was refused: {use.said}"


def _lost(subject: Subject, folder: Path, damage: Damage) -> Iterator[str]:
    """What was committed in files that nobody damaged is still there."""
    touched = set(damage.files)
    if not any(name.startswith("state.sqlite") for name in touched):
        try:
            pages = committed_pages(folder)
        except HoneyguideError as error:
            yield f"the state cannot be read any more: {error}"
        else:
            if pages[: len(subject.pages)] != subject.pages:
                yield f"{len(set(subject.pages) - set(pages))} committed pages are not in the state"
    for name, data in subject.archive.items():
        if f"archive/{name}" in touched:
            continue
        places = [folder / "archive" / name, *sorted((folder / "archive").glob(f"{name}.uncommitted*"))]
        found = [place.read_bytes() for place in places if place.is_file()]
        # In its place, set aside as a whole, or cut off and the rest set aside.
        whole = any(one.startswith(data) for one in found)
        if not whole and not any((found[0] + rest).startswith(data) for rest in found[1:]):
            yield f"committed records of {name} are gone"
    for name, data in subject.kept.items():
        path = folder / name
        if name not in touched and (not path.is_file() or not path.read_bytes().startswith(data)):
            yield f"{name} was changed"
