from __future__ import annotations

import numpy as np

from honeyguide.model import CrawlGraph
from honeyguide.ordering.seen_pages import ANCHOR_TERMS, SeenPages, known_links


def pages(limit: int = 10, anchor_limit: int = 10) -> SeenPages:
    seen = SeenPages(limit=limit, anchor_limit=anchor_limit)
    for page, score, weights in ((30, 0.2, {1: 2.0}), (10, 0.9, {0: 1.0, 2: 3.0}), (20, 0.2, {})):
        seen.add(page, f"https://a.example/{page}", score, weights)
    return seen


GRAPH = CrawlGraph(
    ids=np.array([10, 99, 20, 30, 40, 50], dtype=np.int64),
    fetched=np.array([True, True, True, True, False, False]),
    waiting=np.array([False, False, False, False, True, True]),
    score=np.zeros(6, dtype=np.float32),
    # Page 99 is fetched but not remembered; 10 -> 40 stands twice.
    sources=np.array([0, 0, 0, 3, 2, 1, 0, 0], dtype=np.int32),
    targets=np.array([3, 4, 4, 2, 5, 5, 0, 1], dtype=np.int32),
)


def test_links_become_matrices() -> None:
    links = known_links(pages(), GRAPH, self_link=False)
    # Rows and columns in the order of fetching: 30, 10, 20. 10 links to 30, 30 links to 20.
    assert links.among.toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert links.nodes.tolist() == [4, 5]
    assert links.frontier.toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    with_self = known_links(pages(), GRAPH, self_link=True)
    assert (with_self.among - links.among).toarray().tolist() == np.eye(3).tolist()


def test_nothing_remembered_nothing_linked() -> None:
    links = known_links(SeenPages(limit=5, anchor_limit=5), GRAPH, self_link=True)
    assert links.among.shape == (0, 0)
    assert len(links.nodes) == 0


def test_words_of_pages_and_links() -> None:
    seen = pages()
    assert seen.words(4).toarray().tolist() == [[0, 2, 0, 0], [1, 0, 3, 0], [0, 0, 0, 0]]
    seen.add_anchor(40, {3: 1.0})
    seen.add_anchor(40, {3: 1.0, 0: 1.0})
    seen.add_anchor(10, {3: 1.0})  # fetched already
    assert seen.anchors(np.array([40, 10, 50]), 4).toarray().tolist() == [[1, 0, 0, 2], [0] * 4, [0] * 4]
    seen.add(40, "https://a.example/40", 0.5, {})
    assert seen.anchor(40) == {}


def test_the_most_relevant_pages_are_kept_the_newest_of_equals() -> None:
    seen = pages(limit=2)
    seen.cut()
    assert seen.ids == [10, 20]
    assert seen.words(4).toarray().tolist() == [[1, 0, 3, 0], [0, 0, 0, 0]]


def test_words_of_links_are_bounded() -> None:
    seen = pages(anchor_limit=3)
    for page in range(100, 105):
        seen.add_anchor(page, dict.fromkeys(range(200), 1.0))
    assert [bool(seen.anchor(page)) for page in range(100, 105)] == [False, False, True, True, True]
    assert len(seen.anchor(104)) == ANCHOR_TERMS


def test_saved_and_loaded() -> None:
    seen = pages()
    seen.add_anchor(40, {3: 1.0, 1: 2.0})
    again = SeenPages(limit=10, anchor_limit=10).load(seen.save())
    assert again.ids == seen.ids
    assert again.urls == seen.urls
    assert again.scores == seen.scores
    assert again.anchor(40) == {3: 1.0, 1: 2.0}
    assert (again.words(4) != seen.words(4)).nnz == 0
    again.add(10, "https://a.example/again", 1.0, {})
    assert len(again) == 3
