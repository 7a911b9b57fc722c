"""One browser in a process of its own, `python -m honeyguide.fetch.browser_worker`.

The process exists to be killed: it drives one Chromium through Playwright, one page at a time, and asks the
crawl for everything that a page wants. A page gets the answer that the crawl has fetched. Of what it asks
for, images, fonts, media, frames and other methods than GET are refused here; the rest goes to the crawl,
which knows robots.txt and the rules of egress. Whatever gets past interception meets a proxy that does not
exist (`browser_program`). What the page holds in the end is read from an isolated world, where its scripts
cannot have changed anything.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

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
    RenderLimits,
    ToBrowser,
    Wanted,
)
from honeyguide.fetch.browser_program import OWN, arguments, sandboxed
from honeyguide.fetch.process_tree import descendants, end_all, own_memory

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Request, Route

ASKED_FOR: Final = frozenset({"script", "stylesheet", "fetch", "xhr", "other"})
"""Kinds of requests that are made. `other` has scripts that workers import."""
QUIET: Final = 0.5
"""Seconds without a request and without a change after which a page counts as done."""
EMPTY_QUIET: Final = 2.0
"""The same for a page that shows no text yet."""
SOME_TEXT: Final = 200
"""Characters from which on a page shows something."""
GRACE: Final = 2.0
"""Seconds to read a page whose time is over."""
WATCH: Final = 0.1
"""Seconds between two looks at the memory."""
MAX_FILE: Final = 1 << 30

_STATE: Final = """[
  document.documentElement.scrollHeight,
  document.getElementsByTagName('*').length,
  document.body ? document.body.textContent.length : 0,
]"""
_LONGER: Final = "document.documentElement.scrollHeight > window.innerHeight"
_SCROLL: Final = "window.scrollTo(0, document.documentElement.scrollHeight)"
_READ: Final = """((limit, target) => {
  const unfold = (root) => {
    for (const host of root.querySelectorAll('*')) {
      const shadow = host.shadowRoot;
      if (!shadow) continue;
      unfold(shadow);
      for (const slot of shadow.querySelectorAll('slot')) {
        const given = slot.assignedNodes();
        if (given.length) slot.replaceChildren(...given);
      }
      host.replaceChildren(...shadow.childNodes);
    }
  };
  unfold(document);
  for (const script of document.querySelectorAll('script'))
    if (!/ld\\+json/i.test(script.type)) script.remove();
  const hints = ['preload', 'modulepreload', 'prefetch', 'preconnect', 'dns-prefetch'];
  for (const hint of document.querySelectorAll(hints.map((name) => `link[rel~=${name}]`).join()))
    hint.remove();
  const head = document.head || document.documentElement;
  if (document.baseURI !== document.URL.split('#')[0] || location.href.split('#')[0] !== target.url) {
    let base = document.querySelector('base');
    const address = document.baseURI;
    if (!base) head.prepend(base = document.createElement('base'));
    base.setAttribute('href', address);
  }
  if (target.went) {
    const meta = document.createElement('meta');
    meta.setAttribute('http-equiv', 'refresh');
    meta.setAttribute('content', '0; url=' + target.went);
    head.append(meta);
  }
  const html = '<!DOCTYPE html>\\n' + document.documentElement.outerHTML;
  return html.length > limit ? '' : html;
})"""


class _Hopeless(Exception):
    """The page cannot be rendered, and its browser may not be usable any more."""


class _Channel:
    """The socket to the crawl."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(ToBrowser).decode

    def send(self, message: FromBrowser) -> None:
        frame = self._encode(message)
        self._writer.write(HEADER.pack(len(frame)) + frame)

    async def sent(self) -> None:
        await self._writer.drain()

    async def receive(self) -> ToBrowser:
        (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
        if length > MAX_FRAME:
            raise ConnectionError(f"a message of {length} bytes")
        message: ToBrowser = self._decode(await self._reader.readexactly(length))
        return message


class _Visit:
    """One page in the browser."""

    def __init__(self, job: RenderJob, channel: _Channel) -> None:
        self._job = job
        self._limits = job.limits
        self._channel = channel
        self._page: Page | None = None
        self._begun = False
        self._went = ""
        self._pop_ups = 0
        self._made = 0
        self.refused = 0
        self.answered = 0
        self._bytes = 0
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._slots = asyncio.Semaphore(job.limits.at_once)
        self._active = time.monotonic()
        self._fault = asyncio.get_running_loop().create_future()

    def take(self, answer: Answer) -> None:
        """An answer of the crawl."""
        waiting = self._waiting.pop(answer.number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    async def run(self, context: BrowserContext, software: str) -> Rendered | NotRendered:
        """Load the page, wait until it is quiet, scroll, and read it."""
        limits = self._limits
        deadline = time.monotonic() + limits.seconds
        await context.route("**/*", self._route)
        await context.route_web_socket("**/*", lambda opened: opened.close())
        context.on("page", self._opened)
        self._page = page = await context.new_page()
        page.on("dialog", lambda dialog: asyncio.ensure_future(_quietly(dialog.dismiss())))
        page.on("crash", lambda _: self._fail("the page crashed; it may have taken too much memory"))
        try:
            cdp = await context.new_cdp_session(page)
            await self._before(page.goto(self._job.url, wait_until="commit"), deadline)
            world = await self._before(_isolated_world(cdp), deadline)
            late, state = await self._quiet(cdp, world, deadline, empty=EMPTY_QUIET)
            scrolls = 0
            while (
                scrolls < limits.scrolls
                and not late
                and await self._before(_evaluate(cdp, world, _LONGER), deadline + GRACE)
            ):
                before = state
                await self._before(_evaluate(cdp, world, _SCROLL), deadline + GRACE)
                late, state = await self._quiet(cdp, world, deadline, empty=QUIET)
                scrolls += 1
                if state == before:
                    break
            arguments_ = msgspec.json.encode(
                {"url": self._job.url.split("#")[0], "went": self._went}
            ).decode()
            read = f"{_READ}({limits.html}, {arguments_})"
            html = await self._before(_evaluate(cdp, world, read), deadline + GRACE)
        except TimeoutError:
            told = f"it could not be read within {limits.seconds:g} s, its scripts leave no pause"
            raise _Hopeless(told) from None
        if not isinstance(html, str) or not html:
            return NotRendered(f"the rendered document has more than {limits.html} characters")
        body = html.encode("utf-8", "replace")
        if len(body) > limits.html:
            return NotRendered(f"the rendered document has more than {limits.html} bytes")
        return Rendered(body, self.answered, self.refused, scrolls, late=late, software=software)

    async def _before(self, work: Any, deadline: float) -> Any:
        """The result of one step of ours, unless the page fails or its time is over first."""
        task = asyncio.ensure_future(work)
        left = max(0.05, deadline - time.monotonic())
        await asyncio.wait({task, self._fault}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if self._fault.done():
            task.cancel()
            raise _Hopeless(self._fault.result())
        if not task.done():
            task.cancel()
            raise TimeoutError
        return task.result()

    async def _quiet(
        self, cdp: CDPSession, world: int, deadline: float, *, empty: float
    ) -> tuple[bool, object]:
        """Wait until nothing is under way and nothing changes.

        Args:
            cdp: To the page.
            world: To look from.
            deadline: When the page's time is over.
            empty: Seconds of quiet for a page that shows no text.

        Returns:
            Whether the time was over first, and how large the page is.
        """
        before: object = None
        changed = time.monotonic()
        while (now := time.monotonic()) < deadline - 0.1:
            state = await self._before(_evaluate(cdp, world, _STATE), deadline + GRACE)
            if state != before:
                before, changed = state, now
            shown = isinstance(state, list) and int(state[2]) >= SOME_TEXT
            if not self._waiting and now - max(changed, self._active) >= (QUIET if shown else empty):
                return False, before
            await self._before(asyncio.sleep(0.1), deadline + GRACE)
        return True, before

    def _fail(self, reason: str) -> None:
        if not self._fault.done():
            self._fault.set_result(reason)

    def _opened(self, page: Page) -> None:
        if self._page is None or page is self._page:
            return
        self._pop_ups += 1
        asyncio.ensure_future(_quietly(page.close()))  # noqa: RUF006 - nobody waits for it
        if self._pop_ups > self._limits.pop_ups:
            self._fail(f"it opens more than {self._limits.pop_ups} windows")

    async def _route(self, route: Route) -> None:
        """Every request of the browser comes here."""
        with suppress(Exception):  # the page may be gone meanwhile
            await self._answer(route, route.request)

    async def _answer(self, route: Route, request: Request) -> None:
        if self._is_own_document(request):
            if not self._begun:
                self._begun = True
                await route.fulfill(status=200, headers=_for_browser(self._job.headers), body=self._job.body)
                return
            if not self._went and request.method == "GET":
                self._went = request.url
            await route.abort("aborted")
            return
        self._made += 1
        kind, limits = request.resource_type, self._limits
        if (
            kind not in ASKED_FOR
            or request.method != "GET"
            or not request.url.startswith(("http://", "https://"))
            or self._made > limits.requests
            or self._bytes > limits.bytes
        ):
            self.refused += 1
            await route.abort("blockedbyclient")
            return
        self._active = time.monotonic()
        number = self._made
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            async with self._slots:
                # All headers would take one more question to the browser for each request.
                self._channel.send(Wanted(number, request.url, kind, tuple(request.headers.items())))
                answer = await future
        finally:
            self._waiting.pop(number, None)
            self._active = time.monotonic()
        if answer.refused:
            self.refused += 1
            await route.abort("blockedbyclient")
            return
        self.answered += 1
        self._bytes += len(answer.body)
        await route.fulfill(status=answer.status, headers=_for_browser(answer.headers), body=answer.body)

    def _is_own_document(self, request: Request) -> bool:
        page = self._page
        return page is not None and request.is_navigation_request() and request.frame == page.main_frame


_PASSED_ON: Final = frozenset(
    (
        *("content-type", "content-security-policy", "content-language", "x-content-type-options"),
        *("referrer-policy", "timing-allow-origin", "cross-origin-resource-policy"),
    )
)


def _for_browser(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The headers that a browser needs; none that make it ask for more (Link, Report-To, Refresh)."""
    kept: dict[str, str] = {}
    for name, value in headers:
        low = name.lower()
        if low in _PASSED_ON or low.startswith("access-control-"):
            kept[low] = f"{kept[low]}, {value}" if low in kept else value
    return kept


async def _isolated_world(cdp: CDPSession) -> int:
    tree = await cdp.send("Page.getFrameTree")
    frame = tree["frameTree"]["frame"]["id"]
    made = await cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "honeyguide"})
    return int(made["executionContextId"])


async def _evaluate(cdp: CDPSession, world: int, expression: str) -> Any:
    answer = await cdp.send(
        "Runtime.evaluate", {"expression": expression, "contextId": world, "returnByValue": True}
    )
    return answer.get("result", {}).get("value")


async def _quietly(work: Any) -> None:
    with suppress(Exception):
        await work


class _Worker:
    """Takes jobs until the crawl hangs up."""

    def __init__(self, channel: _Channel, program: str, agent: str, language: str) -> None:
        self._channel = channel
        self._program = program
        self._agent = agent
        self._language = language
        self._visit: _Visit | None = None
        self._limits = RenderLimits()
        self._jobs: asyncio.Queue[RenderJob] = asyncio.Queue()

    async def run(self) -> None:
        """Start the browser and serve."""
        from playwright.async_api import async_playwright

        sandbox = sandboxed()
        with socket.socket() as dead:
            dead.bind(("127.0.0.1", 0))  # bound, not listening: nobody else can take the port
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=None if self._program == OWN else self._program,
                    args=arguments(dead.getsockname()[1], sandbox=sandbox),
                    chromium_sandbox=sandbox,
                    ignore_default_args=["--disable-popup-blocking"],
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                software = f"Chromium {browser.version}"
                watch = threading.Thread(target=self._watch, daemon=True)
                watch.start()
                listening = asyncio.ensure_future(self._listen())
                listening.add_done_callback(lambda _: leave())
                while True:
                    self._channel.send(Ready(software))
                    await self._serve(browser, await self._jobs.get(), software)

    async def _serve(self, browser: Browser, job: RenderJob, software: str) -> None:
        self._limits = job.limits
        self._visit = visit = _Visit(job, self._channel)
        context = await browser.new_context(
            user_agent=self._agent,
            locale=self._language,
            timezone_id="UTC",
            viewport={"width": 1280, "height": 1600},
            service_workers="block",
            accept_downloads=False,
            permissions=[],
            reduced_motion="reduce",
        )
        result: Rendered | NotRendered
        hopeless = False
        try:
            result = await visit.run(context, software)
        except _Hopeless as error:
            result, hopeless = NotRendered(str(error)), True
        except Exception as error:  # whatever the browser says
            result, hopeless = NotRendered(f"the browser failed: {_first_line(error)}"), True
        self._visit = None
        self._channel.send(result)
        await self._channel.sent()
        if hopeless:
            leave()
        try:
            async with asyncio.timeout(5.0):
                await context.close()
        except Exception:  # a browser that cannot even close a page is replaced
            leave()

    async def _listen(self) -> None:
        while True:
            message = await self._channel.receive()
            if isinstance(message, RenderJob):
                self._jobs.put_nowait(message)
            elif self._visit is not None:
                self._visit.take(message)

    def _watch(self) -> None:
        """Ends the browser when it takes too much memory. A thread: the loop may be busy then."""
        me = os.getpid()
        while True:
            time.sleep(WATCH)
            limit = self._limits.memory
            taken = own_memory(descendants(me))
            if taken > limit:
                end_all(me, itself=False)
                frame = msgspec.msgpack.encode(NotRendered(f"it took more than {limit >> 20} MiB of memory"))
                with suppress(OSError):
                    os.write(CONNECTION, HEADER.pack(len(frame)) + frame)
                leave()


CONNECTION = -1


def _first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return (text[0] if text else type(error).__name__)[:200]


def leave() -> None:
    """End everything that this process started, and itself."""
    end_all(os.getpid(), itself=False)
    if folder := os.environ.get("TMPDIR", ""):
        for _ in range(3):
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


async def _main(connection: socket.socket, program: str, agent: str, language: str) -> None:
    connection.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=connection, limit=1 << 20)
    channel = _Channel(reader, writer)
    try:
        await _Worker(channel, program, agent, language).run()
    except Exception as error:  # the browser did not start
        channel.send(NotRendered(f"the browser did not start: {_told(error)}"))
        await _quietly(channel.sent())


def _told(error: BaseException) -> str:
    text = str(error)
    if "No usable sandbox" in text:
        return "its sandbox is not available here; HONEYGUIDE_BROWSER_SANDBOX=off starts it without one"
    return _first_line(error)


def main(given: list[str]) -> None:
    """Set the limits of this process and serve.

    Args:
        given: File descriptor of the socket, the browser's program, user agent and language.
    """
    global CONNECTION  # noqa: PLW0603 - the thread that watches the memory writes to it
    descriptor, program, agent, language = given
    CONNECTION = int(descriptor)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE, MAX_FILE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl decides when to stop, not the terminal
    os.nice(5)  # pages of strangers come after the crawl itself
    with socket.socket(fileno=CONNECTION) as connection:
        asyncio.run(_main(connection, program, agent, language))
    leave()


if __name__ == "__main__":
    main(sys.argv[1:])
