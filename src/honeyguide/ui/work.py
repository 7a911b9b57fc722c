"""Long work of the portal, in a process of its own: `python -m honeyguide.ui.work FOLDER TASK`.

A thread would do, but for Python's lock: readers of the live view would wait while pages are sorted into
subjects. The process says on its standard output, one JSON value a line, how far it is and in the end what
came out; a portal that is gone breaks the pipe, which ends it. It steps back behind portal and crawl.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.collection.duplicate_groups import DuplicateGroup
from honeyguide.collection.exports.selection import Progress
from honeyguide.collection.link_analysis import LinkAnalysis
from honeyguide.errors import HoneyguideError
from honeyguide.ui.export_files import OFFERED, make

_EVERY = 0.1
_NICE = 5


class Task(msgspec.Struct, frozen=True):
    """What is to be done."""

    kind: str
    """`export`, `directory` or `links`."""
    form: str = ""
    """Of an export."""
    all_pages: bool = False
    text: bool = False
    within_hosts: bool = False


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of output: progress, or the end."""

    done: int = 0
    total: int = 0
    problem: str = ""
    result: msgspec.Raw = msgspec.Raw(b"")
    """JSON; in the last line of work that went well, else empty."""


class FoundLinks(msgspec.Struct, frozen=True):
    """The result of `links`."""

    analysis: LinkAnalysis
    groups: tuple[DuplicateGroup, ...]


def carry_out(folder: Path, task: Task, progress: Progress) -> object:
    """Do it; what came out.

    Raises:
        HoneyguideError: With what to do about it.
    """
    if task.kind == "export":
        form = next(each for each in OFFERED if each.name == task.form)
        return make(folder, form, all_pages=task.all_pages, text=task.text, progress=progress)
    with Collection.open(folder) as collection:
        assert collection.layout is not None
        if task.kind == "directory":
            made = collection.directory(progress=progress)
            made.save(collection.layout.directory_file)
            return made.listed
        progress(0, 2)
        analysis = collection.links(relevant=not task.all_pages, within_hosts=task.within_hosts)
        progress(1, 2)
        groups = collection.duplicate_groups(relevant=not task.all_pages)
        return FoundLinks(analysis, tuple(groups))


def main(folder: str, task: str) -> int:
    """Carry out a task given as JSON, telling standard output about it."""
    out = sys.stdout.buffer
    last = 0.0

    def say(**values: object) -> None:
        out.write(msgspec.json.encode(values) + b"\n")
        out.flush()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY or done == total:
            say(done=done, total=total)
            last = time.monotonic()

    os.nice(_NICE)
    # Ended in order, so that half a file is taken away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        result = carry_out(Path(folder), msgspec.json.decode(task, type=Task), progress)
    except BrokenPipeError:
        return 1
    except HoneyguideError as error:
        say(problem=str(error))
        return 1
    out.write(b'{"result":' + msgspec.json.encode(result) + b"}\n")
    out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
