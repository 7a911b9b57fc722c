"""A process and all that it started: how much memory they take, and their end. Linux only, by /proc.

Chromium puts its processes into groups of their own, so a group is not enough to end them.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def descendants(pid: int) -> list[int]:
    """Processes below one, children before their own children."""
    below: dict[int, list[int]] = {}
    with suppress(OSError):
        for name in os.listdir(_PROC):  # noqa: PTH208 - names only, ten times a second
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError):
                    stat = (_PROC / name / "stat").read_text("ascii", "replace")
                    below.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found: list[int] = []
    todo = [pid]
    while todo:
        children = below.get(todo.pop(0), [])
        found += children
        todo += children
    return found


def own_memory(pids: list[int]) -> int:
    """Bytes that processes hold for themselves: what is read from files is shared and not counted."""
    kibibytes = 0
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            for line in (_PROC / str(pid) / "status").read_text("ascii", "replace").splitlines():
                if line.startswith(("RssAnon:", "RssShmem:")):
                    kibibytes += int(line.split()[1])
    return kibibytes * 1024


def end_all(pid: int, *, itself: bool = True) -> None:
    """Kill a process and all below it, also what they start meanwhile.

    Args:
        pid: Of the process.
        itself: Whether to kill it, too.
    """
    for _ in range(10):
        found = descendants(pid)
        for one in (*([pid] if itself else []), *found):
            with suppress(OSError):
                os.kill(one, signal.SIGKILL)
        if not found:
            return
        itself = False
