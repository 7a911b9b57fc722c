"""One recrawl: what was asked for, kept in the state until it is done, so that a killed one goes on."""

from __future__ import annotations

import msgspec

from honeyguide.config.units import parse_span
from honeyguide.engine.agenda import DAY, ComingBack
from honeyguide.engine.budget import Tally
from honeyguide.errors import TopicError
from honeyguide.store.state import State

SETTING = "recrawl"
SHARE = 0.8
"""Share of known pages among the visits of a recrawl, unless the user says otherwise."""


class RecrawlOptions(msgspec.Struct, frozen=True):
    """What a user asks for."""

    older_than: float = 0.0
    """Leave out pages that were visited in so many seconds before."""
    visits: int | None = None
    """Visits in all; None for all pages that are due."""
    share: float = SHARE
    """Share of known pages among them."""
    everything: bool = False
    """Pages off topic, too."""


class Recrawl(msgspec.Struct, frozen=True):
    """A recrawl that has begun."""

    start: float
    """When it began, on the crawl's clock."""
    pages: int
    """Pages that the collection had then."""
    asked: RecrawlOptions

    @property
    def how(self) -> ComingBack:
        """As the engine takes it."""
        return ComingBack(
            once=True,
            before=self.start - self.asked.older_than,
            visits=self.asked.visits,
            share=self.asked.share,
            everything=self.asked.everything,
        )

    def spent(self, state: State, tally: Tally) -> tuple[int, int]:
        """Later visits and new pages so far, in all its sessions."""
        return state.history.count(since=self.start), max(0, tally.pages - self.pages)


def asked_for(
    older_than: float | str, budget: int | None, share: float, *, all_pages: bool
) -> RecrawlOptions:
    """What a user asks for, once it is clear that it can be.

    Args:
        older_than: Leave out pages visited since, in seconds or as `7 d`.
        budget: Visits in all; None for every page that is due.
        share: Share of known pages among the visits.
        all_pages: Pages off topic, too.

    Raises:
        TopicError: One of them cannot be.
    """
    try:
        span = parse_span(older_than)
    except ValueError as error:
        raise TopicError(f"older_than = {older_than!r}: {error}") from None
    if not isinstance(span, int | float) or span < 0 or not 0 < share <= 1 or (budget or 1) < 1:
        raise TopicError("older_than is a time such as '7 d', share is in 0..1, budget is at least 1")
    return RecrawlOptions(float(span), budget, share, all_pages)


def begin(
    state: State, asked: RecrawlOptions | None, *, now: float, start: float | None = None
) -> Recrawl | None:
    """Begin a recrawl, or go on with one that was asked for in the same words and is not done.

    Args:
        state: Of the collection; the caller commits.
        asked: What the user asks for; None for no recrawl.
        now: On the crawl's clock.
        start: When it began, where somebody else knows: the coordinator of several shards.
    """
    if asked is None:
        return None
    try:
        earlier = msgspec.convert(state.setting(SETTING), Recrawl | None)
    except msgspec.ValidationError:
        earlier = None
    if earlier is not None and earlier.asked == asked:
        goes_on = 0 <= now - earlier.start < DAY if start is None else earlier.start == start
        if goes_on:
            return earlier
    made = Recrawl(now if start is None else start, state.page_count(), asked)
    state.put_setting(SETTING, msgspec.to_builtins(made))
    return made


def end(state: State, recrawl: Recrawl | None, *, stopped: bool) -> None:
    """A recrawl that was not stopped is done; the caller commits."""
    if recrawl is not None and not stopped:
        state.put_setting(SETTING, None)
