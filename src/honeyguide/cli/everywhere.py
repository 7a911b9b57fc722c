"""What commands share: `--debug`, `--log-format`, `--log-level`, which none declares, and `--out`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import get_args

from cyclopts import Parameter

from honeyguide.errors import HoneyguideError
from honeyguide.log import LEVELS, Format, write_logs

OUT = Parameter(name=("--out", "-o"))
"""What a command writes."""
OLD_NAMES = {"--to": "--out", "--output": "--out", "--plot": "--out", "--png": "--out"}
"""Names of options that were replaced; they still work."""
_FORMATS: tuple[Format, ...] = get_args(Format)


def take_common(words: list[str], environment: Mapping[str, str]) -> bool:
    """Take the common options out of what was typed and follow them; whether to show tracebacks.

    Old names of options are replaced by today's.

    Args:
        words: What was typed; shortened.
        environment: `HONEYGUIDE_DEBUG`, `HONEYGUIDE_LOG_FORMAT` and `HONEYGUIDE_LOG_LEVEL` say the same.

    Raises:
        HoneyguideError: An unknown format or level.
    """
    for place, word in enumerate(words[: _end(words)]):
        name, equals, value = word.partition("=")
        words[place] = OLD_NAMES.get(name, name) + equals + value
    debug = _flag(words, "--debug") or environment.get("HONEYGUIDE_DEBUG", "").lower() in ("1", "true", "yes")
    named = _value(words, "--log-format") or environment.get("HONEYGUIDE_LOG_FORMAT", "")
    level = _value(words, "--log-level") or environment.get("HONEYGUIDE_LOG_LEVEL", "")
    if not named and not level:
        return debug
    chosen = next((one for one in _FORMATS if one == (named or "text").lower()), None)
    if chosen is None:
        raise HoneyguideError(f"--log-format {named}: use one of {', '.join(_FORMATS)}")
    if level and level.lower() not in LEVELS:
        raise HoneyguideError(f"--log-level {level}: use one of {', '.join(LEVELS)}")
    write_logs(sys.stderr, chosen, LEVELS[level.lower() or "info"])
    return debug


def _flag(words: list[str], name: str) -> bool:
    if name not in words[: _end(words)]:
        return False
    words.remove(name)
    return True


def _value(words: list[str], name: str) -> str:
    """The value of an option, as `--name value` or `--name=value`; empty when it is not there."""
    for place, word in enumerate(words[: _end(words)]):
        if word.startswith(f"{name}="):
            del words[place]
            return word.partition("=")[2]
        if word == name:
            if place + 1 >= len(words):
                raise HoneyguideError(f"{name} needs a value; see honeyguide --help")
            value = words[place + 1]
            del words[place : place + 2]
            return value
    return ""


def _end(words: list[str]) -> int:
    return words.index("--") if "--" in words else len(words)
