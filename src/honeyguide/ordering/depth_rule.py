"""The depth rule that Fish-Search, Shark-Search and FCMRPS share."""

from __future__ import annotations

from honeyguide.model import Page

MEMO = "depth"
"""Key of the remaining depth in a link's memo."""
USED_UP = "depth used up: too many pages off topic in a row"


def child_depth(page: Page, relevant: bool, *, depth: int) -> int:
    """Remaining depth of the page's children; at 0 they are left out.

    A relevant page gives its children the full depth, any other its own less one. Pages found by no link
    of this order (seeds, search results) start with the full depth.

    Example:
        >>> child_depth(Page(url="https://a.example/", id=1), False, depth=3)
        2
    """
    if relevant:
        return depth
    own = page.via.memo.get(MEMO, depth) if page.via is not None else depth
    return max(0, int(own) - 1)
