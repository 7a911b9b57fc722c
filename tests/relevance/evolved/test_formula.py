from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.formula import (
    ARITY,
    EVIDENCE,
    Formula,
    as_json,
    canonical_form,
    from_prefix,
    parse,
    prefix,
    program,
    show,
    size,
)
from honeyguide.relevance.evolved.kernels import run_program


def drawn(source: random.Random, height: int) -> Formula:
    if height == 0 or source.random() < 0.2:
        return source.choice(EVIDENCE)
    operation = source.choice(list(ARITY))
    parts = [drawn(source, height - 1) for _ in range(ARITY[operation])]
    return parse([operation, *parts])


def by_hand(formula: Formula, evidence: dict[str, float]) -> float:
    if isinstance(formula, str):
        return evidence[formula]
    values = [by_hand(part, evidence) for part in formula[1:]]
    if formula[0] == "+":
        result = values[0] + values[1]
    elif formula[0] == "*":
        result = values[0] * values[1]
    elif formula[0] == "/":
        result = values[0] / values[1] if values[1] > 1e-18 else 0.0
    else:
        result = values[0] ** 0.5
    return min(result, 1e18)


def computed(formula: Formula, rows: Any) -> Any:
    instructions = program(formula)
    registers = np.zeros((6 + len(instructions), rows.shape[1]), dtype=np.float32)
    registers[:6] = rows
    run_program(instructions, registers, rows.shape[1])
    return registers[-1]


def test_programs_compute_what_the_formula_says() -> None:
    source = random.Random(1)
    rows = np.random.default_rng(1).random((6, 9)).astype(np.float32)
    rows[0, 0] = rows[3, 1] = rows[5, 2] = 0.0
    for _ in range(200):
        formula = drawn(source, 4)
        if isinstance(formula, str):
            continue
        expected = [
            by_hand(formula, dict(zip(EVIDENCE, rows[:, column].tolist(), strict=True)))
            for column in range(9)
        ]
        assert np.allclose(computed(formula, rows), expected, rtol=1e-4), show(formula)


def test_no_evidence_gives_no_similarity_and_nothing_overflows() -> None:
    source = random.Random(2)
    zeros, huge = np.zeros((6, 4), np.float32), np.full((6, 4), 1e18, np.float32)
    for _ in range(200):
        formula = drawn(source, 8)
        assert not computed(formula, zeros).any()
        assert np.isfinite(computed(formula, huge)).all()


def test_round_trips_and_equal_functions() -> None:
    source = random.Random(3)
    for _ in range(100):
        formula = drawn(source, 5)
        assert parse(as_json(formula)) == formula
        assert from_prefix(prefix(formula)) == formula
        assert size(formula) == len(prefix(formula))
    left = parse(["*", ["+", "body_bow", "title_bow"], "body_okapi"])
    right = parse(["*", "body_okapi", ["+", "title_bow", "body_bow"]])
    assert canonical_form(left) == canonical_form(right)
    assert canonical_form(parse(["/", "body_bow", "title_bow"])) != canonical_form(
        parse(["/", "title_bow", "body_bow"])
    )


def test_text_keeps_the_meaning() -> None:
    assert (
        show(parse(["/", "body_bow", ["/", "title_bow", "body_okapi"]]))
        == "body_bow / (title_bow / body_okapi)"
    )
    assert (
        show(parse(["*", ["+", "body_bow", "title_bow"], "title_bow"]))
        == "(body_bow + title_bow) * title_bow"
    )


def nested(levels: int) -> object:
    value: object = "body_bow"
    for _ in range(levels):
        value = ["sqrt", value]
    return value


@pytest.mark.parametrize(
    "bad",
    [
        None, 3, "bogus", [], ["+"], ["+", "body_bow"], ["sqrt", "body_bow", "body_bow"],
        ["exec", "body_bow"], ["+", "body_bow", ["+", 1, 2]], {"op": "+"}, nested(1000),
    ],
)  # fmt: skip
def test_what_is_no_formula(bad: object) -> None:
    with pytest.raises(TopicError) as caught:
        parse(bad)
    assert "\n" not in str(caught.value)


def test_names_that_make_no_formula() -> None:
    for names in ([], ["body_bow", "body_bow"]):
        with pytest.raises(TopicError):
            from_prefix(names)
