"""What a list of pages could be narrowed by: subject, host, language, score and date, with counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.directory import Directory

MOST = 8
"""Values that a facet names."""
SCORES = ((0.9, None), (0.7, 0.9), (0.5, 0.7), (None, 0.5))


class Choice(msgspec.Struct, frozen=True):
    """A value to narrow by."""

    label: str
    pages: int
    fields: dict[str, str]
    """Fields of the query that choose it."""


class Facet(msgspec.Struct, frozen=True):
    """One thing to narrow by."""

    name: str
    choices: tuple[Choice, ...]


def facets(catalogue: Catalogue, places: NDArray[np.int64], directory: Directory | None) -> list[Facet]:
    """Facets of the pages at these places; those with one value only are left out.

    Args:
        catalogue: Of the collection.
        places: Of the pages in the list.
        directory: With the subjects, where it has been made.
    """
    found = [
        Facet("Subject", _subjects(catalogue.rows[places], directory)),
        Facet("Host", _hosts(catalogue, places)),
        Facet("Language", _languages(catalogue, places)),
        Facet("Score", _scores(catalogue.scores[places])),
        Facet("Fetched", _dates(catalogue.at[places])),
    ]
    return [facet for facet in found if len(facet.choices) > 1]


def _subjects(rows: NDArray[np.int64], directory: Directory | None) -> tuple[Choice, ...]:
    choices = []
    for number, subject in enumerate(directory.subjects if directory else (), 1):
        pages = int(np.isin(rows, np.array(subject.rows, np.int64)).sum())
        choices.append(Choice(subject.label, pages, {"subject": str(number)}))
    return _largest(choices)


def _hosts(catalogue: Catalogue, places: NDArray[np.int64]) -> tuple[Choice, ...]:
    counts = np.bincount(catalogue.hosts[places], minlength=len(catalogue.host_names))
    best = np.argsort(-counts, kind="stable")[:MOST]
    names = catalogue.host_names
    return tuple(Choice(names[row], int(counts[row]), {"host": names[row]}) for row in best if counts[row])


def _languages(catalogue: Catalogue, places: NDArray[np.int64]) -> tuple[Choice, ...]:
    names = catalogue.language_names
    counts = np.bincount(catalogue.languages[places], minlength=len(names)).tolist()
    return _largest(
        [Choice(name, pages, {"language": name}) for name, pages in zip(names, counts, strict=True) if name]
    )


def _scores(scores: NDArray[np.float64]) -> tuple[Choice, ...]:
    choices = []
    for least, most in SCORES:
        keep = np.ones(len(scores), np.bool_)
        keep &= scores >= least if least is not None else keep
        keep &= scores < most if most is not None else keep
        label = f"{least} and above" if most is None else f"{least} to {most}" if least else f"below {most}"
        # The filter counts its upper bound in.
        fields = {"least": str(least or ""), "most": str(round(most - 1e-6, 6)) if most else ""}
        choices.append(Choice(label, int(keep.sum()), fields))
    return tuple(choice for choice in choices if choice.pages)


def _dates(at: NDArray[np.float64]) -> tuple[Choice, ...]:
    """By day where there are few, else by month; the newest first."""
    if not len(at):
        return ()
    days = [datetime.fromtimestamp(float(day) * 86_400, UTC) for day in np.unique(at // 86_400)]
    if len(days) <= MOST:
        spans = [(day.strftime("%Y-%m-%d"), day, day) for day in days]
    else:
        months = dict.fromkeys((day.year, day.month) for day in days)
        firsts = [datetime(year, month, 1, tzinfo=UTC) for year, month in months]
        spans = [
            (first.strftime("%B %Y"), first, (first + timedelta(days=32)).replace(day=1) - timedelta(days=1))
            for first in firsts
        ]
    choices = []
    for label, first, last in spans[::-1][:MOST]:
        inside = (at >= first.timestamp()) & (at < (last + timedelta(days=1)).timestamp())
        fields = {"since": first.strftime("%Y-%m-%d"), "until": last.strftime("%Y-%m-%d")}
        choices.append(Choice(label, int(inside.sum()), fields))
    return tuple(choices)


def _largest(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    held = [choice for choice in choices if choice.pages]
    return tuple(sorted(held, key=lambda choice: -choice.pages)[:MOST])
