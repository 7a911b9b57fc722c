"""Markdown in a process of its own: `python -m honeyguide.parse.markdown_worker SOCKET MEMORY DEADLINE`.

Frames as in `honeyguide.parse.worker`: jobs in, one after the other, and for each the Markdown, or why
there is none.
"""

from __future__ import annotations

import resource
import signal
import socket
import sys

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.parse.base import ParseJob
from honeyguide.parse.markdown import to_markdown
from honeyguide.parse.worker import FAILURE, HEADER, PAGE, READY


def serve(connection: socket.socket, *, deadline: float) -> None:
    """Answer jobs until the other side hangs up."""
    decoder = msgspec.msgpack.Decoder(ParseJob)
    stream = connection.makefile("rb")
    connection.sendall(HEADER.pack(0, READY))
    while len(header := stream.read(HEADER.size)) == HEADER.size:
        job = decoder.decode(stream.read(HEADER.unpack(header)[0]))
        signal.setitimer(
            signal.ITIMER_REAL, 2 * deadline
        )  # so that it does not outlive a reader that was killed
        kind = PAGE
        try:
            text = to_markdown(job.body, url=job.url, content_type=job.content_type)
        except HoneyguideError as error:
            kind, text = FAILURE, str(error)
        except Exception as error:  # whatever a document triggers must not end the export
            kind, text = PAGE, ""
            print(f"{job.url}: {type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - the worker's log
        signal.setitimer(signal.ITIMER_REAL, 0)
        data = text.encode("utf-8", "replace")
        connection.sendall(HEADER.pack(len(data), kind) + data)


def main(arguments: list[str]) -> None:
    """Set the limits of this process and serve."""
    descriptor, memory, deadline = arguments
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the reader decides when to stop, not the terminal
    with socket.socket(fileno=int(descriptor)) as connection:
        serve(connection, deadline=float(deadline))


if __name__ == "__main__":
    main(sys.argv[1:])
