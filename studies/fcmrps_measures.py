"""What the FCMRPS study reports beyond the lab's own measures, for `extra_measures` of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.lab.measures.extras import Finished, gives
from honeyguide.ordering.url_tokens import UrlTokens, spelled
from honeyguide.relevance.description_cosine import THRESHOLD
from honeyguide.topic.taxonomy_vector import labels_of
from honeyguide.topic.tokens import built_in_table


@gives("precision_by_description")
def by_description(crawl: Finished) -> dict[str, float]:
    """Precision as the study has it: share of pages whose cosine with the description is high enough.

    Means something with `[evaluation] model = "description-cosine"` only, which grades by that cosine.
    """
    grades = [page.relevance for page in crawl.record.fetched]
    relevant = sum(grade > THRESHOLD for grade in grades)
    return {"precision_by_description": relevant / len(grades) if grades else 0.0}


@gives(
    "targets_with_topic_token", "targets_with_context_token",
    "described_with_topic_token", "described_with_context_token",
)  # fmt: skip
def tokens_in_urls(crawl: Finished) -> dict[str, float]:
    """R_at and R_act: share of relevant pages whose URL holds a token of the topic, or else of its context.

    Relevant are the targets (by label) in the first pair of numbers, and the pages with a high cosine with
    the description in the second.
    """
    labels = labels_of(crawl.situation.task.path)
    tokens = UrlTokens(spelled(labels, built_in_table()), labels.weights)
    fetched = list(zip(crawl.urls, crawl.record.fetched, strict=True))
    groups = {
        "targets": [url for url, page in fetched if page.on_target],
        "described": [url for url, page in fetched if page.relevance > THRESHOLD],
    }
    found: dict[str, float] = {}
    for name, urls in groups.items():
        topic, context = _shares(tokens, urls, len(labels.names) - 1)
        found[f"{name}_with_topic_token"] = topic
        found[f"{name}_with_context_token"] = context
    return found


def _shares(tokens: UrlTokens, urls: Sequence[str], topic: int) -> tuple[float, float]:
    """Shares with a topic token, and with a contextual token but no topic token."""
    own = around = 0
    for url in urls:
        held = {match.label for match in tokens.match(url).matches}
        own += topic in held
        around += bool(held) and topic not in held
    return (own / len(urls), around / len(urls)) if urls else (0.0, 0.0)


@gives("targets_english", "targets_chinese")
def languages_reached(crawl: Finished) -> dict[str, float]:
    """Targets found by host language, where hosts are called `en.` and `zh.`."""
    hits = [url for url, page in zip(crawl.urls, crawl.record.fetched, strict=True) if page.on_target]
    return {
        "targets_english": float(sum("://en." in url for url in hits)),
        "targets_chinese": float(sum("://zh." in url for url in hits)),
    }
