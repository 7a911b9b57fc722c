"""Browsers in processes that can be killed: pages in, rendered documents out.

Each browser is a fresh interpreter (`honeyguide.fetch.browser_worker`) with one Chromium, on a socket pair;
it renders one page at a time. Browsers are started when they are first needed. One that hangs, dies or takes
too much memory is killed with all its processes, and the next page gets another.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from honeyguide.fetch.browser_messages import (
    HEADER,
    MAX_FRAME,
    Answer,
    FromBrowser,
    NotRendered,
    Ready,
    Rendered,
    RenderJob,
    Wanted,
)
from honeyguide.fetch.browser_program import SANDBOX, browsers_folder
from honeyguide.fetch.process_tree import descendants, end_all, own_memory

START_TIMEOUT: Final = 60.0
"""Seconds a browser may take to start on a busy machine."""
MORE_TIME: Final = 10.0
"""Seconds beyond its limit after which a browser that says nothing is killed."""
PAGES: Final = 200
"""Pages after which a browser is replaced by a fresh one."""
LONGEST_FOLDER: Final = 30
FAILED_STARTS: Final = 3
"""Browsers in a row that did not start, after which no more are tried."""
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "FONTCONFIG_PATH", SANDBOX)
"""Variables that a browser is given. The others may hold secrets."""

Ask: TypeAlias = Callable[[Wanted], Awaitable[Answer]]
"""Answers the requests of one page."""


class BrowserPool:
    """Renders pages in browsers.

    Args:
        program: The browser: a path, or `browser_program.OWN`.
        browsers: How many may run at once.
        agent: What `navigator.userAgent` says.
        language: Preferred language, such as `en`.

    A page's requests are answered by whoever calls: the browser itself reaches nothing.
    """

    def __init__(self, program: str, *, browsers: int = 4, agent: str = "honeyguide", language: str = "en"):
        self._program = program
        self._agent = agent
        self._language = language
        self._free: list[_Browser] = []
        self._running: set[_Browser] = set()
        self._slots = asyncio.Semaphore(browsers)
        self._closed = False
        self._bad_starts = 0
        self.problem = ""
        """Why no browser is tried any more."""
        self.replaced = 0
        """Browsers that died or were killed."""

    async def render(self, job: RenderJob, ask: Ask) -> Rendered | NotRendered:
        """The page as it stands when its scripts have run, or why there is none.

        Args:
            job: The page as received.
            ask: Answers its requests.
        """
        if self._closed:
            raise RuntimeError("the browser pool is closed: make a new one")
        async with self._slots:
            if self.problem:
                return NotRendered(self.problem)
            browser = self._free.pop() if self._free else None
            whole = False
            try:
                if browser is None:
                    browser = self._start()
                result = await browser.render(job, ask)
                whole = browser.usable
            except OSError as error:
                result = NotRendered(f"no browser could be started: {error}")
            finally:
                if browser is not None:
                    await self._after(browser, whole=whole and not self._closed)
            return result

    def processes(self) -> list[int]:
        """Process ids of the browsers' own processes."""
        return [browser.process.pid for browser in self._running]

    def memory(self) -> int:
        """Bytes that all browsers take now."""
        return own_memory([pid for one in self.processes() for pid in (one, *descendants(one))])

    async def close(self) -> None:
        """End all browsers."""
        self._closed = True
        self._free.clear()
        await asyncio.gather(*(browser.end() for browser in tuple(self._running)))
        self._running.clear()

    def _start(self) -> _Browser:
        browser = _Browser(self._program, self._agent, self._language)
        self._running.add(browser)
        return browser

    async def _after(self, browser: _Browser, *, whole: bool) -> None:
        self._bad_starts = 0 if browser.started else self._bad_starts + 1
        if self._bad_starts >= FAILED_STARTS:
            self.problem = browser.why
        if whole and browser.pages < PAGES:
            self._free.append(browser)
            return
        self.replaced += not whole
        self._running.discard(browser)
        await browser.end()


def _short_folder() -> str | None:
    """Where browsers keep their files: the names of their sockets may have 107 characters only."""
    return None if len(tempfile.gettempdir()) <= LONGEST_FOLDER else "/tmp"  # noqa: S108 - mkdtemp is safe there


class _Browser:
    """One browser's process."""

    def __init__(self, program: str, agent: str, language: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="honeyguide-browser-", dir=_short_folder())
        self.pages = 0
        self.started = False
        self.usable = False
        self.why = ""
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(FromBrowser).decode
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        ours, theirs = socket.socketpair()
        self._socket = ours
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= {
            "HOME": self.folder,
            "TMPDIR": self.folder,
            "XDG_CONFIG_HOME": self.folder,
            "XDG_CACHE_HOME": self.folder,
            "PLAYWRIGHT_BROWSERS_PATH": str(browsers_folder()),
        }
        # -P: a file in the current folder must not stand in for one of our modules.
        command = [sys.executable, "-P", "-m", "honeyguide.fetch.browser_worker", str(theirs.fileno())]
        with theirs:
            try:
                self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    [*command, program, agent, language],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment,
                    cwd=self.folder,
                )
            except OSError:
                ours.close()
                shutil.rmtree(self.folder, ignore_errors=True)
                raise
        ours.setblocking(False)

    async def render(self, job: RenderJob, ask: Ask) -> Rendered | NotRendered:
        """Render one page; `usable` says whether the browser may have another."""
        self.usable = False
        tasks: set[asyncio.Task[None]] = set()
        result: Rendered | NotRendered
        try:
            if not await self._is_ready():
                return NotRendered(self.why)
            self._send(job)
            async with asyncio.timeout(job.limits.seconds + MORE_TIME):
                while not isinstance(message := await self._receive(), Rendered | NotRendered):
                    if isinstance(message, Wanted):
                        task = asyncio.ensure_future(self._answer(message, ask))
                        tasks.add(task)
                        task.add_done_callback(tasks.discard)
            result = message
            self.pages += 1
            self.usable = isinstance(result, Rendered)
        except TimeoutError:
            result = NotRendered(f"the browser said nothing for {job.limits.seconds + MORE_TIME:g} s")
        except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError):
            result = NotRendered("the browser died")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return result

    async def end(self) -> None:
        """Kill all its processes and remove its files."""
        self.usable = False
        if self._writer is not None:
            self._writer.transport.abort()
        else:
            self._socket.close()
        await asyncio.to_thread(self._kill)

    def _kill(self) -> None:
        end_all(self.process.pid)
        self.process.wait()
        for _ in range(3):  # what was killed may still write for a moment
            shutil.rmtree(self.folder, ignore_errors=True)
            if not Path(self.folder).exists():
                return

    async def _is_ready(self) -> bool:
        """Wait until the browser waits for a page."""
        if self._reader is None:
            self._reader, self._writer = await asyncio.open_connection(sock=self._socket, limit=1 << 20)
        try:
            async with asyncio.timeout(START_TIMEOUT):
                message = await self._receive()
        except TimeoutError:
            self.why = f"the browser did not start within {START_TIMEOUT:g} s"
            return False
        except (OSError, asyncio.IncompleteReadError):
            self.why = "the browser died" if self.started else "the browser did not start"
            return False
        if isinstance(message, Ready):
            self.started = True
            return True
        self.why = message.reason if isinstance(message, NotRendered) else "the browser is out of step"
        return False

    async def _answer(self, wanted: Wanted, ask: Ask) -> None:
        answer = await ask(wanted)
        self._send(answer)

    def _send(self, message: RenderJob | Answer) -> None:
        assert self._writer is not None
        frame = self._encode(message)
        self._writer.write(HEADER.pack(len(frame)) + frame)

    async def _receive(self) -> FromBrowser:
        assert self._reader is not None
        (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
        if length > MAX_FRAME:
            raise ConnectionError(f"a message of {length} bytes")
        message: FromBrowser = self._decode(await self._reader.readexactly(length))
        return message
