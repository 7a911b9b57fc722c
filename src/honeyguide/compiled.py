"""Numba's compiler with types that mypy can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function` as machine code that releases the interpreter's lock; kept on disk between runs.

    Numba looks only at a function's own file to see whether its kept code is out of date: after a change
    to one that others call, remove `__pycache__`.
    """
    return cast(Callable[_P, _R], numba.njit(cache=True, nogil=True)(function))
