from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.config.recipes import find_recipe
from honeyguide.errors import TopicError
from honeyguide.model import Link, Page, Verdict, Via
from honeyguide.ordering.fcmrps import Fcmrps, anchor_relevance, combined, link_type_relevance
from honeyguide.topic.taxonomy_vector import TopicVector, labels_of

PATH = ["Sports|体育", "Basketball|篮球"]
LINKS = (
    Link("http://sports.sohu.com/nba/lanqiu.shtml", 2, "basketball", "basketball scores"),
    Link("http://sports.sohu.com/x.html", 3, "more", "篮球 体育"),
    Link("http://auto.example/", 4, "cars", "all cars"),
)
PAGE = Page(url="http://sports.sohu.com/index.html", id=1)
ON, OFF = Verdict(0.4, True), Verdict(0.0, False)


def order(**options: object) -> Fcmrps:
    return Fcmrps(PATH, [], ["en", "zh"], personal_table=False, **options)  # type: ignore[arg-type]


def test_anchor_first_then_its_context() -> None:
    vector = TopicVector(labels_of(PATH), ("en", "zh"))
    assert anchor_relevance(vector, "basketball", "").score == pytest.approx(1 / (1.25**0.5))
    assert anchor_relevance(vector, "basketball", "sports") == vector.match("basketball")
    assert anchor_relevance(vector, "more", "篮球 体育") == vector.match("篮球 体育")
    assert anchor_relevance(vector, "more", "cars").score == 0.0


def test_link_type_counts_only_beside_a_relevant_page() -> None:
    assert link_type_relevance((0.4, 0.2), content=0.1, anchor=0.3) == 0.4
    assert link_type_relevance((0.4, 0.2), content=0.1, anchor=0.0) == 0.2
    assert link_type_relevance((0.4, 0.2), content=0.0, anchor=0.3) == 0.0


def test_the_four_scores_and_their_sum_by_hand() -> None:
    first, second, third = order().rank(PAGE, ON, LINKS)
    anchor = 1 / 1.25**0.5
    assert first.priority == pytest.approx((0.4 + anchor + 1.0 + 0.4) / 4)  # downward, both relevant
    both = 1.5 / (2**0.5 * 1.25**0.5)
    assert second.priority == pytest.approx((0.4 + both + 1 / 3 + 0.2) / 4)  # sibling
    assert third.priority == pytest.approx((0.4 + 0.0 + 0.0 + 0.01) / 4)  # outward, text silent
    assert combined((1.0, 0.0, 0.5, 0.0), (0.1, 0.9, 0.4, 0.9)) == pytest.approx(0.3)


def test_why_shows_scores_terms_and_tokens() -> None:
    first, second, third = order().rank(PAGE, ON, LINKS)
    assert set(first.factors) == {
        "R_PC", "R_AT", "R_url", "R_LT", "downward link", "link term basketbal", "token sport (english)",
        "token lanqiu (pinyin)",
    }  # fmt: skip
    assert {"link term 篮球", "link term 体育", "sibling link"} <= set(second.factors)
    assert set(third.factors) == {"R_PC", "R_AT", "R_url", "R_LT", "outward link"}
    told = order().rank(PAGE, Verdict(0.4, True, (("sport", 0.3), ("篮球", 0.1))), LINKS)[2].factors
    assert (told["page term sport"], told["page term 篮球"]) == (0.3, 0.1)
    assert order().explain(None, LINKS[0].url) == {
        "R_url": 1.0,
        "tokens": {"sport": "english of Sports", "lanqiu": "pinyin of Basketball"},
    }


def test_depth_rule() -> None:
    ranked = order().rank(PAGE, ON, LINKS)
    assert {one.memo["depth"] for one in ranked} == {3.0}
    tired = Page(url=PAGE.url, id=1, via=Via(9, memo={"depth": 1.0}))
    dropped = order().rank(tired, OFF, LINKS)
    assert all("depth used up" in one.drop for one in dropped)
    assert dropped[0].factors["R_url"] == 1.0  # `why` tells the scores of dropped links, too
    assert {one.memo["depth"] for one in order(depth=5).rank(tired, ON, LINKS)} == {5.0}


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("fcmrps1", 0.4), ("fcmrps2", 1 / 1.25**0.5), ("fcmrps3", 1.0), ("fcmrps4", 0.4),
        ("fcmrps13", 0.7), ("fcmrps124", (0.4 + 1 / 1.25**0.5 + 0.4) / 3),
    ],
)  # fmt: skip
def test_variants_are_recipes(recipe: str, expected: float) -> None:
    part = find_recipe(recipe).ordering
    assert order(**part.options).rank(PAGE, ON, LINKS)[0].priority == pytest.approx(expected)


def test_options_change_what_they_say() -> None:
    changed = order(gamma={"downward": [0.9, 0.8]}).rank(PAGE, ON, LINKS)
    assert changed[0].factors["R_LT"] == 0.9
    assert changed[1].factors["R_LT"] == 0.2
    domain = order(site="domain").rank(PAGE, ON, [Link("http://auto.sohu.com/", 5)])
    assert "sibling link" in domain[0].factors


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"weights": [1.0, 0.0]}, "'weights' must be four numbers"),
        ({"weights": [0.0, 0.0, 0.0, 0.0]}, "'weights' must be four numbers"),
        ({"alpha": [2.0, 0.0, 0.0, 0.0]}, "'alpha' must be four numbers"),
        ({"gamma": {"downwards": [0.1, 0.1]}}, "unknown link type 'downwards'; did you mean 'downward'?"),
        ({"gamma": {"upward": [0.1]}}, "upward must be two numbers"),
        ({"depth": 0}, "'depth' must be 1 or more"),
        ({"tables": ["no/such.tsv"]}, "cannot read the token table no/such.tsv"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], expected: str) -> None:
    with pytest.raises(TopicError) as problem:
        order(**options)
    assert expected in str(problem.value)


def test_saved_spellings_outlive_a_changed_table(tmp_path: Path) -> None:
    table = tmp_path / "mine.tsv"
    table.write_text("hoops\tBasketball\n")
    link = [Link("http://a.example/hoops", 2)]
    before = order(tables=[str(table)])
    assert before.rank(PAGE, ON, link)[0].factors["R_url"] == pytest.approx(2 / 3)
    assert order().rank(PAGE, ON, link)[0].factors["R_url"] == 0.0
    assert order().load(before.save()).rank(PAGE, ON, link) == before.rank(PAGE, ON, link)
    with pytest.raises(TopicError, match="another taxonomy path"):
        Fcmrps(["Sports"], [], ["en"], personal_table=False).load(before.save())


def test_the_personal_table_is_used_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HONEYGUIDE_HOME", str(tmp_path))
    (tmp_path / "topic-tokens.tsv").write_text("hoops\tBasketball\n")
    link = [Link("http://a.example/hoops", 2)]
    mine = Fcmrps(PATH, [], ["en"])
    assert mine.rank(PAGE, ON, link)[0].factors["R_url"] == pytest.approx(2 / 3)
    assert order().rank(PAGE, ON, link)[0].factors["R_url"] == 0.0


def test_predictions_may_be_left_to_relevant_pages() -> None:
    page = Page(url="http://a.example/", id=1, via=Via(9, memo={"depth": 3.0}))
    links = [Link("http://a.example/sports/tennis", 2, "basketball")]
    every, relevant = (
        Fcmrps(["Sports", "Basketball"], [], ["en"], personal_table=False, predict_from=parents)
        for parents in ("all", "relevant")
    )
    assert every.rank(page, Verdict(0.05, False), links)[0].factors["R_AT"] > 0.8
    ranked = relevant.rank(page, Verdict(0.05, False), links)[0]
    assert ranked.priority == 0.25 * ranked.factors["R_url"] > 0.0
    on = Verdict(0.5, True)
    assert relevant.rank(page, on, links)[0].priority == every.rank(page, on, links)[0].priority


def test_directions_that_are_used_up_may_be_kept_for_last() -> None:
    """Links that speak for the topic themselves stay where they are; the rest goes behind all others."""
    order = Fcmrps(["Sports", "Basketball"], [], ["en"], personal_table=False, used_up="last")
    page = Page(url="https://a.example/x", id=1, via=Via(0, memo={"depth": 1.0}))
    links = [Link("https://a.example/y", 2, "more"), Link("https://a.example/z", 3, "basketball")]
    plain, told = order.rank(page, Verdict(0.0, False), links)
    assert (plain.drop, told.drop) == ("", "")
    assert plain.priority < 0.0 < told.priority
    assert plain.memo == told.memo == {"depth": 0.0}
    # A page behind such a link that is off topic gives its own links no more.
    child = Page(url="https://a.example/y", id=2, via=Via(1, memo=plain.memo))
    assert order.rank(child, Verdict(0.0, False), links[:1])[0].memo == {"depth": 0.0}
