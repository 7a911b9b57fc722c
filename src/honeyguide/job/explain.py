"""What a collection's link order has to say about a URL, beyond the factors that are stored with it."""

from __future__ import annotations

from pathlib import Path

from honeyguide.config.load import load
from honeyguide.config.registry import find
from honeyguide.errors import HoneyguideError
from honeyguide.job.inspect_page import parts_of_collection
from honeyguide.job.parts import Parts, chosen
from honeyguide.model import Outcome
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.layout import Layout
from honeyguide.store.shards import is_sharded, shard_folder
from honeyguide.store.shards import load as load_manifest
from honeyguide.store.state import State
from honeyguide.web.url import url_id


def order_explains(folder: Path, url: str, parts: Parts | None = None) -> dict[str, object]:
    """The order's own explanation as of its last checkpoint; empty where it has none.

    Args:
        folder: The collection.
        url: Canonical address.
        parts: The collection's parts where they are loaded.
    """
    if is_sharded(folder):
        folder = _home(folder, url)
    layout = Layout.open(folder)
    if not any(layout.models_folder.glob("order-*.npz")):
        return {}
    try:
        order = find("ordering", chosen(load(layout.topic_file)).ordering.name)
        if getattr(order, "explain", None) is LocalOrder.explain:
            return {}
        return (parts or parts_of_collection(folder)).order.explain(None, url)
    except HoneyguideError:
        return {}  # The story is told all the same: the order is an addition to it.


def _home(folder: Path, url: str) -> Path:
    """The shard whose URL it is, among those of a collection."""
    shards = [shard_folder(folder, name) for name in load_manifest(folder).folders]
    for shard in shards:
        if Layout(shard).state_file.is_file():
            with State.open(Layout(shard).state_file, read_only=True) as state:
                columns = state.columns()
                row = columns.row_of(url_id(url))
                if row and columns.status[row] != Outcome.ELSEWHERE:
                    return shard
    return shards[0]
