"""From `topic.toml` to a `Config` and back, with refusals a person can act on."""

from __future__ import annotations

import platform
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pydantic
import tomlkit

from honeyguide.config.schema import UNLIMITED, VERSION, Config
from honeyguide.config.wording import plainly
from honeyguide.errors import TopicError
from honeyguide.topic.file import TopicFile, nearest, read
from honeyguide.topic.patterns import is_url
from honeyguide.topic.positions import Location

SETTINGS = ("scope", "identity", "politeness", "limits", "fetch", "network", "storage")
"""Tables besides `[crawl]` whose keys can be given by name alone."""


def load(path: Path) -> Config:
    """Read and check a topic file.

    Raises:
        TopicError: One line with the file, the line number and what to write instead.
    """
    file = read(path)
    return check_values(file.values, file=file)


def check_values(values: Mapping[str, object], *, file: TopicFile | None = None) -> Config:
    """Check plain values against the schema; `file` gives refusals their line numbers."""
    try:
        config = Config.model_validate(dict(values))
    except pydantic.ValidationError as error:
        raise _refusal(error, file) from None
    config._file = file
    return config


def changed(
    config: Config,
    changes: Mapping[str, Mapping[str, object]],
    *,
    discovery: Sequence[Mapping[str, object]] | None = None,
) -> Config:
    """The configuration with some keys replaced, checked again: for options of a command line.

    Args:
        config: What to start from.
        changes: Values by table and key; None leaves a key as it is.
        discovery: Replaces the list of sources.
    """
    values = config.model_dump(exclude_unset=True)
    touched = set(config._changed)
    for table, keys in changes.items():
        given = {key: value for key, value in keys.items() if value is not None}
        if given:
            values[table] = {**values.get(table, {}), **given}
            touched.update((table, key) for key in given)
    if discovery is not None:
        values["discovery"] = [dict(source) for source in discovery]
    fresh = check_values(values)
    fresh._file = config._file
    fresh._changed = frozenset(touched)
    return fresh


def by_table(options: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Options given by name alone, in tables of a topic file: `[crawl]`, or the only one that has the key.

    Example:
        >>> by_table({"max_pages": 5, "delay": 0.5})
        {'crawl': {'max_pages': 5}, 'politeness': {'delay': 0.5}}
    """
    found: dict[str, dict[str, object]] = {"crawl": {}}
    for key, value in options.items():
        homes = [name for name in SETTINGS if key in _keys(name)]
        table = homes[0] if len(homes) == 1 and key not in _keys("crawl") else "crawl"
        found.setdefault(table, {})[key] = value
    return found


def _keys(table: str) -> Collection[str]:
    model = _table_type(Config.model_fields[table].annotation)
    return model.model_fields if model is not None else ()


def refuse(config: Config, location: Location, problem: str) -> TopicError:
    """A refusal found after the schema's checks, with the line where the file says so."""
    if config._file is None or location[:2] in config._changed:
        return TopicError(problem)
    return config._file.error(location, problem)


def freeze(config: Config) -> str:
    """The configuration as TOML, every default written out, with the versions that run it.

    File patterns become absolute, so that the copy in a collection means the same as the original.
    """
    values = config.model_dump(mode="python")
    for key in ("examples", "negatives", "background"):
        values["topic"][key] = [
            item if is_url(item) else str(config.base / Path(item).expanduser())
            for item in values["topic"][key]
        ]
    values["versions"] = {"honeyguide": VERSION, "python": platform.python_version()}
    return tomlkit.dumps(_without_none(values, Config))


def _without_none(values: dict[str, Any], model: type[pydantic.BaseModel] | None) -> dict[str, Any]:
    """Values TOML can hold: an absent limit is left out, or written where its default is a number."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        field = model.model_fields.get(key) if model is not None else None
        if isinstance(value, dict):
            kept[key] = _without_none(value, _table_type(field.annotation) if field else None)
        elif isinstance(value, tuple | list) and all(isinstance(item, str) for item in value):
            # Put together at once: tomlkit renumbers the whole list for each item it is given.
            kept[key] = tomlkit.array(f"[{', '.join(tomlkit.item(item).as_string() for item in value)}]")
        elif isinstance(value, tuple | list):
            kept[key] = [_without_none(item, None) if isinstance(item, dict) else item for item in value]
        elif value is not None:
            kept[key] = value
        elif field is not None and field.default is not None:
            kept[key] = UNLIMITED
    return kept


def _refusal(error: pydantic.ValidationError, file: TopicFile | None) -> TopicError:
    """The finding that stands first in the file, as one line."""
    # A misspelt table is also a missing one: what is there and wrong says more than what is not there.
    wrong = sorted(error.errors(include_url=False), key=lambda finding: finding["type"] == "missing")
    # A list of which every item is wrong also counts as too short.
    inside = {finding["loc"][:-1] for finding in wrong}
    wrong = [finding for finding in wrong if finding["type"] != "too_short" or finding["loc"] not in inside]
    findings = [(_location(finding["loc"]), _sentence(dict(finding))) for finding in wrong]
    if file is None:
        location, sentence = findings[0]
    else:
        location, sentence = min(findings, key=lambda finding: file.line(finding[0]))
    if len(findings) > 1:
        sentence += f" (and {len(findings) - 1} more)"
    return TopicError(sentence) if file is None else file.error(location, sentence)


def _location(loc: tuple[str | int, ...]) -> Location:
    return tuple(part for part in loc if part != "[key]")


def _sentence(finding: dict[str, Any]) -> str:
    """What is wrong with one key, and what would be right."""
    *table, key = _location(finding["loc"])
    kind, given = finding["type"], finding["input"]
    if kind == "extra_forbidden":
        return _unknown(tuple(table), str(key), is_table=isinstance(given, dict))
    if kind == "missing":
        what = f"'{key}' in {_bracket(table)}" if table else f"table [{key}]"
        misspelt = nearest(str(key), given if isinstance(given, dict) else ())
        meant = re.match("did you mean ('.*')", misspelt)
        return f"{what} is missing; " + (f"is {meant[1]} meant to be it?" if meant else "add it")
    where = _named(tuple(table), key)
    message = str(finding["msg"])
    if kind == "value_error":
        return f"{where}: {message.removeprefix('Value error, ')}"
    if kind in ("too_long", "string_too_long"):
        return f"{where} {_too_long(given, finding['ctx']['max_length'])}"
    wanted = "a list of tables; write it as [[{}]]" if kind == "tuple_type" else "a table; write it as [{}]"
    if kind in ("model_type", "model_attributes_type") or (kind == "tuple_type" and isinstance(given, dict)):
        return f"{where} must be {wanted.format(key)}"
    shown = repr(given) if not isinstance(given, bool) else str(given).lower()
    return f"{where} {plainly(message)}, not {shown if len(shown) < 80 else shown[:77] + '...'}"


def _too_long(given: str | list[object], most: int) -> str:
    unit = "characters" if isinstance(given, str) else "items"
    return f"is too long: {len(given):,} {unit}; at most {most:,} are allowed"


def _named(table: Location, key: str | int) -> str:
    if isinstance(key, int) and table:
        return f"item {key + 1} of {_named(table[:-1], table[-1])}"
    return f"'{key}' in {_bracket(table)}" if table else f"[{key}]"


def _bracket(table: Location | list[str | int]) -> str:
    return "[" + ".".join(str(part) for part in table if not isinstance(part, int)) + "]"


def _unknown(table: Location, key: str, *, is_table: bool) -> str:
    """Advice about a key that does not exist, also when it exists in another table."""
    if not table:
        tables = [f"[{name}]" for name in Config.model_fields if name != "versions"]
        if is_table:
            return f"unknown table [{key}]; {nearest(f'[{key}]', tables)}"
        homes = _homes(key)
        advice = f"it belongs in {homes}" if homes else f"keys stand in tables: {', '.join(tables)}"
        return f"unknown key '{key}' outside of any table; {advice}"
    model = _table_type(Config.model_fields[str(table[0])].annotation)
    known = list(model.model_fields) if model is not None else []
    advice = nearest(key, known)
    homes = _homes(key)
    if homes and not advice.startswith("did you mean"):
        advice = f"it belongs in {homes}"
    return f"unknown key '{key}' in {_bracket(table)}; {advice}"


def _homes(key: str) -> str:
    homes = []
    for name, field in Config.model_fields.items():
        model = _table_type(field.annotation)
        if model is not None and key in model.model_fields:
            homes.append(f"[{name}]")
    return " or ".join(homes)


def _table_type(annotation: object) -> type[pydantic.BaseModel] | None:
    """The table model behind a field's annotation, `tuple[Table, ...]` included."""
    for candidate in (annotation, *get_args(annotation)):
        if isinstance(candidate, type) and issubclass(candidate, pydantic.BaseModel):
            return candidate
    return None
