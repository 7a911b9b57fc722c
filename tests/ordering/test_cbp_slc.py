from __future__ import annotations

from collections.abc import Sequence

import pytest

from honeyguide.model import Block, Link, Page, Verdict, Via
from honeyguide.ordering.cbp_slc import Cbp, CbpSlc, Slc
from honeyguide.testing.link_orders import all_checks

BAD = Verdict(0.1, False)


class Words:
    """Scores a text by hand: 0.9 with `owl`, 0.6 with `bird`, else 0.2."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        self.calls.append(list(texts))
        return [0.9 if "owl" in text else 0.6 if "bird" in text else 0.2 for text in texts]


LINKS = (
    Link("https://b.example/0", 10, "more", "more about owls"),
    Link("https://b.example/1", 11, "tax", "tax"),
    Link("https://b.example/2", 12, "a bird", "tax and a bird"),
    Link("https://b.example/3", 13, "here", "an owl is here"),
    Link("https://b.example/4", 14, "bank", "bank"),
    Link("https://b.example/5", 15, "", ""),
)
BLOCKS = (
    Block("all about owls", (0, 1)),
    Block("tax, tax and income", (2, 3, 4, 1)),
    Block("", (5,)),
    Block("owls without links"),
)
PAGE = Page(url="https://a.example/", id=1, links=LINKS, blocks=BLOCKS)


def ranked(order: CbpSlc, page: Page = PAGE, verdict: Verdict = BAD) -> list[tuple[float | None, float]]:
    """Priority (None: dropped) and rule of each link."""
    return [
        (None if one.drop else one.priority, one.memo.get("rule", 0.0))
        for one in order.rank(page, verdict, page.links)
    ]


@pytest.mark.parametrize("check", all_checks())
@pytest.mark.parametrize("kind", [CbpSlc, Cbp, Slc])
@pytest.mark.parametrize("keep", [False, True])
def test_contract(check: object, kind: type[CbpSlc], keep: bool) -> None:
    check(lambda: kind(Words(), keep_rejected=keep))  # type: ignore[operator]


def test_the_three_rules_in_turn() -> None:
    assert ranked(CbpSlc(Words())) == [(0.9, 1), (0.9, 1), (0.6, 2), (0.9, 3), (None, 0), (None, 0)]


def test_block_alone_and_link_text_alone() -> None:
    nothing = (None, 0)
    assert ranked(Cbp(Words())) == [(0.9, 1), (0.9, 1), nothing, nothing, nothing, nothing]
    assert ranked(Slc(Words())) == [(0.9, 3), nothing, (0.6, 2), (0.9, 3), nothing, nothing]
    assert CbpSlc.needs_blocks
    assert Cbp.needs_blocks
    assert Slc.needs_blocks  # for its link contexts


def test_texts_are_judged_in_three_calls_and_no_more_than_needed() -> None:
    judge = Words()
    CbpSlc(judge).rank(PAGE, BAD, LINKS)
    blocks, anchors, contexts = judge.calls
    assert blocks == ["all about owls", "tax, tax and income"]
    assert anchors == ["a bird", "here", "bank"]
    assert contexts == ["an owl is here", "bank"]


def test_some_links_of_the_page_are_eligible_only() -> None:
    scored = CbpSlc(Words()).rank(PAGE, BAD, [LINKS[3], LINKS[1]])
    assert [(one.link, one.memo["rule"]) for one in scored] == [(0, 3.0), (1, 1.0)]


def test_kept_links_come_last_best_first() -> None:
    answers = CbpSlc(Words(), keep_rejected=True).rank(PAGE, BAD, LINKS)
    assert [one.memo["rule"] for one in answers] == [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]
    assert [round(one.priority, 6) for one in answers] == [0.9, 0.9, 0.6, 0.9, -1.8, -1.9]


def test_a_page_without_blocks_is_one_block() -> None:
    page = Page(url="https://a.example/x.pdf", id=1, links=LINKS[1:2])
    assert ranked(CbpSlc(Words()), page, Verdict(0.7, True)) == [(0.7, 1.0)]
    assert ranked(CbpSlc(Words()), page, BAD) == [(None, 0.0)]


def test_the_threshold_is_the_models_own_unless_given() -> None:
    class Strict(Words):
        threshold = 0.7

    assert ranked(CbpSlc(Strict()))[2] == (None, 0)
    assert ranked(CbpSlc(Strict(), threshold=0.6))[2] == (0.6, 2)


def test_counters_of_the_rules_survive_a_restart() -> None:
    order = CbpSlc(Words())
    for rule, good in ((1.0, True), (1.0, False), (3.0, True), (0.0, True)):
        order.learn(Page(url="https://b.example/", id=5, via=Via(1, memo={"rule": rule})), Verdict(0.5, good))
    expected = {"block": (2, 1), "anchor": (0, 0), "context": (1, 1), "kept": (0, 0)}
    assert order.counts == expected
    assert CbpSlc(Words()).load(order.save()).counts == expected
    assert order.explain(None, "https://b.example/")["pages by block"] == "1 of 2 on topic"


def test_explain_shows_the_blocks() -> None:
    blocks = CbpSlc(Words()).explain(PAGE, PAGE.url)["blocks"]
    assert isinstance(blocks, list)
    assert [(one["score"], one["links"]) for one in blocks] == [(0.9, 2), (0.2, 4), (0.0, 1), (0.9, 0)]


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1.01])
def test_a_bad_alpha_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        CbpSlc(Words(), alpha=alpha)
