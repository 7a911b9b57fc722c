"""The inner loops, as machine code: evidence from postings, formulas over candidates, nearest neighbours.

All kernels let go of the interpreter's lock, so that formulas can be evaluated in threads. Values are
kept in 0..1e18 after every operation: nothing overflows, whatever evolution writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import MissingExtra

try:
    import numba
except ImportError:
    raise MissingExtra("an evolved page model", "gp") from None

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

LARGEST: Final = np.float32(1e18)
SMALLEST: Final = np.float32(1e-18)
ZERO: Final = np.float32(0.0)


_F = TypeVar("_F", bound=Callable[..., Any])


def compiled(function: _F) -> _F:
    """`function` as machine code that lets go of the interpreter's lock; kept on disk between runs.

    Numba looks only at a function's own file to see whether its kept code is out of date.
    """
    return cast(_F, numba.njit(cache=True, nogil=True)(function))


@compiled
def accumulate(  # noqa: PLR0917  Machine code takes no keywords.
    terms: Ints,
    bow: float,
    cosine: Floats,
    okapi: Floats,
    starts: Longs,
    docs: Ints,
    weights: Floats,
    out: Floats,
) -> None:
    """Add one query's evidence for one field to `out` (3 rows: bag of words, cosine, Okapi).

    Args:
        terms: Columns of the query's terms.
        bow: What one shared term adds to the bag-of-words row.
        cosine: Weight of each query term for the cosine.
        okapi: Weight of each query term for Okapi.
        starts: Where each column's postings begin.
        docs: Documents of the postings.
        weights: Two numbers a posting: cosine and Okapi weight of the term in the document.
        out: Three rows, one column a document.
    """
    share = np.float32(bow)
    for place in range(len(terms)):
        term = terms[place]
        first, second = cosine[place], okapi[place]
        for posting in range(starts[term], starts[term + 1]):
            doc = docs[posting]
            out[0, doc] += share
            out[1, doc] += first * weights[posting, 0]
            out[2, doc] += second * weights[posting, 1]


@compiled
def run_program(program: Ints, registers: Floats, width: int) -> None:
    """Carry out a program on the first `width` columns of its registers (rows 0 to 5 are evidence).

    Division is protected: x/0 = 0, so that a formula is zero where there is no evidence at all, and
    documents without any need not be looked at.
    """
    for row in range(len(program)):
        operation = program[row, 0]
        a = registers[program[row, 1], :width]
        b = registers[program[row, 2], :width]
        out = registers[6 + row, :width]
        # Choices between two values, and no calls of min and max, become vector instructions.
        if operation == 0:
            for column in range(width):
                value = a[column] + b[column]
                out[column] = value if value < LARGEST else LARGEST
        elif operation == 1:
            for column in range(width):
                value = a[column] * b[column]
                out[column] = value if value < LARGEST else LARGEST
        elif operation == 2:
            for column in range(width):
                divisor = b[column]
                safe = divisor if divisor > SMALLEST else LARGEST
                value = a[column] / safe
                value = value if value < LARGEST else LARGEST
                out[column] = value if divisor > SMALLEST else ZERO
        else:
            for column in range(width):
                out[column] = np.sqrt(a[column])


@compiled
def take_best(values: Floats, width: int, count: int, best_value: Floats, best_place: Ints) -> int:
    """The `count` largest positive values, largest first, equal ones in order of place; how many."""
    found = 0
    bar = ZERO
    for place in range(width):
        value = values[place]
        if value <= bar:
            continue
        at = found if found < count else count - 1
        while at > 0 and best_value[at - 1] < value:
            best_value[at] = best_value[at - 1]
            best_place[at] = best_place[at - 1]
            at -= 1
        best_value[at] = value
        best_place[at] = place
        if found < count:
            found += 1
        if found == count:
            bar = best_value[count - 1]
    return found


@compiled
def vote(  # noqa: PLR0917  Machine code takes no keywords.
    program: Ints,
    k: int,
    starts: Longs,
    classes: Ints,
    values: Floats,
    class_weights: Floats,
    first: int,
    last: int,
    widest: int,
    predicted: Ints,
) -> None:
    """Class of queries `first` to `last` by their nearest candidates under a formula.

    Args:
        program: The formula.
        k: Neighbours.
        starts: Where each query's candidates begin.
        classes: Class of each candidate.
        values: Six rows of evidence, one column a candidate.
        class_weights: What a neighbour of each class counts.
        first: First query.
        last: One after the last query.
        widest: Most candidates of a query.
        predicted: Gets the classes; that of the largest sum of similarities, the lower one if equal.
    """
    registers = np.empty((6 + len(program), widest), dtype=np.float32)
    best_value = np.empty(k, dtype=np.float32)
    best_place = np.empty(k, dtype=np.int32)
    sums = np.empty(len(class_weights), dtype=np.float64)
    used = np.zeros(6 + len(program), dtype=np.bool_)
    for row in range(len(program)):
        used[program[row, 1]] = used[program[row, 2]] = True
    for query in range(first, last):
        begin, end = starts[query], starts[query + 1]
        width = end - begin
        for row in range(6):
            if used[row]:
                registers[row, :width] = values[row, begin:end]
        run_program(program, registers, width)
        found = take_best(registers[5 + len(program)], width, k, best_value, best_place)
        sums[:] = 0.0
        for place in range(found):
            kind = classes[begin + best_place[place]]
            sums[kind] += best_value[place] * class_weights[kind]
        predicted[query] = np.argmax(sums)


@compiled
def mark_nearest(evidence: Floats, nearest: int, skip: int, marked: Any) -> int:
    """Mark the `nearest` documents of each evidence row; ties go to earlier documents. How many in all.

    Args:
        evidence: Six rows, one column a document.
        nearest: How many of each row.
        skip: A document to leave out (the query itself), or -1.
        marked: Booleans, one a document, all False.
    """
    documents = evidence.shape[1]
    if skip >= 0:
        for row in range(len(evidence)):
            evidence[row, skip] = 0.0
    for row in range(len(evidence)):
        limit = np.float32(0.0)
        if documents > nearest:
            limit = np.partition(evidence[row], documents - nearest)[documents - nearest]
        left = nearest
        for doc in range(documents):
            if evidence[row, doc] > limit:
                marked[doc] = True
                left -= 1
        for doc in range(documents):
            if left <= 0 or limit <= 0.0:
                break
            if evidence[row, doc] == limit:
                marked[doc] = True
                left -= 1
    total = 0
    for doc in range(documents):
        total += marked[doc]
    return total
