"""Coming back beside finding: how the visits of a crawl are shared between known pages and new ones."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.engine.agenda import Agenda
from honeyguide.engine.returning import Returning
from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.frontier.frontier import Asked
from honeyguide.model import Event

NOTHING_DUE = "every page that was due has been visited"


class Revisits:
    """Keeps to the share of known pages, and to the budget of a recrawl.

    Args:
        agenda: Which known page is next.
        returning: Takes their answers.
        made: Later visits of this recrawl in earlier sessions.
        new: New pages of it.
    """

    def __init__(self, agenda: Agenda, returning: Returning, *, made: int = 0, new: int = 0) -> None:
        self._agenda = agenda
        self._returning = returning
        self._how = agenda.how
        self._made = made
        self._new = new

    @property
    def once(self) -> bool:
        """Whether the crawl ends when nothing is due."""
        return self._how.once

    @property
    def visits(self) -> int:
        """Visits of a recrawl so far, those under way and new pages among them."""
        return self._made + self._new

    def best(self, now: float, most: int) -> tuple[list[float], int]:
        """What the next visits of known pages are worth, best first; how many are due.

        Args:
            now: On the crawl's clock.
            most: Figures, at most.
        """
        return self._agenda.best(now, most)

    @property
    def first(self) -> bool:
        """Whether known pages have had less than their share."""
        return self._made * (1 - self._how.share) <= self._new * self._how.share

    @property
    def may_find(self) -> bool:
        """Whether new pages may be asked for: a recrawl finds no more than their share."""
        share = self._how.share
        return not self.full and (not self.once or self._new * share < self._made * (1 - share))

    @property
    def full(self) -> bool:
        """Whether the budget is spent once everything under way is back."""
        return self._how.visits is not None and self._made + self._new >= self._how.visits

    def pop(self, now: float, asked: Sequence[Asked]) -> Waiting | None:
        """The next known page, if one is due and its host may be asked."""
        if self.full:
            return None
        waiting = self._agenda.pop(now, asked)
        self._made += waiting is not None
        return waiting

    def found(self) -> None:
        """A new page is asked for."""
        self._new += 1

    def missed(self) -> None:
        """What was asked for turned out to be no page; that does not count."""
        self._new -= 1

    def put_back(self, waiting: Waiting, now: float, *, tries: int = 0) -> None:
        """A page under way has to be asked for again; that visit does not count."""
        if waiting.again is None:
            self._new -= 1
        else:
            self._made -= 1
            self._agenda.put_back(waiting, now, tries=tries)

    def take(self, waiting: Waiting, visit: Visit, now: float) -> list[Event]:
        """The answer to a later visit."""
        self._agenda.ended(waiting)
        return self._returning.take(waiting, visit, now)

    def next_due(self, now: float) -> float | None:
        """When the next known page may be due; None when none will be."""
        return None if self.full else self._agenda.next_due(now)

    def spent(self) -> str:
        """Why a recrawl is over although pages are due, or an empty string."""
        return f"budget of {self._how.visits} visits is spent" if self.full else ""
