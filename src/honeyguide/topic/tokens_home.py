"""Where the table of tokens lies that `honeyguide topic map-token` writes."""

from __future__ import annotations

import os
from pathlib import Path


def personal_table_file() -> Path:
    """`topic-tokens.tsv` in `HONEYGUIDE_HOME`, or in the user's data folder."""
    home = os.environ.get("HONEYGUIDE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share" / "honeyguide") / "topic-tokens.tsv"
