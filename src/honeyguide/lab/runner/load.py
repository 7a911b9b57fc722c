"""From an experiment file to a checked `Experiment`, with refusals a person can act on."""

from __future__ import annotations

import sys
import typing
from pathlib import Path
from typing import Any

import msgspec
import pydantic

from honeyguide.config.load import check_values
from honeyguide.config.recipes import find_recipe
from honeyguide.config.schema import Config
from honeyguide.errors import HoneyguideError, TopicError
from honeyguide.job.parts import chosen
from honeyguide.lab.measures.extras import columns_of, find_extra
from honeyguide.lab.runner.results import check_measure
from honeyguide.lab.runner.schema import Experiment, GivenTable, RecipeEntry
from honeyguide.lab.runner.study import EXPERIMENTS, check_study
from honeyguide.topic.file import TopicFile, nearest
from honeyguide.topic.positions import Location

_PLAIN = {
    "a valid integer": "a whole number",
    "a valid string": "a text in quotes",
    "a valid tuple": "a list in brackets",
    "a valid boolean": "true or false",
    "a valid dictionary": "a table",
    "Input should": "must",
    "String should": "must",
    "Tuple should": "must",
    "Value error, ": "",
}


def _fields(model: type[pydantic.BaseModel]) -> set[str]:
    found = set(model.model_fields)
    for field in model.model_fields.values():
        inner = _model(field.annotation)
        if inner is not None:
            found |= _fields(inner)
    return found


class Loaded(msgspec.Struct, frozen=True):
    """An experiment with its name: that of its file."""

    name: str
    path: str
    experiment: Experiment


def experiment_names() -> tuple[str, ...]:
    """The experiments that come with Honeyguide."""
    return tuple(sorted(path.stem for path in EXPERIMENTS.glob("*.toml")))


def load_experiment(name: str) -> Loaded:
    """Read and check an experiment, by its name or by its file.

    Raises:
        HoneyguideError: One line with the file, the line number and what to write instead.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = EXPERIMENTS / f"{name}.toml"
        if not path.exists():
            raise HoneyguideError(
                f"no experiment {name!r}; {nearest(name, experiment_names())} or name a .toml file"
            )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise HoneyguideError(f"cannot read the experiment {path}: {reason}; check the path") from None
    file = TopicFile(path, text.replace("\r\n", "\n"))
    _open_folder(path.parent)
    return Loaded(path.stem, str(path), check_experiment(file.values, file=file, folder=path.parent))


def _open_folder(folder: Path) -> None:
    """Let an experiment file name modules that lie beside it: studies, measures, parts.

    Experiment files run code, as scripts do; topic files never get here.
    """
    place = str(folder.resolve())
    if folder.resolve() != EXPERIMENTS and place not in sys.path:
        sys.path.append(place)


def check_experiment(
    values: dict[str, object], *, file: TopicFile | None = None, folder: Path = EXPERIMENTS
) -> Experiment:
    """Check plain values: the schema, and that every recipe, option and measure is there."""
    try:
        experiment = Experiment.model_validate(values)
    except pydantic.ValidationError as error:
        findings = [_finding(dict(one)) for one in error.errors(include_url=False)]
        place, sentence = min(findings, key=lambda one: file.line(one[0])) if file else findings[0]
        raise _refuse(file, place, sentence) from None
    for index, entry in enumerate(experiment.recipes):
        _check_recipe(experiment, entry, ("recipes", index), file)
    for index, name in enumerate(experiment.extra_measures):
        _guard(lambda name=name: find_extra(name), ("extra_measures", index), file)
    extras = [columns_of(find_extra(name)) for name in experiment.extra_measures]
    also = [column for columns in extras for column in columns or ()]
    for number, table in enumerate(experiment.tables):
        for column in table.columns:
            if None not in extras:
                _guard(lambda column=column: check_measure(column, also), ("tables", number, "columns"), file)
    _check_names(experiment, file)
    if experiment.study is not None:
        name = experiment.study
        _guard(lambda: check_study(name, folder), ("study",), file)
    return experiment


def given_to(experiment: Experiment, entry: RecipeEntry) -> GivenTable:
    """What a recipe is given: the experiment's `[given]` with the recipe's own keys over it."""
    return GivenTable.model_validate({**experiment.given.model_dump(), **entry.given})


def recipe_values(entry: RecipeEntry) -> dict[str, object]:
    """A recipe entry as tables of a topic file."""
    values: dict[str, object] = {
        "relevance": {**_named("model", entry.relevance.model), **entry.relevance.options},
        "ordering": {**_named("order", entry.ordering.order), **entry.ordering.options},
    }
    if entry.discovery:
        values["discovery"] = [{"source": one.source, **one.options} for one in entry.discovery]
    return values


def _named(key: str, name: str | None) -> dict[str, object]:
    return {key: name} if name is not None else {}


def _check_recipe(
    experiment: Experiment, entry: RecipeEntry, place: Location, file: TopicFile | None
) -> None:
    def check() -> None:
        find_recipe(entry.name)
        chosen(_config_of(entry), modules=True)

    _guard(check, (*place, "name"), file)
    try:
        given_to(experiment, entry)
    except pydantic.ValidationError as error:
        location, sentence = _finding(dict(error.errors(include_url=False)[0]), GivenTable)
        raise _refuse(file, (*place, "given", *location), sentence) from None


def _config_of(entry: RecipeEntry) -> Config:
    return check_values({"topic": {"name": "x"}, "crawl": {"recipe": entry.name}, **recipe_values(entry)})


def _check_names(experiment: Experiment, file: TopicFile | None) -> None:
    """Names that the file itself defines: webs, sites, rows."""
    webs = dict.fromkeys(experiment.webs)
    rows = [entry.row for entry in experiment.recipes]
    named = {
        "topics": [one.web for one in experiment.topics],
        "generate": [one.web for one in experiment.generate],
    }
    for kind, names in named.items():
        for index, web in enumerate(names):
            if web is not None and web not in webs:
                problem = f"unknown web {web!r}; {nearest(web, webs)}"
                raise _refuse(file, (kind, index, "web"), problem)
    for key, chosen_rows in (("plot", experiment.report.plot), ("baseline", (experiment.report.baseline,))):
        for name in chosen_rows:
            if name is not None and name not in rows:
                raise _refuse(file, ("report", key), f"unknown row {name!r}; {nearest(name, rows)}")


def _guard(check: Any, place: Location, file: TopicFile | None) -> None:
    try:
        check()
    except HoneyguideError as error:
        raise _refuse(file, place, str(error)) from None


def _refuse(file: TopicFile | None, place: Location, problem: str) -> HoneyguideError:
    return TopicError(problem) if file is None else file.error(place, problem)


def _finding(finding: dict[str, Any], model: type[pydantic.BaseModel] = Experiment) -> tuple[Location, str]:
    """Where something is wrong, and a sentence that says what would be right."""
    *before, last = finding["loc"] or ("",)
    # Members of unions stand in the path as types, such as `constrained-int` and `FarSeeds`.
    place = tuple(part for part in before if isinstance(part, int) or str(part) in _FIELDS)
    if last and (finding["type"] == "extra_forbidden" or isinstance(last, int) or last in _FIELDS):
        place = (*place, last)
    key = str(place[-1]) if place else ""
    kind, message = finding["type"], str(finding["msg"])
    if kind == "extra_forbidden":
        known = _keys(model, place[:-1])
        return place, f"unknown key '{key}'; {nearest(key, known)}"
    if kind == "missing":
        return place[:-1], f"'{key}' is missing; add it"
    for technical, plain in _PLAIN.items():
        message = message.replace(technical, plain)
    if kind == "value_error":
        return place, f"'{key}': {message}" if key else message
    return place, f"'{key}' {message}, not {str(finding['input'])[:60]!r}"


def _keys(model: type[pydantic.BaseModel], place: Location) -> list[str]:
    """The keys that may stand in the table at a place."""
    current: type[pydantic.BaseModel] = model
    for part in place:
        if isinstance(part, int):
            continue
        field = current.model_fields.get(str(part))
        inner = _model(field.annotation) if field is not None else None
        if inner is None:
            return []
        current = inner
    return list(current.model_fields)


def _model(annotation: object) -> type[pydantic.BaseModel] | None:
    for one in (annotation, *typing.get_args(annotation)):
        if isinstance(one, type) and issubclass(one, pydantic.BaseModel):
            return one
    return None


_FIELDS = frozenset(_fields(Experiment))
