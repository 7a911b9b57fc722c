"""How the pages of a crawl are cut into content blocks: what its link order asks for."""

from __future__ import annotations

from honeyguide.config.recipes import Part
from honeyguide.config.registry import find
from honeyguide.ordering.base import LinkOrder
from honeyguide.parse.base import BlockOptions, Blocks


def blocks_for(part: Part, order: LinkOrder | None = None) -> Blocks:
    """What pages must have before the order is made: it is known from its class and options.

    Args:
        part: The order by name, with its options.
        order: The order itself, where it was handed in.

    Example:
        >>> blocks_for(Part("best-first")), blocks_for(Part("cbp-slc", {"alpha": 0.25}))
        (False, BlockOptions(alpha=0.25, tags='modern'))
    """
    if order is not None:
        return blocks_of(order)
    if not getattr(find("ordering", part.name), "needs_blocks", False):
        return False
    usual, options = BlockOptions(), part.options
    alpha, tags = options.get("alpha", usual.alpha), options.get("block_tags", usual.tags)
    return BlockOptions(float(str(alpha)), str(tags))


def blocks_of(order: LinkOrder) -> Blocks:
    """What an order needs of the pages it ranks."""
    if not order.needs_blocks:
        return False
    usual = BlockOptions()
    return BlockOptions(getattr(order, "block_alpha", usual.alpha), getattr(order, "block_tags", usual.tags))
