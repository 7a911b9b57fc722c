"""Work that takes longer than an answer may: done in the background, watched by its name."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.ui.work import Line, Task


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
    """The jobs of one portal: processes of their own, one at a time, no name twice at once.

    Args:
        folder: The collection.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: list[threading.Thread] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False

    def get(self, name: str) -> Job | None:
        """The job that was last started under a name."""
        with self._lock:
            return self._jobs.get(name)

    def start(self, name: str, task: Task, *, into: type[Any] = object, meanwhile: object = None) -> Job:
        """Begin a job, or join the one of that name.

        Args:
            name: One of the portal's own: it becomes part of an address.
            task: What is to be done.
            into: What the result is read as.
            meanwhile: The job's result until it ends.
        """
        with self._lock:
            known = self._jobs.get(name)
            if self._closing or (known is not None and known.busy):
                return known or Job(name)
            job = self._jobs[name] = Job(name)
            job.result = meanwhile
            thread = threading.Thread(
                target=self._run, args=(job, task, into), daemon=True, name=f"job {name}"
            )
            self._threads = [*(each for each in self._threads if each.is_alive()), thread]
        thread.start()
        return job

    def close(self, timeout: float = 5.0) -> None:
        """End all jobs; files they were writing do not appear."""
        with self._lock:
            self._closing = True
            process, threads = self._process, list(self._threads)
        if process is not None:
            process.terminate()
        for thread in threads:
            thread.join(timeout)

    def _run(self, job: Job, task: Task, into: type[Any]) -> None:
        try:
            with self._turn:
                self._follow(job, task, into)
        except (OSError, msgspec.MsgspecError) as error:
            job.problem = f"it failed ({error}); the terminal may say more"
        finally:
            job.state = "failed" if job.problem else "done"
            job.ended_at = time.monotonic()
            job.ended.set()

    def _follow(self, job: Job, task: Task, into: type[Any]) -> None:
        """Run the process and take down what it says."""
        words = [sys.executable, "-P", "-m", "honeyguide.ui.work", str(self._folder)]
        words.append(msgspec.json.encode(task).decode())
        with self._lock:
            if self._closing:
                job.problem = "the portal was closed"
                return
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)  # noqa: S603
            self._process = process
        job.state = "running"
        ended = False
        with process:
            assert process.stdout is not None
            for text in process.stdout:
                line = msgspec.json.decode(text, type=Line)
                ended = bool(line.problem or line.result)
                if line.problem:
                    job.problem = line.problem
                elif line.result:
                    job.result = msgspec.json.decode(line.result, type=into)
                else:
                    job.done, job.total = line.done, line.total
        with self._lock:
            self._process = None
        if not ended:
            job.problem = "the portal was closed" if self._closing else "it broke off; the terminal says why"


def job(request: Request) -> Response:
    """How far a job is, for the script that shows it."""
    found: Job | None = request.app.state.portal.jobs.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "there is no such job")
    return JSONResponse(
        {"state": found.state, "done": found.done, "total": found.total, "problem": found.problem}
    )


ROUTES: list[BaseRoute] = [Route("/jobs/{name}", job)]
