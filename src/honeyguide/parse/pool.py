"""Parse in processes that can be killed.

Each worker is a fresh interpreter (`honeyguide.parse.worker`) on a socket pair; the crawl's own process is
never forked, so this works in notebooks and beside threads. Jobs are handed out in the order they
come, to the least busy worker, at most two to each: while one is parsed the next is already there.

A job that takes longer than the deadline, or whose worker dies, ends as a failure; its worker is replaced
and the job that waited behind it is given to another one.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from typing import Final, TypeAlias, cast

import msgspec

from honeyguide.model import Outcome, Page
from honeyguide.parse.base import PackedPage, ParseFailure, ParseJob, Reading
from honeyguide.parse.read import read
from honeyguide.parse.worker import FAILURE, HEADER, JOB, PACKED_PAGE, PAGE, READING

GIBIBYTE: Final = 1 << 30
DEPTH: Final = 2
"""Jobs handed to one worker at a time."""
START_TIMEOUT: Final = 60.0
"""Seconds a worker may take to start on a busy machine."""
MAX_FRAME: Final = 256 << 20
ROOM: Final = 512 << 10
"""Bytes that are read at a time, at most; a longer answer gets more while it is there."""

WORKER_ENVIRONMENT: Final = {
    # Arrays of a page's size would be mapped and unmapped for every page: twice the time.
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(128 << 20),
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}

Answer: TypeAlias = Page | PackedPage | Reading | ParseFailure


class _Ticket:
    """A job under way."""

    __slots__ = ("future", "job")

    def __init__(self, job: ParseJob, future: asyncio.Future[Answer]) -> None:
        self.job = job
        self.future = future

    def answer(self, answer: Answer) -> None:
        if not self.future.done():
            self.future.set_result(answer)


class ParsePool:
    """Parses pages in worker processes.

    Args:
        workers: Number of processes; 0 parses in this process, without deadline or memory limit (for
            trusted pages, such as those of a generated web).
        deadline: Seconds for one document.
        memory_limit: Bytes of address space for one worker.
        scan: Whether documents are looked over for bombs first; off only to test the limits.

    Example:
        >>> async def title(body: bytes) -> str:
        ...     pool = ParsePool(workers=0)
        ...     page = await pool.parse(ParseJob("https://example.org/", body))
        ...     await pool.close()
        ...     return page.title if isinstance(page, Page) else page.detail
        >>> asyncio.run(title(b"<title>Owls</title>"))
        'Owls'
    """

    def __init__(
        self,
        workers: int,
        *,
        deadline: float = 5.0,
        memory_limit: int = GIBIBYTE,
        scan: bool = True,
    ) -> None:
        self.size = workers
        self.deadline = deadline
        self.memory_limit = memory_limit
        self.scan = scan
        self.replaced = 0
        """Workers that died or were killed."""
        self._workers: list[_Worker] = []
        self._queue: deque[_Ticket] = deque()
        self._closed = False

    async def parse(self, job: ParseJob) -> Page | ParseFailure:
        """Parse one page. Workers are started when they are first needed."""
        answer = await self._read(job)
        assert not isinstance(answer, Reading)  # only a worker that was taken over answers so
        return answer.page if isinstance(answer, PackedPage) else answer

    async def parse_and_pack(self, job: ParseJob) -> Page | PackedPage | ParseFailure:
        """The same, with the page's answer packed for the archive where that can be done.

        Args:
            job: With the head of the answer.
        """
        answer = await self._read(job)
        assert not isinstance(answer, Reading)
        return answer

    async def listing(self, url: str, body: bytes) -> Reading | ParseFailure:
        """What a sitemap or feed names.

        Args:
            url: Where it was fetched.
            body: The document.
        """
        answer = await self._read(ParseJob(url, body, what="listing"))
        assert not isinstance(answer, Page | PackedPage)
        return answer

    async def robots(self, url: str, body: bytes, agent: str) -> Reading | ParseFailure:
        """The rules of a robots.txt for one agent.

        Args:
            url: Where it was fetched.
            body: The file.
            agent: Product token of the agent.
        """
        answer = await self._read(ParseJob(url, body, what="robots", agent=agent))
        assert not isinstance(answer, Page | PackedPage)
        return answer

    async def _read(self, job: ParseJob) -> Answer:
        if self._closed:
            raise RuntimeError("the parse pool is closed: make a new one")
        if not self.size:
            return read(job, scan=self.scan)
        ticket = _Ticket(job, asyncio.get_running_loop().create_future())
        self._queue.append(ticket)
        self._dispatch()
        return await ticket.future

    def processes(self) -> list[int]:
        """Process ids of the workers that are running."""
        return [worker.process.pid for worker in self._workers]

    async def close(self) -> None:
        """End all workers. Jobs under way are cancelled."""
        self._closed = True
        workers, self._workers = self._workers, []
        for worker in workers:
            for ticket in worker.tickets:
                ticket.future.cancel()
        for ticket in self._queue:
            ticket.future.cancel()
        self._queue.clear()
        await asyncio.gather(*(worker.close() for worker in workers))

    def _dispatch(self) -> None:
        """Hand waiting jobs to workers that have room."""
        queue = self._queue
        while queue and not self._closed:
            if queue[0].future.done():
                queue.popleft()
                continue
            worker = min(self._workers, key=lambda worker: len(worker.tickets), default=None)
            if (worker is None or worker.tickets) and len(self._workers) < self.size:
                try:
                    worker = _Worker(self)
                except OSError as error:
                    detail = f"no parse worker could be started: {error}"
                    queue.popleft().answer(ParseFailure(Outcome.PARSE_FAILED, detail))
                    continue
                self._workers.append(worker)
            if worker is None or len(worker.tickets) >= DEPTH:
                break
            worker.give(queue.popleft())

    def _done(self, worker: _Worker) -> None:
        """A worker ended: give back the jobs it had not begun."""
        self.replaced += 1
        if worker in self._workers:
            self._workers.remove(worker)
        self._queue.extendleft(reversed(worker.tickets))
        worker.tickets.clear()
        self._dispatch()


class _Worker(asyncio.BufferedProtocol):
    """One worker process and the jobs it has. Its answers come in the order of the jobs.

    They are read into one place, and decoded from there: a page is never copied on its way.
    """

    def __init__(self, pool: ParsePool) -> None:
        self.pool = pool
        self.tickets: deque[_Ticket] = deque()
        self._decoders: dict[int, msgspec.msgpack.Decoder[Answer]] = {
            PAGE: msgspec.msgpack.Decoder(Page),
            PACKED_PAGE: msgspec.msgpack.Decoder(PackedPage),
            READING: msgspec.msgpack.Decoder(Reading),
            FAILURE: msgspec.msgpack.Decoder(ParseFailure),
        }
        self._encoder = msgspec.msgpack.Encoder()
        self._transport: asyncio.WriteTransport | None = None
        self._received = memoryview(bytearray(ROOM))
        self._begin = self._filled = 0
        """What was received and not dealt with lies between these places."""
        self._ready = False
        """Whether the worker has said hello; jobs that came before are sent then, each once."""
        self._ended = False
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + START_TIMEOUT
        """When the next answer must be there."""
        self._timer: asyncio.TimerHandle | None = None
        self._socket, self.process = self._start()
        self._opening = asyncio.create_task(self._open(), name="parse worker")

    def give(self, ticket: _Ticket) -> None:
        """Queue a job at this worker."""
        self.tickets.append(ticket)
        if self._ready:
            self._send(ticket)
            if len(self.tickets) == 1:
                self._expect()

    async def close(self) -> None:
        """Kill the process and wait for its end."""
        self._opening.cancel()
        await asyncio.gather(self._opening, return_exceptions=True)
        self._kill()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        # uvloop's transports are asyncio's in all but name.
        self._transport = cast(asyncio.WriteTransport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the event loop: where the next bytes go."""
        received, waiting = self._received, self._filled - self._begin
        if 2 * waiting > len(received):
            self._received = memoryview(bytearray(2 * len(received)))
        elif not waiting and len(received) > ROOM:
            self._received = memoryview(bytearray(ROOM))
        if self._received is not received or 2 * self._filled > len(received):
            self._received[:waiting] = received[self._begin : self._filled]
            self._begin, self._filled = 0, waiting
        return self._received[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the event loop: so many bytes came."""
        self._filled += nbytes
        received = self._received
        while not self._ended and self._filled >= self._begin + HEADER.size:
            length, kind = HEADER.unpack_from(received, self._begin)
            start = self._begin + HEADER.size
            if length > MAX_FRAME:
                self._died(f"an answer of {length} bytes")
            elif start + length > self._filled:
                break
            else:
                self._begin = start + length
                self._take(kind, received[start : start + length])
        if self._begin == self._filled:
            self._begin = self._filled = 0

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the event loop."""
        if not self._ended:
            self.process.kill()
            self._died(str(exc) if exc else f"exit status {self.process.wait()}")

    async def _open(self) -> None:
        self._look()
        try:
            await self._loop.create_connection(lambda: self, sock=self._socket)
        except OSError as error:
            self._died(str(error))

    def _start(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        pool = self.pool
        ours, theirs = socket.socketpair()
        limits = [str(pool.memory_limit), str(pool.deadline), "1" if pool.scan else "0"]
        # -P: a file in the current folder must not stand in for one of our modules.
        command = [sys.executable, "-P", "-m", "honeyguide.parse.worker", str(theirs.fileno()), *limits]
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | WORKER_ENVIRONMENT,
            )
        ours.setblocking(False)
        return ours, process

    def _send(self, ticket: _Ticket) -> None:
        assert self._transport is not None
        frame = self._encoder.encode(ticket.job)
        self._transport.writelines((HEADER.pack(len(frame), JOB), frame))

    def _expect(self) -> None:
        """The time of the job that is next begins."""
        self._due = self._loop.time() + self.pool.deadline
        if self._timer is None:
            self._look()

    def _look(self) -> None:
        """End the job that takes too long; one timer looks at all of them, one after the other."""
        self._timer = None
        if self._ended or (self._ready and not self.tickets):
            return
        if self._loop.time() < self._due:
            self._timer = self._loop.call_at(self._due, self._look)
        else:
            detail = f"not parsed within {self.pool.deadline:g} s"
            self._end(ParseFailure(Outcome.PARSE_TIMEOUT, detail))

    def _take(self, kind: int, frame: memoryview) -> None:
        """Deal with one frame of the worker."""
        if not self._ready:
            self._ready = True
            if self._timer is not None:  # the one that waited for this
                self._timer.cancel()
                self._timer = None
            for ticket in self.tickets:
                self._send(ticket)
            self._expect()
            return
        try:
            answer = self._decoders[kind].decode(frame)
        except (msgspec.DecodeError, KeyError) as error:
            self._died(str(error))
            return
        job = self.tickets[0].job if self.tickets else None
        wanted = Page | PackedPage if job is not None and job.what == "page" else Reading
        if job is None or not (
            isinstance(answer, ParseFailure) or (isinstance(answer, wanted) and answer.url == job.url)
        ):
            self._died("it answered another job")
            return
        self.tickets.popleft().answer(answer)
        self._due = self._loop.time() + self.pool.deadline
        self.pool._dispatch()

    def _died(self, reason: str) -> None:
        self._end(ParseFailure(Outcome.PARSE_FAILED, f"the parse worker died: {reason}"[:300]))

    def _end(self, failure: ParseFailure) -> None:
        """The worker failed: so has the job it was at, and the others go to another worker."""
        if self._ended:
            return
        self._kill()
        if self.tickets:
            self.tickets.popleft().answer(failure)
        self.pool._done(self)

    def _kill(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        self.process.kill()
        self.process.wait()
        if self._transport is not None:
            self._transport.abort()
        else:
            self._socket.close()
