"""Two results side by side: differences with intervals and paired tests."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.cells import ORACLE
from honeyguide.lab.runner.results import (
    LOWER_IS_BETTER,
    MEASURES,
    Results,
    Test,
    check_measure,
    paired,
    values_of,
)
from honeyguide.topic.file import nearest


class Difference(msgspec.Struct, frozen=True):
    """One recipe of the first results against the same (or another) recipe of the second."""

    recipe: str
    against: str
    measure: str
    first: float
    second: float
    test: Test
    better: str
    """`first`, `second`, or empty when the interval holds zero."""


def read_results(path: Path) -> Results:
    """Results that `lab run` wrote: the file, or the folder that holds it."""
    if path.is_dir():
        path /= "results.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Results)
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}; check the path") from None
    except msgspec.MsgspecError as error:
        raise HoneyguideError(
            f"{path} holds no results of an experiment ({error});"
            " lab run writes them to results.json in its folder"
        ) from None


def compare(
    first: Results,
    second: Results,
    *,
    measure: str = "area_of_oracle",
    recipes: tuple[str, ...] = (),
) -> list[Difference]:
    """First minus second over the topics that both have, for every recipe that both have.

    Args:
        first: Results.
        second: Other results, or the same.
        measure: Any of `results.MEASURES`, or an extra measure that both have.
        recipes: Two names compare a recipe of the first with another of the second; one or none:
            recipes of the same name.
    """
    extras = {name for row in (*first.rows, *second.rows) for name in row.measures}
    check_measure(measure, extras)
    if first.webs != second.webs and first.webs.keys() & second.webs.keys():
        changed = [name for name in first.webs if second.webs.get(name, first.webs[name]) != first.webs[name]]
        if changed:
            raise HoneyguideError(f"the web {changed[0]} changed between the two; run the older one again")
    pairs = _pairs(first, second, recipes)
    found = []
    for one, other in pairs:
        a, b = values_of(first.rows, one, measure), values_of(second.rows, other, measure)
        if not a.keys() & b.keys():
            if len(pairs) > 1:
                continue  # neither got that far on the same topic
            raise HoneyguideError(f"{one} and {other} have no topic in common for {measure}; choose another")
        test = paired(a, b, one, other)
        shared = [topic for topic in a if topic in b]
        means = [sum(values[topic] for topic in shared) / len(shared) for values in (a, b)]
        found.append(Difference(one, other, measure, means[0], means[1], test, _better(test, measure)))
    if not found:
        raise HoneyguideError("the two results have no topic in common; run the same experiment twice")
    return found


def _pairs(first: Results, second: Results, recipes: tuple[str, ...]) -> list[tuple[str, str]]:
    names = [
        list(dict.fromkeys(row.recipe for row in one.rows if row.recipe != ORACLE)) for one in (first, second)
    ]
    if len(recipes) > 2:
        raise HoneyguideError("more than two recipes to compare; name one or two with --recipes")
    requested = recipes if len(recipes) == 2 else recipes * 2
    for name, there in zip(requested, names, strict=False):
        if name not in there:
            raise HoneyguideError(f"no recipe {name!r} in the results; {nearest(name, there)}")
    if requested:
        return [(requested[0], requested[1])]
    both = [name for name in names[0] if name in names[1]]
    if not both:
        raise HoneyguideError(
            "the two results have no recipe in common; name two with --recipes FIRST SECOND"
        )
    return [(name, name) for name in both]


def _better(test: Test, measure: str) -> str:
    if test.low <= 0.0 <= test.high:
        return ""
    more = test.difference > 0
    return "first" if more != (measure in LOWER_IS_BETTER) else "second"


COLUMNS = {
    "recipe": "recipe",
    "against": "against",
    "first": "first",
    "second": "second",
    "difference": "difference",
    "interval": "0.95 interval",
    "t": "p (paired t)",
    "wilcoxon": "p (Wilcoxon)",
    "topics": "topics",
    "better": "better",
}


def as_rows(differences: list[Difference]) -> list[dict[str, object]]:
    """Differences as rows of a table."""
    return [
        {
            "recipe": one.recipe,
            "against": one.against,
            "measure": MEASURES.get(one.measure, one.measure),
            "first": round(one.first, 4),
            "second": round(one.second, 4),
            "difference": round(one.test.difference, 4),
            "interval": f"[{one.test.low:+.4f}, {one.test.high:+.4f}]",
            "t": one.test.t_test,
            "wilcoxon": one.test.wilcoxon,
            "topics": one.test.topics,
            "better": one.better,
        }
        for one in differences
    ]
