"""Reading and writing `topic.toml`.

Here a file becomes plain values and positions; what the values may be is said by
`honeyguide.config.schema`, which asks this module to word its refusals.
"""

from __future__ import annotations

import difflib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from honeyguide.errors import TopicError
from honeyguide.topic.positions import Location, positions

_CURLY = re.compile("[\u201c-\u201f\u2018-\u201b\u00ab\u00bb]")
"""What word processors make of quotes."""
MAX_BYTES = 1024 * 1024
"""A topic file is written by hand; anything larger is another kind of file."""


class TopicFile:
    """A topic file that was read: its values, and where each of them stands.

    Args:
        path: The file, as the user named it.
        text: What it holds; must be valid TOML.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.values: dict[str, object] = _parse(path, text)

    @cached_property
    def _positions(self) -> dict[Location, int]:
        return positions(self.text)

    def line(self, location: Location) -> int:
        """The line of a key or array item, or of the nearest table around it; 1 for the whole file."""
        while location:
            if location in self._positions:
                return self._positions[location]
            location = location[:-1]
        return 1

    def error(self, location: Location, problem: str) -> TopicError:
        """A refusal that names the file and the line."""
        return TopicError(f"{self.path}:{self.line(location)}: {problem}")


def _parse(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TopicError(
            f"{path}: lists or tables are nested too deeply; no key needs more than three"
        ) from None
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", message)
        line, column = (at[1], at[2]) if at else (None, None)
        what = message[: at.start()] if at else message
        line = line or str(text.rstrip().count("\n") + 1)
        where = f" at column {column}" if column else " at the end of the file"
        advice = "texts need quotes, lists need brackets"
        if _CURLY.search(text.splitlines()[int(line) - 1] if text else ""):
            advice = "write straight quotes, \" or ', as keyboards have them"
        raise TopicError(f"{path}:{line}: not valid TOML: {what}{where}; {advice}") from None


def read(path: Path) -> TopicFile:
    """Read a topic file. Raises `TopicError` with one line that says what to do."""
    try:
        if path.is_dir():
            raise TopicError(f"{path} is a folder; name the topic file in it, such as {path / 'topic.toml'}")
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise TopicError(
            f'no topic file {path}; write one with: honeyguide topic new "my topic" --out {path}'
        ) from None
    except OSError as error:
        raise TopicError(
            f"cannot read {path}: {error.strerror}; check the path and its permissions"
        ) from None
    if len(content) > MAX_BYTES:
        raise TopicError(f"{path} is larger than 1 MiB; is it a topic file?")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TopicError(f"{path}:{line}: not UTF-8 text; save the file as UTF-8") from None
    return TopicFile(path, text.replace("\r\n", "\n"))


def write_new(path: Path, text: str, *, overwrite: bool = False) -> None:
    """Write a file whole or not at all; an existing one only when asked to.

    A full disk or a crash leaves what was there before.
    """
    if not overwrite and path.exists():
        raise TopicError(f"{path} is there already; choose another name with --out, or add --overwrite")
    if not path.parent.is_dir():
        raise TopicError(f"no folder {path.parent}; create it first with: mkdir -p {path.parent}")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:  # which names the temporary file, unknown to the user
        raise TopicError(f"{path}: {error.strerror}; choose another place with --out") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)
        if overwrite:
            temporary.replace(path)
        else:
            _place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _place(temporary: Path, path: Path) -> None:
    """Give the file its name unless another process took that name meanwhile."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise TopicError(f"{path} was just written by someone else; choose another name") from None
    except OSError:  # a file system without hard links
        temporary.replace(path)


def nearest(name: str, candidates: Iterable[str]) -> str:
    """Advice for a name that does not exist: the one that was probably meant, or all there are.

    Example:
        >>> nearest("max_page", ["max_pages", "seeds"])
        "did you mean 'max_pages'?"
        >>> nearest("colour", ["max_pages", "seeds"])
        'choose from: max_pages, seeds'
    """
    known = sorted(candidates)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if not close and len(name) > 2:
        close = [candidate for candidate in known if candidate.startswith(name) or name.startswith(candidate)]
    if close:
        return f"did you mean '{close[0]}'?"
    return f"choose from: {', '.join(known)}" if known else "there is nothing to choose from"
