"""Cells: one recipe on one topic once. Each is run once and kept until something about it changes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import zstandard

from honeyguide.config.schema import VERSION
from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import CrawlRecord
from honeyguide.lab.runner.fingerprint import digest_of, source_digest
from honeyguide.lab.runner.load import Loaded, given_to
from honeyguide.lab.runner.schema import Experiment, GivenTable, RecipeEntry
from honeyguide.lab.runner.situation import Task
from honeyguide.store.atomic import replacing
from honeyguide.topic.file import nearest

ORACLE = "oracle"
"""The row that knows labels and graph: an upper bound, no recipe."""
_LARGEST = 1 << 30


class Cell(msgspec.Struct, frozen=True):
    """What is run."""

    task: Task
    row: str
    """Label of the recipe, or `oracle`."""
    repetition: int
    key: str
    """Names the file of the result."""


class CellResult(msgspec.Struct, frozen=True):
    """What came out of one cell; equal for equal keys but for the times."""

    record: CrawlRecord
    seeds: tuple[str, ...]
    nearest_target: int
    pages_in_reach: int
    budget: int
    requests: int
    """All requests, those of sources and after the last page included."""
    given: str
    """What the recipe was given, in words."""
    outcomes: dict[str, int] = {}
    """URLs by outcome."""
    extras: dict[str, float] = {}
    reason: str = ""
    """Why the crawl ended."""
    cpu_seconds: float = 0.0


def key_of(
    experiment: Experiment, entry: RecipeEntry | None, task: Task, *, repetition: int, web: str
) -> str:
    """Digest of everything that the result depends on.

    Args:
        experiment: For budget, random seed and what all recipes are given together.
        entry: The recipe; None for the oracle.
        task: The topic.
        repetition: Which one.
        web: Digest of the web.
    """
    # Examples are drawn for the recipe that sees most, and are not targets for anybody.
    shown = [given_to(experiment, one) for one in experiment.recipes]
    drawn = [(max((g.examples for g in shown), default=0)), max((g.negatives for g in shown), default=0)]
    definition = {
        "task": msgspec.to_builtins(task),
        "recipe": entry.model_dump(exclude={"label"}) if entry else ORACLE,
        "given": given_to(experiment, entry).model_dump() if entry else None,
        "drawn": [*drawn, sorted({g.examples_from for g in shown if g.examples or g.negatives})],
        "limits": [experiment.budget, experiment.max_pages_per_domain, experiment.max_depth],
        "random_seed": experiment.random_seed + repetition,
        "evaluation": experiment.evaluation.model_dump() if entry else None,
        "extras": list(experiment.extra_measures) if entry else None,
        "web": web,
        "version": VERSION,
        "source": source_digest(modules_of(experiment, entry)),
    }
    return digest_of(msgspec.json.encode(definition, order="deterministic"))[:32]


def modules_of(experiment: Experiment, entry: RecipeEntry | None) -> list[str]:
    """Modules that an experiment names for a recipe: measures and parts written as `module:name`."""
    named = [*experiment.extra_measures, experiment.evaluation.model]
    if entry is not None:
        named += [entry.relevance.model or "", entry.ordering.order or ""]
        named += [one.source for one in entry.discovery]
    return [name.partition(":")[0] for name in named if ":" in name]


def described(given: GivenTable, documents: int) -> str:
    """What a recipe was given, in words."""
    said = []
    if given.keywords:
        said.append("keywords")
    if given.examples:
        said.append(f"{given.examples} examples")
    if given.negatives:
        said.append(f"{given.negatives} negatives")
    if documents:
        said.append(f"{documents:,} texts ({given.unlabelled})")
    if given.backlinks:
        said.append(f"backlinks ({given.backlinks:.0%})")
    if given.search:
        said.append("search")
    if given.taxonomy:
        said.append("label path")
    return ", ".join(said) or "nothing"


def read_cell(folder: Path, key: str) -> CellResult | None:
    """A kept result, or None."""
    path = folder / f"{key}.cell"
    if not path.exists():
        return None
    try:
        data = zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=_LARGEST)
        return msgspec.msgpack.decode(data, type=CellResult)
    except (zstandard.ZstdError, msgspec.MsgspecError):
        path.unlink(missing_ok=True)  # half a file of a killed run, or of another version
        return None


def write_cell(folder: Path, key: str, result: CellResult) -> None:
    """Keep a result."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / f"{key}.cell") as path:
        path.write_bytes(zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(result)))


def rows_of(loaded: Loaded, only: tuple[str, ...]) -> list[RecipeEntry]:
    """The recipes to run: all, or those that `only` names by label or name."""
    entries = list(loaded.experiment.recipes)
    unknown = [one for one in only if not any(one in (entry.row, entry.name) for entry in entries)]
    if unknown:
        hint = nearest(unknown[0], [entry.row for entry in entries])
        raise HoneyguideError(f"experiment {loaded.name} has no recipe {unknown[0]!r}; {hint}")
    return [entry for entry in entries if not only or entry.row in only or entry.name in only]
