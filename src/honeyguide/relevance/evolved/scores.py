"""F1 of a classification: the usual macro average, and the procedure of the GP study."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Classes = NDArray[np.int32]


def class_f1(true: Classes, predicted: Classes, kinds: int) -> list[float]:
    """F1 of each class; 0 for a class that is neither there nor predicted."""
    table = np.zeros((kinds, kinds), dtype=np.int64)
    np.add.at(table, (true, predicted), 1)
    both = np.diag(table)
    total = table.sum(axis=0) + table.sum(axis=1)
    return [2.0 * float(b) / float(t) if t else 0.0 for b, t in zip(both, total, strict=True)]


def macro_f1(true: Classes, predicted: Classes, kinds: int = 2) -> float:
    """Mean of the classes' F1.

    Example:
        >>> macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])) == (2/3 + 4/5) / 2
        True
    """
    return sum(class_f1(true, predicted, kinds)) / kinds


def study_f1(true: Classes, predicted: Classes, kinds: int = 2) -> float:
    """The "Macro F1" of the GP study's own procedure (its section 4.3.3).

    It counts a correct prediction once for P and once for R, and divides both by the number of
    documents looked at. Whichever class it is run for, p = r = share of its documents that were right:
    the mean of the classes' recalls. False alarms are not counted against a class. With classes of
    about equal size it differs little from macro-F1.

    Example:
        >>> study_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
        0.75
    """
    shares = [
        float((predicted[true == kind] == kind).mean()) for kind in range(kinds) if (true == kind).any()
    ]
    return sum(shares) / len(shares) if shares else 0.0
