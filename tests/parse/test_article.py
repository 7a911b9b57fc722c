from __future__ import annotations

import pytest

from honeyguide.model import Page
from honeyguide.parse.article import BESIDE, is_beside
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page

STORY = "<p>" + 4 * "The barn owl hunts at night over open fields. " + "</p>"
REMARK = "<p>" + 3 * "I saw one last year behind our house, and it was not shy. " + "</p>"


def main_text_of(body: str) -> str:
    page = parse_page(ParseJob("https://example.org/", body.encode()))
    assert isinstance(page, Page)
    return page.main_text


def test_what_stands_beside_the_article_goes() -> None:
    side = "<div><p>Other pages of ours that you may like to read, in no order at all.</p></div>"
    text = main_text_of(f"<div>{side}<div>{4 * STORY}</div>{side}</div>")
    assert text.startswith("The barn owl")
    assert "no order" not in text


def test_heading_and_lead_in_front_of_the_article_stay() -> None:
    head = "<div>Nature</div><header><h1>Owls</h1><p>They are not what they seem.</p></header>"
    text = main_text_of(f"<div>{head}<div>{4 * STORY}</div><p>Printed on paper.</p></div>")
    assert text.startswith("Owls\nThey are not what they seem.\nThe barn owl")
    assert "Nature" not in text
    assert "paper" not in text


@pytest.mark.parametrize(
    "named", ["class='post-comments open'", "id=related", "role=navigation", "class=COMMENT"]
)
def test_boxes_go_by_what_they_are_called(named: str) -> None:
    text = main_text_of(f"<article>{4 * STORY}<div {named}>{REMARK}</div></article>")
    assert "barn owl" in text
    assert "behind our house" not in text


def test_a_box_with_most_of_the_prose_stays_whatever_it_is_called() -> None:
    text = main_text_of(f"<div class='has-sidebar sidebar'>{4 * STORY}</div>{REMARK}")
    assert "barn owl" in text


def test_a_page_of_remarks_keeps_them() -> None:
    remarks = "".join(f"<div class=comment>{REMARK}</div>" for _ in range(9))
    assert main_text_of(remarks).count("behind our house") == 27


def test_a_thread_is_one_article() -> None:
    posts = "".join(f"<article><p>By user {each}</p>{STORY}</article>" for each in range(6))
    text = main_text_of(f"<main>{posts}</main>")
    assert all(f"By user {each}" in text for each in range(6))


def test_links_in_a_row_go_and_one_in_a_table_stays() -> None:
    rows = "".join(
        f"<tr><td><a href=/{each}>term {each}</a></td><td>what it is</td></tr>" for each in range(3)
    )
    links = "".join(
        f"<p><a href=/r{each}>Read about the owls of country {each}, too</a></p>" for each in range(2)
    )
    text = main_text_of(f"{2 * STORY}<table>{rows}</table>{2 * STORY}{links}{STORY}")
    assert "term 1\nwhat it is" in text
    assert "Read about" not in text


def test_little_prose_is_no_article() -> None:
    text = main_text_of(f"<div class=comments>{STORY}</div><div><p>Jane Doe</p><p>Room 12</p></div>")
    assert "Jane Doe\nRoom 12" in text
    assert "barn owl" in text


def test_an_ideograph_counts_as_three_letters() -> None:
    body = "<div>{}</div><div><p>短</p></div>"
    assert "短" not in main_text_of(body.format(2 * ("<p>" + 90 * "梟" + "</p>")))
    assert "短" in main_text_of(body.format(2 * ("<p>" + 60 * "梟" + "</p>")))


def test_captions_are_no_part_of_an_article() -> None:
    text = main_text_of(
        f"{4 * STORY}<figure><img src=o.jpg><figcaption>Photo: an agency</figcaption></figure>{STORY}"
    )
    assert "agency" not in text


def test_names_are_words() -> None:
    assert all(is_beside("div", word.upper()) for word in BESIDE)
    assert not is_beside("div", "commentary", "advertised", None)
    assert is_beside("div", None, "x_related-1")
