from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from honeyguide.model import Document, Examples, Page, Verdict, Via
from honeyguide.relevance.calibrated import Calibrated
from honeyguide.store.models import Saved
from honeyguide.testing.page_models import (
    NEUTRAL,
    OFF_TOPIC,
    ON_TOPIC,
    Check,
    all_checks,
    made_up_examples,
    made_up_text,
)
from honeyguide.text import tokens

KEYWORDS = Examples(keywords=("owl", "nest"))
BOTH = msgspec.structs.replace(made_up_examples(), unlabelled=(), taxonomy=())


def page(words: tuple[str, ...], seed: int) -> Page:
    return Page(f"https://a.example/{seed}", seed, "Page", made_up_text(words, seed))


def crawl(model: Calibrated, pages: list[Page]) -> int:
    """Let a model see pages as a crawl does; how often it moved its line."""
    return sum(model.observe(one, model.judge(one)) for one in pages)


def weights(model: Calibrated) -> list[float]:
    """What each keyword counts."""
    return msgspec.convert(model.save().values["keywords"], list[float])


def met() -> list[Page]:
    """One page in four is about owls."""
    return [page(ON_TOPIC if seed % 4 == 0 else OFF_TOPIC, seed) for seed in range(1, 121)]


@pytest.mark.parametrize("given", [BOTH, KEYWORDS], ids=["all", "keywords"])
@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check, given: Examples) -> None:
    check(Calibrated, given)
    check(lambda: Calibrated(by_links=True), given)


@pytest.mark.parametrize(
    "given",
    [
        KEYWORDS,
        Examples(positives=BOTH.positives[:2]),
        msgspec.structs.replace(BOTH, positives=BOTH.positives[:2]),
    ],
    ids=["keywords", "two examples", "all"],
)
def test_pages_are_told_apart_from_whatever_is_known(given: Examples) -> None:
    model = Calibrated().fit(given)
    pages = met()
    assert crawl(model, pages) >= 3
    right = sum(model.judge(one).on_topic == (one.id % 4 == 0) for one in pages)
    assert right >= 114


def test_a_page_without_text_is_never_on_topic() -> None:
    model = Calibrated().fit(KEYWORDS)
    assert not model.judge(Page("https://a.example/", 1)).on_topic
    assert model.judge(Page("https://a.example/", 1)).score == 0.0


def test_words_that_come_with_the_keywords_are_learned() -> None:
    model = Calibrated().fit(Examples(keywords=("owl",)))
    other = Page("https://a.example/x", 9999, "Page", "feather prey wings hunting barn eggs beak forest " * 5)
    before = model.judge(other).score
    crawl(model, met())
    assert model.judge(other).score > 5.0 * before


def test_keywords_may_be_common_where_the_crawl_is_good() -> None:
    """Seven pages in ten are about owls and say so; a word that all pages have tells nothing."""
    given = Examples(keywords=("owl", "nest", "report"))
    model = Calibrated().fit(given)
    everything = [page(ON_TOPIC if seed % 10 < 7 else OFF_TOPIC, seed) for seed in range(1, 301)]
    crawl(model, [msgspec.structs.replace(one, text=f"{one.text} report") for one in everything])
    fresh = Calibrated().fit(given)
    crawl(fresh, [page(OFF_TOPIC, seed) for seed in range(1, 31)])
    owl, nest, report = (kept / full for kept, full in zip(weights(model), weights(fresh), strict=True))
    assert [owl, nest] == pytest.approx([1.0, 1.0], abs=0.02)
    assert report < 0.8


@pytest.mark.parametrize("on_topic", [0, 30])
def test_one_mention_among_pages_of_something_else_is_no_certainty(on_topic: int) -> None:
    """An article on opera mentions an owl once. Where no page is about owls, it stood out, with .99."""
    model = Calibrated().fit(Examples(keywords=("owl", "nest")))
    away = [page(OFF_TOPIC, seed) for seed in range(1, 301)]
    crawl(model, away + [page(ON_TOPIC, seed) for seed in range(1000, 1000 + on_topic)])
    mention = [
        Page(f"https://b.example/{one.id}", 5000 + one.id, "", f"{one.text} owl {one.text} {one.text}")
        for one in away[:10]
    ]
    assert max(model.judge(one).score for one in mention) < 0.5
    assert model.judge(page(ON_TOPIC, 9999)).on_topic
    again = Calibrated().load(model.save())
    assert [again.judge(one) for one in mention] == [model.judge(one) for one in mention]


def test_remembered_pages_have_the_score_that_judging_gives() -> None:
    model = Calibrated().fit(KEYWORDS)
    pages = met()
    crawl(model, pages)
    known = {one.id: one for one in pages}
    remembered = model.remembered()
    assert len(remembered) == len(pages)
    for number, today in remembered:
        verdict = model.judge(known[number])
        assert today.score == pytest.approx(verdict.score)
        assert today.on_topic == verdict.on_topic


def test_pages_that_came_after_the_fit_are_remembered_with_today_s_score() -> None:
    model = Calibrated().fit(KEYWORDS)
    pages = met()
    crawl(model, pages[:40])
    later = [
        Page(f"https://b.example/{number}", 9000 + number, "Page", f"{one.content} unheardof{number}")
        for number, one in enumerate(pages[40:44])
    ]
    for one in later:
        assert not model.observe(one, model.judge(one))  # no fit was due
    today = dict(model.remembered())
    for one in later:
        assert today[one.id].score == pytest.approx(model.judge(one).score)


class Witness:
    """Knows two scores of the links to some pages."""

    def __init__(self, said: Mapping[int, float]) -> None:
        self.said = dict(said)

    def evidence_of(self, pages: Sequence[int]) -> NDArray[np.float32]:
        rows = [[self.said.get(page, np.nan), 0.5 if page in self.said else np.nan] for page in pages]
        return np.array(rows, np.float32).reshape(-1, 2)


def mixed(seed: int) -> Page:
    """A page whose words leave it open what it is about."""
    words = made_up_text(ON_TOPIC, seed).split()[:10] + made_up_text(OFF_TOPIC, seed).split()[:50]
    return Page(f"https://a.example/{seed}", seed, "Page", " ".join(words))


MUCH, LITTLE, UNKNOWN = mixed(5000), mixed(5001), mixed(5002)
SAID_OF_MIXED = {MUCH.id: 0.9, LITTLE.id: 0.1}


def listening(said: Mapping[int, float]) -> Calibrated:
    model = Calibrated(by_links=True).fit(KEYWORDS)
    model.hear_links(Witness({**said, **SAID_OF_MIXED}))
    return model


def test_what_links_say_decides_where_words_leave_it_open() -> None:
    # A third of the pages that the links speak well of are something else, and the other way round.
    model = listening({one.id: 0.8 if one.id % 4 == 0 or one.id % 3 == 0 else 0.2 for one in met()})
    crawl(model, met())
    much, little, unknown = map(model.judge, (MUCH, LITTLE, UNKNOWN))
    assert much.score > much.by_text
    assert little.score < little.by_text
    assert unknown.score == unknown.by_text
    plain = Calibrated().fit(KEYWORDS)
    crawl(plain, met())
    assert much.by_text == plain.judge(MUCH).score  # orders learn from the words alone


def test_links_that_agree_with_nothing_are_not_heard() -> None:
    draw = random.Random(1)
    model, plain = listening({one.id: draw.random() for one in met()}), Calibrated().fit(KEYWORDS)
    crawl(model, met())
    crawl(plain, met())
    for one in (MUCH, LITTLE):
        assert model.judge(one).score == pytest.approx(plain.judge(one).score, abs=0.1)


def test_a_model_that_is_not_to_hear_links_asks_nobody() -> None:
    model, plain = Calibrated().fit(KEYWORDS), Calibrated().fit(KEYWORDS)
    model.hear_links(Witness({one.id: float(one.id % 4 == 0) for one in met()} | SAID_OF_MIXED))
    crawl(model, met())
    crawl(plain, met())
    assert model.judge(MUCH) == plain.judge(MUCH)


def test_what_is_learned_of_links_later_counts_for_earlier_pages() -> None:
    """When a page is fetched little is known of its links; at the next fit all that became of the like is."""
    witness = Witness(SAID_OF_MIXED)
    model = Calibrated(by_links=True).fit(KEYWORDS)
    model.hear_links(witness)
    pages = met()
    crawl(model, [*pages[:60], MUCH])
    assert dict(model.remembered())[MUCH.id].score == pytest.approx(model.judge(MUCH).by_text)
    witness.said |= {one.id: 0.8 if one.id % 4 == 0 else 0.2 for one in pages}
    crawl(model, pages[60:])
    today = dict(model.remembered())[MUCH.id]
    assert today.score > today.by_text


def test_a_redirect_is_told_by_the_links_to_where_it_began() -> None:
    model = listening({one.id: 0.8 if one.id % 4 == 0 else 0.2 for one in met()})
    crawl(model, met())
    moved = msgspec.structs.replace(UNKNOWN, via=Via(MUCH.id, source="redirect"))
    assert model.judge(moved).score > model.judge(moved).by_text
    linked = msgspec.structs.replace(UNKNOWN, via=Via(MUCH.id, source="link"))
    assert model.judge(linked).score == model.judge(linked).by_text


def test_what_links_said_survives_a_checkpoint_and_reaches_other_shards() -> None:
    pages = met()
    witness = Witness({one.id: 0.8 if one.id % 4 == 0 else 0.2 for one in pages} | SAID_OF_MIXED)
    model = Calibrated(by_links=True).fit(KEYWORDS)
    model.hear_links(witness)
    crawl(model, pages[:100])
    again = Calibrated(by_links=True).load(model.save())
    again.hear_links(witness)
    crawl(model, pages[100:])
    crawl(again, pages[100:])
    assert again.judge(MUCH) == model.judge(MUCH)
    assert [told.by_text for _, told in again.remembered()] == [
        told.by_text for _, told in model.remembered()
    ]
    other = Calibrated(by_links=True).fit(KEYWORDS)
    other.hear_links(Witness(SAID_OF_MIXED))
    assert other.join([model.shared(2)])
    assert other.judge(MUCH).score > other.judge(MUCH).by_text
    wrong = model.shared(2)
    wrong.arrays["links"] = wrong.arrays["links"][1:]
    with pytest.raises(ValueError, match="links"):
        other.join([wrong])


def test_a_copy_asks_the_same_witness() -> None:
    model = listening({one.id: 0.8 if one.id % 4 == 0 else 0.2 for one in met()})
    crawl(model, met())
    assert copy.deepcopy(model).judge(MUCH) == model.judge(MUCH) != model.judge(UNKNOWN)


def test_an_older_checkpoint_has_no_links() -> None:
    model = Calibrated().fit(KEYWORDS)
    crawl(model, met())
    saved = model.save()
    line = {"slope": 1.0, "middle": 0.0, "shift": 0.0, "share": 0.5}
    older = {"gain": 1.0, "mean": 0.0, "deviation": 1.0, "line": line}  # links were one number a page
    fit = {**saved.values["fit"], "linked": older}  # type: ignore[dict-item]
    arrays = saved.arrays | {"promises": np.full(len(saved.arrays["ids"]), 0.5)}
    again = Calibrated(by_links=True).load(Saved(values=saved.values | {"fit": fit}, arrays=arrays))
    again.hear_links(Witness(SAID_OF_MIXED))
    assert again.judge(MUCH) == model.judge(MUCH)


def test_a_loaded_model_goes_on_as_the_saved_one_would() -> None:
    model = Calibrated().fit(BOTH)
    pages = met()
    crawl(model, pages[:50])
    again = Calibrated().load(model.save())
    for one in pages[50:]:
        assert again.judge(one) == model.judge(one)
        assert again.observe(one, Verdict(0.0, False)) == model.observe(one, Verdict(0.0, False))
    assert again.save().values == model.save().values


def test_reviews_move_the_line_and_can_be_undone() -> None:
    model = Calibrated().fit(KEYWORDS)
    crawl(model, met())
    odd = page(NEUTRAL, 5000)
    before = model.judge(odd).score
    told = [Document(made_up_text(NEUTRAL, seed), url=f"https://n.example/{seed}") for seed in range(6)]
    model.teach(told, [])
    assert model.judge(odd).score > before
    model.teach([], [])
    assert model.judge(odd).score == pytest.approx(before)


def test_verdicts_do_not_depend_on_what_the_analyser_has_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of words are given again when the table is full; nobody may notice."""
    texts = [f"owl number{i} hunts{i % 7} night{i % 3} " * 40 for i in range(60)]
    pages = [Page(url=f"https://a.example/{i}", id=i + 1, text=text) for i, text in enumerate(texts)]

    def verdicts() -> list[Verdict]:
        model = Calibrated().fit(Examples(keywords=("owl", "night1"), languages=("en", "da")))
        found = []
        for page in pages:
            found.append(model.judge(page))
            model.observe(page, found[-1])
        return found

    expected = verdicts()
    monkeypatch.setattr(tokens, "CACHE_LIMIT", 25)
    assert verdicts() == expected


def test_a_short_page_is_scored_like_a_long_one_of_its_kind() -> None:
    """Long pages have more of everything; with `even_lengths` that is not held against short ones."""

    def mixed(seed: int) -> Page:
        words = (*(ON_TOPIC if seed % 4 == 0 else ("owl",)), *NEUTRAL * 4)
        text = made_up_text(words, seed, length=15 if seed % 3 else 400)
        return Page(f"https://a.example/{seed}", seed, "Page", text)

    pages = [mixed(seed) for seed in range(1, 161)]
    short = [one for one in pages if one.id % 4 == 0 and one.id % 3]
    means = {}
    for even in (False, True):
        model = Calibrated(even_lengths=even).fit(KEYWORDS)
        crawl(model, pages)
        means[even] = sum(model.judge(one).score for one in short) / len(short)
        again = Calibrated(even_lengths=even).load(model.save())
        stranger = page(ON_TOPIC, 1001)
        assert again.judge(stranger) == model.judge(stranger)
    assert means[True] > means[False] + 0.01


def test_a_fit_of_an_earlier_version_is_read() -> None:
    model = Calibrated(even_lengths=False).fit(KEYWORDS)
    crawl(model, met())
    saved = model.save()
    fit = dict(saved.values["fit"])  # type: ignore[call-overload]
    del fit["by_words"]
    older = msgspec.structs.replace(saved, values={**saved.values, "fit": fit})
    assert Calibrated().load(older).judge(met()[3]) == model.judge(met()[3])
