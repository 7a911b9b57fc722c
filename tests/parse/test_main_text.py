from __future__ import annotations

from honeyguide.model import Page
from honeyguide.parse.article import Box, Line
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.parse.main_text import main_text

PAGE = [Box(-1)]
STORY = "<p>" + "The barn owl hunts at night over open fields and is found on every continent. " * 12 + "</p>"
MENU = (
    "<ul>"
    + "".join(f"<li><a href=/{word}>{word}</a>" for word in ("home", "news", "shop", "about", "contact"))
    + "</ul>"
)


def main_text_of(body: str) -> str:
    page = parse_page(ParseJob("https://example.org/", body.encode()))
    assert isinstance(page, Page)
    return page.main_text


def test_semantic_boilerplate_goes() -> None:
    text = main_text_of(f"<nav>Menu line</nav><main><h1>Owls</h1>{STORY}</main><footer>Imprint</footer>")
    assert text.startswith("Owls\nThe barn owl")
    assert "Menu" not in text
    assert "Imprint" not in text


def test_menus_of_plain_elements_go() -> None:
    text = main_text_of(f"<div>{MENU}</div><div>{STORY}</div><div>{MENU}</div>")
    assert text.startswith("The barn owl")
    assert "contact" not in text


def test_a_page_of_links_keeps_them() -> None:
    assert main_text_of(MENU) == "home\nnews\nshop\nabout\ncontact"


def test_links_in_prose_stay() -> None:
    text = main_text_of(STORY + "<p>See <a href=/x>the article on owls</a> for more.</p>" + STORY)
    assert "See the article on owls for more." in text


def test_only_boilerplate_falls_back_to_all_text() -> None:
    assert main_text([Line("Imprint", 0.0, 2), Line("Contact", 1.0, 2)], PAGE) == "Imprint Contact"


def test_not_asked_for() -> None:
    page = parse_page(ParseJob("https://example.org/", STORY.encode(), main_text=False))
    assert isinstance(page, Page)
    assert page.main_text == ""


def test_a_short_text_in_chinese_is_text_enough() -> None:
    menu = "".join(f"<div><a href='/{i}'>望远镜 {i}</a></div>" for i in range(8))
    assert "望远镜" not in main_text_of(f"{menu}<p>{300 * '税'}</p>")
    assert "望远镜" in main_text_of(f"{menu}<p>{150 * '税'}</p>"), "too little text"
    entries = [Line("望远镜", 1.0, 0)] * 8
    assert main_text([*entries, Line(300 * "税", 0.0, 0)], PAGE) == 300 * "税"
    assert main_text([*entries, Line(150 * "税", 0.0, 0)], PAGE).startswith("望远镜")
