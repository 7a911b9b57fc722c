"""Work that takes longer than an answer may: done in the background, watched by its name."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.errors import HoneyguideError
from honeyguide.store.exports.selection import Progress

Work: TypeAlias = Callable[[Progress], object]
"""Called with a progress to tell; what it returns is the job's result."""

_PAUSE_EVERY = 0.02
_PAUSE = 0.002


class _Stopped(BaseException):  # control flow out of a job when the portal closes
    """The portal is closing."""


class Job:
    """One piece of work. Attributes are written by its thread and read by handlers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.state = "waiting"
        """`waiting`, `running`, `done` or `failed`."""
        self.done = 0
        self.total = 0
        self.problem = ""
        self.result: object = None
        self.ended = threading.Event()
        self.ended_at = 0.0
        """When, by a clock that only serves to tell how long ago."""

    @property
    def busy(self) -> bool:
        """Whether it is still to end."""
        return not self.ended.is_set()


class Jobs:
    """The jobs of one portal: each in a thread of its own, one at a time, no name twice at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: list[threading.Thread] = []
        self._closing = False

    def get(self, name: str) -> Job | None:
        """The job that was last started under a name."""
        with self._lock:
            return self._jobs.get(name)

    def busy(self, prefix: str) -> list[Job]:
        """Jobs under way whose names begin so."""
        with self._lock:
            return [job for name, job in self._jobs.items() if name.startswith(prefix) and job.busy]

    def start(self, name: str, work: Work, *, meanwhile: object = None) -> Job:
        """Begin a job, or join the one of that name; `meanwhile` is its result until it ends."""
        with self._lock:
            known = self._jobs.get(name)
            if self._closing or (known is not None and known.busy):
                return known or Job(name)
            job = self._jobs[name] = Job(name)
            job.result = meanwhile
            thread = threading.Thread(target=self._run, args=(job, work), daemon=True, name=f"job {name}")
            self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        thread.start()
        return job

    def close(self, timeout: float = 2.0) -> None:
        """End all jobs at their next step; files they were writing do not appear."""
        with self._lock:
            self._closing = True
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout)

    def _run(self, job: Job, work: Work) -> None:
        last = 0.0

        def progress(done: int, total: int) -> None:
            nonlocal last
            job.done, job.total = done, total
            if self._closing:
                raise _Stopped
            if time.monotonic() - last > _PAUSE_EVERY:
                # Lets handlers have the interpreter: a page must not wait for a long job.
                time.sleep(_PAUSE)
                last = time.monotonic()

        try:
            with self._turn:
                job.state = "running"
                job.result = work(progress)
            job.state = "done"
        except _Stopped:
            job.state, job.problem = "failed", "the portal was closed"
        except HoneyguideError as error:
            job.state, job.problem = "failed", str(error)
        except Exception as error:
            traceback.print_exc()
            job.state, job.problem = "failed", f"it failed ({type(error).__name__}); the terminal says where"
        finally:
            job.ended_at = time.monotonic()
            job.ended.set()


def job(request: Request) -> Response:
    """How far a job is, for the script that shows it."""
    found: Job | None = request.app.state.portal.jobs.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "there is no such job")
    return JSONResponse(
        {"state": found.state, "done": found.done, "total": found.total, "problem": found.problem}
    )


ROUTES: list[BaseRoute] = [Route("/jobs/{name}", job)]
