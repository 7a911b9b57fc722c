"""What there is to know about a part before it is made: its purpose, its options, what the crawl gives it."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Collection
from typing import Any

import msgspec

from honeyguide.config.registry import Kind, find, names, needs_of, options_of
from honeyguide.errors import MissingExtra, TopicError

_ENTRY = re.compile(r"^(\w+)(?: \([^)]*\))?: *(.*)$")


class OptionInfo(msgspec.Struct, frozen=True):
    """One option of a part."""

    name: str
    type: str
    default: str
    """As a topic file would say it; empty when the option must be given."""
    meaning: str = ""


class PartInfo(msgspec.Struct, frozen=True):
    """One page model, link order or source."""

    kind: Kind
    name: str
    title: str
    """The first line of its documentation, or why it cannot be used."""
    options: tuple[OptionInfo, ...] = ()
    needs: tuple[str, ...] = ()
    """What the crawl gives it; no user sets these."""
    made_by: str = ""
    """`module:Class`."""


def describe_all(kind: Kind, filled_in: Collection[str]) -> list[PartInfo]:
    """All parts of a kind, sorted by name.

    Args:
        kind: Which ones.
        filled_in: Names of the arguments that the wiring can fill in.
    """
    return [describe(kind, name, filled_in) for name in names(kind)]


def describe(kind: Kind, name: str, filled_in: Collection[str]) -> PartInfo:
    """One part; also one that cannot be imported, with the reason as its title."""
    try:
        maker = find(kind, name)
    except (MissingExtra, TopicError) as error:
        if name not in names(kind):
            raise
        return PartInfo(kind, name, str(error))
    needs = needs_of(maker, filled_in)
    meanings = _meanings(maker)
    options = tuple(
        OptionInfo(one.name, _type(one.hint), _default(one.default), meanings.get(one.name, ""))
        for one in options_of(maker, given=needs).values()
    )
    title = (inspect.getdoc(maker) or "").partition("\n")[0]
    return PartInfo(
        kind, name, title, options, tuple(sorted(needs)), f"{maker.__module__}:{maker.__qualname__}"
    )


def _meanings(maker: Callable[..., Any]) -> dict[str, str]:
    """What the documentation says of each argument, also of the fields of a struct of options."""
    found = _arguments(inspect.getdoc(maker) or "")
    for parameter in inspect.signature(maker, eval_str=False).parameters.values():
        default = parameter.default
        if isinstance(default, msgspec.Struct):
            found = {**_arguments(inspect.getdoc(type(default)) or ""), **found}
    return found


def _arguments(text: str) -> dict[str, str]:
    """The `Args:` of a docstring.

    Example:
        >>> lines = ("Title.", "", "Args:", "    depth: How far", "        to go.", "    seed: For chance.")
        >>> _arguments(chr(10).join(lines))
        {'depth': 'How far to go.', 'seed': 'For chance.'}
    """
    _, _, after = text.partition("Args:\n")
    found: dict[str, str] = {}
    last = ""
    for line in after.splitlines():
        if line.strip() and not line.startswith("    "):
            break
        entry = _ENTRY.match(line[4:]) if line[4:5].strip() else None
        if entry:
            last = entry[1]
            found[last] = entry[2]
        elif last and line.strip():
            found[last] += f" {line.strip()}"
    return found


def _type(hint: Any) -> str:
    if hint is Any:
        return ""
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(repr(one) for one in typing.get_args(hint))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(_type(one) for one in typing.get_args(hint))
    if hint is type(None):
        return "none"
    return (
        hint.__name__
        if inspect.isclass(hint) and not typing.get_args(hint)
        else str(hint).replace("typing.", "")
    )


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return ""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
