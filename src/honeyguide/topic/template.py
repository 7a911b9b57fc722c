"""The commented `topic.toml` that `honeyguide topic new` writes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from honeyguide.model import Topic

_TEMPLATE = """\
# A topic for Honeyguide. Check it with:  honeyguide topic check {path}
# Crawl it with:                          honeyguide crawl {path} --out {folder}
# Lines that begin with # are suggestions: take the # away to use them.

[topic]
name = {name}
# Words and phrases a page about the topic is likely to hold; 5 to 20 serve best.
{keywords}
# Pages that are on topic, and (optional) some that are not: addresses or files.
{examples}
{negatives}
# Text of every kind, to tell rare words from common ones.
# background = ["corpus/*.txt"]
# Node of a subject tree; | separates names of one label: "Sports|体育/Basketball|篮球".
{taxonomy}
{languages}
{description}

[crawl]
# Where to begin: pages that are on topic or link to such pages.
{seeds}
recipe = {recipe}            # `honeyguide recipes` lists all
max_pages = {max_pages}                 # downloads; see also max_relevant, max_bytes, max_seconds
max_pages_per_domain = 500       # no site may take over
# stop_after_irrelevant = 2000     # give up when none of the last 2000 pages was on topic
# follow_sitemaps = true           # all, not only those of hosts that proved relevant

# Which addresses may be asked at all. Without these lines: the whole web.
# [scope]
# allow_domains = ["example.org"]
# exclude = ["*/login*", "*.zip"]

# Parts can be chosen one by one and given options.
# [relevance]
# model = "calibrated"
# threshold = 0.5

# [ordering]
# order = "shark-search"

# Who you are, so that site owners can reach you. Please fill it in before a crawl of the live web.
[identity]
{user_agent}

[politeness]
delay = 1.0                      # seconds between two requests to one host; robots.txt may ask for more

# Behind a proxy. HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment do without these lines.
# [network]
# proxy = "http://proxy.example:3128"
"""


def _toml(value: str | Sequence[str]) -> str:
    """A TOML text or list of texts; JSON's escapes are valid TOML except for DEL and surrogates."""
    if isinstance(value, str):
        clean = value.encode("utf-8", "replace").decode("utf-8")
        return json.dumps(clean, ensure_ascii=False).replace("\x7f", "\\u007f")
    if sum(map(len, value)) < 80:
        return "[" + ", ".join(map(_toml, value)) + "]"
    return "[\n" + "".join(f"    {_toml(item)},\n" for item in value) + "]"


def _line(key: str, value: str | Sequence[str], suggestion: str | Sequence[str]) -> str:
    return f"{key} = {_toml(value)}" if value else f"# {key} = {_toml(suggestion)}"


def render(
    topic: Topic,
    *,
    recipe: str = "scout",
    max_pages: int = 1000,
    contact: str = "",
    version: str = "0.1",
    path: str = "topic.toml",
    folder: str = "collection",
) -> str:
    """The text of a topic file; what the topic leaves open appears as a commented suggestion.

    Example:
        >>> print(render(Topic(name="owls", keywords=("owl",))).splitlines()[7])
        keywords = ["owl"]
    """
    agent = f"honeyguide/{version} (+{contact})" if contact else ""
    suggested_agent = f"honeyguide/{version} (+https://example.org/bot; you@example.org)"
    return _TEMPLATE.format(
        path=path,
        folder=folder,
        name=_toml(topic.name),
        keywords=_line("keywords", topic.keywords, ["first word", "second word"]),
        examples=_line("examples", topic.examples, ["https://example.org/a-good-page", "pages/*.html"]),
        negatives=_line("negatives", topic.negatives, ["other/*.html"]),
        taxonomy=_line("taxonomy", topic.taxonomy, "Sports/Basketball"),
        languages=f"languages = {_toml(topic.languages)}",
        description=_line("description", topic.description, "What this collection is for."),
        seeds=_line("seeds", topic.seeds, ["https://example.org/"]),
        recipe=_toml(recipe),
        max_pages=max_pages,
        user_agent=_line("user_agent", agent, suggested_agent),
    )
