"""Crawls that the portal starts: processes of their own, so that a busy portal slows no crawl."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO

from honeyguide.errors import HoneyguideError

_PATIENCE = 15.0
"""Seconds a crawl gets to stop in order when the portal ends."""
_LAST_WORDS = 5.0
"""Seconds a command gets to end before another one is refused: a stopped crawl still prints its figures."""


class Launcher:
    """Starts one `honeyguide` command at a time and remembers how it ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: BinaryIO | None = None
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether the last one started has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def problem(self) -> str:
        """The last line of a command that failed; empty when all is well."""
        if self._process is None or self._process.poll() in (None, 0) or self._log is None:
            return ""
        with self._lock:
            self._log.seek(max(0, self._log.seek(0, 2) - 4_000))
            lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:500] if lines else f"it ended with status {self._process.returncode}"

    def start(self, arguments: Sequence[str]) -> None:
        """Run `honeyguide ARGUMENTS` in the background.

        Raises:
            HoneyguideError: one is running already, or the portal is closing.
        """
        with self._lock:
            if self._closed:  # nobody would wait for its end
                raise HoneyguideError("the portal is closing; run the command yourself")
            if self._process is not None:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_LAST_WORDS)
            if self.running:
                raise HoneyguideError("a crawl started here is still running; stop it first")
            if self._log is not None:
                self._log.close()
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - read after the command has ended
            # A session of its own: Ctrl-C ends the portal, which then asks this to stop in order.
            self._process = subprocess.Popen(  # noqa: S603 - our own verbs
                [sys.executable, "-m", "honeyguide", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,
            )

    def close(self) -> None:
        """Stop what is running, in order where that is possible. Nothing is started after that."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)
            if process.poll() is None:
                process.kill()
                process.wait()
        if self._log is not None:
            self._log.close()
            self._log = None
