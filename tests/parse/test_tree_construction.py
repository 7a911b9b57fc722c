"""No input of html5lib's tree-construction tests loses a link.

The inputs are those of html5lib-tests as html5lib 1.1 carries them (MIT licence, James Graham, Sam Sneddon
and others), without the expected trees: which tree a page has is the parser's matter, and tested there.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser, LexborNode

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.elements import SKIPPED
from honeyguide.parse.html import parse_page, read_page
from honeyguide.parse.walk import walk_page

INPUTS = json.loads(
    gzip.decompress(Path(__file__).with_name("html5lib-tree-construction.json.gz").read_bytes())
)
BEHIND = "<a href=/behind>a link</a>"


def is_skipped(node: LexborNode) -> bool:
    """Whether a node is in an element that is not read, on purpose."""
    above = node.parent
    while above is not None:
        if above.tag in SKIPPED:
            return True
        above = above.parent
    return False


def test_every_link_of_the_tree_is_found() -> None:
    found = 0
    for text in INPUTS:
        for html in (text, text + BEHIND):
            tree = LexborHTMLParser(html, options=1, scripting=True)
            notes = read_page(tree)
            assert [tuple(link) for link in notes.links] == [tuple(link) for link in walk_page(tree).links], (
                html
            )
            there = {link[1] for link in notes.links}
            for node in tree.css("a[href],area[href]"):
                if not is_skipped(node):
                    assert (node.attributes.get("href") or "") in there, html
                    found += 1
    assert found > 1_000


def test_none_of_them_breaks_the_parser() -> None:
    for text in INPUTS:
        page = parse_page(ParseJob("https://example.org/", (text + BEHIND).encode("utf-8", "replace")))
        assert isinstance(page, Page), text
