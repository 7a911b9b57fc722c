"""The notes of a page, read from its tree node by node. `native/page.c` does the same, ten times as fast.

Text is kept as pieces in document order and counted in characters; a link, a heading or a block is a range of
them, so nothing is copied until the end and the walk is linear in the page. There is no recursion: depth is
data of the page's author.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from honeyguide.parse.article import Box, Line, is_beside
from honeyguide.parse.elements import (
    BOILERPLATE,
    BREAKING,
    FOLLOWED_RELATIONS,
    GROUPING,
    HEADINGS,
    SKIPPED,
    SPACING,
)
from honeyguide.parse.main_text import main_text
from honeyguide.parse.notes import FoundLink, Notes, Tree
from honeyguide.parse.page import BREAK, first_part, fold, folded_piece, last_part
from honeyguide.parse.prescan import MAX_DEPTH

MAX_OCCURRENCES: Final = 10_000
"""Link elements read per page, repeated targets included."""
MAX_HEADINGS: Final = 100
MAX_HEADING: Final = 300
MAX_META: Final = 100
MAX_PATH: Final = 64
"""Innermost elements kept of a tag path."""
MAX_PATH_LENGTH: Final = 500
MAX_ANCHOR: Final = 300
MAX_CONTEXT: Final = 300
"""Characters of context around one anchor."""

_MAX_LEVELS: Final = 2 * MAX_DEPTH
"""Levels of the tree that are visited: the builder adds elements that the source leaves out."""
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def walk_page(parser: LexborHTMLParser, *, blocks: bool = False) -> Notes:
    """The notes of a page.

    Args:
        parser: The page's tree.
        blocks: Whether to record the tree for the content blocks.

    Example:
        >>> notes = walk_page(LexborHTMLParser("<p>Of <a href=b>owls</a> at night"))
        >>> notes.text, notes.links[0].anchor, notes.links[0].path
        ('Of owls at night', 'owls', 'body/p/a')
    """
    walk = _Walk(parser, blocks=blocks)
    text = "".join(walk.text.pieces)
    lines = [
        Line(line, linked / len(line), place, box)
        for line, (linked, place, box) in zip(text[1:].split(BREAK), walk.lines, strict=False)
    ]
    headings = [first_part(text, start, end, limit=MAX_HEADING) for start, end in walk.headings]
    return Notes(
        text=" ".join([line.text for line in lines]),
        main_text=main_text(lines, walk.boxes),
        links=[link.finished() for link in walk.links],
        headings=[heading for heading in headings if heading],
        metas=walk.metas,
        title=walk.title,
        base=walk.base,
        canonical=walk.canonical,
        language=walk.lang,
        tree=Tree(text, walk.parents, walk.tags, walk.starts) if blocks else None,
    )


class _Text:
    """Folded text that grows: the page's, or that of a hidden element."""

    __slots__ = ("last", "length", "pieces", "whole")

    def __init__(self) -> None:
        self.pieces = [BREAK]
        self.length = 1
        self.last = BREAK
        """The last character."""
        self.whole = ""

    def add(self, text: str) -> int:
        """Add a text, folded; how many characters came."""
        text = folded_piece(text, self.last) if text else ""
        if text:
            self.pieces.append(text)
            self.length += len(text)
            self.last = text[-1]
        return len(text)

    def end_line(self) -> None:
        """End a line that has begun."""
        if self.last == " ":
            self.pieces[-1] = self.pieces[-1][:-1]
            self.length -= 1
        self.pieces.append(BREAK)
        self.length += 1
        self.last = BREAK

    def joined(self) -> str:
        """All of it. To be called when nothing more comes."""
        self.whole = self.whole or "".join(self.pieces)
        return self.whole


class _OpenLink:
    """A link element while its text and its parent's text are still being read."""

    __slots__ = (
        *("alternative", "attributes", "depth", "end", "group", "kind", "node", "parent_end"),
        *("parent_start", "path", "start", "text"),
    )

    def __init__(self, kind: str, attributes: dict[str, str | None], text: _Text) -> None:
        self.kind = kind
        self.attributes = attributes
        self.text = text
        self.start = self.end = text.length
        self.parent_start = self.parent_end = 0
        self.depth = 0
        self.group = 0
        self.path = ""
        self.alternative = ""
        self.node = -1

    def finished(self) -> FoundLink:
        """Anchor text and link context: the text below the parent element, around the anchor.

        Up to half of the room is for what stands before the anchor, the rest for what follows.
        """
        text, start, end, attributes = self.text.joined(), self.start, self.end, self.attributes
        anchor = first_part(text, start, end, limit=MAX_ANCHOR)
        context = anchor
        room = MAX_CONTEXT - len(anchor)
        if self.parent_start < start and room > 1:
            before = last_part(text, self.parent_start, start, limit=room // 2)
            if before:
                room -= len(before)
                context = f"{before} {anchor}" if anchor else before
        if self.parent_end > end and room > 0:
            after = first_part(text, end, self.parent_end, limit=room)
            if after:
                context = f"{context} {after}" if context else after
        if not anchor:
            said = self.alternative or attributes.get("alt") or attributes.get("title") or ""
            anchor = fold(said[:MAX_ANCHOR])
        return FoundLink(
            self.kind,
            (attributes.get("src") if self.kind in ("frame", "iframe") else attributes.get("href")) or "",
            attributes.get("rel") or "",
            attributes.get("type") or "",
            anchor,
            context or anchor,
            self.path,
            self.node,
            self.group,
        )


class _Walk:
    """One walk and what it has noted."""

    def __init__(self, parser: LexborHTMLParser, *, blocks: bool) -> None:
        self.text = _Text()
        self.links: list[_OpenLink] = []
        self.headings: list[tuple[int, int]] = []
        self.metas: list[tuple[str, str, str]] = []
        self.title = ""
        self.base = ""
        self.canonical = ""
        self.lang = ""
        self.lines: list[tuple[int, int, int]] = []
        """Of each line, how many of its characters are in links, whether it is in a boilerplate
        element (2), a heading (1) or neither (0), and its box."""
        self.boxes = [Box(-1)]
        self.parents: list[int] = []
        self.tags: list[str] = []
        self.starts: list[int] = []
        self._recording = blocks
        self._parent = [-1]
        self._open_boxes = [0]
        self._nodes: list[LexborNode] = []
        self._names: list[str] = []
        self._children: list[int] = []
        self._groups: list[int] = []
        self._group_count = 0
        self._bottom = 0
        self._open_links: list[_OpenLink | None] = []
        self._waiting: list[_OpenLink] = []
        self._linked = False
        self._linked_length = 0
        self._boilerplate = 0
        self._heading = 0
        self._hidden: set[int] = set()
        self._in_hidden = False
        root = parser.root
        if root is not None:
            attributes = root.attributes
            self.lang = attributes.get("lang") or attributes.get("xml:lang") or ""
            self._hidden = _hidden_nodes(parser)
            self._walk(root)

    def _record(self, tag: str) -> int:
        """Record a node below the innermost open one; its index."""
        self.parents.append(self._parent[-1])
        self.tags.append(tag)
        self.starts.append(self.text.length)
        return len(self.tags) - 1

    def _walk(self, root: LexborNode) -> None:  # noqa: PLR0912 - the hot loop: calls cost more than branches
        """Visit `root` and every node below it, in document order."""
        nodes, names, children, groups = self._nodes, self._names, self._children, self._groups
        content, hidden, waiting, recording = self.text, self._hidden, self._waiting, self._recording
        bottom = self._bottom = len(nodes)
        node: LexborNode | None = root
        while True:
            while node is not None:
                tag = node.tag or "-"
                if tag == "-text":
                    if recording:
                        self._record("")
                    length = content.add(node.text_content or "")
                    if self._linked:
                        self._linked_length += length
                elif tag[0] != "-":
                    if recording:
                        self._parent.append(self._record(tag))
                    if hidden and node.mem_id in hidden:
                        self._walk_hidden(node)
                    elif tag not in _ENTER or _ENTER[tag](self, node, tag):
                        child = node.first_child
                        if child is not None and len(nodes) < _MAX_LEVELS:
                            nodes.append(node)
                            names.append(tag)
                            children.append(content.length)
                            groups.append(0)
                            node = child
                            continue
                        if tag in _LEAVE:
                            _LEAVE[tag](self, tag)
                    if recording:
                        self._parent.pop()
                node = node.next if len(nodes) > bottom else None
            if len(nodes) == bottom:
                return
            node, tag = nodes.pop(), names.pop()
            children.pop()
            groups.pop()
            while waiting and waiting[-1].depth > len(nodes):
                waiting.pop().parent_end = content.length
            if tag in _LEAVE:
                _LEAVE[tag](self, tag)
            if recording:
                self._parent.pop()
            node = node.next if len(nodes) > bottom else None

    def _walk_hidden(self, root: LexborNode) -> None:
        """Visit an element that no reader sees: its links count, its text does not.

        For the content blocks it is one leaf. The stack of open elements goes on, so that paths are
        whole; hidden elements inside are not looked for again, so this nests only once.
        """
        kept = self.text, self._recording, self._hidden, self._waiting, self._open_links
        state = self._bottom, self._linked, self._linked_length, self._heading
        self.text, self._recording, self._hidden, self._waiting, self._open_links = (
            _Text(),
            False,
            set(),
            [],
            [],
        )
        self._in_hidden = True
        self._walk(root)
        for link in self._waiting:
            link.parent_end = self.text.length
        self._in_hidden = False
        self.text, self._recording, self._hidden, self._waiting, self._open_links = kept
        self._bottom, self._linked, self._linked_length, self._heading = state

    def _found(self, kind: str, attributes: dict[str, str | None], *, tag: str) -> _OpenLink | None:
        """Note a link; None when the page has too many."""
        if len(self.links) >= MAX_OCCURRENCES:
            return None
        link = _OpenLink(kind, attributes, self.text)
        depth = link.depth = len(self._names)
        if depth > self._bottom:
            link.parent_start = self._children[-1]
        link.path = "/".join([*self._names[max(1, depth - MAX_PATH) :], tag])[-MAX_PATH_LENGTH:]
        link.node = len(self.tags) - 1
        link.group = self._group()
        self.links.append(link)
        self._waiting.append(link)
        return link

    def _group(self) -> int:
        """The innermost open element whose links belong together, numbered at its first link; 0 for none."""
        for level in range(len(self._names) - 1, -1, -1):
            if self._names[level] in GROUPING:
                if not self._groups[level]:
                    self._group_count += 1
                    self._groups[level] = self._group_count
                return self._groups[level]
        return 0

    def _enter_line(self, node: LexborNode, tag: str) -> bool:
        self._end_line()
        get = node.attributes.get
        beside = is_beside(tag, get("class"), get("id"), get("role"))
        self.boxes.append(Box(self._open_boxes[-1], beside, tag == "h1"))
        self._open_boxes.append(len(self.boxes) - 1)
        return True

    def _leave_line(self, tag: str) -> None:
        self._end_line()
        self._open_boxes.pop()

    def _enter_heading(self, node: LexborNode, tag: str) -> bool:
        self._enter_line(node, tag)
        self._heading = self.text.length
        return True

    def _leave_heading(self, tag: str) -> None:
        self._leave_line(tag)
        if self._heading and not self._in_hidden and len(self.headings) < MAX_HEADINGS:
            self.headings.append((self._heading, self.text.length))
        self._heading = 0

    def _enter_boilerplate(self, node: LexborNode, tag: str) -> bool:
        self._enter_line(node, tag)
        self._boilerplate += 1
        return True

    def _leave_boilerplate(self, tag: str) -> None:
        self._leave_line(tag)
        self._boilerplate -= 1

    def _end_line(self) -> None:
        if self.text.last == BREAK:
            return
        self.text.end_line()
        if not self._in_hidden:
            place = 2 if self._boilerplate else 1 if self._heading else 0
            self.lines.append((self._linked_length, place, self._open_boxes[-1]))
        self._linked_length = 0

    def _enter_space(self, node: LexborNode, tag: str) -> bool:
        self.text.add(" ")
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
            link.end = self.text.length
        self._linked = bool(self._open_links) and self._open_links[-1] is not None

    def _enter_embedded(self, node: LexborNode, tag: str) -> bool:
        """`area`, `frame` and `iframe`: links without text; an iframe's content is a fallback."""
        attributes = node.attributes
        if attributes.get("href" if tag == "area" else "src"):
            self._found(tag, attributes, tag=tag)
        return False

    def _enter_image(self, node: LexborNode, tag: str) -> bool:
        link = self._open_links[-1] if self._open_links else None
        if link is not None and not link.alternative:
            link.alternative = node.attributes.get("alt") or ""
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
            get = node.attributes.get
            name, equivalent = get("name") or get("property") or "", get("http-equiv") or ""
            self.metas.append((name, equivalent, get("content") or ""))
        return False

    def _enter_relation(self, node: LexborNode, tag: str) -> bool:
        """A `<link>`; its canonical URL counts in the head only, where no visitor's comment can put it."""
        attributes = node.attributes
        relations = (attributes.get("rel") or "").lower().split()
        if not attributes.get("href"):
            return False
        if "canonical" in relations:
            if not self.canonical and "head" in self._names:
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


_ENTER: Final[dict[str, Callable[[_Walk, LexborNode, str], bool]]] = {
    **dict.fromkeys(BREAKING, _Walk._enter_line),
    **dict.fromkeys(HEADINGS, _Walk._enter_heading),
    **dict.fromkeys(BOILERPLATE, _Walk._enter_boilerplate),
    **dict.fromkeys(SPACING - BOILERPLATE, _Walk._enter_space),
    **dict.fromkeys(SKIPPED, _Walk._skip),
    **dict.fromkeys(("area", "frame", "iframe"), _Walk._enter_embedded),
    "a": _Walk._enter_anchor,
    "base": _Walk._enter_base,
    "img": _Walk._enter_image,
    "link": _Walk._enter_relation,
    "meta": _Walk._enter_meta,
    "title": _Walk._enter_title,
}
_LEAVE: Final[dict[str, Callable[[_Walk, str], None]]] = {
    **dict.fromkeys(BREAKING, _Walk._leave_line),
    **dict.fromkeys(HEADINGS, _Walk._leave_heading),
    **dict.fromkeys(BOILERPLATE, _Walk._leave_boilerplate),
    "a": _Walk._leave_anchor,
}
