"""Which parts there are: the built-in ones, and those that installed packages register.

A package registers a class as an entry point in one of the groups `honeyguide.relevance`,
`honeyguide.ordering` or `honeyguide.discovery`. Built-in names cannot be replaced, so that a name means
the same everywhere.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, Literal, TypeAlias

import pydantic

from honeyguide import discovery, ordering, relevance
from honeyguide.config.entries import advice, load_entry
from honeyguide.errors import TopicError
from honeyguide.topic.file import nearest

Kind: TypeAlias = Literal["relevance", "ordering", "discovery"]

WORDS: Mapping[Kind, str] = {"relevance": "page model", "ordering": "link order", "discovery": "source"}
"""What each kind is called in messages."""

_BUILT_IN: Mapping[Kind, Mapping[str, Callable[..., Any]]] = {
    "relevance": relevance.BUILT_IN,
    "ordering": ordering.BUILT_IN,
    "discovery": discovery.BUILT_IN,
}


def names(kind: Kind) -> tuple[str, ...]:
    """The names of all parts of a kind, sorted; nothing is imported for it."""
    return tuple(sorted({*_BUILT_IN[kind], *entry_points(group=f"honeyguide.{kind}").names}))


def find(kind: Kind, name: str) -> Callable[..., Any]:
    """The class (or other maker) registered under a name.

    Raises:
        TopicError: There is none, or it cannot be imported.
    """
    if name in _BUILT_IN[kind]:
        return _BUILT_IN[kind][name]
    for entry in entry_points(group=f"honeyguide.{kind}", name=name):
        part = load_entry(entry)
        if not callable(part):
            raise TopicError(f"{WORDS[kind]} {name!r} ({entry.value}) is no class; correct its entry point")
        return typing.cast("Callable[..., Any]", part)
    raise TopicError(f"unknown {WORDS[kind]} {name!r}; {advice(name, names(kind))}")


def check_options(maker: Callable[..., Any], options: Mapping[str, object], *, given: frozenset[str]) -> None:
    """Refuse options that a part does not take, by the names and types of its constructor.

    Args:
        maker: The part's class.
        options: What the user wrote.
        given: Arguments that the wiring fills in; no user may set them.

    Raises:
        OptionError: Names the option at fault.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(maker).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and name not in given
    }
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(maker).parameters.values())
    hints = _hints(maker)
    for name, value in options.items():
        if name not in parameters:
            if takes_any and name not in given:
                continue
            hint = nearest(name, parameters) if parameters else "it takes no options"
            raise OptionError(name, f"unknown option '{name}'; {hint}")
        if name in hints:
            _check_type(name, value, hints[name])
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in options:
            raise OptionError("", f"option '{name}' is missing; add it")


class OptionError(TopicError):
    """An option of a part cannot be used."""

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(problem)
        self.option = option


def _check_type(name: str, value: object, hint: Any) -> None:
    try:
        pydantic.TypeAdapter(hint, config=pydantic.ConfigDict(arbitrary_types_allowed=True)).validate_python(
            value
        )
    except pydantic.ValidationError as error:
        message = error.errors(include_url=False)[0]["msg"].replace("Input should be", "must be")
        raise OptionError(name, f"option '{name}' {message}, not {value!r}") from None
    except pydantic.PydanticSchemaGenerationError:
        return  # a type pydantic cannot judge: the part's own checks remain


def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(maker.__init__ if inspect.isclass(maker) else maker)
    except NameError:  # names imported for type checkers only
        return {}
