from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.model import Topic
from honeyguide.topic import render


@given(
    st.text(min_size=1).filter(lambda text: text.isprintable() or "\n" in text),
    st.lists(st.text(min_size=1), max_size=20),
)
def test_any_topic_comes_back_as_it_was(name: str, words: list[str]) -> None:
    clean = [word.encode("utf-8", "replace").decode() for word in words]
    topic = Topic(name=name, keywords=tuple(words), seeds=("https://example.org/",), description="d\n'e\"")
    values = tomllib.loads(render(topic, max_pages=7, contact="mailto:me@example.org"))
    assert values["topic"]["name"] == name
    assert values["topic"].get("keywords", []) == clean
    assert values["topic"]["description"] == topic.description
    assert values["crawl"]["seeds"] == ["https://example.org/"]
    assert values["crawl"]["max_pages"] == 7
    assert values["identity"]["user_agent"] == "honeyguide/0.1 (+mailto:me@example.org)"


def test_what_is_open_is_only_suggested() -> None:
    text = render(Topic(name="x"))
    values = tomllib.loads(text)
    assert values["topic"] == {"name": "x", "languages": ["en"]}
    assert "seeds" not in values["crawl"]
    assert values["identity"] == {}
    assert "# seeds = " in text
    assert "# keywords = " in text
