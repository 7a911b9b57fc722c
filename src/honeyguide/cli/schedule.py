"""`honeyguide schedule`."""

from __future__ import annotations

import re
import shlex
import sys
import zlib
from pathlib import Path
from typing import Literal

from honeyguide.cli.output import note, print_json
from honeyguide.errors import TopicError
from honeyguide.store.layout import Layout

Every = Literal["hour", "day", "week", "month"]
_CALENDAR = {
    "hour": "*-*-* *:{m}:00",
    "day": "*-*-* {t}:00",
    "week": "Mon *-*-* {t}:00",
    "month": "*-*-01 {t}:00",
}
_CRON = {"hour": "{m} * * * *", "day": "{m} {h} * * *", "week": "{m} {h} * * 1", "month": "{m} {h} 1 * *"}


def schedule(
    folder: Path,
    /,
    *,
    every: Every = "day",
    at: str = "",
    budget: int | None = None,
    older_than: str = "",
    cron: bool = False,
    json: bool = False,
) -> None:
    """Print a systemd timer, or a cron line, that visits a collection again by itself.

    Nothing is installed: the printed text says where it goes. A run that is still busy when the next one is
    due is left alone, and one that was killed is taken up by the next.

    Args:
        folder: The collection.
        every: How often.
        at: Time of day, such as 03:30; by default one at night that differs from collection to collection.
            For an hour, only the minutes count.
        budget: Visits of one run; by default every page that is due.
        older_than: Leave out pages visited within this time, such as 7d.
        cron: Print a line for crontab instead.
        json: Print the units, or the line, as JSON.
    """
    layout = Layout.open(folder)
    root = layout.root.resolve()
    hour, minute = _time(at, str(root))
    program = Path(sys.executable).with_name("honeyguide")
    words = [str(program) if program.is_file() else "honeyguide", "recrawl", str(root)]
    words += ["--budget", str(budget)] if budget is not None else []
    words += ["--older-than", older_than] if older_than else []
    places = {"h": str(hour), "m": str(minute), "t": f"{hour:02d}:{minute:02d}"}
    name = "honeyguide-" + (re.sub(r"[^a-z0-9]+", "-", root.name.lower()).strip("-") or "collection")
    if cron:
        line = f"{_CRON[every].format(**places)} {shlex.join([*words, '--quiet'])}".replace("%", r"\%")
        if json:
            print_json({"cron": line})
        else:
            print(line)
            note("add it with: crontab -e")
        return
    calendar = _CALENDAR[every].format(**(places | {"m": f"{minute:02d}"}))
    service, timer = _service(root, [*words, "--log-format", "text"]), _timer(root, calendar)
    if json:
        print_json({f"{name}.service": service, f"{name}.timer": timer})
        return
    for suffix, text in (("service", service), ("timer", timer)):
        print(f"# ~/.config/systemd/user/{name}.{suffix}")
        print(text)
    print(f"# then: systemctl --user daemon-reload && systemctl --user enable --now {name}.timer")
    print("# to let it run while you are logged out: loginctl enable-linger")


def _time(at: str, name: str) -> tuple[int, int]:
    if not at:
        # Not everybody at the same minute: sites would meet all crawlers of the world at midnight.
        chance = zlib.crc32(name.encode("utf-8", "replace"))
        return 1 + chance % 5, chance // 5 % 60
    match = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", at)
    if match is None:
        raise TopicError(f"--at {at}: write a time of day such as 03:30")
    return int(match[1]), int(match[2])


def _service(root: Path, words: list[str]) -> str:
    return f"""[Unit]
Description=Honeyguide visits {_plain(root.name)} again
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
WorkingDirectory={_unit(str(root.parent), quoted=False)}
ExecStart={" ".join(_unit(word) for word in words)}
KillSignal=SIGTERM
TimeoutStopSec=120
Nice=10
"""


def _timer(root: Path, calendar: str) -> str:
    return f"""[Unit]
Description=When Honeyguide visits {_plain(root.name)} again

[Timer]
OnCalendar={calendar}
RandomizedDelaySec=10min
Persistent=true

[Install]
WantedBy=timers.target
"""


def _unit(word: str, *, quoted: bool = True) -> str:
    """A word of a unit file: systemd expands % and $, and reads quotes and backslashes."""
    word = word.replace("%", "%%")
    if not quoted:
        return word
    word = word.replace("\\", "\\\\").replace("$", "$$").replace('"', '\\"')
    return f'"{word}"' if re.search(r"[\s'\"\\;]", word) else word


def _plain(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable()).replace("%", "%%")
