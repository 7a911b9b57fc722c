"""One walk over the tree of a page that notes everything the parser needs.

Text is kept as a list of pieces in document order; a link, a heading or a block is a range of
pieces, so nothing is copied until it is asked for and the walk is linear in the page. There is no recursion:
depth is data of the page's author.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from honeyguide.parse.elements import (
    BOILERPLATE,
    BREAKING,
    FOLLOWED_RELATIONS,
    HEADINGS,
    SKIPPED,
    SPACING,
)
from honeyguide.parse.folding import BREAK, append_break, append_folded
from honeyguide.parse.prescan import MAX_DEPTH

MAX_OCCURRENCES: Final = 10_000
"""Link elements read per page, repeated targets included."""
MAX_HEADINGS: Final = 100
MAX_META: Final = 100
MAX_PATH: Final = 64
"""Innermost elements kept of a tag path."""

_MAX_LEVELS: Final = 2 * MAX_DEPTH
"""Levels of the tree that are visited: the builder adds elements that the source leaves out."""
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class FoundLink:
    """A link element as it stands in the page."""

    __slots__ = (
        *("alt", "attributes", "depth", "end", "kind", "node", "parent_end", "parent_start"),
        *("path", "pieces", "start"),
    )

    def __init__(self, kind: str, attributes: dict[str, str | None], pieces: list[str]) -> None:
        self.kind = kind
        self.attributes = attributes
        self.pieces = pieces
        """The list its text stands in: the page's, or that of a hidden element."""
        self.start = self.end = len(pieces)
        self.parent_start = self.parent_end = 0
        self.depth = 0
        self.path: list[str] = []
        self.alt = ""
        self.node = -1
        """Index into the recorded tree."""


class Tree:
    """The page's elements and texts in document order, for the content blocks."""

    __slots__ = ("open", "parents", "starts", "tags")

    def __init__(self) -> None:
        self.parents: list[int] = []
        """Index of each node's parent; -1 for the root."""
        self.tags: list[str] = []
        """Element names; empty for text."""
        self.starts: list[int] = []
        """Length of the list of pieces when the node began."""
        self.open: list[int] = [-1]

    def add(self, tag: str, start: int) -> int:
        """Note a node below the innermost open one; its index."""
        self.parents.append(self.open[-1])
        self.tags.append(tag)
        self.starts.append(start)
        return len(self.tags) - 1


class Walk:
    """The notes of one walk."""

    def __init__(self, parser: LexborHTMLParser, *, tree: bool = False) -> None:
        self.pieces: list[str] = [BREAK]
        self.links: list[FoundLink] = []
        self.headings: list[tuple[int, int]] = []
        self.metas: list[dict[str, str | None]] = []
        self.title = ""
        self.base = ""
        self.canonical = ""
        self.lang = ""
        self.segments: list[tuple[int, int, int]] = []
        """Lines of text: where the line ends in `pieces`, how many of its characters are in links,
        and whether it is in a boilerplate element (2), a heading (1) or neither (0)."""
        self.tree = Tree() if tree else None
        self._recorded = self.tree
        self._nodes: list[LexborNode] = []
        self._tags: list[str] = []
        self._starts: list[int] = []
        self._bottom = 0
        self._open_links: list[FoundLink | None] = []
        self._waiting: list[FoundLink] = []
        self._linked = False
        self._linked_length = 0
        self._boilerplate = 0
        self._heading = 0
        self._hidden: set[int] = set()
        root = parser.root
        if root is not None:
            attributes = root.attributes
            self.lang = attributes.get("lang") or attributes.get("xml:lang") or ""
            self._hidden = _hidden_nodes(parser)
            self._walk(root)

    def _walk(self, root: LexborNode) -> None:  # noqa: PLR0912 - the hot loop: calls cost more than branches
        """Visit `root` and every node below it, in document order."""
        nodes, tags, starts, tree = self._nodes, self._tags, self._starts, self._recorded
        pieces, hidden, waiting = self.pieces, self._hidden, self._waiting
        bottom = self._bottom = len(nodes)
        node: LexborNode | None = root
        while True:
            while node is not None:
                tag = node.tag or "-"
                if tag == "-text":
                    if tree is not None:
                        tree.add("", len(pieces))
                    text = node.text_content or ""
                    # The usual text needs no folding: spare it the call.
                    if (
                        text.isascii()
                        and text[:1] > " "
                        and "\n" not in text
                        and "\t" not in text
                        and "  " not in text
                    ):
                        pieces.append(text)
                        length = len(text)
                    else:
                        length = append_folded(pieces, text)
                    if self._linked:
                        self._linked_length += length
                elif tag[0] != "-":
                    if tree is not None:
                        tree.open.append(tree.add(tag, len(pieces)))
                    if hidden and node.mem_id in hidden:
                        self._walk_hidden(node)
                    elif tag not in _ENTER or _ENTER[tag](self, node, tag):
                        child = node.first_child
                        if child is not None and len(nodes) < _MAX_LEVELS:
                            nodes.append(node)
                            tags.append(tag)
                            starts.append(len(pieces))
                            node = child
                            continue
                        if tag in _LEAVE:
                            _LEAVE[tag](self, tag)
                    if tree is not None:
                        tree.open.pop()
                node = node.next if len(nodes) > bottom else None
            if len(nodes) == bottom:
                return
            node, tag = nodes.pop(), tags.pop()
            starts.pop()
            while waiting and waiting[-1].depth > len(nodes):
                waiting.pop().parent_end = len(pieces)
            if tag in _LEAVE:
                _LEAVE[tag](self, tag)
            if tree is not None:
                tree.open.pop()
            node = node.next if len(nodes) > bottom else None

    def _walk_hidden(self, root: LexborNode) -> None:
        """Visit an element that no reader sees: its links count, its text does not.

        For the content blocks it is one leaf. The stack of open elements goes on, so that paths are
        whole; hidden elements inside are not looked for again, so this nests only once.
        """
        kept = self.pieces, self._recorded, self._hidden, self._waiting, self._open_links
        segments, headings = len(self.segments), len(self.headings)
        state = self._bottom, self._linked, self._linked_length
        self.pieces, self._recorded, self._hidden, self._waiting, self._open_links = (
            [BREAK],
            None,
            set(),
            [],
            [],
        )
        self._walk(root)
        for link in self._waiting:
            link.parent_end = len(self.pieces)
        self.pieces, self._recorded, self._hidden, self._waiting, self._open_links = kept
        self._bottom, self._linked, self._linked_length = state
        del self.segments[segments:], self.headings[headings:]

    def _found(self, kind: str, attributes: dict[str, str | None], *, tag: str) -> FoundLink | None:
        """Note a link; None when the page has too many."""
        if len(self.links) >= MAX_OCCURRENCES:
            return None
        link = FoundLink(kind, attributes, self.pieces)
        depth = link.depth = len(self._tags)
        if depth > self._bottom:
            link.parent_start = self._starts[-1]
        link.path = self._tags[max(1, depth - MAX_PATH) :]
        link.path.append(tag)
        if self.tree is not None:
            link.node = len(self.tree.tags) - 1
        self.links.append(link)
        self._waiting.append(link)
        return link

    def _enter_line(self, node: LexborNode, tag: str) -> bool:
        if self.pieces[-1] != BREAK:
            self._end_line()
        return True

    def _leave_line(self, tag: str) -> None:
        if self.pieces[-1] != BREAK:
            self._end_line()

    def _enter_heading(self, node: LexborNode, tag: str) -> bool:
        self._leave_line(tag)
        self._heading = len(self.pieces)
        return True

    def _leave_heading(self, tag: str) -> None:
        self._leave_line(tag)
        if self._heading and len(self.headings) < MAX_HEADINGS:
            self.headings.append((self._heading, len(self.pieces)))
        self._heading = 0

    def _enter_boilerplate(self, node: LexborNode, tag: str) -> bool:
        self._leave_line(tag)
        self._boilerplate += 1
        return True

    def _leave_boilerplate(self, tag: str) -> None:
        self._leave_line(tag)
        self._boilerplate -= 1

    def _end_line(self) -> None:
        append_break(self.pieces)
        place = 2 if self._boilerplate else 1 if self._heading else 0
        self.segments.append((len(self.pieces), self._linked_length, place))
        self._linked_length = 0

    def _enter_space(self, node: LexborNode, tag: str) -> bool:
        if self.pieces[-1][-1:] not in " \n":
            self.pieces.append(" ")
        return True

    def _enter_anchor(self, node: LexborNode, tag: str) -> bool:
        attributes = node.attributes
        link = self._found("a", attributes, tag=tag) if attributes.get("href") else None
        self._open_links.append(link)
        self._linked = link is not None
        return True

    def _leave_anchor(self, tag: str) -> None:
        link = self._open_links.pop()
        if link is not None:
            link.end = len(self.pieces)
        self._linked = bool(self._open_links) and self._open_links[-1] is not None

    def _enter_embedded(self, node: LexborNode, tag: str) -> bool:
        """`area`, `frame` and `iframe`: links without text; an iframe's content is a fallback."""
        attributes = node.attributes
        if attributes.get("href" if tag == "area" else "src"):
            self._found(tag, attributes, tag=tag)
        return False

    def _enter_image(self, node: LexborNode, tag: str) -> bool:
        link = self._open_links[-1] if self._open_links else None
        if link is not None and not link.alt:
            link.alt = node.attributes.get("alt") or ""
        return True

    def _enter_title(self, node: LexborNode, tag: str) -> bool:
        if not self.title:
            self.title = node.text()
        return False

    def _enter_base(self, node: LexborNode, tag: str) -> bool:
        self.base = self.base or node.attributes.get("href") or ""
        return False

    def _enter_meta(self, node: LexborNode, tag: str) -> bool:
        if len(self.metas) < MAX_META:
            self.metas.append(node.attributes)
        return False

    def _enter_relation(self, node: LexborNode, tag: str) -> bool:
        """A `<link>`; its canonical URL counts in the head only, where no visitor's comment can put it."""
        attributes = node.attributes
        relations = (attributes.get("rel") or "").lower().split()
        if not attributes.get("href"):
            return False
        if "canonical" in relations:
            if not self.canonical and "head" in self._tags:
                self.canonical = attributes["href"] or ""
        elif "sitemap" in relations or not FOLLOWED_RELATIONS.isdisjoint(relations):
            self._found("link", attributes, tag=tag)
        return False

    def _skip(self, node: LexborNode, tag: str) -> bool:
        return False


def _hidden_nodes(parser: LexborHTMLParser) -> set[int]:
    """Elements that the page itself hides, by the `hidden` attribute or their own style."""
    found = {node.mem_id for node in parser.css("[hidden]")}
    for node in parser.css("[style]"):
        if _HIDING.search(node.attributes.get("style") or ""):
            found.add(node.mem_id)
    return found


_ENTER: Final[dict[str, Callable[[Walk, LexborNode, str], bool]]] = {
    **dict.fromkeys(BREAKING, Walk._enter_line),
    **dict.fromkeys(HEADINGS, Walk._enter_heading),
    **dict.fromkeys(BOILERPLATE, Walk._enter_boilerplate),
    **dict.fromkeys(SPACING - BOILERPLATE, Walk._enter_space),
    **dict.fromkeys(SKIPPED, Walk._skip),
    **dict.fromkeys(("area", "frame", "iframe"), Walk._enter_embedded),
    "a": Walk._enter_anchor,
    "base": Walk._enter_base,
    "img": Walk._enter_image,
    "link": Walk._enter_relation,
    "meta": Walk._enter_meta,
    "title": Walk._enter_title,
}
_LEAVE: Final[dict[str, Callable[[Walk, str], None]]] = {
    **dict.fromkeys(BREAKING, Walk._leave_line),
    **dict.fromkeys(HEADINGS, Walk._leave_heading),
    **dict.fromkeys(BOILERPLATE, Walk._leave_boilerplate),
    "a": Walk._leave_anchor,
}
