from __future__ import annotations

import numpy as np

from honeyguide.collection.review_precision import precision, wilson
from honeyguide.collection.review_queue import Candidates, review_queue, threshold_of


def pages(
    scores: list[float], *, hosts: list[int] | None = None, in_links: list[int] | None = None
) -> Candidates:
    count = len(scores)
    values = np.array(scores)
    return Candidates(
        rows=np.arange(1, count + 1),
        scores=values,
        on_topic=values >= 0.5,
        hosts=np.array(hosts or [1] * count, np.int32),
        in_links=np.array(in_links or [1] * count),
        copies=np.zeros(count, np.bool_),
    )


def test_the_unsure_come_first() -> None:
    queue = review_queue(pages([0.02, 0.97, 0.52, 0.3, 0.8]), limit=3)
    assert queue[0].row == 3
    assert "close to the line" in queue[0].reason
    assert {one.row for one in queue} == {3, 4, 5}


def test_new_hosts_come_before_hosts_that_were_asked_about() -> None:
    scores, hosts = [0.5, 0.51, 0.52, 0.53], [1, 1, 1, 2]
    assert [one.row for one in review_queue(pages(scores, hosts=hosts), limit=2)] == [1, 4]
    asked = review_queue(pages(scores, hosts=hosts), limit=1, host_reviews={1: 5})
    assert asked[0].row == 4
    assert "host" in asked[0].reason


def test_pages_that_many_link_to_come_first_among_equals() -> None:
    queue = review_queue(pages([0.5, 0.5, 0.5], in_links=[1, 40, 2]), limit=1)
    assert queue[0].row == 2
    assert "40 pages link to it" in queue[0].reason


def test_one_in_four_is_drawn_by_chance_among_the_relevant() -> None:
    many = pages([*np.linspace(0.01, 0.99, 200)])
    drawn = [one for seed in range(10) for one in review_queue(many, limit=20, seed=seed * 20)]
    chance = [one for one in drawn if one.drawn == "random"]
    assert len(chance) == 50
    assert all(many.scores[one.row - 1] >= 0.5 for one in chance)
    assert len({one.row for one in chance}) > 25
    assert review_queue(many, seed=3) == review_queue(many, seed=3)


def test_reviewed_pages_and_copies_are_not_shown() -> None:
    some = pages([0.5, 0.5, 0.5, 0.5])
    some.copies[1] = True
    assert sorted(one.row for one in review_queue(some, reviewed=[1])) == [3, 4]
    assert review_queue(pages([])) == []


def test_the_line_is_seen_from_the_verdicts() -> None:
    scores = np.linspace(0, 1, 1001)
    assert abs(threshold_of(scores, scores >= 0.3) - 0.3) < 0.05


def test_wilson_agrees_with_the_textbook() -> None:
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_strata_correct_for_a_queue_that_shows_the_unsure_first() -> None:
    """Precision rises with the score; reviewing only the lowest scores looks far worse than the truth."""
    random = np.random.default_rng(0)
    errors_plain, errors_corrected, covered = [], [], 0
    for _ in range(200):
        scores = random.uniform(0.5, 1.0, 1000)
        true = random.random(1000) < 0.5 + 0.9 * (scores - 0.5)
        unsure = np.argsort(scores)[:300]
        reviewed = np.concatenate([random.choice(unsure, 45, replace=False), random.choice(1000, 15)])
        reviewed = np.unique(reviewed)
        made = precision(scores, scores[reviewed], true[reviewed])
        assert made is not None
        errors_plain.append(true[reviewed].mean() - true.mean())
        errors_corrected.append(made.corrected.share - true.mean())
        covered += made.corrected.low <= true.mean() <= made.corrected.high
    assert abs(np.mean(errors_corrected)) < 0.4 * abs(np.mean(errors_plain))
    assert covered >= 180


def test_pages_drawn_by_chance_have_their_own_share() -> None:
    scores = np.linspace(0.5, 1, 100)
    reviewed = scores[np.arange(0, 40, 2)]
    accepted, chance = np.arange(20) % 2 == 0, np.arange(20) < 4
    made = precision(scores, reviewed, accepted, by_chance=chance)
    assert made is not None
    assert made.by_chance is not None
    assert (made.by_chance.reviews, made.by_chance.share) == (4, 0.5)
    assert precision(scores, np.zeros(0), np.zeros(0, np.bool_)) is None
