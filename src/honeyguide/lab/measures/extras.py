"""Further measures that an experiment may ask for, by name (`extra_measures`).

A function takes a finished crawl and gives numbers by name, which become columns of the results. It
must give the same numbers for the same crawl.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from honeyguide.engine.crawler import Crawler
from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import CrawlRecord
from honeyguide.lab.runner.situation import Situation
from honeyguide.model import Event
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import PageModel
from honeyguide.store.state import State
from honeyguide.topic.file import nearest


class Finished(msgspec.Struct, frozen=True):
    """A crawl that just ended, with everything about it still open."""

    situation: Situation
    record: CrawlRecord
    urls: tuple[str, ...]
    """Of the fetched pages, as in `record.fetched`."""
    events: tuple[Event, ...]
    """The journal."""
    state: State
    crawler: Crawler
    model: PageModel
    order: LinkOrder


Extra: TypeAlias = Callable[[Finished], Mapping[str, float]]


def gives(*names: str) -> Callable[[Extra], Extra]:
    """Say which numbers a measure gives, so that a misspelt column is refused before anything runs."""

    def named(extra: Extra) -> Extra:
        extra.__dict__["gives"] = names
        return extra

    return named


def columns_of(extra: Extra) -> tuple[str, ...] | None:
    """The numbers that a measure gives; None when it does not say."""
    found: tuple[str, ...] | None = getattr(extra, "gives", None)
    return found


@gives("targets_with_topic_word_in_url")
def topic_tokens_in_urls(crawl: Finished) -> dict[str, float]:
    """Share of the targets found whose URL holds one of the topic's words (FCMRPS study)."""
    words = [
        word for text in crawl.situation.task.keywords for word in re.split(r"\W+", text.lower()) if word
    ]
    hits = [url.lower() for url, page in zip(crawl.urls, crawl.record.fetched, strict=True) if page.on_target]
    with_word = sum(any(word in url for word in words) for url in hits)
    return {"targets_with_topic_word_in_url": with_word / len(hits) if hits else 0.0}


@gives("judged_precision", "judged_recall")
def judged(crawl: Finished) -> dict[str, float]:
    """How well the recipe's own page model tells targets from other pages: precision and recall."""
    verdicts = {event.url: bool(event.data["on_topic"]) for event in crawl.events if event.kind == "page"}
    pairs = [
        (verdicts.get(url, False), page.on_target)
        for url, page in zip(crawl.urls, crawl.record.fetched, strict=True)
    ]
    both = sum(said and true for said, true in pairs)
    said, true = sum(said for said, _ in pairs), sum(true for _, true in pairs)
    return {"judged_precision": both / said if said else 0.0, "judged_recall": both / true if true else 0.0}


@gives("hosts_fetched", "hosts_with_target")
def hosts_reached(crawl: Finished) -> dict[str, float]:
    """Hosts among the pages fetched, and hosts with a target among them."""
    hosts = [url.split("/", 3)[2] for url in crawl.urls]
    with_target = {host for host, page in zip(hosts, crawl.record.fetched, strict=True) if page.on_target}
    return {"hosts_fetched": float(len(set(hosts))), "hosts_with_target": float(len(with_target))}


@gives("suggest_answers")
def suggestions(crawl: Finished) -> dict[str, float]:
    """Answers of discovery sources (search engines, backlinks) in the crawl."""
    answers = [event for event in crawl.events if event.kind == "suggest"]
    return {"suggest_answers": float(len(answers))}


EXTRAS: dict[str, Extra] = {
    "topic_tokens_in_urls": topic_tokens_in_urls,
    "judged": judged,
    "hosts_reached": hosts_reached,
    "suggestions": suggestions,
}
"""By the name that experiment files use."""


def find_extra(name: str) -> Extra:
    """An extra measure by its name, or by `module:function`."""
    module, colon, function = name.partition(":")
    if not colon:
        if name not in EXTRAS:
            raise HoneyguideError(f"unknown extra measure {name!r}; {nearest(name, EXTRAS)}")
        return EXTRAS[name]
    try:
        extra: Extra = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise HoneyguideError(f"cannot import the measure {name!r} ({error}); correct its name") from None
    return extra
