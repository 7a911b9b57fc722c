"""A word about keywords that do nothing, or less than they say."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.cli.output import warn
from honeyguide.config.schema import Config


def warn_of_wordless(config: Config) -> None:
    """Name the keywords that hold no word that is counted, and those that are read as other words."""
    from honeyguide.topic.wordless import NOT_COUNTED, lessened, wordless  # imports the tokeniser

    topic = config.topic
    if found := wordless(topic.keywords, topic.languages):
        warn(f"pages cannot be judged by {_some([repr(one) for one in found])}: {NOT_COUNTED}")
    if less := lessened(topic.keywords, topic.languages):
        read = _some([f"{one!r} is read as {rest!r}" for one, rest in less.items()])
        warn(f"{read}: signs and single letters are not counted; add words that go with it, or example pages")


def _some(told: Sequence[str]) -> str:
    return ", ".join(told[:5]) + (" and others" if len(told) > 5 else "")
