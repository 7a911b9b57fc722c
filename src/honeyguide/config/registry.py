"""Which parts there are: the built-in ones, and those that installed packages register.

A package registers a class as an entry point in one of the groups `honeyguide.relevance`,
`honeyguide.ordering` or `honeyguide.discovery`. Built-in names cannot be replaced, so that a name means
the same everywhere.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal, TypeAlias

import msgspec
import pydantic

from honeyguide import discovery, ordering, relevance
from honeyguide.config.entries import advice, load_entry
from honeyguide.config.wording import plainly
from honeyguide.errors import MissingExtra, TopicError
from honeyguide.topic.file import nearest

Kind: TypeAlias = Literal["relevance", "ordering", "discovery"]

WORDS: Mapping[Kind, str] = {"relevance": "page model", "ordering": "link order", "discovery": "source"}
"""What each kind is called in messages."""

EXTRAS: Mapping[str, str] = {"scipy": "learn", "sklearn": "learn", "numba": "gp", "deap": "gp"}
"""The extra that brings a library which only some parts need."""

_BUILT_IN: Mapping[Kind, Mapping[str, str]] = {
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
        return _built_in(kind, name)
    for entry in entry_points(group=f"honeyguide.{kind}", name=name):
        part = load_entry(entry)
        if not callable(part):
            raise TopicError(f"{WORDS[kind]} {name!r} ({entry.value}) is not a class; fix its entry point")
        return typing.cast("Callable[..., Any]", part)
    raise TopicError(f"unknown {WORDS[kind]} {name!r}; {advice(name, names(kind))}")


def needs_of(maker: Callable[..., Any], known: Collection[str]) -> frozenset[str]:
    """Names of the arguments that the wiring fills in: those a class declares as `needs`.

    Without a declaration: those among `known` that its constructor names, except where the default is None.
    """
    declared = getattr(maker, "needs", None)
    if declared is not None:
        return frozenset(declared)
    parameters = inspect.signature(maker).parameters.values()
    return frozenset(one.name for one in parameters if one.name in known and one.default is not None)


def _built_in(kind: Kind, name: str) -> Callable[..., Any]:
    home, _, maker = _BUILT_IN[kind][name].partition(":")
    try:
        module = import_module(home)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise MissingExtra(f"the {WORDS[kind]} {name!r}", extra) from error
    return typing.cast("Callable[..., Any]", getattr(module, maker))


class Option(msgspec.Struct, frozen=True):
    """One option of a part, as a topic file names it."""

    name: str
    hint: Any = Any
    """Its type; Any where the part does not say."""
    default: object = inspect.Parameter.empty
    """`inspect.Parameter.empty` where it must be given."""
    group: str = ""
    """The argument that takes it, where the constructor takes a struct of options."""


def options_of(maker: Callable[..., Any], *, given: Collection[str] = ()) -> dict[str, Option]:
    """The options of a part by name: arguments of its constructor, and fields of those that are structs.

    A constructor may take one `msgspec.Struct` instead of a dozen arguments; a topic file names its fields
    directly.

    Args:
        maker: The part's class.
        given: Arguments that the wiring fills in; no user may set them.

    Example:
        >>> class Settings(msgspec.Struct):
        ...     depth: int = 3
        >>> def order(judge: object, settings: Settings = Settings(), *, decay: float) -> None: ...
        >>> list(options_of(order, given=["judge"]))
        ['depth', 'decay']
    """
    hints = _hints(maker)
    found: dict[str, Option] = {}
    for name, parameter in inspect.signature(maker).parameters.items():
        if name in given or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            continue
        hint = hints.get(name, Any)
        if not (inspect.isclass(hint) and issubclass(hint, msgspec.Struct)):
            found[name] = Option(name, hint, parameter.default)
            continue
        types = _hints(hint)
        for field in msgspec.structs.fields(hint):
            default = field.default
            if default is msgspec.NODEFAULT:
                made = field.default_factory
                default = inspect.Parameter.empty if made is msgspec.NODEFAULT else made()
            found[field.name] = Option(field.name, types.get(field.name, Any), default, group=name)
    return found


def check_options(
    maker: Callable[..., Any], options: Mapping[str, object], *, given: frozenset[str], named_by: str = ""
) -> None:
    """Refuse options that a part does not take, by the names and types of its constructor.

    Args:
        maker: The part's class.
        options: What the user wrote.
        given: Arguments that the wiring fills in; no user may set them.
        named_by: The key beside the options that names the part, which may be what was misspelt.

    Raises:
        OptionError: Names the option at fault.
    """
    known = options_of(maker, given=given)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(maker).parameters.values())
    for name, value in options.items():
        if name not in known:
            if takes_any and name not in given:
                continue
            hint = nearest(name, known) if known else "it takes no options"
            if named_by and nearest(name, [*known, named_by]) == f"did you mean '{named_by}'?":
                hint = f"did you mean '{named_by}'?"
            raise OptionError(name, f"unknown option '{name}'; {hint}")
        _check_type(name, value, known[name].hint)
    for name, option in known.items():
        if option.default is inspect.Parameter.empty and name not in options:
            raise OptionError("", f"option '{name}' is missing; add it")


def construct(maker: Callable[..., Any], options: Mapping[str, object], given: Mapping[str, object]) -> Any:
    """One part from options that `check_options` let through and what the wiring fills in."""
    known = options_of(maker, given=given)
    arguments: dict[str, Any] = dict(given)
    grouped: dict[str, dict[str, object]] = {}
    for name, value in options.items():
        group = known[name].group if name in known else ""
        if group:
            grouped.setdefault(group, {})[name] = value
        else:
            arguments[name] = value
    hints = _hints(maker) if grouped else {}
    return maker(**arguments, **{group: hints[group](**values) for group, values in grouped.items()})


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
        message = plainly(error.errors(include_url=False)[0]["msg"])
        raise OptionError(name, f"option '{name}' {message}, not {value!r}") from None
    except pydantic.PydanticSchemaGenerationError:
        return  # a type pydantic cannot judge: the part's own checks remain


def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    try:
        if inspect.isclass(maker) and not issubclass(maker, msgspec.Struct):
            maker = maker.__init__
        return typing.get_type_hints(maker)
    except NameError:  # names imported for type checkers only
        return {}
