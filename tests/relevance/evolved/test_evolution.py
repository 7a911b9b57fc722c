from __future__ import annotations

import random

import msgspec
import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.evolution import Evolution, Settings, _breed, begin, choose, run
from honeyguide.relevance.evolved.fitness import Fitness
from honeyguide.relevance.evolved.formula import EVIDENCE, Formula, from_prefix, program
from honeyguide.relevance.evolved.index import Terms
from honeyguide.relevance.evolved.samples import Labelled, Training, require_examples, split
from honeyguide.relevance.evolved.scores import class_f1, macro_f1, study_f1

SMALL = Settings(population=40, generations=6, k=5, seed=3)


def hard_documents(count: int = 160, seed: int = 1) -> Labelled:
    """Title and body each tell half of the truth, so that a combination beats either."""
    source = random.Random(seed)
    documents, classes = [], []
    for number in range(count):
        kind = number % 2

        def words(length: int, share: float, kind: int = kind) -> tuple[str, ...]:
            return tuple(
                f"{'xy'[kind]}{source.randrange(15)}"
                if source.random() < share
                else f"z{source.randrange(60)}"
                for _ in range(length)
            )

        told = source.random() < 0.5
        documents.append(Terms(words(4, 0.5 if told else 0.0), words(25, 0.02 if told else 0.15)))
        classes.append(kind)
    return Labelled(tuple(documents), np.array(classes, dtype=np.int32))


@pytest.fixture(scope="module")
def work() -> Training:
    return Training(split(hard_documents(), training=0.5, validation=0.25, seed=1), SMALL, threads=1)


def test_evolution_beats_every_single_evidence_in_training(work: Training) -> None:
    outcome = work.run()
    assert outcome is not None
    singles = work.judge_on(work.training, race=False).of_all(list(EVIDENCE))
    assert outcome.evolution.history[-1].best > max(singles)
    assert outcome.scores["training_macro_f1"] >= max(singles)
    assert set(outcome.scores) == {
        f"{sample}_{kind}_f1" for sample in ("training", "validation", "test") for kind in ("macro", "study")
    }
    best = [generation.best for generation in outcome.evolution.history]
    assert best[-1] > best[0]


def test_equal_seeds_give_equal_evolutions_also_across_a_stop(work: Training) -> None:
    whole = run(work.begin(), work.fitness)
    kept: list[Evolution] = []
    stopped = run(
        work.begin(),
        work.judge_on(work.training),
        checkpoint=kept.append,
        stop=lambda: len(kept) == 3,
    )
    assert len(stopped.history) == 3
    on_disk = msgspec.json.decode(msgspec.json.encode(stopped), type=Evolution)
    resumed = run(on_disk, work.judge_on(work.training))
    assert resumed.population == whole.population
    assert resumed.kept == whole.kept
    assert [one.formula for one in resumed.history] == [one.formula for one in whole.history]
    other = run(begin(Settings(population=40, generations=6, k=5, seed=4), ""), work.fitness)
    assert other.population != whole.population


def test_the_global_generator_is_left_alone(work: Training) -> None:
    random.seed(5)
    before = random.getstate()
    run(work.begin(), work.fitness, stop=lambda: False)
    assert random.getstate() == before


def test_trees_stay_within_the_limit_and_are_valid(work: Training) -> None:
    settings = Settings(population=30, generations=5, k=5, max_height=3, crossover=0.5, mutation=0.5)
    grown = run(begin(settings, ""), work.fitness)
    for names in grown.population:
        assert len(program(from_prefix(names))) <= 15
        assert height(from_prefix(names)) <= 3


def height(formula: object) -> int:
    return 1 + max(height(part) for part in formula[1:]) if isinstance(formula, tuple) else 0


def test_the_choice_is_the_best_on_validation(work: Training) -> None:
    evolution = run(work.begin(), work.fitness)
    queries = work.queries(hard_documents(60, seed=9))
    validation = work.judge_on(queries, race=False)
    formula, score = choose(evolution, validation)
    assert score == max(validation.of(from_prefix(kept.formula)) for kept in evolution.kept)
    assert score == pytest.approx(macro_f1(queries.labels, work.predict(formula, queries)))
    with pytest.raises(TopicError, match="run it first"):
        choose(work.begin(), validation)


def test_equal_formulas_are_judged_once(work: Training) -> None:
    fitness = work.judge_on(work.training)
    scores = fitness.of_all([("+", "body_bow", "title_bow"), ("+", "title_bow", "body_bow"), "body_bow"])
    assert scores[0] == scores[1]
    assert fitness.evaluated == 2


def test_a_race_keeps_the_leaders_exact() -> None:
    collection = hard_documents(1400, seed=2)
    large = Training(split(collection, training=0.9, validation=0.05, seed=1), SMALL, threads=1)
    useless: Formula = ("/", "title_bow", "title_bow")
    formulas = [*EVIDENCE, ("+", "body_cosine", "title_cosine"), ("*", "title_bow", "title_bow"), useless]
    exact = Fitness(large.training, 5, race=False).of_all(formulas)
    raced = Fitness(large.training, 5).of_all(formulas)
    best = max(range(len(formulas)), key=lambda place: exact[place])
    assert raced[best] == exact[best]
    assert max(range(len(formulas)), key=lambda place: raced[place]) == best
    assert any(one != other for one, other in zip(raced, exact, strict=True))


@pytest.mark.parametrize(
    "bad",
    [
        {"population": 0},
        {"generations": 0},
        {"crossover": 0.9, "mutation": 0.2},
        {"max_height": 99},
        {"mutation": -1.0},
    ],
)
def test_settings_that_make_no_evolution(bad: dict[str, float]) -> None:
    with pytest.raises(TopicError):
        begin(msgspec.structs.replace(SMALL, **bad), "")


def test_another_sample_is_not_resumed(work: Training) -> None:
    with pytest.raises(TopicError, match="other examples"):
        work.run(begin(SMALL, "somewhere else"))


def test_too_few_examples_are_refused() -> None:
    with pytest.raises(TopicError, match="on topic, there are 4; give 6 more"):
        require_examples(4, 50)
    with pytest.raises(TopicError, match="off topic, there are 0"):
        require_examples(10, 0)
    require_examples(10, 10)


def test_samples_are_stratified_disjoint_and_seeded() -> None:
    collection = hard_documents(100)
    samples = split(collection, training=0.3, validation=0.2, seed=1)
    sizes = [len(part.documents) for part in (samples.training, samples.validation, samples.test)]
    assert sizes == [30, 20, 50]
    assert samples.training.classes.sum() == 15
    everything = [*samples.training.documents, *samples.validation.documents, *samples.test.documents]
    assert sorted(map(hash, everything)) == sorted(map(hash, collection.documents))
    again = split(collection, training=0.3, validation=0.2, seed=1)
    assert again.training.documents == samples.training.documents
    assert (
        split(collection, training=0.3, validation=0.2, seed=2).training.documents
        != samples.training.documents
    )


def test_f1_by_hand() -> None:
    true, said = np.array([0, 0, 0, 1, 1], np.int32), np.array([0, 0, 1, 1, 0], np.int32)
    assert class_f1(true, said, 2) == pytest.approx([2 / 3, 1 / 2])
    assert macro_f1(true, said) == pytest.approx(7 / 12)
    assert study_f1(true, said) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert macro_f1(true, np.zeros(5, np.int32)) == pytest.approx(0.375)


def test_shares_of_a_generation_are_those_asked_for() -> None:
    """Exactly 30 % are reproduced (two children a crossover do not count twice), by their fitness."""
    settings = Settings(population=40, seed=1)
    first = begin(settings, "").population
    only_one = [1.0 if place == 7 else 0.0 for place in range(40)]
    children = _breed(first, only_one, settings, random.Random(5))
    assert len(children) == 40
    assert children[-12:] == (first[7],) * 12
    assert set(
        _breed(first, [0.0] * 40, Settings(population=40, crossover=0, mutation=0), random.Random(5))
    ) <= set(first)
