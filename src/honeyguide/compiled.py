"""Loops over arrays: in C where that was built, in Python otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from honeyguide.native import native

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The twin of `function` in C, which is called `module_function` there, or `function` itself.

    The Python is the reference: it says what the C does, and runs where no C was built.
    """
    name = f"{function.__module__.rpartition('.')[2]}_{function.__name__}"
    return cast(Callable[_P, _R], getattr(native, name, function))
