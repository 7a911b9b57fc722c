"""Runs an experiment: all its cells, in several processes, those that are finished only once."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.cells import ORACLE, Cell, CellResult, key_of, read_cell, rows_of, write_cell
from honeyguide.lab.runner.crawl_cell import bench, needs_blocks
from honeyguide.lab.runner.load import Loaded
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.situation import Task, tasks_of


class Progress(msgspec.Struct, frozen=True):
    """Where a run stands."""

    done: int
    total: int
    kept: int
    """Of those done: found finished from an earlier run."""
    last: str = ""


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """For those who do not want to know."""


class Run(msgspec.Struct, frozen=True):
    """A finished experiment of crawls: its cells with their results, oracles included."""

    loaded: Loaded
    webs: dict[str, str]
    """Digest of each web."""
    cells: tuple[tuple[Cell, CellResult], ...]


def cells_of(loaded: Loaded, only: tuple[str, ...] = ()) -> tuple[list[Cell], dict[str, str]]:
    """All cells of an experiment in their order, and the digests of its webs."""
    experiment = loaded.experiment
    cells: list[Cell] = []
    digests: dict[str, str] = {}
    entries = rows_of(loaded, only)
    for name in experiment.webs:
        world = open_world(name)
        digests[name] = world.digest
        tasks = tasks_of(experiment, name, world)
        for task in tasks:
            for repetition in range(experiment.repetitions):
                for entry in (None, *entries):
                    key = key_of(experiment, entry, task, repetition=repetition, web=world.digest)
                    row = entry.row if entry else ORACLE
                    cells.append(Cell(task, row, repetition, key))
    if not cells:
        raise HoneyguideError(f"experiment {loaded.name} has no topic on any of its webs; check [[topics]]")
    return cells, digests


def run_cells(
    loaded: Loaded,
    folder: Path,
    *,
    only: tuple[str, ...] = (),
    jobs: int = 1,
    progress: Report = silent,
) -> Run:
    """Run what is not kept yet, and gather everything.

    Args:
        loaded: The experiment.
        folder: Where finished cells are kept.
        only: Labels or names of recipes to run; the oracle always is.
        jobs: Processes.
        progress: Told after each cell.

    Raises:
        HoneyguideError: A cell cannot be run; the message says which.
    """
    cells, digests = cells_of(loaded, only)
    missing = [cell for cell in cells if not (folder / f"{cell.key}.cell").exists()]
    kept = len(cells) - len(missing)
    done = kept
    progress(Progress(done, len(cells), kept))
    document = loaded.experiment.model_dump_json()

    def finished(cell: Cell) -> None:
        nonlocal done
        done += 1
        progress(Progress(done, len(cells), kept, f"{cell.row}: {cell.task.title}"))

    if jobs > 1 and len(missing) > 1:
        cuts = dict.fromkeys(needs_blocks(entry) for entry in loaded.experiment.recipes)
        for web in dict.fromkeys(cell.task.web for cell in missing):
            for blocks in cuts:
                open_world(web).prepare(blocks=blocks)
        _in_processes(document, missing, folder, jobs, finished)
    else:
        for cell in missing:
            run_cell(document, cell, folder)
            finished(cell)
    results = []
    for cell in cells:
        result = read_cell(folder, cell.key)
        if result is None:  # damaged since: run it again
            run_cell(document, cell, folder)
            result = read_cell(folder, cell.key)
        if result is None:
            raise HoneyguideError(f"cannot keep results in {folder}; check the folder and the disk")
        results.append((cell, result))
    return Run(loaded, digests, tuple(results))


def run_cell(document: str, cell: Cell, folder: Path) -> None:
    """Run one cell and keep its result. Also called in other processes."""
    try:
        place = bench(document, cell.task, cell.repetition)
        if cell.row == ORACLE:
            result = place.run_oracle()
        else:
            entry = next(one for one in place.experiment.recipes if one.row == cell.row)
            result = place.run(entry)
    except HoneyguideError as error:
        text = str(error)
        raise HoneyguideError(
            text if cell.row in text else f"{cell.row}, {cell.task.title}: {text}"
        ) from error
    write_cell(folder, cell.key, result)


def _in_processes(
    document: str, cells: list[Cell], folder: Path, jobs: int, finished: Callable[[Cell], None]
) -> None:
    """Hand out whole topics: what the recipes of a topic share is then made in one process only."""
    topics: dict[tuple[Task, int], list[Cell]] = {}
    for cell in cells:
        topics.setdefault((cell.task, cell.repetition), []).append(cell)
    groups = list(topics.values())
    while len(groups) < jobs and max(map(len, groups)) > 1:
        longest = max(groups, key=len)
        groups.remove(longest)
        groups += [longest[::2], longest[1::2]]
    # Spawned, not forked: the parent may have threads and open databases.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(groups)), mp_context=context) as pool:
        waiting: dict[Future[None], tuple[Cell, list[Cell]]] = {}

        def hand_out(group: list[Cell]) -> None:
            first, *rest = group
            waiting[pool.submit(run_cell, document, first, folder)] = (first, rest)

        try:
            for group in groups[:jobs]:
                hand_out(group)
            later = groups[jobs:]
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    cell, rest = waiting.pop(future)
                    future.result()
                    finished(cell)
                    if rest:
                        hand_out(rest)
                    elif later:
                        hand_out(later.pop(0))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
