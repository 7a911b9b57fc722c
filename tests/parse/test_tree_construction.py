"""However broken the markup, no link is lost: tangles of our own, and html5lib's where they are at hand.

html5lib's are the inputs of its tree-construction tests: put its source archive, `html5lib-1.1.tar.gz`, into
`conformance/` of the folder of data sets. The expected trees are not read: which tree a page has is the
parser's matter, and tested there.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.elements import SKIPPED
from honeyguide.parse.html import parse_page, read_page
from honeyguide.parse.walk import walk_page

LINK = "<a href=/in>in</a>"
BEHIND = "<a href=/behind>a link</a>"
TANGLES = (
    "", "<", "</", "<!", "<!--", "<!-->", "<?php ?>", "\x00", "&#0;&bogus;", "plain words",
    LINK, f"</p>{LINK}", f"<b><p>{LINK}</b></p>", f"<a href=/one>one<p>{LINK}</p></a>",
    f"<a href=/one>{LINK}", f"<b><i>{LINK}</b></i>", f"<table>{LINK}<tr><td>cell",
    f"<table><tr>{LINK}</tr></table>",
    f"<table><caption>{LINK}<td>cell</table>", f"<table><colgroup>{LINK}</table>",
    f"<tr><td>{LINK}</td></tr>",
    f"<ul><li>{LINK}<li>{LINK}</ul></li>", f"<dl><dt>{LINK}<dd>{LINK}", f"<h1><h2>{LINK}</h1>",
    f"<select><option>{LINK}</select>", f"<button><button>{LINK}</button>", f"<form><form>{LINK}</form>",
    f"<p><div>{LINK}</p></div>", f"<nobr><nobr>{LINK}</nobr>", f"<marquee>{LINK}</b></marquee>",
    f"<svg><desc>{LINK}</desc></svg>", f"<svg><foreignObject>{LINK}</foreignObject></svg>", f"<svg>{LINK}",
    f"<math><mi>{LINK}</mi></math>", f"<math><annotation-xml encoding=text/html>{LINK}", f"<math>{LINK}</p>",
    f"<template>{LINK}</template>", f"<noscript>{LINK}</noscript>", f"<script>{LINK}</script>",
    f"<style>{LINK}</style>", f"<textarea>{LINK}</textarea>", f"<title>{LINK}</title>", f"<xmp>{LINK}</xmp>",
    f"<iframe>{LINK}</iframe>", f"<plaintext>{LINK}", f"<frameset><frame src=/f></frameset>{LINK}",
    f"<body></body>{LINK}", f"</html>{LINK}<!-- after -->", f"<head>{LINK}</head>",
    f"<html><head></body>{LINK}",
    "<map><area href=/area><area></map>", "<a href=/a href=/b>twice</a>", "<a href='/a",
    "<a href=/a<b>odd</a>", "<A HREF=/upper>x</A>", "<a\n href\t=\n/in>in</a>", "<a/href=/in>in</a>",
    "<b>" * 600 + LINK, "<div>" * 600 + LINK + "</div>" * 600, "<a href=/deep><div>" * 300,
)  # fmt: skip


def check(inputs: Iterable[str]) -> int:
    """All links of each input are found, by machine code and by its twin; how many there are."""
    found = 0
    for text in inputs:
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
        page = parse_page(ParseJob("https://example.org/", (text + BEHIND).encode("utf-8", "replace")))
        assert isinstance(page, Page), text
    return found


def is_skipped(node: LexborNode) -> bool:
    """Whether a node is in an element that is not read, on purpose."""
    above = node.parent
    while above is not None:
        if above.tag in SKIPPED:
            return True
        above = above.parent
    return False


def test_no_tangle_of_ours_loses_a_link() -> None:
    assert check(TANGLES) > 100


def test_no_input_of_html5lib_loses_a_link(shared_data: Path) -> None:
    archive = shared_data / "conformance" / "html5lib-1.1.tar.gz"
    if not archive.is_file():
        pytest.skip(f"no {archive}: put html5lib's source archive there")
    inputs = []
    with tarfile.open(archive) as files:
        for member in files:
            if "/tree-construction/" in member.name and member.name.endswith(".dat"):
                opened = files.extractfile(member)
                assert opened is not None
                tests = opened.read().decode("utf-8", "replace").split("#data\n")[1:]
                inputs += [test.partition("\n#errors")[0] for test in tests]
    assert len(inputs) > 1_000
    assert check(inputs) > 1_000
