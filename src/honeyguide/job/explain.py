"""What a collection's link order has to say about a URL, beyond the factors that are stored with it."""

from __future__ import annotations

from pathlib import Path

from honeyguide.config.load import load
from honeyguide.config.registry import find
from honeyguide.errors import HoneyguideError
from honeyguide.job.inspect_page import parts_of_collection
from honeyguide.job.parts import Parts, chosen
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.layout import Layout


def order_explains(folder: Path, url: str, parts: Parts | None = None) -> dict[str, object]:
    """The order's own explanation as of its last checkpoint; empty where it has none.

    Args:
        folder: The collection.
        url: Canonical address.
        parts: The collection's parts where they are loaded.
    """
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
