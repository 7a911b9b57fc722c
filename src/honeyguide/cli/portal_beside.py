"""The portal beside a crawl: a process of its own, so that its readers do not slow the crawl."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from honeyguide.cli.serve import open_browser
from honeyguide.errors import HoneyguideError, MissingExtra
from honeyguide.log import INFO, say, writes_logs

_PATIENCE = 10.0
_LOOK = 0.1


class Beside:
    """A running portal."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address

    def wait(self) -> None:
        """Stay open until the user has had enough (Ctrl-C), or the portal ends by itself."""
        over = False

        def enough(*_: object) -> None:
            # No exception: it could come up between any two lines, also outside of what catches it.
            nonlocal over
            over = True

        # The crawl's loop has had both signals, and need not have given them back as they were.
        before = {number: signal.signal(number, enough) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            # Also where no terminal is: without the token in it nobody can open the portal.
            _tell(f"the portal stays open at {self.address} until Ctrl-C")
            while not over and self._process.poll() is None:
                time.sleep(_LOOK)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _tell(line: str) -> None:
    if writes_logs():  # a log is read by others than those who may enter
        say(INFO, "note", message=line.partition("?token=")[0])
    else:
        print(line, file=sys.stderr, flush=True)


@contextmanager
def portal_beside(folder: Path) -> Iterator[Beside]:
    """Start the portal on a folder, whose collection may come into being a moment later.

    Raises:
        HoneyguideError: It did not start.
    """
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise MissingExtra("the portal", "ui")
    command = [sys.executable, "-m", "honeyguide", "serve", str(folder)]
    process = subprocess.Popen(  # noqa: S603 - our own verb
        [*command, "--new", "--no-open", "--json", "--until-input-ends"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # Ctrl-C stops the crawl first; the portal ends when its input does.
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        told = ""
        while not told.endswith("}\n"):
            line = process.stdout.readline()
            if not line:
                raise HoneyguideError(
                    "the portal did not start; run `honeyguide serve` on the folder to see why"
                )
            told += line
        beside = Beside(process, str(json.loads(told)["portal"]))
        _tell(f"portal: {beside.address}")
        open_browser(beside.address)
        yield beside
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
