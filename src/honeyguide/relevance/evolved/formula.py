"""Similarity formulas: trees over six kinds of evidence, as data.

A formula is never code. On disk it is nested JSON such as `["+", "body_cosine", ["sqrt", "title_bow"]]`,
in memory the same as tuples; to compute it, `program` gives a list of register instructions for the
kernels of this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError

EVIDENCE: Final = ("title_bow", "title_cosine", "title_okapi", "body_bow", "body_cosine", "body_okapi")
"""The terminals, in the order of the evidence rows."""
ARITY: Final = {"+": 2, "*": 2, "/": 2, "sqrt": 1}
OPERATIONS: Final = tuple(ARITY)
"""Instruction numbers are positions in this tuple."""
MAX_NODES: Final = 2000
MAX_HEIGHT: Final = 30

Formula: TypeAlias = "str | tuple[str, Formula] | tuple[str, Formula, Formula]"
Program: TypeAlias = NDArray[np.int32]
"""One instruction a row: operation, first register, second register. Registers 0 to 5 are the
evidence; row i writes register 6 + i; the last one written is the result."""


def parse(value: object) -> Formula:
    """A formula from JSON values (or from text in the form of `show`'s JSON).

    Raises:
        TopicError: It is not a formula, or too large to be one that evolution made.

    Example:
        >>> parse(["+", "body_cosine", ["sqrt", "title_bow"]])
        ('+', 'body_cosine', ('sqrt', 'title_bow'))
    """
    left = [MAX_NODES]
    return _parse(value, left, MAX_HEIGHT)


def _parse(value: object, left: list[int], height: int) -> Formula:
    left[0] -= 1
    if left[0] < 0 or height < 0:
        raise TopicError(f"the formula has more than {MAX_NODES} nodes or levels; evolve a smaller one")
    if isinstance(value, str) and value in EVIDENCE:
        return value
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], str) and value[0] in ARITY:
        if len(value) == 2 and ARITY[value[0]] == 1:
            return value[0], _parse(value[1], left, height - 1)
        if len(value) == 3 and ARITY[value[0]] == 2:
            return value[0], _parse(value[1], left, height - 1), _parse(value[2], left, height - 1)
    shown = repr(value)[:60]
    raise TopicError(
        f"{shown} is not part of a formula; write evidence ({', '.join(EVIDENCE)}) or [operation, part, ...]"
    )


def as_json(formula: Formula) -> list[object] | str:
    """The formula as nested lists, which `parse` takes back."""
    return formula if isinstance(formula, str) else [formula[0], *(as_json(part) for part in formula[1:])]


def show(formula: Formula) -> str:
    """The formula as people write it.

    Example:
        >>> show(("/", ("+", "body_cosine", "title_bow"), ("sqrt", "body_okapi")))
        '(body_cosine + title_bow) / sqrt(body_okapi)'
    """
    if isinstance(formula, str):
        return formula
    if len(formula) == 2:
        return f"sqrt({show(formula[1])})"
    operation, first, second = formula
    return f"{_inside(first, operation, right=False)} {operation} {_inside(second, operation, right=True)}"


def _inside(formula: Formula, operation: str, *, right: bool) -> str:
    text = show(formula)
    if isinstance(formula, str) or len(formula) == 2:
        return text
    loose = formula[0] == "+"
    needed = (loose and operation != "+") or (right and operation == "/")
    return f"({text})" if needed else text


def canonical_form(formula: Formula) -> Formula:
    """The same function with the parts of sums and products in a fixed order, to tell equal trees."""
    if isinstance(formula, str):
        return formula
    if len(formula) == 2:
        return formula[0], canonical_form(formula[1])
    operation, first, second = formula[0], canonical_form(formula[1]), canonical_form(formula[2])
    if operation != "/" and repr(second) < repr(first):
        first, second = second, first
    return operation, first, second


def size(formula: Formula) -> int:
    """Number of nodes."""
    return 1 if isinstance(formula, str) else 1 + sum(size(part) for part in formula[1:])


def program(formula: Formula) -> Program:
    """The formula as instructions; a part that occurs twice is computed once.

    Example:
        >>> program(("*", ("+", "title_bow", "body_bow"), ("+", "title_bow", "body_bow"))).tolist()
        [[0, 3, 0], [1, 6, 6]]
    """
    registers: dict[Formula, int] = {name: number for number, name in enumerate(EVIDENCE)}
    rows: list[tuple[int, int, int]] = []
    result = _emit(canonical_form(formula), registers, rows)
    if not rows:  # A single kind of evidence: a sum with itself keeps the order and needs no special case.
        rows.append((OPERATIONS.index("+"), result, result))
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


def _emit(formula: Formula, registers: dict[Formula, int], rows: list[tuple[int, int, int]]) -> int:
    if formula in registers:
        return registers[formula]
    assert not isinstance(formula, str)
    operands = [_emit(part, registers, rows) for part in formula[1:]]
    rows.append((OPERATIONS.index(formula[0]), operands[0], operands[-1]))
    registers[formula] = len(EVIDENCE) + len(rows) - 1
    return registers[formula]


def prefix(formula: Formula) -> list[str]:
    """Node names in prefix order, as DEAP keeps trees."""
    if isinstance(formula, str):
        return [formula]
    return [formula[0], *(name for part in formula[1:] for name in prefix(part))]


def from_prefix(names: Sequence[str]) -> Formula:
    """The formula of names in prefix order.

    Example:
        >>> from_prefix(["sqrt", "+", "title_bow", "body_bow"])
        ('sqrt', ('+', 'title_bow', 'body_bow'))
    """
    stack: list[object] = []
    for name in reversed(names):
        parts = [stack.pop() for _ in range(ARITY.get(name, 0))]
        stack.append((name, *parts) if parts else name)
    if len(stack) != 1:
        raise TopicError("the names make no formula; evolve it again")
    return parse(stack[0])
