"""What a topic lacks that a crawl can do without, but had better not."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.cli.output import warn
from honeyguide.config.schema import Config


def warn_of_topic(config: Config) -> None:
    """Say that nobody can be reached, and name keywords that do nothing, or less than they say."""
    if not config.identity.has_contact:
        warn(
            "user_agent in [identity] names no contact; add an address where site owners can reach you"
            " (also: HONEYGUIDE_IDENTITY_USER_AGENT)"
        )
    from honeyguide.topic.wordless import NOT_COUNTED, lessened, wordless  # imports the tokeniser

    topic = config.topic
    if found := wordless(topic.keywords, topic.languages):
        warn(f"pages cannot be judged by {_some([repr(one) for one in found])}: {NOT_COUNTED}")
    if less := lessened(topic.keywords, topic.languages):
        read = _some([f"{one!r} is read as {rest!r}" for one, rest in less.items()])
        warn(f"{read}: signs and single letters are not counted; add words that go with it, or example pages")


def _some(told: Sequence[str]) -> str:
    return ", ".join(told[:5]) + (" and others" if len(told) > 5 else "")
