"""Languages that pages declare for their links."""

from __future__ import annotations

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page


def test_alternates_have_a_language_and_the_title_of_their_page() -> None:
    body = """<title>Barn owls</title><link rel=alternate hreflang=de-AT href=/de/owls>
    <link rel="alternate" hreflang="x-default" href="/owls"><link rel=alternate hreflang=fr href=/fr/owls>
    <p>Owls. <a href=/fr/owls>En français</a> <a hreflang=es href=/es>Español</a> <a href=/more>more</a>"""
    page = parse_page(ParseJob("https://example.org/en/owls", body.encode()))
    assert isinstance(page, Page)
    links = {link.url.removeprefix("https://example.org"): link for link in page.links}
    assert {url: link.language for url, link in links.items()} == {
        "/de/owls": "de",
        "/owls": "",
        "/fr/owls": "fr",
        "/es": "es",
        "/more": "",
    }
    assert links["/de/owls"].anchor == "Barn owls"
    assert "En français" in links["/fr/owls"].anchor
    assert links["/more"].anchor == "more"
