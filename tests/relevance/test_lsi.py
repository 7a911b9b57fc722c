from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.lsi import Lsi
from honeyguide.testing.page_models import Check, all_checks, made_up_examples, made_up_text

MAKERS: dict[str, Callable[[], Lsi]] = {
    "query": Lsi,
    "noisy-or": lambda: Lsi(combine="noisy-or"),
    "log weights, few factors": lambda: Lsi(weighting="log", k=5),
}


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("maker", MAKERS)
def test_contract(maker: str, check: Check) -> None:
    check(MAKERS[maker], made_up_examples())


def documents(*texts: str) -> tuple[Document, ...]:
    return tuple(Document(text) for text in texts)


# Two subjects that share no word: the decomposition has one factor for each, by hand.
SUBJECTS = documents("owl nest", "owl nest", "owl nest", "tax form", "tax form")


def test_cosine_by_hand() -> None:
    """`owl` alone lies at cosine 1/sqrt(2) of the factor (owl + nest)/sqrt(2), and so does `nest`."""
    model = Lsi(k=2).fit(Examples(keywords=("owl",), unlabelled=SUBJECTS))
    scores = model.judge_texts(["owl", "nest", "owl nest", "tax", "owl tax", ""])
    half = 2**-0.5
    # "owl tax": U'd = (1/2, 1/2), of length 1/sqrt(2); U'q = (1/sqrt(2), 0).
    assert scores == pytest.approx([half, half, half, 0.0, half * half, 0.0])


def test_synonyms_are_found_through_the_company_they_keep() -> None:
    texts = ("owl bird wings", "strigiform bird wings", "owl bird", "strigiform wings", "tax form", "tax law")
    model = Lsi(k=2).fit(Examples(keywords=("owl",), unlabelled=documents(*texts)))
    near, far = model.judge_texts(["strigiform", "law"])
    assert near > 0.35
    assert far == pytest.approx(0.0, abs=1e-9)


def test_noisy_or_by_hand() -> None:
    examples = Examples(
        keywords=("owl",), positives=documents("owl nest", "owl nest tax form"), unlabelled=SUBJECTS
    )
    model = Lsi(k=2, combine="noisy-or").fit(examples)
    assert model.judge_texts(["owl"])[0] == pytest.approx(1.0)
    # cos("tax", first) = 0, cos("tax", second) = 1/sqrt(2).
    assert model.judge_texts(["tax"])[0] == pytest.approx(2**-0.5)


def test_noisy_or_with_negatives_is_a_share() -> None:
    examples = Examples(positives=documents("owl nest"), negatives=documents("tax form"), unlabelled=SUBJECTS)
    model = Lsi(k=2, combine="noisy-or").fit(examples)
    assert model.judge_texts(["owl", "tax", "owl tax"]) == pytest.approx([1.0, 0.0, 0.5])


def test_nearest_limits_what_counts() -> None:
    positives = documents(*(made_up_text(("owl", "nest"), seed) for seed in range(20)))
    given = Examples(positives=positives, unlabelled=made_up_examples().unlabelled)
    few, all_of_them = (Lsi(combine="noisy-or", nearest=n).fit(given) for n in (1, 0))
    text = ["owl road window story"]
    assert few.judge_texts(text)[0] < all_of_them.judge_texts(text)[0] <= 1.0


def test_threshold_without_examples_is_what_a_tenth_of_the_corpus_reaches() -> None:
    given = made_up_examples()
    model = Lsi().fit(Examples(keywords=("owl", "nest", "eggs"), unlabelled=given.unlabelled))
    scores = model.judge_texts([f"{one.title} {one.text}" for one in given.unlabelled])
    judged = [
        model.judge(Page(url="https://x.example/", id=1, title=one.title, text=one.text)).on_topic
        for one in given.unlabelled
    ]
    assert sum(judged) == pytest.approx(len(given.unlabelled) / 10, abs=1)
    assert min(score for score, yes in zip(scores, judged, strict=True) if yes) >= np.quantile(scores, 0.89)


def test_terms_name_words_of_the_page_near_the_topic() -> None:
    model = Lsi(k=2).fit(Examples(keywords=("owl",), unlabelled=SUBJECTS))
    verdict = model.judge(Page(url="https://x.example/", id=1, title="Nest", text="tax"))
    assert [term for term, _ in verdict.terms] == ["nest"]


def test_unusable_examples() -> None:
    with pytest.raises(TopicError, match="background"):
        Lsi().fit(Examples(keywords=("owl",)))
    with pytest.raises(TopicError, match="background"):
        Lsi().fit(Examples(keywords=("owl",), unlabelled=documents("owl")))
    with pytest.raises(TopicError, match="no word of the topic"):
        Lsi().fit(Examples(keywords=("zebra",), unlabelled=SUBJECTS))
    with pytest.raises(TopicError, match="'examples'"):
        Lsi(combine="noisy-or").fit(Examples(keywords=("owl",), unlabelled=SUBJECTS))
    assert Lsi(k=400).fit(Examples(keywords=("owl",), unlabelled=SUBJECTS)).space.rank == 2
