"""A parser in a process of its own: `python -m honeyguide.parse.worker SOCKET MEMORY DEADLINE SCAN`.

It reads jobs from a socket and writes pages or failures back, one after the other. The process exists
to be killed: a document that makes a parser hang or eat memory costs one worker, not the crawl.
Frames are a four-byte length (big-endian), a byte that says what follows, and a msgpack document; the first
frame of a worker is empty and says that it is ready. End of file ends the worker.
"""

from __future__ import annotations

import gc
import resource
import signal
import socket
import struct
import sys
from io import BufferedReader
from typing import Final, cast

import msgspec

from honeyguide.model import Outcome, Page
from honeyguide.parse.base import PackedPage, ParseFailure, ParseJob, Reading
from honeyguide.parse.read import read

HEADER: Final = struct.Struct(">IB")
ROOM: Final = 512 << 10
"""Bytes of a job that are read into the same place again and again."""
READY, JOB, PAGE, FAILURE, READING, PACKED_PAGE = range(6)
_KINDS: Final = {Page: PAGE, ParseFailure: FAILURE, Reading: READING, PackedPage: PACKED_PAGE}


def serve(connection: socket.socket, *, deadline: float, scan: bool = True) -> None:
    """Parse jobs until the other side hangs up.

    Args:
        connection: Where jobs come from and answers go.
        deadline: Seconds the pool waits for one job. The worker ends itself at twice that, so that it
            does not outlive a crawl that was killed.
        scan: As for `parse_page`.
    """
    decoder = msgspec.msgpack.Decoder(ParseJob)
    encoder = msgspec.msgpack.Encoder()
    stream = cast(BufferedReader, connection.makefile("rb", buffering=1 << 16))
    connection.sendall(HEADER.pack(0, READY))
    room = memoryview(bytearray(ROOM))
    while len(header := stream.read(HEADER.size)) == HEADER.size:
        length, _ = HEADER.unpack(header)
        frame = room[:length] if length <= ROOM else memoryview(bytearray(length))
        if stream.readinto(frame) < length:
            return
        signal.setitimer(signal.ITIMER_REAL, 2 * deadline)
        answer: Page | PackedPage | Reading | ParseFailure
        encoded = bytearray(HEADER.size)
        try:
            answer = read(decoder.decode(frame), scan=scan)
            encoder.encode_into(answer, encoded, HEADER.size)
        except Exception as error:  # a page that cannot be sent is one that cannot be used
            answer = ParseFailure(Outcome.PARSE_FAILED, f"{type(error).__name__}: {error}"[:300])
            encoder.encode_into(answer, encoded, HEADER.size)
        signal.setitimer(signal.ITIMER_REAL, 0)
        HEADER.pack_into(encoded, 0, len(encoded) - HEADER.size, _KINDS[type(answer)])
        connection.sendall(encoded)  # in one piece: the crawl wakes once for it


def main(arguments: list[str]) -> None:
    """Set the limits of this process and serve.

    Args:
        arguments: File descriptor of the socket, bytes of address space, deadline in seconds, 1 or 0 for the
            pre-scan.
    """
    descriptor, memory, deadline, scan = arguments
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl decides when to stop, not the terminal
    # What was imported lives as long as the process: leave it out of every collection.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    with socket.socket(fileno=int(descriptor)) as connection:
        serve(connection, deadline=float(deadline), scan=scan == "1")


if __name__ == "__main__":
    main(sys.argv[1:])
