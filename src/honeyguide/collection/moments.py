"""Moments as people write them: a day, a time, or how long ago."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from honeyguide.config.units import parse_span
from honeyguide.errors import CollectionError


def moment(text: str | float, *, end: bool = False, now: float | None = None) -> float:
    """Epoch seconds of `2026-11-01`, `2026-11-01T12:00`, or `7d` (seven days ago); UTC by default.

    Args:
        text: What was written; a number passes.
        end: Take the end of a day, not its beginning: what was so on that day.
        now: The present; by default the machine's.

    Raises:
        CollectionError: It is neither.

    Example:
        >>> moment("1970-01-02"), moment("1970-01-02", end=True), moment("1d", now=100_000.0)
        (86400.0, 172800.0, 13600.0)
    """
    if not isinstance(text, str):
        return float(text)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        pass
    else:
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        if end and len(text.strip()) <= len("2026-11-01"):
            found += timedelta(days=1)
        return found.timestamp()
    try:
        span = parse_span(text)
    except ValueError:
        raise CollectionError(
            f"{text!r} is not a date; write 2026-11-01, 2026-11-01T12:00 or how long ago, such as 7d"
        ) from None
    assert isinstance(span, float)
    return (time.time() if now is None else now) - span
