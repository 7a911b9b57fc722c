"""The one place where parts are wired: page model, link order and sources of a crawl.

Some arguments of a part's constructor only the wiring can fill in. It passes by keyword:

- `judge`: the fitted page model, to score anchors, link contexts and blocks;
- `topic_terms`, `keywords`, `taxonomy`, `languages`, `examples`: what the user gave about the topic;
- `seed`: the crawl's random seed;
- anything in `services`, for sources: `http` (asks web services), `clock`, `state` (the crawl's own),
  in the lab `web` (what a recorded web knows of itself).

A class declares which of them it wants as `needs: frozenset[str]`; without that, it gets those that
its constructor names, except where the default is None. All other arguments are options a user may set;
where one is a `msgspec.Struct`, its fields are (`config.registry.options_of`).

A caller may hand in parts of its own: as `"module:Class"`, as a class, or ready made (`with_own_parts`). That
is for Python code and experiment files. Topic files may come from strangers: they name registered parts only.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from honeyguide.config.entries import advice
from honeyguide.config.load import changed, refuse
from honeyguide.config.recipes import Part, Recipe, find_recipe, given_by, missing_needs
from honeyguide.config.registry import (
    WORDS,
    Kind,
    OptionError,
    check_options,
    construct,
    find,
    needs_of,
    options_of,
)
from honeyguide.config.schema import Config
from honeyguide.discovery.base import Source
from honeyguide.errors import TopicError
from honeyguide.model import Examples
from honeyguide.ordering.base import LinkOrder
from honeyguide.parse.base import BlockOptions, Blocks
from honeyguide.relevance.base import LinkWitness, ListeningPageModel, PageModel
from honeyguide.relevance.reviewed import reviewable
from honeyguide.topic.positions import Location

PROTOCOLS: Mapping[Kind, type] = {"relevance": PageModel, "ordering": LinkOrder, "discovery": Source}
FILLED_IN = (
    "judge", "topic_terms", "keywords", "taxonomy", "languages", "examples", "seed",
    "http", "clock", "state", "web",
)  # fmt: skip
"""Arguments that the wiring fills in for every part, where it has them."""


_UNREGISTERED = (
    "{word} '{name}' is not registered; topic files name registered parts only, since they may come from "
    "strangers: pass it from Python, or register it as CONTRIBUTING.md shows"
)


class Parts(msgspec.Struct, frozen=True):
    """The three answers of one crawl, ready to use."""

    model: PageModel
    order: LinkOrder
    sources: tuple[Source, ...] = ()


def check_config(config: Config) -> Recipe:
    """The recipe with the file's own parts and options laid over it, all names and options checked.

    Raises:
        TopicError: One line with the file's line number, also when there is nowhere to begin or the
            topic lacks something that the recipe needs.
    """
    recipe = chosen(config)
    if not config.as_topic().seeds and not recipe.discovery:
        raise refuse(config, ("crawl",), "no 'seeds' in [crawl]; add addresses to begin with")
    lacking = missing_needs(recipe, given_by(config.as_topic()))
    if lacking:
        raise refuse(config, ("topic",), _lacking(recipe, lacking))
    return recipe


def chosen(config: Config, *, modules: bool = False) -> Recipe:
    """The recipe that a configuration names, with its parts and options laid over it.

    Args:
        config: The configuration.
        modules: Whether parts may be named as `module:Class`: in experiment files, which are code. A topic
            file may come from a stranger, and names registered parts only.
    """
    try:
        recipe = find_recipe(config.crawl.recipe)
    except TopicError as error:
        raise refuse(config, ("crawl", "recipe"), str(error)) from None
    model = _overlaid(recipe.relevance, config.relevance.model, config.relevance.options)
    order = _overlaid(recipe.ordering, config.ordering.order, config.ordering.options)
    # Who names a service for a recipe's source means that source, with all else as the recipe has it.
    usual = {part.name: part.options for part in recipe.discovery}
    named = [Part(one.source, {**usual.get(one.source, {}), **one.options}) for one in config.discovery]
    sources = tuple(named) or recipe.discovery
    model = _checked(config, "relevance", model, ("relevance", "model"), modules=modules)
    order = _checked(config, "ordering", order, ("ordering", "order"), modules=modules)
    sources = tuple(
        _checked(config, "discovery", source, ("discovery", index, "source"), modules=modules)
        for index, source in enumerate(sources)
    )
    same = model.name == recipe.relevance.name and order.name == recipe.ordering.name
    return msgspec.structs.replace(
        recipe, relevance=model, ordering=order, discovery=sources, needs=recipe.needs if same else ()
    )


def spelled_out(config: Config, recipe: Recipe) -> Config:
    """The configuration with the parts and options that its recipe stands for written out.

    Frozen like this, a collection is not changed by a later version's idea of the recipe.
    """
    return changed(
        config,
        {
            "relevance": {"model": recipe.relevance.name, **recipe.relevance.options},
            "ordering": {"order": recipe.ordering.name, **recipe.ordering.options},
        },
        discovery=[{"source": part.name, **part.options} for part in recipe.discovery],
    )


def build_parts(
    recipe: Recipe | str,
    examples: Examples,
    *,
    seed: int = 0,
    services: Mapping[str, object] | None = None,
    prepared: Mapping[int, Source] | None = None,
    fit: bool = True,
    reviews: bool = False,
) -> Parts:
    """Make and fit the parts of a recipe.

    Args:
        recipe: A recipe (`chosen` gives that of a configuration) or the name of one.
        examples: What the user gave about the topic.
        seed: For parts that draw at random.
        services: What sources may need, by name.
        prepared: Sources that were made before the others (`preparing_sources`), by position.
        fit: False leaves the page model untrained, to be given its saved state.
        reviews: Make the page model one that can take reviews (and load a state that has some).

    Raises:
        TopicError: A part is unknown, its options are wrong, or the examples cannot serve it.
    """
    if isinstance(recipe, str):
        recipe = find_recipe(recipe)
    lacking = missing_needs(recipe, given_by(examples)) if fit else []
    if lacking:
        raise TopicError(_lacking(recipe, lacking))
    known = _known(examples, seed, services)
    page_model: PageModel = make("relevance", recipe.relevance, known)
    if reviews:
        page_model = reviewable(page_model, languages=examples.languages)
    if fit:
        page_model = page_model.fit(examples)
    known["judge"] = page_model
    order: LinkOrder = make("ordering", recipe.ordering, known)
    if isinstance(page_model, ListeningPageModel) and isinstance(order, LinkWitness):
        page_model.hear_links(order)
    made = prepared or {}
    sources = [
        made[place] if place in made else make("discovery", part, known)
        for place, part in enumerate(recipe.discovery)
    ]
    return Parts(page_model, order, tuple(sources))


def preparing_sources(
    recipe: Recipe, examples: Examples, *, seed: int, services: Mapping[str, object] | None = None
) -> dict[int, Source]:
    """The recipe's sources that have something to do before the page model is fitted, by position."""
    known = _known(examples, seed, services)
    return {
        place: make("discovery", part, known)
        for place, part in enumerate(recipe.discovery)
        if hasattr(given_or_registered("discovery", part), "prepare")
    }


def _known(examples: Examples, seed: int, services: Mapping[str, object] | None) -> dict[str, object]:
    return {
        "topic_terms": examples.keywords or examples.taxonomy,
        "keywords": examples.keywords,
        "taxonomy": examples.taxonomy,
        "languages": examples.languages,
        "examples": examples,
        "seed": seed,
        **(services or {}),
    }


def blocks_for(part: Part) -> Blocks:
    """What pages must have before the order is made: it is known from its class and options.

    Args:
        part: The order by name, with its options, or the order itself.

    Example:
        >>> blocks_for(Part("best-first")), blocks_for(Part("cbp-slc", {"alpha": 0.25}))
        (False, BlockOptions(alpha=0.25, tags='modern', context=4000))
    """
    if isinstance(part.own, LinkOrder) and not inspect.isclass(part.own):
        return blocks_of(part.own)
    maker = given_or_registered("ordering", part)
    if not getattr(maker, "needs_blocks", False):
        return False
    usual, options, known = BlockOptions(), part.options, options_of(maker)
    context = known["context"].default if "context" in known else usual.context
    return BlockOptions(
        float(str(options.get("alpha", usual.alpha))),
        str(options.get("block_tags", usual.tags)),
        int(str(options.get("context", context))),
    )


def blocks_of(order: LinkOrder) -> Blocks:
    """What an order needs of the pages it ranks."""
    if not order.needs_blocks:
        return False
    usual = BlockOptions()
    return BlockOptions(
        getattr(order, "block_alpha", usual.alpha),
        getattr(order, "block_tags", usual.tags),
        getattr(order, "block_context", usual.context),
    )


def given_or_registered(kind: Kind, part: Part) -> Any:
    """The part or class that was handed in, or else the class registered under its name."""
    return part.own if part.own is not None else find(kind, part.name)


def make(kind: Kind, part: Part, known: Mapping[str, object]) -> Any:
    """One part, with its options and what it declares to need.

    Args:
        kind: Which folder it belongs to.
        part: Its name and options; one that was handed in ready made is given back.
        known: What the wiring can fill in.
    """
    maker = given_or_registered(kind, part)
    if part.own is not None and not inspect.isclass(part.own):
        return maker
    needs = needs_of(maker, known)
    unknown = sorted(needs - known.keys())
    title = f"{WORDS[kind]} {part.name!r}"
    if unknown:
        raise TopicError(f"{title} needs {', '.join(unknown)}, which this crawl cannot give; choose another")
    try:
        check_options(maker, part.options, given=needs)
        made = construct(maker, part.options, {name: known[name] for name in needs})
    except (OptionError, ValueError, TypeError) as error:
        raise TopicError(f"{title}: {error}") from error
    check_made(kind, made, part.name)
    return made


def _overlaid(part: Part, name: str | None, options: dict[str, object]) -> Part:
    """The recipe's part with options changed, or another part with just these options."""
    if name is None or name == part.name:
        return Part(part.name, {**part.options, **options})
    return Part(name, options)


def _checked(config: Config, kind: Kind, part: Part, location: Location, *, modules: bool) -> Part:
    try:
        if modules and ":" in part.name:
            return own_part(kind, part)
        if ":" in part.name:
            raise TopicError(_UNREGISTERED.format(word=WORDS[kind], name=part.name))
        maker = find(kind, part.name)
    except TopicError as error:
        raise refuse(config, location, str(error)) from None
    try:
        needs = needs_of(maker, FILLED_IN)
        check_options(maker, part.options, given=needs, named_by=str(location[-1]))
    except OptionError as error:
        where = (*location[:-1], error.option) if error.option else location
        raise refuse(config, where, f"{WORDS[kind]} '{part.name}': {error}") from None
    return part


def _lacking(recipe: Recipe, lacking: list[str]) -> str:
    return f"recipe '{recipe.name}' needs {' and '.join(lacking)}; add them to [topic]"


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
        part = msgspec.structs.replace(part, own=_ready(kind, part.own))
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


def _ready(kind: Kind, thing: object) -> object:
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
