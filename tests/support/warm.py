"""Commands of the real program without the second that each would take to import it.

One process for each process of pytest imports what commands use, and forks for every command; the child gets
its own words, folder, environment and streams, and runs `honeyguide` as `python -m honeyguide` would. What a
command costs to start, and what it imports, has tests with processes of its own
(`tests/cli/test_imports.py`).

Example:
    >>> run_command("version").returncode
    0
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

ROOMS = ("honeyguide.cli", "honeyguide.job", "honeyguide.ordering")
"""Packages whose modules are imported once, with what they use."""


def run_command(
    *words: object,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input: str = "",  # noqa: A002  As `subprocess.run` calls it.
    timeout: float = 120.0,
) -> subprocess.CompletedProcess[str]:
    """Run `honeyguide` with these words and wait for its end.

    Raises:
        subprocess.TimeoutExpired: It took too long, and was killed.
    """
    command = [str(word) for word in words]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "in").write_text(input)
        order = {
            "words": command,
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "streams": str(place),
        }
        status = _server().run(order, timeout)
        out, err = ((place / name).read_text(errors="replace") for name in ("out", "err"))
    if status is None:
        raise subprocess.TimeoutExpired(command, timeout, out, err)
    return subprocess.CompletedProcess(command, status, out, err)


class _Server:
    """The process that forks; one command at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()
        atexit.register(self.close)

    def close(self) -> None:
        """End it; it ends by itself when nobody can ask any more."""
        self._process.communicate()

    def run(self, order: Mapping[str, object], timeout: float) -> int | None:
        """The command's exit status; None where it had to be killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            child = int(self._process.stdout.readline())
            late = threading.Event()

            def kill() -> None:
                late.set()
                os.kill(child, 9)

            timer = threading.Timer(timeout, kill)
            timer.start()
            status = int(self._process.stdout.readline())
            timer.cancel()
        return None if late.is_set() else status


@lru_cache(maxsize=1)
def _server() -> _Server:
    return _Server()


def _serve() -> None:
    """Fork for each line that comes."""
    for name in ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            # Compiled when first used, which forks could not share.
            if "evolved" not in module.name:
                importlib.import_module(module.name)
    gc.freeze()
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            _become(order["words"], order["folder"], order["environment"], Path(order["streams"]))
            return
        _say(child)
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _become(words: Sequence[str], folder: str, environment: Mapping[str, str], streams: Path) -> None:
    """Be the program, from here to the end of this process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, (name, mode) in enumerate((("in", "r"), ("out", "w"), ("err", "w"))):
        with (streams / name).open(mode) as opened:
            os.dup2(opened.fileno(), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["honeyguide", *words]
    try:
        runpy.run_module("honeyguide", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        # Taking the imported world apart would cost more than the command.
        os._exit(status)


if __name__ == "__main__":
    _serve()
