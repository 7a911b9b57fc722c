"""A word about keywords that do nothing."""

from __future__ import annotations

from honeyguide.cli.output import note
from honeyguide.config.schema import Config


def warn_of_wordless(config: Config) -> None:
    """Name the keywords that hold no word that is counted."""
    from honeyguide.topic.wordless import NOT_COUNTED, wordless  # imports the tokeniser

    found = wordless(config.topic.keywords, config.topic.languages)
    if found:
        named = ", ".join(map(repr, found[:5])) + (" and others" if len(found) > 5 else "")
        note(f"warning: pages cannot be judged by {named}: {NOT_COUNTED}")
