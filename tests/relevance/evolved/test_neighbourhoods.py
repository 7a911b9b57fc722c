from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from honeyguide.relevance.evolved.formula import EVIDENCE, Formula, program
from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.relevance.evolved.kernels import mark_nearest, run_program, take_best
from honeyguide.relevance.evolved.neighbourhoods import Neighbourhoods

COMBINED: Formula = ("+", "body_cosine", ("*", "title_okapi", ("sqrt", "body_bow")))


def made_up(count: int, seed: int) -> tuple[list[Terms], NDArray[np.int32]]:
    source = random.Random(seed)
    documents, classes = [], []
    for number in range(count):
        kind = number % 2
        words = [f"{'ab'[kind] if source.random() < 0.4 else 'c'}{source.randrange(40)}" for _ in range(30)]
        documents.append(Terms(tuple(words[:3]), tuple(words)))
        classes.append(kind)
    return documents, np.array(classes, dtype=np.int32)


def naive(
    index: ExampleIndex, classes: NDArray[np.int32], page: Terms, formula: Formula, k: int, skip: int
) -> int:
    """kNN as one would write it down: all similarities, sorted, summed by class."""
    instructions = program(formula)
    registers = np.zeros((6 + len(instructions), index.size), dtype=np.float32)
    registers[:6] = index.evidence(page)
    run_program(instructions, registers, index.size)
    ranked = sorted(
        (place for place in range(index.size) if place != skip and registers[-1, place] > 0),
        key=lambda place: (-registers[-1, place], place),
    )[:k]
    sums = [0.0, 0.0]
    for place in ranked:
        sums[classes[place]] += float(registers[-1, place])
    return int(sums[1] > sums[0])


def test_kept_candidates_vote_as_all_examples_do() -> None:
    documents, classes = made_up(120, 1)
    index = ExampleIndex.of(documents)
    every = Neighbourhoods.of(
        index, classes, queries=documents, labels=classes, themselves=True, nearest=None
    )
    few = Neighbourhoods.of(index, classes, queries=documents, labels=classes, themselves=True, nearest=30)
    assert len(few.examples) < len(every.examples)
    for formula in (*EVIDENCE, COMBINED):
        exact = [naive(index, classes, page, formula, 7, place) for place, page in enumerate(documents)]
        assert every.predict(program(formula), 7).tolist() == exact
    agreeing = (few.predict(program(COMBINED), 7) == every.predict(program(COMBINED), 7)).mean()
    assert agreeing > 0.97


def test_single_evidence_needs_no_more_than_k_candidates() -> None:
    documents, classes = made_up(80, 2)
    index = ExampleIndex.of(documents)
    others, labels = made_up(40, 3)
    few = Neighbourhoods.of(index, classes, queries=others, labels=labels, nearest=5)
    every = Neighbourhoods.of(index, classes, queries=others, labels=labels, nearest=None)
    for name in EVIDENCE:
        assert few.predict(program(name), 5).tolist() == every.predict(program(name), 5).tolist()


def test_a_training_document_is_not_its_own_neighbour() -> None:
    documents, classes = made_up(20, 4)
    index = ExampleIndex.of(documents)
    found = Neighbourhoods.of(index, classes, queries=documents, labels=classes, themselves=True)
    for query in range(found.size):
        assert query not in found.examples[found.starts[query] : found.starts[query + 1]]


def test_threads_and_parts_change_nothing() -> None:
    documents, classes = made_up(60, 5)
    index = ExampleIndex.of(documents)
    one = Neighbourhoods.of(index, classes, queries=documents, labels=classes, nearest=10)
    two = Neighbourhoods.of(index, classes, queries=documents, labels=classes, nearest=10, threads=2)
    assert np.array_equal(one.values, two.values)
    whole = one.predict(program(COMBINED), 5)
    assert np.array_equal(whole[10:30], one.predict(program(COMBINED), 5, first=10, last=30))


def test_class_weights_tip_the_scales() -> None:
    documents = [Terms((), ("a", "b")), Terms((), ("a", "b")), Terms((), ("a", "c"))]
    index = ExampleIndex.of([*documents, Terms((), ("x",))])
    classes = np.array([0, 0, 1, 1], dtype=np.int32)
    query = Neighbourhoods.of(index, classes, queries=[Terms((), ("a",))], labels=np.array([1], np.int32))
    assert query.predict(program("body_bow"), 3).tolist() == [0]
    heavy = np.array([1.0, 5.0], dtype=np.float32)
    assert query.predict(program("body_bow"), 3, weights=heavy).tolist() == [1]


def test_best_are_the_largest_and_ties_go_to_the_first() -> None:
    values = np.array([0.5, 0.9, 0.0, 0.9, 0.7, -1.0], dtype=np.float32)
    best, place = np.empty(4, np.float32), np.empty(4, np.int32)
    assert take_best(values, 6, 4, best, place) == 4
    assert place.tolist() == [1, 3, 4, 0]
    assert take_best(values, 3, 4, best, place) == 2
    marked = np.zeros(6, np.bool_)
    rows = np.tile(np.maximum(values, 0.0), (6, 1))
    assert mark_nearest(rows, 1, -1, marked) == 1
    assert marked.tolist() == [False, True, False, False, False, False]
