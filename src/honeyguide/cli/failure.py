"""From an error to the one line a user sees, and the exit status."""

from __future__ import annotations

import errno
import re
import sqlite3

import cyclopts

from honeyguide.errors import EXTRAS, HoneyguideError, MissingExtra
from honeyguide.store.disk_trouble import database_trouble

USAGE = 2
"""Something the user can set right: options, files, a full disk."""
INTERNAL = 70
"""A fault of the program (EX_SOFTWARE)."""
INTERRUPTED = 130


def explain(error: BaseException) -> tuple[str, int]:
    """One line that ends with what to do, and the exit status.

    Example:
        >>> explain(KeyboardInterrupt())
        ('interrupted', 130)
    """
    status = USAGE
    match error:
        case KeyboardInterrupt():
            message, status = "interrupted", INTERRUPTED
        case HoneyguideError():
            message = str(error)
        case cyclopts.CycloptsError():
            message = _usage(error)
        case ModuleNotFoundError() if (module := str(error.name).partition(".")[0]) in EXTRAS:
            message = str(MissingExtra(f"This ({module})", EXTRAS[module]))
        case OSError():
            message = _system(error)
        case sqlite3.DatabaseError():
            message = _FULL if "is full" in str(error) else database_trouble(error)
        case MemoryError():
            message = "out of memory; close other programs or lower frontier_in_memory in [storage]"
        case _:
            what = f"{type(error).__name__}: {error}"
            message = f"internal error: {what}; run it again with --debug and report what it prints"
            status = INTERNAL
    return _one_line(message), status


_FULL = "the disk is full; free some space and run the same command again: what was committed is kept"


def _system(error: OSError) -> str:
    name = f" {error.filename}" if error.filename else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return _FULL
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"no permission for{name or ' this'}; check its owner and mode, or choose another place"
        case errno.ENOENT:
            return f"no such file or folder:{name}; check the path"
        case errno.EMFILE | errno.ENFILE:
            return "too many open files; raise the limit with: ulimit -n 4096"
        case errno.EADDRINUSE:
            port = re.search(r"\('([^']+)', (\d+)", str(error))
            which = f"{port[1]}:{port[2]}" if port else "this port"
            return f"{which} is in use by another program; choose another port"
    return f"{error.strerror or error}{':' + name if name else ''}; run it again with --debug for the details"


def _usage(error: cyclopts.CycloptsError) -> str:
    """The parser's own message, with the command that shows the valid options."""
    error.verbose = False
    chain = " ".join(error.command_chain or ())
    message = _one_line(str(error))
    if isinstance(error, cyclopts.UnusedCliTokensError):
        message = f"too many arguments: {' '.join(error.unused_tokens or ())}."
    elif isinstance(error, cyclopts.MissingArgumentError) and error.argument is not None:
        given = error.argument.name in (error.root_input_tokens or ())
        message = f"{error.argument.name} {'needs a value' if given else 'is missing'}."
    message = message if message[1:2].isupper() else message[:1].lower() + message[1:]
    return f"{message} See: honeyguide {chain + ' ' if chain else ''}--help"


def _one_line(text: str) -> str:
    """No line breaks and no control characters: part of the text may come from the web."""
    return "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
