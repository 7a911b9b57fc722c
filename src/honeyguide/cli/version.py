"""`honeyguide version`."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import version

from honeyguide.cli.output import print_facts


def show_version(*, json: bool = False) -> None:
    """Print the version of Honeyguide and of what it runs on.

    Args:
        json: Print JSON.
    """
    facts = {
        "honeyguide": version("honeyguide"),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "platform": platform.platform(),
    }
    print_facts(facts, json=json)
