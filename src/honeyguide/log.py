"""Logs a program can read: one line for each thing that happened, as text or as JSON.

Everything is said to Python's logger `honeyguide`, so a host application configures it as it does any other;
`write_logs` is what the command line uses. Levels:

- `error`, `warning`: what a person should look at.
- `info`: a crawl starts, how far it is every ten seconds, what it learned, why it stopped.
- `debug`: one line for each decision: a URL queued or dropped, chosen, judged, ended, and why.

Each line has `time`, `level`, `event` and the facts of the event. Texts from the web cannot forge a line:
JSON escapes them, and the text format quotes whatever is not plain.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import IO, Literal

LOG = logging.getLogger("honeyguide")
# Else Python prints the bare word "warning" where nobody configured logs.
LOG.addHandler(logging.NullHandler())
DEBUG, INFO, WARNING, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR
LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR}
Format = Literal["text", "json"]
_ours: list[logging.Handler] = []


def say(level: int, event: str, /, **facts: object) -> None:
    """Log an event with its facts; cheap when nobody listens.

    Args:
        level: One of `LEVELS`.
        event: What happened, in a few words that never vary.
        facts: Plain values: texts, numbers, lists of them.
    """
    if LOG.isEnabledFor(level):
        LOG.log(level, event, extra={"facts": facts})


def write_logs(stream: IO[str], format: Format = "text", level: int = INFO) -> None:  # noqa: A002
    """Send all logs of this process to a stream; what other libraries say from `warning` on.

    Args:
        stream: Where to write, a line an event.
        format: `text` for people, `json` for programs.
        level: The least level of Honeyguide's own lines.
    """
    stop_logs()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(WARNING)
    LOG.setLevel(level)
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False  # a reader that went away must not end a crawl
    _ours.append(handler)


def stop_logs() -> None:
    """Undo `write_logs`."""
    for handler in _ours:
        logging.getLogger().removeHandler(handler)
    if _ours:
        LOG.setLevel(logging.NOTSET)
        logging.captureWarnings(capture=False)
    _ours.clear()


def writes_logs() -> bool:
    """Whether `write_logs` is in force: then standard error belongs to the logs."""
    return bool(_ours)


class JsonLines(logging.Formatter):
    """A JSON object a line, in ASCII: `{"time": ..., "level": "info", "event": "crawl started", ...}`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return json.dumps(_entry(self, record), default=str)


class TextLines(logging.Formatter):
    """`2026-01-31T12:00:00.123Z info crawl started topic=owls pages=0`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        entry = _entry(self, record)
        head = f"{entry.pop('time')} {entry.pop('level')} {_plain(entry.pop('event'), ' ')}"
        return " ".join([head, *(f"{name}={_plain(value)}" for name, value in entry.items())])


def _entry(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, object]:
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    entry: dict[str, object] = {
        "time": at.replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "event": record.getMessage(),
    }
    if not record.name.startswith(LOG.name):
        entry["logger"] = record.name
    for name, value in getattr(record, "facts", {}).items():
        entry[name if name not in entry else f"{name}_"] = value
    if record.exc_info:
        entry["traceback"] = formatter.formatException(record.exc_info)
    return entry


def _plain(value: object, also: str = "") -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if text and text.isprintable() and not (set(' "=') - set(also)) & set(text):
        return text
    return text if not isinstance(value, str) else json.dumps(value)
