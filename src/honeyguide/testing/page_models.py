"""The contract of `PageModel` as checks, for our own models and for plug-ins.

In a test of a plug-in:

    from honeyguide.testing import check_page_model
    check_page_model(lambda: MyModel(option=3))

The factory must give a new, unfitted, equal model on each call. Models that need examples of a special
kind pass their own. Every check raises `AssertionError` with what the model did wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec
import numpy as np

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.base import PageModel
from honeyguide.store.models import Saved

Factory: TypeAlias = Callable[[], PageModel]
Check: TypeAlias = Callable[[Factory, Examples], None]

ON_TOPIC: Final = ("owl", "nest", "feather", "prey", "wings", "hunting", "barn", "eggs", "beak", "forest")
OFF_TOPIC: Final = (
    "tax",
    "invoice",
    "ledger",
    "income",
    "audit",
    "payment",
    "budget",
    "refund",
    "bank",
    "form",
)
NEUTRAL: Final = ("page", "time", "people", "place", "morning", "story", "number", "table", "window", "road")
TOLERANCE: Final = 1e-9


def made_up_text(topic: tuple[str, ...], seed: int, *, length: int = 60) -> str:
    """A text about `topic`, half of it words that say nothing; equal seeds give equal texts."""
    generator = random.Random(seed)  # noqa: S311  Not a secret.
    return " ".join(generator.choice(topic if generator.random() < 0.5 else NEUTRAL) for _ in range(length))


def made_up_examples() -> Examples:
    """Owls against taxes: keywords, positives, negatives, unlabelled text and a taxonomy path."""
    return Examples(
        keywords=("owl", "bird nest"),
        positives=tuple(Document(made_up_text(ON_TOPIC, seed), "Owls") for seed in range(24)),
        negatives=tuple(Document(made_up_text(OFF_TOPIC, seed), "Taxes") for seed in range(100, 124)),
        unlabelled=tuple(
            Document(made_up_text(ON_TOPIC if seed % 4 == 0 else OFF_TOPIC, seed)) for seed in range(200, 280)
        ),
        taxonomy=("Animals", "Birds", "Owls"),
    )


def check_page_model(factory: Factory, *, examples: Examples | None = None) -> None:
    """Run every check of this module."""
    for check in all_checks():
        check(factory, examples or made_up_examples())


def all_checks() -> tuple[Check, ...]:
    """Every check, for a test that shows each by name."""
    return (
        check_protocol,
        check_scores,
        check_terms,
        check_judge_is_pure,
        check_batch_equals_single,
        check_deterministic,
        check_save_and_load,
        check_hostile_pages,
        check_facts,
        check_navigation,
        check_tells_topic_from_other,
        check_poor_examples,
        check_unfitted,
    )


def check_protocol(factory: Factory, examples: Examples) -> None:
    """The model has every member of the protocol; `fit` gives the model itself."""
    model = factory()
    _require(isinstance(model, PageModel), "the model lacks a member of PageModel")
    _require(model.fit(examples) is model, "fit does not return the model")


def check_scores(factory: Factory, examples: Examples) -> None:
    """Scores are in 0..1, for pages and for texts."""
    model = factory().fit(examples)
    for page in _pages():
        _require_verdict(model.judge(page))
    for score in model.judge_texts([page.text for page in _pages()]):
        _require(0.0 <= float(score) <= 1.0, f"score {score} is not in 0..1")


def check_terms(factory: Factory, examples: Examples) -> None:
    """Terms are named, strongest first, with shares that add up to no more than the score."""
    model = factory().fit(examples)
    for page in _pages():
        verdict = model.judge(page)
        shares = [share for _, share in verdict.terms]
        _require(all(isinstance(term, str) and term for term, _ in verdict.terms), "a term has no name")
        _require(all(share >= 0.0 for share in shares), "a term has a negative share")
        _require(shares == sorted(shares, reverse=True), "terms are not strongest first")
        _require(sum(shares) <= verdict.score + TOLERANCE, f"shares add up to more than {verdict.score}")


def check_judge_is_pure(factory: Factory, examples: Examples) -> None:
    """Judging changes nothing: not later verdicts, not what is saved."""
    model = factory().fit(examples)
    before, first = model.save(), [model.judge(page) for page in _pages()]
    model.judge_texts(["owl", "tax", ""])
    _require([model.judge(page) for page in _pages()] == first, "a page judged again got another verdict")
    _require_same(before, model.save())


def check_batch_equals_single(factory: Factory, examples: Examples) -> None:
    """Texts get the same scores together and one by one; no texts get no scores."""
    model = factory().fit(examples)
    texts = ["", "owl", "a tax form", "the owl left its nest", "owl", *(page.text for page in _pages())]
    together = [float(score) for score in model.judge_texts(texts)]
    single = [float(model.judge_texts([text])[0]) for text in texts]
    _require(len(together) == len(texts), "judge_texts gives another number of scores than texts")
    _require(bool(np.allclose(together, single, atol=TOLERANCE)), "a batch scores otherwise than its texts")
    _require(len(model.judge_texts([])) == 0, "no texts got scores")


def check_deterministic(factory: Factory, examples: Examples) -> None:
    """Two models fitted on the same examples give the same verdicts."""
    first, second = factory().fit(examples), factory().fit(examples)
    _require_agree(first, second, "two models fitted alike")


def check_save_and_load(factory: Factory, examples: Examples) -> None:
    """A loaded model gives the verdicts of the saved one, and saves the same."""
    model = factory().fit(examples)
    loaded = factory().load(_through_disk(model.save()))
    _require_agree(model, loaded, "the saved and the loaded model")
    _require_same(_through_disk(model.save()), _through_disk(loaded.save()))


def check_hostile_pages(factory: Factory, examples: Examples) -> None:
    """Empty, huge, odd and foreign pages are judged like any other."""
    model = factory().fit(examples)
    texts = (
        "", " ", "\x00" * 100, "owl\x00nest", "\ud800\udfff owl", "猫头鹰在森林里筑巢。" * 200,
        "a" * 1_000_000, "owl " * 100_000, "\u202eowl\u202c", "e\u0301\u0301 \ufdfa" * 1000,
        "حماية الطيور", "0 1 22 333", "<script>owl</script>",
    )  # fmt: skip
    for text in texts:
        _require_verdict(model.judge(Page(url="https://x.example/", id=1, title=text[:100], text=text)))
    _require(len(model.judge_texts(texts)) == len(texts), "a hostile text was left out")


def check_facts(factory: Factory, examples: Examples) -> None:
    """Verdicts are plain data: they go into the journal as JSON."""
    model = factory().fit(examples)
    for page in _pages():
        verdict = model.judge(page)
        again = msgspec.json.decode(msgspec.json.encode(verdict), type=Verdict)
        _require(again == verdict, "a verdict does not survive JSON")


def check_navigation(factory: Factory, examples: Examples) -> None:
    """Menus and footers change no verdict: a page is judged by its `content`, as examples are."""
    model = factory().fit(examples)
    for page in _pages():
        if page.text:
            menu = made_up_text(OFF_TOPIC, 900, length=200)
            whole = msgspec.structs.replace(page, text=f"{menu} {page.text} {menu}", main_text=page.text)
            plain = msgspec.structs.replace(page, main_text=page.text)
            same = abs(model.judge(whole).score - model.judge(plain).score) <= TOLERANCE
            _require(same, "a page with a menu got another score; judge page.content, not page.text")


def check_tells_topic_from_other(factory: Factory, examples: Examples) -> None:
    """On average, positive examples score higher than negative ones; without both there is no check."""
    if not examples.positives or not examples.negatives:
        return
    model = factory().fit(examples)
    high, low = (
        [
            model.judge(Page(url="https://x.example/", id=1, title=each.title, text=each.text)).score
            for each in some
        ]
        for some in (examples.positives, examples.negatives)
    )
    _require(sum(high) / len(high) > sum(low) / len(low), "positives score no higher than negatives")


def check_poor_examples(factory: Factory, examples: Examples) -> None:
    """`fit` on nothing raises `TopicError` with what to do about it."""
    del examples  # The point is to have none.
    try:
        factory().fit(Examples())
    except TopicError as problem:
        _require("\n" not in str(problem) and len(str(problem)) > 20, "the error does not say what to do")
        return
    raise AssertionError("fit on no examples at all raised no TopicError")


def check_unfitted(factory: Factory, examples: Examples) -> None:
    """Judging before `fit` raises `TopicError`, not something obscure."""
    del examples
    try:
        factory().judge_texts(["owl"])
    except TopicError:
        return
    raise AssertionError("an unfitted model judged a text")


def _pages() -> list[Page]:
    texts = [made_up_text(words, seed) for seed, words in enumerate((ON_TOPIC, OFF_TOPIC, NEUTRAL) * 3, 500)]
    mixed = f"{texts[0]} {texts[1]}"
    return [
        Page(url=f"https://x.example/{i}", id=i + 1, title=text.partition(" ")[0], text=text)
        for i, text in enumerate([*texts, mixed, "", "the owl"])
    ]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _require_verdict(verdict: Verdict) -> None:
    _require(0.0 <= verdict.score <= 1.0, f"score {verdict.score} is not in 0..1")
    _require(
        isinstance(verdict.on_topic, bool), f"on_topic is a {type(verdict.on_topic).__name__}, not a bool"
    )
    _require(all(np.isfinite(value) for value in verdict.facts.values()), "a fact is not a finite number")


def _require_agree(first: PageModel, second: PageModel, which: str) -> None:
    for page in _pages():
        one, other = first.judge(page), second.judge(page)
        same = abs(one.score - other.score) <= TOLERANCE and one.on_topic == other.on_topic
        _require(same, f"{which} disagree: {one.score} and {other.score}")
    texts = [page.text for page in _pages()]
    scores, others = first.judge_texts(texts), second.judge_texts(texts)
    _require(bool(np.allclose(scores, others, atol=TOLERANCE)), f"{which} disagree about texts")


def _require_same(first: Saved, second: Saved) -> None:
    _require(first.values == second.values, "what is saved has changed")
    _require(first.arrays.keys() == second.arrays.keys(), "the saved arrays have changed")
    for name, array in first.arrays.items():
        same = np.array_equal(array, second.arrays[name], equal_nan=array.dtype.kind == "f")
        _require(bool(same), f"the saved array {name!r} has changed")


def _through_disk(saved: Saved) -> Saved:
    """What a save and a later load make of it: JSON values and plain arrays, in copies."""
    for name, array in saved.arrays.items():
        _require(isinstance(array, np.ndarray), f"saved array {name!r} is a {type(array).__name__}")
        _require(not array.dtype.hasobject, f"saved array {name!r} holds objects")
    values = msgspec.json.decode(msgspec.json.encode(saved.values))
    return Saved(values=values, arrays={name: array.copy() for name, array in saved.arrays.items()})
