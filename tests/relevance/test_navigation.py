"""Every page model judges what the page is about: menus and footers, however heavy, change nothing."""

from __future__ import annotations

import msgspec
import pytest

from honeyguide.config.recipes import Part
from honeyguide.config.registry import names
from honeyguide.job.parts import make
from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.testing.page_models import OFF_TOPIC, ON_TOPIC, made_up_examples, made_up_text

NEED_MORE = {
    "evolved-knn": "a file of its own",
    "taxonomy-cosine": "a taxonomy",
    "layered-bayes": "context graphs",
}


def html_of(text: str, entries: int) -> Page:
    """A parsed page whose menu and footer have so many words off topic."""
    menu = "".join(f'<a href="/{i}">{OFF_TOPIC[i % len(OFF_TOPIC)]}</a> ' for i in range(entries))
    body = (
        f"<html><title>Page</title><body><nav>{menu}</nav><main><p>{text}</p></main><footer>{menu}</footer>"
    )
    page = parse_page(ParseJob("https://a.example/", body.encode(), "text/html"))
    assert isinstance(page, Page)
    return page


@pytest.mark.parametrize("name", [name for name in names("relevance") if name not in NEED_MORE])
def test_menus_of_three_quarters_of_the_page_change_no_verdict(name: str) -> None:
    examples = made_up_examples()
    model = make("relevance", Part(name), {"seed": 0, "examples": examples}).fit(examples)
    for words in (ON_TOPIC, OFF_TOPIC):
        text = made_up_text(words, 700)
        bare, heavy = html_of(text, 0), html_of(text, 90)
        assert len(heavy.text) > 3 * len(text)
        assert model.judge(heavy).score == pytest.approx(model.judge(bare).score)
        assert model.judge(heavy).on_topic == model.judge(bare).on_topic


def test_content_is_the_main_text_or_all_there_is() -> None:
    page = Page("https://a.example/", 1, text="menu owl", main_text="owl")
    assert page.content == "owl"
    assert msgspec.structs.replace(page, main_text="").content == "menu owl"
