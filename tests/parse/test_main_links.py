from __future__ import annotations

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page

STORY = "<p>" + "Owls hunt at night and sleep by day, in barns and hollow trees. " * 20 + "</p>"
NAMES = ("home", "news", "shop", "about", "contact")


def menu(names: tuple[str, ...] = NAMES, *, beside: str = "") -> str:
    return "<ul>" + "".join(f"<li><a href=/{name}>{name}</a>{beside}</li>" for name in names) + "</ul>"


def main_links(body: str) -> dict[str, bool]:
    page = parse_page(ParseJob("https://example.org/page", body.encode()))
    assert isinstance(page, Page)
    return {link.url.removeprefix("https://example.org/"): link.main for link in page.links}


def test_menus_and_boilerplate_elements_are_navigation() -> None:
    found = main_links(
        f"<nav><a href=/top>top</a></nav>{menu()}{STORY}<p>See <a href=/owls>owls</a>, too.</p>"
        "<footer>Made by <a href=/us>us</a> with care</footer>"
    )
    assert found == {"top": False, **dict.fromkeys(NAMES, False), "owls": True, "us": False}


def test_a_list_with_words_beside_its_links_is_main_text() -> None:
    assert all(main_links(STORY + menu(beside=": a few words on it")).values())


def test_links_in_table_cells_beside_cells_of_text_are_main_text() -> None:
    rows = "".join(f"<tr><td><a href=/{name}>{name}</a></td><td>what {name} does</td></tr>" for name in NAMES)
    assert all(main_links(f"{STORY}<table>{rows}</table>").values())


def test_on_a_page_of_links_the_links_are_the_main_text() -> None:
    assert all(main_links(menu()).values())


def test_a_target_in_menu_and_text_is_in_the_text() -> None:
    found = main_links(f"{menu()}{STORY}<p>The <a href=/news>news</a> of today.</p>")
    assert found["news"]
    assert not found["shop"]


def test_five_links_in_a_row_below_inline_elements() -> None:
    """The context of a link in a `b` is the link alone; the main text has its whole line."""
    lines = "".join(f"<p><b><a href=/{name}>{name}</a></b> and what it is</p>" for name in NAMES)
    assert all(main_links(STORY + lines).values())
