"""L-BFGS: the least value of a smooth function of a few hundred numbers, the same on every run.

Steps go along the gradient corrected by the last `memory` steps (two-loop recursion) and are halved until the
value falls far enough (Armijo's rule). Made for convex functions; scipy would do, and takes 143 MB.

References:
    Jorge Nocedal, "Updating quasi-Newton matrices with limited storage", Mathematics of Computation 35, 1980.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def minimise(
    function: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    steps: int = 500,
    memory: int = 10,
    tolerance: float = 1e-6,
) -> Floats:
    """Where a function is least, near enough.

    Args:
        function: Gives value and gradient.
        start: Where to begin.
        steps: At most so many.
        memory: Steps that are remembered.
        tolerance: Largest part of the gradient at which to stop.

    Example:
        >>> minimise(lambda x: (float((x - 3) @ (x - 3)), 2 * (x - 3)), np.zeros(2)).round(4).tolist()
        [3.0, 3.0]
    """
    here = np.array(start, dtype=np.float64)
    value, gradient = function(here)
    moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=memory)
    for _ in range(steps):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            break
        direction = -_inverse_times(gradient, moves)
        slope = float(direction @ gradient)
        if slope >= 0.0:  # rounding has spoilt the memory
            moves.clear()
            direction, slope = -gradient, -float(gradient @ gradient)
        size = 1.0 if moves else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        for _ in range(40):
            there = here + size * direction
            lower, steeper = function(there)
            if lower <= value + 1e-4 * size * slope:
                break
            size *= 0.5
        else:
            break
        moved, turned = there - here, steeper - gradient
        curvature = float(moved @ turned)
        if curvature > 1e-12:
            moves.append((moved, turned, curvature))
        here, value, gradient = there, lower, steeper
    return here


def _inverse_times(gradient: Floats, moves: deque[tuple[Floats, Floats, float]]) -> Floats:
    """The gradient times the inverse of the Hessian, as far as the last moves tell."""
    answer = gradient.copy()
    shares: list[float] = []
    for moved, turned, curvature in reversed(moves):
        share = float(moved @ answer) / curvature
        shares.append(share)
        answer -= share * turned
    if moves:
        _, turned, curvature = moves[-1]
        answer *= curvature / float(turned @ turned)
    for (moved, turned, curvature), share in zip(moves, reversed(shares), strict=True):
        answer += moved * (share - float(turned @ answer) / curvature)
    return answer
