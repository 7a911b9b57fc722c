from __future__ import annotations

import socket
from collections.abc import Callable, Iterable

import pytest

from honeyguide.discovery.backlinks import Backlinks
from honeyguide.discovery.search import MetaSearch
from honeyguide.engine.clock import VirtualClock
from honeyguide.model import Document
from honeyguide.parts import Answer, Ask, Event, Examples, SetUp, Source, Suggestion
from honeyguide.testing import check_source, made_up_examples
from honeyguide.testing.sources import Check, all_checks


class Everything:
    """A lab's `web` that finds pages for any query."""

    def search(self, query: str, limit: int = 10) -> list[Document]:
        return [Document("", query, f"https://{query.replace(' ', '-')}.example/{n}") for n in range(limit)]


BUILT_IN: dict[str, Callable[[], Source]] = {
    "meta-search": lambda: MetaSearch(
        examples=made_up_examples(), clock=VirtualClock(), web=Everything(), every=10
    ),
    "meta-search without engines": lambda: MetaSearch(examples=made_up_examples(), clock=VirtualClock()),
    "backlinks without a service": lambda: Backlinks(on_pages=True, clock=VirtualClock()),
}


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_source_keeps_the_contract(name: str, check: Check) -> None:
    check(BUILT_IN[name])


class Fine:
    """Suggests one page each time."""

    name = "fine"
    occasions: frozenset[str] = frozenset({"low"})
    every: int | None = None
    when_below: int | None = 10

    def __init__(self) -> None:
        self.number = 0

    async def suggest(self, ask: Ask) -> Answer:
        self.number += 1
        return Answer((Suggestion(f"https://a.example/{self.number}", "because"),), requests=1)


class Holiday(Fine):
    occasions = frozenset({"christmas"})


class Timeless(Fine):
    occasions = frozenset({"every"})


class Nowhere(Fine):
    async def suggest(self, ask: Ask) -> Answer:
        return Answer((Suggestion("not a url", "because"),))


class Groundless(Fine):
    async def suggest(self, ask: Ask) -> Answer:
        return Answer((Suggestion("https://a.example/", ""),))


class Silent(Fine):
    async def suggest(self, ask: Ask) -> Answer:
        return Answer(failed=True)


class Fickle(Fine):
    made = 0

    async def suggest(self, ask: Ask) -> Answer:
        Fickle.made += 1
        return Answer((Suggestion(f"https://a.example/{Fickle.made}", "because"),))


class Impolite(Fine):
    async def suggest(self, ask: Ask) -> Answer:
        with socket.socket() as direct:
            direct.connect(("127.0.0.1", 9))
        return Answer()


class Forgetful(Fine):
    """Is told what it said before, and does not listen."""

    def recall(self, events: Iterable[Event]) -> None:
        assert all(event.data["source"] == "fine" for event in events)


class Mindful(Fine):
    def recall(self, events: Iterable[Event]) -> None:
        self.number = len(list(events))


class Loses(Fine):
    async def prepare(self, setup: SetUp) -> Examples:
        return Examples(keywords=setup.examples.keywords)


def test_good_sources_pass() -> None:
    check_source(Fine)
    check_source(Mindful)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (Holiday, "unknown occasions"),
        (Timeless, "every is None, and the occasion 'every' needs a number"),
        (Nowhere, "'not a url' is not a valid URL"),
        (Groundless, "without a reason"),
        (Silent, "no note"),
        (Fickle, "two equal sources answer differently"),
        (Forgetful, "goes on differently"),
        (Loses, "prepare lost examples"),
    ],
)
def test_checks_find_broken_sources(source: Callable[[], Source], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check_source(source)


def test_a_source_may_not_ask_the_web_itself() -> None:
    check = next(one for one in all_checks() if one.__name__ == "check_asks_nothing_of_the_web")
    with pytest.raises(AssertionError, match="a connection was opened"):
        check(Impolite)
