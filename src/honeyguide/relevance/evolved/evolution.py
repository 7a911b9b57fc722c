"""Genetic programming of a similarity formula, with kNN macro-F1 as its fitness."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from honeyguide.errors import MissingExtra, TopicError
from honeyguide.relevance.evolved.fitness import Fitness
from honeyguide.relevance.evolved.formula import (
    ARITY,
    EVIDENCE,
    Formula,
    canonical_form,
    from_prefix,
    parse,
    prefix,
    show,
    size,
)

RandomState: TypeAlias = tuple[int, tuple[int, ...], float | None]


class Settings(msgspec.Struct, frozen=True):
    """The options of an evolution; the defaults are the study's."""

    population: int = 400
    generations: int = 30
    crossover: float = 0.65
    mutation: float = 0.05
    """Shares of the next generation; the rest, 0.30, is reproduced as it is."""
    tournament: int = 3
    kept: int = 10
    """Best trees of a generation that go on to the validation sample."""
    k: int = 10
    """Neighbours; the study does not say how many it used."""
    max_height: int = 8
    """Levels below the root; a crossover or mutation that grows higher gives back the parent."""
    seed: int = 0

    def check(self) -> None:
        """Raise `TopicError` for sizes and rates that make no evolution."""
        rates = self.crossover >= 0 and self.mutation >= 0 and self.crossover + self.mutation <= 1
        if not rates:
            raise TopicError("crossover and mutation are shares; choose two that add up to 1 at most")
        if min(self.population, self.tournament, self.kept, self.k) < 1 or self.generations < 1:
            raise TopicError("population, generations, tournament, kept and k must be 1 at least; raise them")
        if not 1 <= self.max_height <= 20:
            raise TopicError(f"max_height is {self.max_height}; choose 1 to 20")


class Generation(msgspec.Struct, frozen=True):
    """What one generation came to."""

    number: int
    best: float
    """Macro-F1 on the training sample."""
    mean: float
    formula: str
    size: int
    evaluated: int
    """Trees that had not been seen before."""


class Kept(msgspec.Struct, frozen=True):
    """A tree recorded for the validation sample."""

    formula: tuple[str, ...]
    """Node names in prefix order."""
    fitness: float


class Evolution(msgspec.Struct, frozen=True):
    """Where an evolution stands after a generation: enough to go on exactly as if it had not stopped."""

    settings: Settings
    data: str
    """Fingerprint of the training sample."""
    history: tuple[Generation, ...]
    population: tuple[tuple[str, ...], ...]
    """The next generation, in prefix order."""
    kept: tuple[Kept, ...]
    random: RandomState

    @property
    def done(self) -> bool:
        """Whether all generations were run, or there is nothing left to gain."""
        perfect = bool(self.history) and self.history[-1].best >= 1.0
        return perfect or len(self.history) >= self.settings.generations


def begin(settings: Settings, data: str) -> Evolution:
    """The first population: half full trees, half grown ones, of height 1 to 4."""
    settings.check()
    gp, primitives = _deap()
    source = random.Random(settings.seed)  # noqa: S311  Not a secret.
    highest = min(4, settings.max_height)
    with _drawing_from(source):
        trees = [
            gp.PrimitiveTree(gp.genHalfAndHalf(primitives, min_=1, max_=highest))
            for _ in range(settings.population)
        ]
    return Evolution(settings, data, (), tuple(_names(tree) for tree in trees), (), _state(source))


def step(evolution: Evolution, fitness: Fitness) -> Evolution:
    """Run one generation: judge the population, record its best, breed the next."""
    settings = evolution.settings
    formulas = [from_prefix(names) for names in evolution.population]
    before = fitness.evaluated
    scores = fitness.of_all(formulas)
    order = sorted(range(len(formulas)), key=lambda i: (-scores[i], size(formulas[i]), i))
    best = order[0]
    made = Generation(
        number=len(evolution.history) + 1,
        best=scores[best],
        mean=sum(scores) / len(scores),
        formula=show(formulas[best]),
        size=size(formulas[best]),
        evaluated=fitness.evaluated - before,
    )
    source = random.Random()  # noqa: S311  Not a secret; set to the saved state at once.
    source.setstate(evolution.random)
    population = _breed(evolution.population, scores, settings, source)
    return msgspec.structs.replace(
        evolution,
        history=(*evolution.history, made),
        population=population,
        kept=(*evolution.kept, *_record(formulas, scores, order, settings.kept)),
        random=_state(source),
    )


def run(
    evolution: Evolution,
    fitness: Fitness,
    *,
    progress: Callable[[Generation], object] | None = None,
    checkpoint: Callable[[Evolution], object] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Evolution:
    """Run the generations that are left, or until `stop` says so after one of them.

    Args:
        evolution: From `begin`, or one that was stopped.
        fitness: Over the same training sample as before.
        progress: Called with each generation.
        checkpoint: Called with the state after each generation.
        stop: Asked after each generation.
    """
    while not evolution.done and not (stop is not None and stop()):
        evolution = step(evolution, fitness)
        if checkpoint is not None:
            checkpoint(evolution)
        if progress is not None:
            progress(evolution.history[-1])
    return evolution


def choose(evolution: Evolution, validation: Fitness) -> tuple[Formula, float]:
    """The recorded tree that does best on the validation sample, with its macro-F1 there.

    Equal ones: the better on the training sample, then the smaller, then the earlier.
    """
    if not evolution.kept:
        raise TopicError("the evolution has run no generation yet; run it first")
    seen: dict[Formula, float] = {}
    for kept in evolution.kept:
        formula = from_prefix(kept.formula)
        seen.setdefault(canonical_form(formula), kept.fitness)
    formulas = list(seen)
    scores = validation.of_all(formulas)
    best = min(range(len(formulas)), key=lambda i: (-scores[i], -seen[formulas[i]], size(formulas[i]), i))
    return parse(formulas[best]), scores[best]


def _record(
    formulas: Sequence[Formula], scores: Sequence[float], order: Sequence[int], count: int
) -> list[Kept]:
    """The `count` best trees of a generation, equal functions once."""
    best: dict[Formula, Kept] = {}
    for place in order:
        if len(best) >= count:
            break
        best.setdefault(canonical_form(formulas[place]), Kept(tuple(prefix(formulas[place])), scores[place]))
    return list(best.values())


def _breed(
    population: Sequence[tuple[str, ...]], scores: Sequence[float], settings: Settings, source: random.Random
) -> tuple[tuple[str, ...], ...]:
    """The next population: shares of it by crossover, by mutation and by reproduction, as published.

    Parents of crossover and mutation win a tournament; what is reproduced is drawn in proportion to its
    fitness.
    """
    gp, primitives = _deap()
    from deap import tools

    parents = []
    for names, score in zip(population, scores, strict=True):
        tree = gp.PrimitiveTree([primitives.mapping[name] for name in names])
        tree.fitness = score
        parents.append(tree)
    limit = gp.staticLimit(key=operator.attrgetter("height"), max_value=settings.max_height)
    cross = limit(gp.cxOnePoint)
    mutate = limit(gp.mutUniform)

    def subtree(pset: Any, type_: Any) -> Any:
        return gp.genFull(pset, min_=0, max_=2, type_=type_)

    def winner() -> Any:
        return gp.PrimitiveTree(tools.selTournament(parents, 1, tournsize=settings.tournament)[0])

    crossed = round(settings.crossover * settings.population)
    mutated = min(round(settings.mutation * settings.population), settings.population - crossed)
    children: list[tuple[str, ...]] = []
    with _drawing_from(source):
        while len(children) < crossed:
            children += [_names(child) for child in cross(winner(), winner())]
        del children[crossed:]
        children += [_names(mutate(winner(), expr=subtree, pset=primitives)[0]) for _ in range(mutated)]
        left = settings.population - len(children)
        weights = scores if any(score > 0.0 for score in scores) else None
        # The generator that DEAP draws from at this moment, so that one state tells all.
        children += random.choices(population, weights, k=left)  # noqa: S311
    return tuple(children)


@contextmanager
def _drawing_from(source: random.Random) -> Iterator[None]:
    """DEAP draws from Python's global generator: lend it ours, and give the global one back as it was."""
    outside = random.getstate()
    random.setstate(source.getstate())
    try:
        yield
    finally:
        source.setstate(random.getstate())
        random.setstate(outside)


def _state(source: random.Random) -> RandomState:
    version, numbers, gauss = source.getstate()
    return int(version), tuple(numbers), gauss


def _names(tree: Any) -> tuple[str, ...]:
    return tuple(node.name if hasattr(node, "args") and node.arity else str(node.value) for node in tree)


def _deap() -> tuple[Any, Any]:
    """DEAP's genetic programming module, and the functions and terminals of a similarity."""
    try:
        from deap import gp
    except ImportError:
        raise MissingExtra("evolving a similarity", "gp") from None
    primitives = gp.PrimitiveSet("similarity", 0)
    for name, arity in ARITY.items():
        primitives.addPrimitive(operator.add, arity, name=name)  # The function is never called.
    for name in EVIDENCE:
        primitives.addTerminal(name, name=name)
    return gp, primitives
