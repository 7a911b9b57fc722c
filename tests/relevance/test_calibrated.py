from __future__ import annotations

import msgspec
import pytest

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


def promised(one: Page, priority: float, *, parent: int = 1) -> Page:
    """The page as a crawl meets it, with what its links promised."""
    return msgspec.structs.replace(one, via=Via(parent, priority=priority))


def mixed(seed: int) -> Page:
    """A page whose words leave it open what it is about."""
    words = made_up_text(ON_TOPIC, seed).split()[:10] + made_up_text(OFF_TOPIC, seed).split()[:50]
    return Page(f"https://a.example/{seed}", seed, "Page", " ".join(words))


def test_what_links_promised_decides_where_words_leave_it_open() -> None:
    model = Calibrated(by_links=True).fit(KEYWORDS)
    # A third of the pages that an order expected much of are something else, and the other way round.
    crawl(model, [promised(one, 0.8 if one.id % 4 == 0 or one.id % 3 == 0 else 0.2) for one in met()])
    much, little, nothing = (model.judge(one) for one in (
        promised(mixed(5000), 0.9), promised(mixed(5000), 0.1), mixed(5000)
    ))  # fmt: skip
    assert much.score > nothing.score > little.score
    assert much.by_text == nothing.score == little.by_text  # orders learn from the words alone


@pytest.mark.parametrize("by_links", [True, False])
def test_priorities_that_tell_nothing_are_not_heard(by_links: bool) -> None:
    """Neither those that a person or a source gave, nor an order's that the model was not told to hear."""
    pages = [promised(one, 1e6, parent=0) for one in met()]
    if not by_links:
        pages = [promised(one, float(one.id % 4 == 0)) for one in met()]
    model, plain = Calibrated(by_links=by_links).fit(KEYWORDS), Calibrated().fit(KEYWORDS)
    crawl(model, pages)
    crawl(plain, met())
    asked = promised(mixed(5000), 0.9)
    assert model.judge(asked) == plain.judge(asked)
    assert model.judge(asked).by_text == model.judge(asked).score


def test_promises_survive_a_checkpoint_and_reach_other_shards() -> None:
    pages = [promised(one, 0.8 if one.id % 4 == 0 else 0.2) for one in met()]
    model = Calibrated(by_links=True).fit(KEYWORDS)
    crawl(model, pages[:100])
    again = Calibrated(by_links=True).load(model.save())
    crawl(model, pages[100:])
    crawl(again, pages[100:])
    asked = promised(mixed(5000), 0.9)
    assert again.judge(asked) == model.judge(asked)
    assert [told.by_text for _, told in again.remembered()] == [
        told.by_text for _, told in model.remembered()
    ]
    other = Calibrated(by_links=True).fit(KEYWORDS)
    assert other.join([model.shared(2)])
    assert other.judge(asked).score > other.judge(asked).by_text


def test_an_older_checkpoint_has_no_promises() -> None:
    model = Calibrated().fit(KEYWORDS)
    crawl(model, met())
    saved = model.save()
    arrays = {name: values for name, values in saved.arrays.items() if name != "promises"}
    fit = {name: value for name, value in saved.values["fit"].items() if name != "linked"}  # type: ignore[attr-defined]
    again = Calibrated(by_links=True).load(Saved(values=saved.values | {"fit": fit}, arrays=arrays))
    assert again.judge(mixed(5000)) == model.judge(mixed(5000))


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
