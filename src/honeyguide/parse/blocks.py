r"""Content Block Partition (CBP): cut a page into the sub-trees that are its content units.

The paper's Algorithm 1, with Tp the parse tree, q a queue that starts with its root::

    repeat
        v <- top element of q
        if v has a child with at least k links and blockHeight(v, 0) >= s then
            push all the children of v to q
        else
            v is a content block
    until q is empty

`blockHeight(v, 0)` is the largest number of content block tags on a path that leads down from v,
v itself not counted; s = alpha * blockHeight(root, 0), 0 < alpha <= 1, and k = 1.

How this module reads what the paper leaves open:

- The root is `body` (or `frameset`): there are no content block tags above it, so its height is that of
  the document.
- A child's links are all links in its sub-tree, the child itself included.
- Children are all child nodes, texts too (the paper's tree has its texts at the leaves): a text directly
  below a node that is split is a block of its own.
- A node that is itself a link is never split, and so belongs to exactly one block.
- The order in which q is worked off does not change the partition; blocks come in document order.
- Blocks that have neither text nor links are left out of the page. Every text and every link below the
  root is in exactly one block.
- A page without any content block tag has s = 0 and is split down to its links, as the algorithm says.
- Hidden elements (`honeyguide.parse.walk`) are one leaf: their links count, their text and height do not.

Heights and link counts are summed once, from the leaves up; nothing recurses; time is linear in the page.

References:
    Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013, section on
    content block partition.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from honeyguide.model import Block
from honeyguide.native import native
from honeyguide.parse.notes import Tree
from honeyguide.parse.walk import MAX_PATH

PAPER_TAGS: Final = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "p", "address", "center", "ul", "dt", "table", "th", "tr", "td")
)
"""Content block tags as the paper lists them."""

MODERN_TAGS: Final = PAPER_TAGS | frozenset(
    ("ol", "dl", "section", "article", "main", "nav", "aside", "header", "footer", "div")
)
"""The paper's list and the elements that today's pages are built of."""

MAX_CONTEXTS: Final = 200_000
"""Characters of all link contexts of a page, where an order asks for long ones."""

BLOCK_TAGS: Final = {"paper": PAPER_TAGS, "modern": MODERN_TAGS}


def content_blocks(
    parents: Sequence[int],
    tags: Sequence[str],
    *,
    links: Sequence[int],
    alpha: float = 0.5,
    block_tags: frozenset[str] = MODERN_TAGS,
    minimum_links: int = 1,
) -> list[int]:
    """Roots of the content blocks of a tree, in document order.

    Args:
        parents: Parent of each node, nodes numbered in document order; node 0 is the root (its parent is
            not looked at).
        tags: Element name of each node; empty for texts.
        links: How many links each node itself is (0 or 1; a leaf may stand for more).
        alpha: Granularity in (0, 1]; smaller values give smaller blocks.
        block_tags: Tags that count for block height.
        minimum_links: The paper's k.

    Example:
        A body with two tables, the first of two rows with a link each; heights are 3 (body), 2 (table),
        1 (tr), so s = 1.5: body and the first table are split, rows are blocks.

        >>> tags = ["body", "table", "tr", "td", "a", "tr", "td", "a", "table", "tr", "td"]
        >>> parents = [-1, 0, 1, 2, 3, 1, 5, 6, 0, 8, 9]
        >>> content_blocks(parents, tags, links=[tag == "a" for tag in tags])
        [2, 5, 8]
    """
    if native is not None:
        return native.content_blocks(list(parents), list(tags), list(links), alpha, block_tags, minimum_links)
    size = len(tags)
    if not size:
        return []
    counts = list(links)
    heights = [0] * size
    leads_to_links = [False] * size
    for node in range(size - 1, 0, -1):
        parent = parents[node]
        height = heights[node] + (tags[node] in block_tags)
        heights[parent] = max(heights[parent], height)
        if counts[node] >= minimum_links:
            leads_to_links[parent] = True
        counts[parent] += counts[node]
    threshold = alpha * heights[0]
    split = [False] * size
    roots: list[int] = []
    for node in range(size):
        if node and not split[parents[node]]:
            continue
        if leads_to_links[node] and heights[node] >= threshold and not links[node]:
            split[node] = True
        else:
            roots.append(node)
    return roots


def page_blocks(
    tree: Tree,
    *,
    targets: Sequence[tuple[int, int]],
    alpha: float = 0.5,
    block_tags: str = "modern",
) -> tuple[tuple[Block, ...], dict[int, int]]:
    """The content blocks of a page and, for each link, the first block it stands in.

    A target that is linked from several blocks is listed in each of them.

    Args:
        tree: The recorded tree with the page's text.
        targets: (node, index into the page's links) of each link element.
        alpha: As for `content_blocks`.
        block_tags: `modern` or `paper`.
    """
    root = next((i for i, tag in enumerate(tree.tags) if tag in ("body", "frameset")), -1)
    if root < 0:
        return (), {}
    # Elements may follow the root: `noframes` behind a frameset.
    behind = (node for node in range(root + 1, len(tree.tags)) if tree.parents[node] < root)
    end_of_root = next(behind, len(tree.tags))
    tags = tree.tags[root:end_of_root]
    parents = [parent - root for parent in tree.parents[root:end_of_root]]
    links = [0] * len(tags)
    for node, _ in targets:
        if root <= node < end_of_root:
            links[node - root] += 1
    roots = content_blocks(parents, tags, links=links, alpha=alpha, block_tags=BLOCK_TAGS[block_tags])
    linked: list[list[int]] = [[] for _ in roots]
    for node, target in targets:
        if root <= node < end_of_root:
            # What stands between the end of a block and the next one was split, and no link is split.
            linked[bisect_right(roots, node - root) - 1].append(target)
    blocks: list[Block] = []
    first_block: dict[int, int] = {}
    # Between two blocks there are only nodes that were split, and those have no text of their own.
    starts = [tree.starts[root + node] for node in roots]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(tree.text)], strict=True)):
        text = tree.text[start:end].strip(" \n").replace("\n", " ")
        own = tuple(dict.fromkeys(linked[number]))
        if text or own:
            for target in own:
                first_block.setdefault(target, len(blocks))
            blocks.append(Block(text, own, _path(parents, tags, roots[number])))
    return tuple(blocks), first_block


def _path(parents: list[int], tags: list[str], node: int) -> str:
    """Element names from the root to a block; of a text, those of its parent."""
    names: list[str] = []
    while node >= 0 and len(names) < MAX_PATH:
        if tags[node]:
            names.append(tags[node][:32])
        node = parents[node] if node else -1
    return "/".join(reversed(names))


def long_contexts(tree: Tree, targets: Sequence[tuple[int, int]], *, limit: int) -> dict[int, str]:
    """All text below the parent element of each link, by index of the link.

    Several places of one target are joined. A page whose links all hang below one large element would give
    that element's text once a link: all contexts together come to `MAX_CONTEXTS` characters at most.

    Args:
        tree: The recorded tree with the page's text.
        targets: (node, index into the page's links) of each link element.
        limit: Characters of one link's context at most.
    """
    size = len(tree.tags)
    last = list(range(size))
    for node in range(size - 1, 0, -1):
        parent = tree.parents[node]
        if parent >= 0 and last[node] > last[parent]:
            last[parent] = last[node]
    found: dict[int, str] = {}
    left = MAX_CONTEXTS
    for node, index in targets:
        if node < 0 or left <= 0:
            continue
        parent = max(0, tree.parents[node])
        start, behind = tree.starts[parent], last[parent] + 1
        end = tree.starts[behind] if behind < size else len(tree.text)
        own = tree.starts[node]
        # Up to half of the room is for what stands before the anchor, as in the usual contexts.
        start = max(start, min(own - limit // 2, end - limit))
        text = " ".join(tree.text[start : min(end, start + limit)].split())
        before = found.get(index, "")
        if text and text not in before:
            found[index] = f"{before} {text}".strip()[:limit]
            left -= len(text)
    return found
