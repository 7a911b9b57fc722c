"""One writer a collection: an advisory lock beside the state file."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from honeyguide.errors import CollectionError
from honeyguide.store.plain import open_plain, read_plain


class Lock:
    """Holds `<path>.lock` until closed or until the process ends, however it ends.

    The lock file itself stays: removing it would let two processes lock two different files of that name.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            CollectionError: another process, or another part of this one, holds it.
        """
        name = path.with_name(path.name + ".lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = open_plain(name, os.O_RDWR | os.O_CREAT)
        except OSError as problem:
            raise CollectionError(
                f"{name} cannot be written: {problem.strerror or problem}; check the folder's permissions"
            ) from problem
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            if holder == str(os.getpid()):
                raise CollectionError(
                    f"{path.parent} is in use by this very program: a crawl of it runs, or was left before"
                    " its end; stop() it and let it end first"
                ) from problem
            raise CollectionError(
                f"{path.parent} is in use by another process (pid {holder}); stop it first"
            ) from problem
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)

    def close(self) -> None:
        """Let the next writer in; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def holder(path: Path) -> int:
    """Process that holds the lock of a file, 0 when none does: told by its number, without taking the lock.

    Taking it, even for a moment, could turn away a crawl that is just starting.
    """
    name = path.with_name(path.name + ".lock")
    process = 0
    try:
        text = read_plain(name, most=1024)[:20].decode("ascii").strip()
        process = int(text) if text.isdigit() else 0
        if process:
            os.kill(process, 0)
    except PermissionError:
        pass  # somebody else's, but alive
    except (OSError, ValueError, OverflowError, CollectionError):
        return 0
    return 0 if process and _began_after(process, name) else process


def _began_after(process: int, file: Path) -> bool:
    """Whether a process is younger than a file: then it only has the number of the one that wrote it."""
    try:
        ticks = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
        age = up - ticks / os.sysconf("SC_CLK_TCK")
        return age + 2.0 < time.time() - file.stat().st_mtime
    except (OSError, ValueError, IndexError):
        return False  # not Linux: the number alone must do
