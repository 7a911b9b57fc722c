"""Keys of a topic file by environment variables: `HONEYGUIDE_POLITENESS_DELAY` is `delay` in `[politeness]`.

A number, true or false, a size or a span of time is written as in the file (`2`, `true`, `8 MiB`, `2 h`). A
text is taken as it is, without quotes. A list is comma-separated, or a TOML list. Whatever else TOML knows
(the table `connect_to`, options of parts) is written as TOML. `HONEYGUIDE_DISCOVERY` is the list of sources,
as `[{source = "..."}]`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, get_args, get_origin

from honeyguide.config.load import changed
from honeyguide.config.schema import Config, OpenTable
from honeyguide.errors import TopicError
from honeyguide.topic.file import nearest

PREFIX = "HONEYGUIDE_"


def with_environment(
    config: Config, environment: Mapping[str, str], *, others: Collection[str] = ()
) -> Config:
    """The configuration with the keys replaced that environment variables set.

    Args:
        config: What to start from.
        environment: Such as `os.environ`.
        others: Beginnings of variables that mean something else, such as `HONEYGUIDE_TOPIC_NEW_`.

    Raises:
        TopicError: A variable names no key, or its value is not allowed there.
    """
    changes, sources, names = _found(environment, tuple(others))
    if not changes and sources is None:
        return config
    try:
        return changed(config, changes, discovery=sources)
    except TopicError as error:
        # The schema speaks of tables and keys; the user wrote variables.
        told = str(error)
        blamed = [name for name in names if f"'{_place(name)[1]}' in [{_place(name)[0]}]" in told] or names
        raise TopicError(f"{told} (set by {', '.join(blamed)})") from None


def _place(name: str) -> tuple[str, str]:
    table, _, key = name.removeprefix(PREFIX).lower().partition("_")
    return table, key


def _found(
    environment: Mapping[str, str], others: tuple[str, ...]
) -> tuple[dict[str, dict[str, object]], list[dict[str, object]] | None, list[str]]:
    """Values by table and key, the list of sources, and the variables that set them."""
    changes: dict[str, dict[str, object]] = {}
    sources: list[dict[str, object]] | None = None
    names = []
    for name, text in environment.items():
        if not name.startswith(PREFIX) or (others and name.startswith(others)):
            continue
        table, key = _place(name)
        field = Config.model_fields.get(table)
        if field is None:
            _refuse_misspelt(name, table, key)
        if field is None or table == "versions" or not (key or table == "discovery"):
            continue
        if table == "discovery":
            if key:
                raise TopicError(f"{name}: write all sources into {PREFIX}DISCOVERY, as [{{source = '...'}}]")
            sources = _toml(name, text, list)
        else:
            model: Any = field.annotation
            known = model.model_fields.get(key)
            if known is None and not issubclass(model, OpenTable):
                raise TopicError(
                    f"{name}: unknown key '{key}' in [{table}]; {nearest(key, model.model_fields)}"
                )
            changes.setdefault(table, {})[key] = _value(name, text, known.annotation if known else None)
        names.append(name)
    return changes, sources, names


def _refuse_misspelt(name: str, table: str, key: str) -> None:
    """A variable that is nearly that of a key would else do nothing, and nobody would know.

    Others may have any meaning: options of commands, or what another program reads.
    """
    for near in get_close_matches(table, Config.model_fields, 1, 0.8):
        if key in getattr(Config.model_fields[near].annotation, "model_fields", ()):
            meant = f"{PREFIX}{near}_{key}".upper()
            raise TopicError(f"{name}: there is no table [{table}]; did you mean {meant}?")


def _value(name: str, text: str, kind: Any) -> object:
    kinds = {_bare(one) for one in (kind, *get_args(kind))}
    if tuple in kinds:
        if text.lstrip().startswith("["):
            return tuple(_toml(name, text, list))
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if dict in kinds:
        return _toml(name, text, dict)
    if str in kinds:
        return text
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text  # a size, a span of time, `unlimited`, a text; the schema says what is wrong with others


def _bare(kind: Any) -> Any:
    origin = get_origin(kind)
    return get_args(kind)[0] if origin is Annotated else origin or kind


def _toml(name: str, text: str, kind: type) -> Any:
    try:
        made = tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise TopicError(f"{name}: {error}; write it as in a topic file") from None
    if not isinstance(made, kind):
        raise TopicError(
            f"{name} must be {'a list' if kind is list else 'a table'}; write it as in a topic file"
        )
    return made
