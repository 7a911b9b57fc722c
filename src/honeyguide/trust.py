"""What this user has made, or has said yes to: collections and topic files.

A collection or a topic file may come from a stranger. Collections carry a seal made with a key that only this
user has (`key` in the state folder), so one from elsewhere is known and opened for reading only. Topic files
that reach beyond their folder are asked about once; the answers are lines of `trusted` in the same folder.

The state folder is `HONEYGUIDE_STATE`, or `honeyguide` in `XDG_STATE_HOME`, or `~/.local/state/honeyguide`.
Where it cannot be written there is no key, and nothing can be told apart: everything counts as one's own.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from honeyguide.errors import HoneyguideError

_KEY_BYTES = 32
_MOST_TRUSTED = 4 << 20


def state_folder() -> Path:
    """Where this user's key and answers are."""
    named = os.environ.get("HONEYGUIDE_STATE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path("~/.local/state").expanduser()) / "honeyguide"


def seal(made: str) -> str:
    """The seal of a collection that was made under this name; empty where there is no key."""
    key = _key()
    return hmac.new(key, made.encode(), hashlib.sha256).hexdigest() if key else ""


def is_ours(made: str, sealed: str) -> bool:
    """Whether a collection was made, or taken over, by this user."""
    if _key() is None:
        return True
    return bool(made) and hmac.compare_digest(seal(made), sealed)


def is_trusted(path: Path, reach: Sequence[str]) -> bool:
    """Whether the user has said yes to all that a topic file reaches."""
    if _key() is None:
        return True
    try:
        with (state_folder() / "trusted").open(encoding="ascii", errors="replace") as file:
            known = file.read(_MOST_TRUSTED).split()
    except OSError:
        return False
    return _answer(path, reach) in known


def remember_trust(path: Path, reach: Sequence[str]) -> None:
    """Note the user's yes to all that a topic file reaches.

    Raises:
        HoneyguideError: It cannot be written down.
    """
    if is_trusted(path, reach):
        return
    try:
        state_folder().mkdir(parents=True, exist_ok=True)
        with (state_folder() / "trusted").open("a", encoding="ascii") as file:
            file.write(_answer(path, reach) + "\n")
    except OSError as error:
        raise HoneyguideError(
            f"{state_folder()}: {error.strerror}; set HONEYGUIDE_STATE to a folder you can write to"
        ) from error


def _answer(path: Path, reach: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((str(path.resolve()), *reach)).encode("utf-8", "replace")).hexdigest()


def _key() -> bytes | None:
    """This user's key, made at the first use; None where none can be kept."""
    path = state_folder() / "key"
    for _ in range(2):
        try:
            key = path.read_bytes()
        except OSError:
            key = b""
        if len(key) == _KEY_BYTES:
            return key
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = path.with_name(f".key.{os.getpid()}.{secrets.token_hex(4)}")
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            if key:
                fresh.replace(path)
            else:
                try:
                    os.link(fresh, path)  # of two processes that begin at once, one wins
                finally:
                    fresh.unlink()
        except FileExistsError:
            continue
        except OSError:
            return None
    return None
