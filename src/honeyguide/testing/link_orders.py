"""The contract of `LinkOrder` as checks, for our own orders and for plug-ins.

In a test of a plug-in:

    from honeyguide.testing import WordJudge, check_link_order
    check_link_order(lambda: MyOrder(judge=WordJudge(), option=3))

The factory must give a new, equal order on each call. Every check raises `AssertionError` with what the
order did wrong.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import msgspec
import numpy as np

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict, Via
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.rehearsal import PAGES, Rehearsal, made_up_page, made_up_verdict
from honeyguide.store.models import Saved

Factory: TypeAlias = Callable[[], LinkOrder]
Check: TypeAlias = Callable[[Factory], None]

MANY_LINKS = 2000


class WordJudge:
    """Stands for a fitted page model where an order needs one as `judge`: counts two words."""

    def judge_texts(self, texts: Sequence[str]) -> Sequence[float]:
        """Scores in 0..1: half for each `owl`, a quarter for each `nest`."""
        return [min(1.0, text.count("owl") / 2 + text.count("nest") / 4) for text in texts]


def check_link_order(factory: Factory) -> None:
    """Run every check of this module."""
    for check in all_checks():
        check(factory)


def all_checks() -> tuple[Check, ...]:
    """Every check, for a test that shows each by name."""
    return (
        check_protocol,
        check_valid_answers,
        check_empty_page,
        check_many_links,
        check_hostile_links,
        check_page_without_via,
        check_deterministic,
        check_save_and_load,
        check_save_before_use,
        check_reorder,
        check_reorder_of_growing_graph,
        check_asks_nothing_of_the_web,
        check_explain,
    )


def check_protocol(factory: Factory) -> None:
    """The order has every member of the protocol, with sensible values."""
    order = factory()
    _require(isinstance(order, LinkOrder), "the order lacks a member of LinkOrder")
    _require(order.combine in ("max", "sum", "latest", "first"), f"combine is {order.combine!r}")
    every = order.reorder_every
    _require(every is None or every >= 1, f"reorder_every is {every!r}")
    _require(isinstance(order.needs_blocks, bool), "needs_blocks is not a bool")


def check_valid_answers(factory: Factory) -> None:
    """Indices are valid and unique, priorities finite, factors and memo plain numbers by name."""
    for step in Rehearsal(factory()).run(PAGES):
        _require_valid(step.ranked, made_up_page(step.page).links)


def check_empty_page(factory: Factory) -> None:
    """A page without links and text does no harm."""
    page = Page(url="https://empty.example/", id=-5)
    order = factory()
    order.learn(page, Verdict(0.0, False))
    _require(not order.rank(page, Verdict(0.0, False), ()), "a page without links got an answer")


def check_many_links(factory: Factory) -> None:
    """A page with 2,000 links is answered in full."""
    page = made_up_page(3, links=MANY_LINKS)
    order = factory()
    order.learn(page, made_up_verdict(3))
    ranked = order.rank(page, made_up_verdict(3), page.links)
    _require_valid(ranked, page.links)


def check_hostile_links(factory: Factory) -> None:
    """Odd characters, endless words and scripts of all kinds in links do no harm."""
    odd = ("", "\x00", "\ud800", "a" * 100_000, "鸟" * 5_000, "\u202e%s{0}", "é" * 50, "١٢٣")
    links = tuple(
        Link(f"https://x.example/{i}/%ff%00%{text[:20]}", 77 + i, text, text * 2)
        for i, text in enumerate(odd)
    )
    page = Page(url="https://x.example/", id=76, title="\x00", text="\ud800 ok", links=links)
    order = factory()
    for verdict in (Verdict(0.0, False), Verdict(1.0, True)):
        order.learn(page, verdict)
        _require_valid(order.rank(page, verdict, links), links)


def check_page_without_via(factory: Factory) -> None:
    """Seeds have no `via`, injected pages one without memo; both are learned from and ranked."""
    order = factory()
    for via in (None, Via(0, source="search"), Via(5, memo={"unknown": 1.0})):
        page = made_up_page(4, via=via)
        order.learn(page, made_up_verdict(4))
        _require_valid(order.rank(page, made_up_verdict(4), page.links), page.links)


def check_deterministic(factory: Factory) -> None:
    """Equal calls in equal order give equal answers."""
    first, second = (Rehearsal(factory()).run(PAGES) for _ in range(2))
    _require(first == second, "two equal crawls got different answers")


def check_save_and_load(factory: Factory) -> None:
    """An order saved half-way and loaded into a new one goes on as if nothing had happened."""
    straight, stopped = Rehearsal(factory()), Rehearsal(factory())
    straight.run(PAGES // 2)
    stopped.run(PAGES // 2)
    stopped.order = factory().load(_through_disk(stopped.order.save()))
    _require(straight.run(PAGES) == stopped.run(PAGES), "a loaded order answers otherwise than the saved one")


def check_save_before_use(factory: Factory) -> None:
    """A new order can be saved and loaded."""
    loaded = factory().load(_through_disk(factory().save()))
    _require(
        Rehearsal(loaded).run(5) == Rehearsal(factory()).run(5), "a new order changes when saved and loaded"
    )


def check_reorder(factory: Factory) -> None:
    """`reorder` gives one finite number or NaN a node."""
    rehearsal = Rehearsal(factory())
    rehearsal.run(20)
    _require_priorities(rehearsal.order, rehearsal.graph())


def check_reorder_of_growing_graph(factory: Factory) -> None:
    """`reorder` follows a graph from nothing to something."""
    rehearsal = Rehearsal(factory())
    no_links = np.empty(0, dtype=np.int32)
    none, flags = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.bool_)
    nothing = CrawlGraph(none, flags, flags, np.empty(0, dtype=np.float32), no_links, no_links)
    _require_priorities(rehearsal.order, nothing)
    for _ in range(4):
        _require_priorities(rehearsal.order, rehearsal.graph())
        rehearsal.run(7)


def check_asks_nothing_of_the_web(factory: Factory) -> None:
    """An order sees fetched pages only: it opens no connection to look at others."""
    with no_network():
        Rehearsal(factory()).run(PAGES)


def check_explain(factory: Factory) -> None:
    """Explanations are plain JSON, with and without a page."""
    rehearsal = Rehearsal(factory())
    rehearsal.run(10)
    for page in (None, made_up_page(0)):
        facts = rehearsal.order.explain(page, "https://h0.example/owl/0")
        _require(msgspec.json.decode(msgspec.json.encode(facts)) == facts, "explain gives more than JSON")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _require_valid(ranked: Sequence[Scored], links: Sequence[Link]) -> None:
    indices = [scored.link for scored in ranked]
    _require(len(set(indices)) == len(indices), "a link is answered twice")
    for scored in ranked:
        _require(0 <= scored.link < len(links), f"no link has index {scored.link}")
        _require(math.isfinite(scored.priority), f"priority {scored.priority} is not finite")
        for name, mapping in (("factors", scored.factors), ("memo", scored.memo)):
            plain = msgspec.json.decode(msgspec.json.encode(mapping))
            _require(plain == mapping, f"{name} {mapping!r} is not plain JSON")
            _require(
                all(isinstance(key, str) and math.isfinite(value) for key, value in mapping.items()),
                f"{name} {mapping!r} holds other than finite numbers by name",
            )


def _require_priorities(order: LinkOrder, graph: CrawlGraph) -> None:
    priorities = order.reorder(graph)
    _require(priorities.shape == (graph.size,), f"{priorities.shape} priorities for {graph.size} nodes")
    _require(priorities.dtype == np.float64, f"priorities are {priorities.dtype}, not float64")
    _require(not np.isinf(priorities).any(), "a priority is infinite")


def _through_disk(saved: Saved) -> Saved:
    """What a save and a later load make of it: JSON values and plain arrays, in copies."""
    for name, array in saved.arrays.items():
        _require(isinstance(array, np.ndarray), f"saved array {name!r} is a {type(array).__name__}")
        _require(not array.dtype.hasobject, f"saved array {name!r} holds objects")
    values = msgspec.json.decode(msgspec.json.encode(saved.values))
    return Saved(values=values, arrays={name: array.copy() for name, array in saved.arrays.items()})


@contextmanager
def no_network() -> Iterator[None]:
    """While this lasts, whoever opens a connection fails."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened: parts may not ask the web themselves")

    before = socket.socket.connect
    socket.socket.connect = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.socket.connect = before  # type: ignore[method-assign]
