"""Keys of topic files by environment variables; the parser itself reads those of commands' options."""

from __future__ import annotations

import os

from honeyguide.cli.verbs import VERBS
from honeyguide.config.environment import PREFIX, with_environment
from honeyguide.config.schema import Config

_OPTIONS = (
    "TOPIC", "KEYWORDS", "SEEDS_FILE", "OUT", "ALLOW_NET", "METRICS", "TRUST", "UI", "JSON", "QUIET",
)  # fmt: skip
"""Of `crawl`, where they mean no key of the table of the same name."""


def by_environment(config: Config) -> Config:
    """The configuration with what environment variables set: what the operator says needs no trust."""
    verbs = [verb.name.upper().replace(" ", "_").replace("-", "_") for verb in VERBS if " " in verb.name]
    others = [f"{PREFIX}{verb}_" for verb in verbs] + [f"{PREFIX}CRAWL_{option}" for option in _OPTIONS]
    return with_environment(config, os.environ, others=others)
