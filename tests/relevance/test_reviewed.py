from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.base import OnlinePageModel, PageModel
from honeyguide.relevance.estimator import EstimatorModel
from honeyguide.relevance.reviewed import OnlineReviewedModel, Reviewed, ReviewedModel, reviewable
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.relevance.weighted_voting import PuVoting
from honeyguide.store.models import read_saved, write_saved
from honeyguide.testing.page_models import (
    NEUTRAL,
    OFF_TOPIC,
    ON_TOPIC,
    all_checks,
    made_up_examples,
    made_up_text,
)

BARN = ("owl", "barn", "feather", "nest")
CARS = ("owl", "tyre", "engine", "wheel")
"""Pages that the keyword alone cannot part."""


def page_of(words: tuple[str, ...], seed: int) -> Page:
    text = made_up_text(words, seed)
    return Page(f"https://a.example/{words[1]}/{seed}", seed, text=text, main_text=text)


def some_reviews(count: int = 6) -> list[Reviewed]:
    good = [Reviewed.of(page_of(BARN, seed), accepted=True) for seed in range(count)]
    return good + [Reviewed.of(page_of(CARS, seed), accepted=False) for seed in range(count)]


def gap(model: PageModel) -> float:
    """How far the wanted pages are above the others, on pages that nobody reviewed."""
    wanted = [model.judge(page_of(BARN, seed)).score for seed in range(50, 60)]
    other = [model.judge(page_of(CARS, seed)).score for seed in range(50, 60)]
    return min(wanted) - max(other)


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", [TfCosine, PuVoting, EstimatorModel])
def test_without_reviews_the_contract_holds(
    check: Callable[[Callable[[], PageModel], Examples], None], make: type[PageModel]
) -> None:
    check(lambda: reviewable(make()), made_up_examples())


def test_without_reviews_nothing_is_different() -> None:
    plain, wrapped = (TfCosine().fit(made_up_examples()), reviewable(TfCosine()).fit(made_up_examples()))
    for seed in range(5):
        assert plain.judge(page_of(BARN, seed)) == wrapped.judge(page_of(BARN, seed))
    assert plain.save() == wrapped.save()


MODELS: list[Callable[[], PageModel]] = [
    lambda: TfCosine().fit(Examples(keywords=("owl",))),
    lambda: PuVoting().fit(made_up_examples()),
    lambda: EstimatorModel().fit(made_up_examples()),
]


@pytest.mark.parametrize("make", MODELS, ids=["tf-cosine", "pu-voting", "estimator"])
def test_reviews_part_what_the_model_could_not(make: Callable[[], PageModel], tmp_path: Path) -> None:
    model = reviewable(make())
    assert isinstance(model, ReviewedModel)
    before, untouched = gap(model), model.judge(page_of(BARN, 90))
    model.take(model.lesson(some_reviews()))
    after = gap(model)
    assert after > before
    assert after > 0.0
    write_saved(tmp_path, "model-1", model.save())
    again = reviewable(make())
    again.load(read_saved(tmp_path, "model-1"))
    assert gap(again) == pytest.approx(after, abs=1e-9)
    model.take(model.lesson(()))
    assert model.judge(page_of(BARN, 90)).score == pytest.approx(untouched.score, abs=1e-9)


def test_verdicts_after_reviews_keep_the_contract() -> None:
    model = ReviewedModel(TfCosine().fit(Examples(keywords=("owl",))))
    model.take(model.lesson(some_reviews()))
    assert model.judge(page_of(BARN, 70)).on_topic
    assert not model.judge(page_of(CARS, 70)).on_topic
    for page in (page_of(BARN, 71), page_of(CARS, 71), page_of(OFF_TOPIC, 1), Page("https://a.example/", 1)):
        verdict = model.judge(page)
        shares = [share for _, share in verdict.terms]
        assert 0.0 <= verdict.score <= 1.0
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= verdict.score + 1e-9
    scores = model.judge_texts(["barn nest", "tyre wheel", ""])
    assert scores[0] > scores[1]
    assert scores[2] == 0.0


def test_all_of_one_kind_moves_the_line_that_way() -> None:
    model = ReviewedModel(TfCosine().fit(Examples(keywords=("owl",))))
    before = model.judge(page_of(CARS, 80)).score
    model.take(model.lesson([one for one in some_reviews() if not one.accepted]))
    assert model.judge(page_of(CARS, 80)).score < before


def test_a_model_that_learns_goes_on_learning_and_keeps_its_reviews() -> None:
    examples = Examples(positives=tuple(Document(made_up_text(ON_TOPIC, seed)) for seed in range(10)))
    model = reviewable(PuVoting().fit(examples))
    assert isinstance(model, OnlineReviewedModel)
    assert isinstance(model, OnlinePageModel)
    assert not isinstance(reviewable(TfCosine()), OnlinePageModel)
    model.take(model.lesson(some_reviews()))
    assert model.inner.describe()["judged by"] == "words of the examples"  # type: ignore[attr-defined]
    retrained = 0
    for seed in range(60):
        page = page_of((*OFF_TOPIC, *NEUTRAL), 1000 + seed)
        retrained += model.observe(page, model.judge(page))
    assert retrained == 1
    assert model.reviews == 12
    assert model.inner.describe()["judged by"] == "weighted voting"  # type: ignore[attr-defined]
    assert gap(model) > 0.0
