"""The study of freshness, small; and the laws by which its pages live."""

from __future__ import annotations

import numpy as np
import pytest

from honeyguide.engine.clock import VirtualClock
from honeyguide.lab.experiments.freshness import run
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.study import DataFinder
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
from honeyguide.lab.webs.generated.living import DAY, Laws, Life, LivingWeb


def test_the_experiment_is_there() -> None:
    assert load_experiment("freshness").experiment.study == "freshness"


def test_pages_live_by_their_laws() -> None:
    web = GeneratedWeb(WebSpec(seed=3, hosts=10, pages=150, topics=2))
    laws = Laws(seed=3, horizon=200 * DAY)
    clock = VirtualClock(0.0)
    living = LivingWeb(web, clock, laws, start=0.0)
    lives = [living.life(url) for url in web.pages()]
    expected = sum(life.rate * laws.horizon for life in lives if life.born < 0)
    happened = sum(len(life.changes) for life in lives if life.born < 0)
    assert abs(happened - expected) < 4 * np.sqrt(expected)  # Poisson
    late = next(url for url in web.pages() if living.life(url).born > 0)
    assert living.get(late).status == 404
    assert all(late not in living.get(url).body.decode() for url in list(web.pages())[:20])
    clock.advance(living.life(late).born + 1)
    assert living.get(late).status in (200, 404 if living.life(late).died < clock.now() else 200)


def test_when_a_copy_became_wrong() -> None:
    life = Life(rate=1.0, born=-np.inf, died=100.0, changes=(10.0, 20.0, 30.0))
    assert life.stale_since(5.0, 9.0) is None
    assert life.stale_since(5.0, 25.0) == 10.0
    assert life.stale_since(35.0, 99.0) is None
    assert life.stale_since(35.0, 101.0) == 100.0
    assert life.stale_since(101.0, 200.0) is None  # gone, and known to be
    assert life.edition(15.0) == 1


def test_a_small_run_has_policies_at_one_budget() -> None:
    options: dict[str, object] = {
        "seeds": (2,),
        "policies": ("proportional", "gain"),
        "hosts": 10,
        "pages": 120,
        "topics": 2,
        "visits": 4,
        "learned": 2,
    }
    (table,) = run(options, data=DataFinder(), progress=lambda _: None, jobs=1).tables
    rows = {row[0]: row for row in table.rows}
    assert list(rows) == ["proportional", "gain"]
    visits = [int(str(row[2])) for row in rows.values()]
    assert max(visits) < 1.1 * min(visits)
    for row in rows.values():
        assert 0.2 < float(str(row[4])) <= 1.0
    assert float(str(rows["gain"][4])) > float(str(rows["proportional"][4]))


@pytest.mark.slow
def test_within_five_per_cent_of_the_optimum_after_ten_visits() -> None:
    (table,) = run({"seeds": (1,)}, data=DataFinder(), progress=lambda _: None, jobs=1).tables
    rows = {row[0]: row for row in table.rows}
    assert float(str(rows["gain"][4])) > 0.95 * float(str(rows["optimal"][4]))
