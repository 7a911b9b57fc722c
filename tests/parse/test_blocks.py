from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.model import Page
from honeyguide.parse.base import BlockOptions, ParseJob
from honeyguide.parse.blocks import MODERN_TAGS, PAPER_TAGS, content_blocks
from honeyguide.parse.html import parse_page

URL = "https://example.org/"


def page_of(body: str, *, alpha: float = 0.5, tags: str = "modern") -> Page:
    page = parse_page(ParseJob(URL, body.encode(), blocks=BlockOptions(alpha, tags)))
    assert isinstance(page, Page)
    return page


def test_page_without_links_is_one_block() -> None:
    assert content_blocks([-1, 0, 1, 0], ["body", "div", "p", "div"], links=[0] * 4) == [0]


def test_low_nodes_are_not_split() -> None:
    # body > div > (p > a, p > a): heights 2, 1, 0, 0; s = 1. Body and div are split, paragraphs are not.
    tags = ["body", "div", "p", "a", "p", "a"]
    assert content_blocks([-1, 0, 1, 2, 1, 4], tags, links=[0, 0, 0, 1, 0, 1]) == [2, 4]


def test_threshold_compares_the_node_itself() -> None:
    # body > (div > div > div > a, div > a): heights 3, 2, 1, 0 and 0; s = 1.5.
    # Body (3) is split, its first div (2) too; the second-level div (1) is not; the last div (0) is not.
    tags = ["body", "div", "div", "div", "a", "div", "a"]
    assert content_blocks([-1, 0, 1, 2, 3, 0, 5], tags, links=[0, 0, 0, 0, 1, 0, 1]) == [2, 5]


def test_alpha_one_splits_only_the_highest() -> None:
    tags = ["body", "div", "div", "div", "a", "div", "a"]
    parents = [-1, 0, 1, 2, 3, 0, 5]
    links = [0, 0, 0, 0, 1, 0, 1]
    assert content_blocks(parents, tags, links=links, alpha=1.0) == [1, 5]
    assert content_blocks(parents, tags, links=links, alpha=0.1) == [3, 5]


def test_minimum_links_of_the_child() -> None:
    # The first div holds two links, the second one: k = 2 splits body only.
    tags = ["body", "div", "p", "a", "p", "a", "div", "p", "a"]
    parents = [-1, 0, 1, 2, 1, 4, 0, 6, 7]
    links = [0, 0, 0, 1, 0, 1, 0, 0, 1]
    assert content_blocks(parents, tags, links=links) == [2, 4, 7]
    assert content_blocks(parents, tags, links=links, minimum_links=2) == [1, 6]


def test_tag_lists_differ() -> None:
    # Only the table counts in the paper's list: heights 1 (body), 0 (div), s = 0.5.
    tags = ["body", "div", "div", "a", "table", "a"]
    parents = [-1, 0, 1, 2, 0, 4]
    links = [0, 0, 0, 1, 0, 1]
    assert content_blocks(parents, tags, links=links, block_tags=PAPER_TAGS) == [1, 4]
    assert content_blocks(parents, tags, links=links, block_tags=MODERN_TAGS) == [2, 4]


def test_no_block_tags_splits_down_to_the_links() -> None:
    # s = 0: every node with a link below is split.
    assert content_blocks([-1, 0, 1, 1], ["body", "span", "a", ""], links=[0, 0, 1, 0]) == [2, 3]


def test_links_are_never_split() -> None:
    assert content_blocks([-1, 0, 1, 2], ["body", "a", "object", "a"], links=[0, 1, 0, 1]) == [1]


def test_empty_tree() -> None:
    assert content_blocks([], [], links=[]) == []


def test_blocks_of_a_page() -> None:
    page = page_of(
        "<body><div><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></div>loose"
        "<div><div><p>One <a href=/c>C</a></p><p>Two <a href=/a>A again</a></p></div></div>"
    )
    # Heights: body 3, div 1 (ul), div 2 (div, p), inner div 1; s = 1.5.
    assert [block.text for block in page.blocks] == ["A B", "loose", "One C Two A again"]
    assert [block.links for block in page.blocks] == [(0, 1), (), (2, 0)]
    assert [block.tag_path for block in page.blocks] == ["body/div", "body", "body/div/div"]
    assert [link.block for link in page.links] == [0, 0, 2]


def test_blocks_are_not_made_unasked() -> None:
    page = parse_page(ParseJob(URL, b"<body><p><a href=/a>A</a>"))
    assert isinstance(page, Page)
    assert page.blocks == ()
    assert page.links[0].block == -1


def test_links_outside_the_body_have_no_block() -> None:
    page = page_of("<link rel=next href=/n><body><p><a href=/a>A</a>")
    assert [link.block for link in page.links] == [-1, 0]


def test_framesets_have_blocks() -> None:
    page = page_of("<frameset><frame src=/a><frame src=/b></frameset>")
    assert sorted(index for block in page.blocks for index in block.links) == [0, 1]


def test_elements_behind_the_root() -> None:
    page = page_of("<frameset><frame src=/a></frameset><noframes>none</noframes>")
    assert [block.links for block in page.blocks] == [(0,)]


trees = st.recursive(
    st.sampled_from(
        ["word", "<a href=/{}>anchor</a>", "<img src=x>", "<p hidden><a href=/{}>out of sight</a></p>"]
    ),
    lambda inner: st.builds(
        lambda tag, children: f"<{tag}>{' '.join(children)}</{tag}>",
        st.sampled_from(["div", "ul", "section", "span", "blockquote", "article", "ol", "b"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=40,
)


@settings(max_examples=150, deadline=None)
@given(trees, st.floats(0.01, 1.0), st.sampled_from(["modern", "paper"]))
def test_partition_is_exact(tree: str, alpha: float, tags: str) -> None:
    pieces = tree.split("{}")
    body = "".join(f"{piece}{number}" for number, piece in enumerate(pieces[:-1])) + pieces[-1]
    page = page_of(f"<body>{body}", alpha=alpha, tags=tags)
    assert " ".join(block.text for block in page.blocks if block.text).split() == page.text.split()
    found = [index for block in page.blocks for index in block.links]
    assert sorted(found) == list(range(len(pieces) - 1))
    for number, block in enumerate(page.blocks):
        assert all(page.links[index].block == number for index in block.links)
        assert block.text or block.links


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_blocks_cover_every_leaf_once(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 40))
    # Numbering in document order: a node's parent is on the path of the node before it.
    parents = [-1]
    for node in range(1, size):
        path = [node - 1]
        while parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        parents.append(data.draw(st.sampled_from(path)))
    tags = data.draw(st.lists(st.sampled_from(["div", "b", "p", ""]), min_size=size, max_size=size))
    links = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    roots = set(content_blocks(parents, tags, links=links, alpha=data.draw(st.floats(0.01, 1))))
    for node in range(size):
        owners = 0
        above = node
        while above >= 0:
            owners += above in roots
            above = parents[above]
        has_children = node in parents
        assert owners <= 1
        if not has_children or links[node]:
            assert owners == 1


@pytest.mark.parametrize("levels", [2, 500])
def test_large_pages(levels: int) -> None:
    row = "<div>" * levels + "<a href=/{}>x</a> text" + "</div>" * levels
    body = "".join(row.format(number) for number in range(20_000 // levels))
    page = page_of(f"<body>{body}", alpha=0.9)
    found = [index for block in page.blocks for index in block.links]
    assert sorted(found) == list(range(len(page.links)))
    assert " ".join(block.text for block in page.blocks) == page.text


def test_an_order_may_ask_for_long_link_contexts() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    body = f"<body><p>{words} <a href='/b'>more</a> end</p></body>".encode()
    usual, longer = (
        parse_page(ParseJob(URL, body, blocks=BlockOptions(context=context))) for context in (300, 4000)
    )
    assert isinstance(usual, Page)
    assert isinstance(longer, Page)
    assert len(usual.links[0].context) <= 300
    assert longer.links[0].context == f"{words} more end"
