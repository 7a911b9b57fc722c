"""Named places where a test can make the process die, as a crash or a power cut would.

`HONEYGUIDE_FAIL_AT=commit.flushed:3` kills the process with SIGKILL when it comes to that place for the third
time. It is honoured only where `HONEYGUIDE_TESTS=1` is set as well, so that no stray variable ends a real
crawl. Without both a fail point is one look at an empty
string: some 40 nanoseconds, four times a page and five times a transaction.

`HONEYGUIDE_FAIL_AT=post.answered:2@01` is meant for shard 01 of a crawl of several: the coordinator passes it
on (`meant_for`), and the shard dies once. Started again, it passes the place alive.

Example:
    >>> failpoint("fetch.asked")  # not armed: nothing happens
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Final

from honeyguide.errors import HoneyguideError

NAMES: Final = {
    "begin.topic": "a new collection has its topic file, and nothing else yet",
    "begin.folders": "a new collection has all but the marker that makes it one",
    "begin.state": "the state's file is begun, its tables are not there yet",
    "fetch.asked": "a URL was handed out, its request is about to go",
    "fetch.answered": "an answer is there and parsed, nobody has looked at it yet",
    "archive.written": "an answer's records are in the archive's buffer",
    "archive.torn": "half of the archive's buffer has reached the file",
    "archive.flushed": "the archive's buffer has reached the file",
    "arrive.page": "a page and its links are in the open transaction",
    "revisit.version": "the version before is set aside, the new one is not in its place yet",
    "revisit.taken": "a second visit and what came of it are in the open transaction",
    "upgrade.state": "an older state has its new tables, and still the old version",
    "commit.frontier": "changed URLs and hosts are in the open transaction",
    "commit.flushed": "the archive is flushed, the transaction is not committed",
    "commit.state": "the transaction is committed, the full-text index is not",
    "commit.done": "all is committed, no event has been given to anybody",
    "checkpoint.order": "what the order learned is in its file, what the model learned is not",
    "checkpoint.files": "both files are written, the state does not point at them yet",
    "resume.cut": "the archive's torn tail has been cut",
    "resume.restored": "the checkpoint is loaded, the pages after it are not learned again",
    "resume.indexed": "a page was put into the index again, which is not committed",
    "outbox.written": "links for other shards are in the open transaction",
    "outbox.committed": "links for other shards are committed, their carrier does not know of them yet",
    "outbox.cleared": "batches that others hold are taken out, the transaction is open",
    "post.sent": "batches are on their way to another shard",
    "post.answered": "another shard has said which batches it has and holds, nobody here has heard it",
    "inbox.received": "batches of another shard are here, and in memory only",
    "inbox.entered": "a batch of another shard and its number are in the open transaction",
    "handover.written": "hosts that are another shard's by now are in the outbox, the transaction is open",
    "retire.home": "a shard that leaves has ended and is at home, and the manifest still has it leaving",
    "snapshot.held": "a snapshot is whole, senders do not know yet that it holds their batches",
    "restore.claimed": "a shard's folder is made again from its snapshot, and not yet in its place",
    "snapshot.copied": "all of a snapshot is in the store but the file that makes it one",
    "snapshot.taken": "a snapshot is whole, what only older ones had is still there",
    "merge.written": "what is new in the shards is in the merged state's open transaction",
    "merge.state": "the merged state is committed, its full-text index is not",
    "merge.index": "what is new is in the merged index's open transaction",
    "merge.anew": "a new merged state is whole, the one before is still in its place",
    "merge.files": "an ordinary collection made of shards is whole, and not yet in its place",
}
"""Every fail point, and what is so when the process is there."""


VARIABLE: Final = "HONEYGUIDE_FAIL_AT"


class _Armed:
    """What a test has asked for."""

    place = ""
    left = 0


def arm(environment: Mapping[str, str]) -> None:
    """Set what the environment asks for; nothing unless a test is running.

    Raises:
        HoneyguideError: The variable names no fail point.
    """
    wanted = environment.get(VARIABLE, "")
    _Armed.place = ""
    if not wanted or "@" in wanted or environment.get("HONEYGUIDE_TESTS") != "1":
        return
    place, _, times = wanted.partition(":")
    if place not in NAMES or not (times or "1").isdecimal():
        known = ", ".join(NAMES)
        raise HoneyguideError(f"{VARIABLE}={wanted}: no such fail point; use one of {known}")
    _Armed.place, _Armed.left = place, int(times or "1")


def meant_for(shard: str, environment: Mapping[str, str]) -> str:
    """The fail point that a test has set for a shard; empty for none.

    Args:
        shard: Name of the shard.
        environment: Of the coordinator.

    Example:
        >>> tests = {"HONEYGUIDE_TESTS": "1", "HONEYGUIDE_FAIL_AT": "outbox.written:2@01"}
        >>> meant_for("01", tests), meant_for("00", tests)
        ('outbox.written:2', '')
    """
    place, _, whose = environment.get(VARIABLE, "").partition("@")
    return place if whose == shard and environment.get("HONEYGUIDE_TESTS") == "1" else ""


def failpoint(name: str) -> None:
    """Die here if a test says so."""
    if name == _Armed.place:
        _Armed.left -= 1
        if _Armed.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ)
