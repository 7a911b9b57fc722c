"""Cookie banners are no text of a page; pages about cookies are."""

from __future__ import annotations

import pytest

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page

OWLS = "<main><h1>Barn owls</h1><p>" + "They hunt at night over open country. " * 12 + "</p></main>"
SAID = "We use cookies to improve your experience. <a href=/privacy>Privacy policy</a> <b>Accept all</b>"


def parsed(body: str) -> Page:
    page = parse_page(ParseJob("https://example.org/", body.encode()))
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize(
    "opening",
    [
        '<div id="onetrust-banner-sdk">',
        '<div class="cookie-banner">',
        '<section class="c-cookieNotice">',
        '<div id="CybotCookiebotDialog">',
        '<div role="dialog" aria-label="consent">',
        '<div class="gdpr_popup wide">',
        '<div class="modal consent-modal">',
        "<dialog open>",
    ],
)
@pytest.mark.parametrize("behind", [True, False])
def test_banners_are_left_out_and_their_links_are_not(opening: str, behind: bool) -> None:
    closing = f"</{opening[1:].split(maxsplit=1)[0].strip('>')}>"
    banner = opening + SAID + closing
    page = parsed(OWLS + banner if behind else banner + OWLS)
    assert "Barn owls" in page.main_text
    assert "cookies" not in page.main_text
    assert [link.url for link in page.links] == ["https://example.org/privacy"]


@pytest.mark.parametrize(
    "body",
    [
        "<div class=cookie-banner-article>" + "Cookie banners ask for consent. " * 40 + "</div>",
        "<article class=cookie-recipe><p>" + "Bake the cookies until brown. " * 20 + "</article>",
        "<div class=cookies><p>" + "Chocolate cookies. " * 30 + "</div>" + OWLS,
        "<body class=cookie-consent-shown><p>" + "Our cookie policy and what we store. " * 20,
    ],
)
def test_pages_about_cookies_keep_their_text(body: str) -> None:
    assert "ookie" in parsed(body).main_text
