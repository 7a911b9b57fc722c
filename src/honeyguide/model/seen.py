"""What a further visit of a known page brought."""

from __future__ import annotations

import enum


class Seen(enum.IntEnum):
    """How a page was found on a visit, compared with the visit before."""

    FIRST = 0
    """The first visit; noted only once there is a second."""
    SAME = 1
    """The same bytes, or the server said that nothing changed."""
    TOUCHED = 2
    """Other bytes with the same text: a counter, a date in a comment, a banner."""
    CHANGED = 3
    """Another text."""
    GONE = 4
    """The server says that it is not there any more, or moved for good."""
    BACK = 5
    """It was gone and is there again."""
    FAILED = 6
    """No answer that says anything about the page: an error of the server, a refusal, a time-out."""

    @property
    def is_answer(self) -> bool:
        """Whether the visit says anything about the page."""
        return self is not Seen.FAILED

    @property
    def is_change(self) -> bool:
        """Whether the text became another one, or the page went or came."""
        return self in _CHANGES


_CHANGES = frozenset({Seen.CHANGED, Seen.GONE, Seen.BACK})
