"""How what orders learn on their own hosts becomes what all shards know: by adding.

An order that can share gives what it learned by itself as sums and as samples, and takes the others' in the
same form. Sums are added (words of anchors and addresses, words of good pages, worth of all pages); samples
are put together (outcomes that weights are learned from), the latest of each shard. Nothing is ever counted
twice: an order keeps what others told it apart from its own, gives away only its own, and is told
everything anew each time. So a message that is lost, late or repeated does no harm.

Whether a score is high depends on the scores of everything that waits. So, as often as one crawl fits its
weights, shards say how what waits with them scores once they know what the others learned (`spread_of`), and
then weigh by the same standards (`agree`). Otherwise their priorities could not be compared.

Names of arrays say what is done with them: `sum NAME`, with `at NAME` beside it for tables, and `rows NAME`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.cluster.dealing import FIRST_PAGES
from honeyguide.engine.crawler import Crawler
from honeyguide.ordering.base import LinkOrder
from honeyguide.ordering.scout import GROWTH, RELEARN
from honeyguide.ordering.sharing import SharingOrder
from honeyguide.relevance.base import PageModel, SharingModel
from honeyguide.relevance.reviewed import ReviewedModel
from honeyguide.store.models import Saved, read_saved, write_saved

EARLIEST = 1
GROWTHS = (0.02, 0.5)
"""Learning is merged after so many pages, or when the crawl has grown by so much (among the first pages and
after them), whichever comes later. Each time all shards rank what waits anew, so it is not done lightly."""
MODELS_EARLIEST = 10
MODELS_GROWTH = 0.1
"""The same where only page models can share: they are fitted after 20 pages, and when a quarter more came."""
FIRST_AGREEMENT = 3
BEQUESTS = ("bequest-order", "bequest-model")
"""Files with what a shard had learned that has left."""
MOST_ROWS = 2048
"""Samples that one shard is told, of all others together."""


def exchange_due(pages: int, last: int, *, orders: bool = True) -> bool:
    """Whether what shards learned is to be merged again: often at first, then whenever the crawl has grown.

    Args:
        pages: Of all shards by now.
        last: Of all shards when it was merged last.
        orders: Whether their orders can share it; page models alone are told less often.

    Example:
        >>> exchange_due(0, 0), exchange_due(1, 0), exchange_due(1200, 1000), exchange_due(1500, 1000)
        (False, True, False, True)
        >>> exchange_due(8, 0, orders=False), exchange_due(10, 0, orders=False)
        (False, True)
    """
    growth = GROWTHS[last >= FIRST_PAGES]
    if not orders:
        return pages - last >= max(MODELS_EARLIEST, MODELS_GROWTH * last, growth * last)
    return pages - last >= max(EARLIEST, growth * last)


def next_agreement(pages: int) -> int:
    """Pages at which weights are to be fitted next, by all shards together: as often as one crawl does.

    Example:
        >>> next_agreement(3), next_agreement(48), next_agreement(1000)
        (6, 73, 1040)
    """
    return pages + max(min(pages, RELEARN), int(GROWTH * pages))


def others_of(told: Mapping[str, Saved]) -> dict[str, Saved]:
    """For each shard, what all others told.

    Args:
        told: What each shard told, by its name.

    Example:
        >>> one, two = Saved(arrays={"sum x": np.array([1.0])}), Saved(arrays={"sum x": np.array([5.0])})
        >>> found = others_of({"00": one, "01": two, "02": one})
        >>> float(found["00"].arrays["sum x"][0]), float(found["01"].arrays["sum x"][0])
        (6.0, 2.0)
    """
    return {name: added([told[other] for other in sorted(told) if other != name]) for name in told}


def added(parts: Sequence[Saved]) -> Saved:
    """What several shards told, as one."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys(name for part in parts for name in part.arrays):
        kind, _, title = name.partition(" ")
        given = [part for part in parts if name in part.arrays]
        values = [np.asarray(part.arrays[name]) for part in given]
        if kind == "rows":
            most = max(1, MOST_ROWS // max(1, len(parts)))
            arrays[name] = np.concatenate([each[-most:] for each in values])
        elif kind == "sum" and all(f"at {title}" in part.arrays for part in given):
            places = [np.asarray(part.arrays[f"at {title}"]) for part in given]
            at, where = np.unique(np.concatenate(places), return_inverse=True)
            total = np.zeros((len(at), *values[0].shape[1:]), values[0].dtype)
            np.add.at(total, where, np.concatenate(values))
            arrays[f"at {title}"], arrays[name] = at, total
        elif kind == "sum":
            arrays[name] = np.sum(values, axis=0)
    return Saved(arrays=arrays)


class Learned(msgspec.Struct, frozen=True):
    """What the order and the page model of one shard have learned; None of those that cannot share it."""

    order: Saved | None = None
    model: Saved | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to share."""
        return self.order is None and self.model is None


def learned_by(order: LinkOrder, model: PageModel, *, shards: int) -> Learned:
    """What the crawl of one of so many shards has learned by itself."""
    inner = _bare(model)
    return Learned(
        order.shared() if isinstance(order, SharingOrder) else None,
        inner.shared(shards) if isinstance(inner, SharingModel) else None,
    )


def teach(crawler: Crawler, others: Saved, models: Sequence[Saved]) -> None:
    """Let a crawl know what others have learned."""
    inner = _bare(crawler.model)
    if isinstance(inner, SharingModel) and models and inner.join(models):
        crawler.line_moved()
    if isinstance(crawler.order, SharingOrder):
        crawler.order.join(others)
        crawler.revise()


def spread_of(crawler: Crawler) -> Saved:
    """How what waits in a crawl scores, once it knows what others have learned."""
    return crawler.order.spread() if isinstance(crawler.order, SharingOrder) else Saved()


def agree(crawler: Crawler, others: Saved) -> None:
    """Let a crawl weigh anew, by how what waits in the others scores."""
    if isinstance(crawler.order, SharingOrder) and others.arrays:
        crawler.order.agree(others)
        crawler.revise()


def all_others(told: Mapping[str, Learned]) -> dict[str, tuple[Saved, list[Saved]]]:
    """For each shard, what all others have learned: their orders added up, and their page models."""
    orders = others_of({name: one.order or Saved() for name, one in told.items()})
    return {
        name: (
            orders[name],
            [model for other in sorted(told) if other != name and (model := told[other].model) is not None],
        )
        for name in told
    }


def keep_bequest(folder: Path, learned: Learned) -> None:
    """Write down what a shard that leaves has learned, for those that stay.

    Args:
        folder: Of its models.
        learned: What it said last.
    """
    for name, saved in zip(BEQUESTS, (learned.order, learned.model), strict=True):
        if saved is not None:
            write_saved(folder, name, saved)


def read_bequest(folder: Path) -> Learned:
    """What a shard that has left had learned."""
    return Learned(
        *(read_saved(folder, name) if (folder / f"{name}.npz").is_file() else None for name in BEQUESTS)
    )


def _bare(model: PageModel) -> PageModel:
    """The model that learns from pages, without what reviews taught."""
    return model.inner if isinstance(model, ReviewedModel) else model


__all__ = [
    "Learned",
    "SharingOrder",
    "added",
    "all_others",
    "exchange_due",
    "keep_bequest",
    "learned_by",
    "others_of",
    "read_bequest",
    "teach",
]
