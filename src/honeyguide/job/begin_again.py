"""A first run that could not connect leaves nothing worth keeping: the next one begins anew."""

from __future__ import annotations

from pathlib import Path

from honeyguide.errors import HoneyguideError
from honeyguide.model import Outcome
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.lock import holder
from honeyguide.store.state import State

NOT_CONNECTED = frozenset(
    {
        Outcome.EGRESS,
        Outcome.TIMEOUT,
        Outcome.DNS,
        Outcome.CONNECTION,
        Outcome.TLS,
        Outcome.HOST_GIVEN_UP,
    }
)
"""Ends that say something of the network and nothing of the web."""


def begin_again(root: Path) -> bool:
    """Clear a collection without a page whose every address failed to connect; whether it was one.

    Its topic file stays; archive and index hold nothing of the web. With a page, a robots.txt that was
    read, or a crawl running, nothing is touched.
    """
    if not is_collection(root):
        return False
    layout = Layout(root)
    if not layout.state_file.is_file() or holder(layout.state_file):
        return False
    try:
        with State.open(layout.state_file, read_only=True) as state:
            ended = {outcome for outcome, count in state.counts().items() if count}
            if state.page_count() or not ended or not ended <= NOT_CONNECTED:
                return False
            if any(state.settings("robots:")):
                return False
    except HoneyguideError:
        return False
    for file in (layout.state_file, layout.index_file):
        for suffix in ("-wal", "-shm", ""):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
    for path in layout.archive_folder.glob("*.warc*"):
        path.unlink()
    return True
