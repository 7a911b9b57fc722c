"""The contract of `Source` as checks, for our own sources and for plug-ins.

In a test of a plug-in:

    from honeyguide.testing import check_source
    check_source(lambda: MySource(option=3))

The factory must give a new, equal source on each call. A source that asks a web service takes `http` in its
constructor: pass a double of your service there, since no check may reach the network. Every check raises
`AssertionError` with what the source did wrong.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from honeyguide.discovery.base import Answer, Ask, Preparing, Recalling, Source, suggest_data
from honeyguide.model import Document, Event, Examples, Page, Topic
from honeyguide.ordering.rehearsal import made_up_page
from honeyguide.testing.link_orders import no_network
from honeyguide.testing.page_models import made_up_examples
from honeyguide.web.url import canonical

Factory: TypeAlias = Callable[[], Source]
Check: TypeAlias = Callable[[Factory], None]

OCCASIONS = frozenset({"start", "page", "every", "low"})
TOPIC = Topic("owls", keywords=("owl", "bird nest"), seeds=("https://example.org/",))
ASKED = 12
"""Questions a check asks, one after the other."""


def check_source(factory: Factory) -> None:
    """Run every check of this module."""
    for check in all_checks():
        check(factory)


def all_checks() -> tuple[Check, ...]:
    """Every check, for a test that shows each by name."""
    return (
        check_protocol,
        check_valid_answers,
        check_deterministic,
        check_asks_nothing_of_the_web,
        check_recall,
        check_prepare,
    )


def check_protocol(factory: Factory) -> None:
    """The source has every member of the protocol, with sensible values."""
    source = factory()
    _require(isinstance(source, Source), "the source lacks a member of Source")
    _require(isinstance(source.name, str) and bool(source.name), f"name is {source.name!r}")
    strange = sorted(set(source.occasions) - OCCASIONS)
    _require(not strange, f"unknown occasions {strange}; there are {sorted(OCCASIONS)}")
    _require(
        bool(source.occasions) or isinstance(source, Preparing),
        "the source is never asked: it has no occasions and no `prepare`",
    )
    for occasion, value in (("every", source.every), ("low", source.when_below)):
        attribute = "every" if occasion == "every" else "when_below"
        if occasion in source.occasions:
            valid = isinstance(value, int) and value >= 1
            _require(valid, f"{attribute} is {value!r}, and the occasion {occasion!r} needs a number")


def check_valid_answers(factory: Factory) -> None:
    """Addresses are valid, each has a reason, and priorities, costs and notes are what they should be."""
    for answer in answers(factory()):
        _require(isinstance(answer, Answer), f"suggest gave a {type(answer).__name__}, not an Answer")
        _require(answer.requests >= 0, f"an answer cost {answer.requests} requests")
        _require(not answer.failed or bool(answer.note), "a failed answer has no note that says why")
        for one in answer.suggestions:
            _require(canonical(one.url) is not None, f"{one.url!r} is not a valid URL")
            _require(bool(one.reason), f"{one.url} is suggested without a reason")
            _require(
                one.priority is None or math.isfinite(one.priority), f"priority {one.priority} is not finite"
            )
            numbers = all(isinstance(value, float | int) for value in one.memo.values())
            _require(numbers, f"the memo of {one.url} is not numbers by name")
        msgspec.json.encode(answer)  # it is kept in the journal


def check_deterministic(factory: Factory) -> None:
    """Two equal sources give equal answers to equal questions."""
    _require(answers(factory()) == answers(factory()), "two equal sources answer differently")


def check_asks_nothing_of_the_web(factory: Factory) -> None:
    """No socket is opened but through the services that a crawl gives, which are limited and polite."""
    source = factory()
    with no_network():
        answers(source)


def check_recall(factory: Factory) -> None:
    """A source that is told of its earlier answers goes on as if it had not been interrupted."""
    whole = factory()
    if not isinstance(whole, Recalling):
        return
    half = ASKED // 2
    expected = answers(whole)
    interrupted = factory()
    first = answers(interrupted, count=half)
    resumed = factory()
    assert isinstance(resumed, Recalling)
    resumed.recall([_event(number, resumed.name, one) for number, one in enumerate(first)])
    given = answers(resumed, start=half)
    # Notes may come again: that a budget is spent is told once a session.
    same = [(one.suggestions, one.requests) for one in given] == [
        (one.suggestions, one.requests) for one in expected[half:]
    ]
    _require(same, "after `recall` the source goes on differently")


def check_prepare(factory: Factory) -> None:
    """What `prepare` gives are examples, at least those it was given."""
    source = factory()
    if not isinstance(source, Preparing):
        return
    setup = _SetUp()
    found = asyncio.run(source.prepare(setup))
    _require(isinstance(found, Examples), f"prepare gave a {type(found).__name__}, not Examples")
    _require(
        len(found.positives) >= len(setup.examples.positives) and found.keywords == setup.examples.keywords,
        "prepare lost examples that the user gave",
    )


def answers(source: Source, *, start: int = 0, count: int = ASKED) -> list[Answer]:
    """What a source says when it is asked on its occasions in turn, as an engine would."""
    occasions = sorted(source.occasions)
    if not occasions:
        return []

    async def ask_all() -> list[Answer]:
        return [await source.suggest(_ask(number, occasions)) for number in range(start, max(start, count))]

    return asyncio.run(ask_all())


def _ask(number: int, occasions: Sequence[str]) -> Ask:
    occasion = occasions[number % len(occasions)]
    page: Page | None = made_up_page(number) if occasion == "page" else None
    return Ask(occasion, TOPIC, page=page, pages_fetched=number * 10, waiting=5)


def _event(number: int, name: str, answer: Answer) -> Event:
    return Event(number + 1, float(number), "suggest", data=suggest_data(name, answer, new=0))


class _SetUp:
    """A set-up that reads from no web."""

    topic = TOPIC

    def __init__(self) -> None:
        self.examples = made_up_examples()
        self.seed = 1

    async def read(self, urls: Sequence[str]) -> dict[str, Document]:
        return {}

    def record(self, source: str, url: str, answer: Answer) -> None:
        """Nothing is kept."""

    def learned(self, source: str, facts: dict[str, object]) -> None:
        msgspec.json.encode(facts)

    def now(self) -> float:
        return 0.0


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise AssertionError(problem)
