from __future__ import annotations

import pytest

from honeyguide.ordering.url_tokens import UrlTokens, spelled
from honeyguide.topic.taxonomy_vector import labels_of
from honeyguide.topic.tokens import built_in_table


def tokens_for(
    *path: str, whole_up_to: int = 0, alpha: tuple[float, ...] = (1.0, 0.5, 1.0, 0.2)
) -> UrlTokens:
    labels = labels_of(path)
    return UrlTokens(spelled(labels, built_in_table()), labels.weights, alpha=alpha, whole_up_to=whole_up_to)


def test_the_worked_example_of_the_paper() -> None:
    found = tokens_for("Sports", "Basketball").match("http://sports.sohu.com/lanqiu.shtml")
    assert found.score == pytest.approx((1 / 2 * 1 + 2 / 2 * 1) * 2 / 3) == 1.0
    assert [(one.label, one.spelling, one.kind) for one in found.matches] == [
        (0, "sport", "english"),
        (1, "lanqiu", "pinyin"),
    ]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://sports.sohu.com/20080305/n255534156.shtml", 1 / 3),  # only the context: 1/2 * 2/3
        ("http://a.example/LanQiu/", 2 / 3),  # only the topic, in any case
        ("http://ty.a.example/basketball", 0.2 / 3 + 2 / 3),  # initials count a fifth
        ("http://a.example/bball/tiyu", 1 / 3 + 0.5 * 2 / 3),  # an abbreviation counts half
        ("http://auto.sohu.com/20080305/n255526265.shtml", 0.0),
        ("http://a.example/%E7%AF%AE%E7%90%83/", 2 / 3),  # the Chinese label itself
        ("http://a.example/street-basket_ball/", 2 / 3),  # written apart
        ("http://www.com/index.html", 0.0),
        ("", 0.0),
    ],
)
def test_scores_by_hand(url: str, expected: float) -> None:
    assert tokens_for("Sports|体育", "Basketball|篮球").match(url).score == pytest.approx(expected)


def test_containment_errs_on_short_spellings_and_can_be_narrowed() -> None:
    shop, city = "http://www.shop.example/", "http://www.sh.xinhuanet.com/"
    assert tokens_for("Shanghai").match(shop).score == pytest.approx(0.2)
    whole = tokens_for("Shanghai", whole_up_to=3)
    assert whole.match(shop).score == 0.0
    assert whole.match(city).score == pytest.approx(0.2)


def test_a_label_in_no_table_is_spelled_as_it_is() -> None:
    assert tokens_for("Yao Ming|姚明").match("http://www.yaoming.net/").score == 1.0
    assert tokens_for("姚明").match("http://www.yaoming.net/").matches[0].kind == "pinyin"
    assert tokens_for("Widget Making").match("http://a.example/widget-making.html").score == 1.0
    assert tokens_for("Widget Making").match("http://a.example/widgets").score == 0.0


def test_kinds_can_be_left_out() -> None:
    only_full = tokens_for("Spreadsheets", alpha=(1.0, 0.0, 1.0, 0.0))
    assert only_full.match("http://a.example/text/scalc/").score == 0.0
    assert tokens_for("Spreadsheets").match("http://a.example/text/scalc/").score == 0.5


def test_the_best_of_several_nodes_counts() -> None:
    labels = labels_of(["Sports", "Basketball + Sports", "Tennis"])
    url = UrlTokens(spelled(labels, built_in_table()), labels.weights, starts=labels.starts)
    assert url.match("http://sports.example/tennis").score == 1.0
    assert url.match("http://sports.example/").score == pytest.approx(1 / 3)
