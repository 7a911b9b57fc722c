"""Parts that a caller hands in: as `"module:Class"`, as a class, or ready made.

For Python code and experiment files. Topic files may come from strangers: they name registered parts only.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Collection, Mapping

import msgspec

from honeyguide.config.entries import advice
from honeyguide.config.recipes import Part, Recipe
from honeyguide.config.registry import WORDS, Kind, OptionError, check_options, find, needs_of
from honeyguide.discovery.base import Source
from honeyguide.errors import TopicError
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import PageModel

PROTOCOLS: Mapping[Kind, type] = {"relevance": PageModel, "ordering": LinkOrder, "discovery": Source}
FILLED_IN = (
    "judge", "topic_terms", "keywords", "taxonomy", "languages", "examples", "seed",
    "http", "clock", "state", "web",
)  # fmt: skip
"""Arguments that the wiring fills in for every part, where it has them."""


def with_own_parts(
    recipe: Recipe,
    *,
    relevance: object = None,
    ordering: object = None,
    discovery: object = None,
    services: Collection[str] = (),
) -> Recipe:
    """A recipe with parts of the caller's own in place of its own.

    Args:
        recipe: The recipe.
        relevance: A page model: a class, an instance, `"module:Class"`, a registered name, or a `Part` of
            one of these with options. A scikit-learn classifier over texts will do, too.
        ordering: A link order, in the same ways.
        discovery: One source, or several, in the same ways; an empty sequence for none.
        services: Names of what parts may need beyond `FILLED_IN`.

    Raises:
        TopicError: Something cannot serve as what it is meant to be; the message says what it lacks.
    """
    changes: dict[str, object] = {}
    if relevance is not None:
        changes["relevance"] = own_part("relevance", relevance, services)
    if ordering is not None:
        changes["ordering"] = own_part("ordering", ordering, services)
    if changes:
        changes["needs"] = ()  # those of the recipe's own parts
    if discovery is not None:
        several = discovery if isinstance(discovery, list | tuple) else [discovery]
        changes["discovery"] = tuple(own_part("discovery", one, services) for one in several)
    return msgspec.structs.replace(recipe, **changes)


def own_part(kind: Kind, thing: object, services: Collection[str] = ()) -> Part:
    """One part of the caller's own, checked as far as that is possible before it is made.

    Args:
        kind: What it is meant to be.
        thing: A class, an instance, `"module:Class"`, a registered name, or a `Part`.
        services: As for `with_own_parts`.
    """
    if isinstance(thing, Part):
        part = thing
    elif isinstance(thing, str):
        part = Part(thing)
    else:
        part = Part(_title(thing), own=thing)
    if part.own is None and ":" in part.name:
        part = msgspec.structs.replace(part, own=load_class(kind, part.name))
    if inspect.isclass(part.own):
        _check_class(kind, part, services)
    elif part.own is not None:
        part = msgspec.structs.replace(part, own=_checked(kind, part.own))
    else:
        find(kind, part.name)
    return part


def load_class(kind: Kind, name: str) -> type:
    """The class that `"module:Class"` names.

    Raises:
        TopicError: The module cannot be imported, or has no such class.
    """
    module, _, wanted = name.partition(":")
    try:
        found: object = importlib.import_module(module)
    except Exception as error:  # a module may fail in any way while it is imported
        told = "check its name and that its folder is on the import path"
        raise TopicError(
            f"cannot import {module!r} for {WORDS[kind]} {name!r}: {type(error).__name__}: {error}; {told}"
        ) from error
    members = tuple(sorted(key for key, value in vars(found).items() if inspect.isclass(value)))
    for attribute in wanted.split("."):
        found = getattr(found, attribute, None)
    if not inspect.isclass(found):
        raise TopicError(f"module {module!r} has no class {wanted!r}; {advice(wanted, members)}")
    return found


def check_made(kind: Kind, made: object, title: str) -> None:
    """Refuse a part that lacks a member of its protocol."""
    absent = _absent(made, PROTOCOLS[kind])
    if absent:
        raise TopicError(f"{title} is not a {WORDS[kind]}: it lacks {', '.join(absent)}")


def _check_class(kind: Kind, part: Part, services: Collection[str]) -> None:
    maker, title = part.own, f"{WORDS[kind]} {part.name!r}"
    assert inspect.isclass(maker)
    protocol = PROTOCOLS[kind]
    methods = [name for name in _members(protocol) if inspect.isfunction(getattr(protocol, name, None))]
    absent = sorted(name for name in methods if not callable(getattr(maker, name, None)))
    if absent and kind == "relevance" and hasattr(maker, "predict"):
        raise TopicError(f"{title} is the class of an estimator; pass a fitted instance of it")
    if absent:
        raise TopicError(f"{part.name} is not a {WORDS[kind]}: it lacks {', '.join(absent)}")
    known = {*FILLED_IN, *services}
    needs = needs_of(maker, known)
    unknown = sorted(needs - known)
    if unknown:
        told = f"it can have {', '.join(FILLED_IN)}, and the crawl's own `services`"
        raise TopicError(f"{title} needs {', '.join(unknown)}, which no crawl gives; {told}")
    if "judge" in needs and kind == "relevance":
        raise TopicError(
            f"{title} needs judge, which is the page model itself; only orders and sources get it"
        )
    try:
        check_options(maker, part.options, given=needs)
    except OptionError as error:
        raise TopicError(f"{title}: {error}, or pass an instance") from None


def _checked(kind: Kind, thing: object) -> object:
    """A part that is ready; estimators become page models."""
    if kind == "relevance" and not isinstance(thing, PageModel):
        if any(callable(getattr(thing, name, None)) for name in ("predict_proba", "decision_function")):
            # Whoever hands over an estimator has scikit-learn; others need not.
            from honeyguide.relevance.estimator import EstimatorModel

            return EstimatorModel(thing)
        if hasattr(thing, "predict"):
            raise TopicError(f"{_title(thing)} cannot score pages: a classifier must have predict_proba")
    if inspect.isroutine(thing):
        raise TopicError(
            f"{_title(thing)} is a function, not a {WORDS[kind]}; pass a class, an instance or 'module:Class'"
        )
    check_made(kind, thing, _title(thing))
    return thing


def _title(thing: object) -> str:
    of = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    return f"{of.__module__}:{of.__qualname__}"


def _absent(thing: object, protocol: type) -> list[str]:
    return sorted(name for name in _members(protocol) if not hasattr(thing, name))


def _members(protocol: type) -> set[str]:
    """Names that a protocol asks for (Python 3.11 keeps no list of them)."""
    declared = {name for name in vars(protocol) if not name.startswith("_")}
    return declared | set(getattr(protocol, "__annotations__", {}))
