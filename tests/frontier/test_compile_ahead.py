from __future__ import annotations

from honeyguide.frontier import queues
from honeyguide.frontier.compile_ahead import compile_ahead


def test_a_crawl_has_nothing_left_to_compile() -> None:
    """What the frontier calls has machine code afterwards; what only those call is part of theirs."""
    compile_ahead()
    for name in (
        "best_host",
        "take",
        "schedule",
        "earliest",
        "join",
        "change_priorities",
        "clear",
        "enqueue_all",
    ):
        assert getattr(queues, name).signatures, name
