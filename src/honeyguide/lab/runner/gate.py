"""The gate: no recipe may become worse on the quick set than its committed floor."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from honeyguide.config.schema import VERSION
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.cells import ORACLE
from honeyguide.lab.runner.results import Results
from honeyguide.store.atomic import replacing

FLOORS = Path(__file__).parent.parent / "floors.json"
GUARDED = ("area_of_oracle", "harvest_rate")
MARGIN = 0.005
"""How far below a measured mean its floor is set: other processors round sums otherwise, and a page that
changes places moves a mean by less than this."""


class Lowered(msgspec.Struct, frozen=True):
    """A floor that was lowered, and why."""

    recipe: str
    measure: str
    before: float
    after: float | None
    """None: the floor was taken away."""
    reason: str
    version: str


class Floors(msgspec.Struct, frozen=True):
    """What `floors.json` holds."""

    experiment: str = "quick"
    webs: dict[str, str] = {}
    """Digests of the webs that the floors were measured on."""
    floors: dict[str, dict[str, float]] = {}
    """By recipe and measure."""
    lowered: tuple[Lowered, ...] = ()


class Check(msgspec.Struct, frozen=True):
    """One mean against its floor."""

    recipe: str
    measure: str
    floor: float | None
    mean: float | None

    @property
    def state(self) -> str:
        """`ok`, `below`, `new` (no floor yet) or `gone` (a floor without a recipe)."""
        if self.floor is None:
            return "new"
        if self.mean is None:
            return "gone"
        return "ok" if self.mean >= self.floor else "below"


def read_floors(path: Path = FLOORS) -> Floors:
    """The committed floors; none when there is no file."""
    if not path.exists():
        return Floors()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Floors)
    except msgspec.MsgspecError as error:
        raise HoneyguideError(f"{path} cannot be read ({error}); restore it from version control") from None


def check_floors(results: Results, floors: Floors) -> list[Check]:
    """Every guarded mean, and every floor."""
    means = {
        (one.recipe, name): one.measures[name].mean
        for one in results.summaries
        if one.group == "all" and one.recipe != ORACLE
        for name in GUARDED
        if name in one.measures
    }
    known = {(recipe, name): value for recipe, row in floors.floors.items() for name, value in row.items()}
    return [Check(*key, known.get(key), means.get(key)) for key in dict.fromkeys([*means, *known])]


def raised(
    floors: Floors,
    checks: list[Check],
    webs: dict[str, str],
    *,
    allow_regression: bool = False,
    reason: str = "",
) -> Floors:
    """New floors: raised where the mean allows it; lowered only when allowed, with a reason.

    Raises:
        HoneyguideError: A floor would have to be lowered, and that is not allowed or has no reason.
    """
    worse = [check for check in checks if check.state in ("below", "gone")]
    if worse and not allow_regression:
        names = ", ".join(f"{check.recipe} ({check.measure})" for check in worse)
        raise HoneyguideError(
            f"floors would be lowered: {names}; find out why, or add --allow-regression --reason '...'"
        )
    if worse and not reason.strip():
        raise HoneyguideError("a floor is lowered only with a reason; add --reason '...'")
    fresh: dict[str, dict[str, float]] = {}
    notes = list(floors.lowered)
    for check in checks:
        floor = None if check.mean is None else _floor(check.mean)
        if check.floor is not None and check.state in ("below", "gone"):
            notes.append(Lowered(check.recipe, check.measure, check.floor, floor, reason.strip(), VERSION))
        elif floor is not None and check.floor is not None:
            floor = max(floor, check.floor)
        if floor is not None:
            fresh.setdefault(check.recipe, {})[check.measure] = floor
    return Floors(floors.experiment, webs, fresh, tuple(notes))


def _floor(mean: float) -> float:
    return max(0.0, math.floor((mean - MARGIN) * 1000) / 1000)


def write_floors(floors: Floors, path: Path = FLOORS) -> None:
    """Write the file whole or not at all."""
    with replacing(path) as temporary:
        data = msgspec.json.encode(floors, order="deterministic")
        temporary.write_bytes(msgspec.json.format(data, indent=1) + b"\n")
