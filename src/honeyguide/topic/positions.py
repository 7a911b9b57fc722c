"""On which line of a TOML text each key and array item stands.

`tomllib` gives values without positions, and an error message without a line number sends its reader
searching. This reader only finds positions: it is given texts that `tomllib` has already accepted,
so it need not check anything.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Location: TypeAlias = tuple[str | int, ...]
"""Keys and array indices from the top: `("crawl", "seeds", 2)`."""

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|'
    r"'''.*?'{3,5}|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'|"
    r"#[^\n]*|"
    r"\n|"
    r"[\[\]{},=.]|"
    r"[^\s\[\]{},=.#\"']+",
    re.DOTALL,
)


class _Tokens:
    """The tokens of a text with their line numbers; comments left out."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, int]] = []
        line, end = 1, 0
        for match in _TOKEN.finditer(text):
            line += text.count("\n", end, match.start())
            if not match[0].startswith("#"):
                self._tokens.append((match[0], line))
            line += match[0].count("\n")
            end = match.end()
        self._next = 0

    def peek(self) -> str:
        """The next token, or an empty string at the end."""
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    @property
    def line(self) -> int:
        """Line of the next token."""
        return self._tokens[min(self._next, len(self._tokens) - 1)][1]

    def take(self) -> str:
        """The next token, consumed."""
        token = self.peek()
        self._next += 1
        return token

    def skip_newlines(self) -> None:
        """Go on to the next token that is not a line end."""
        while self.peek() == "\n":
            self.take()


def _key(tokens: _Tokens, *, until: str) -> Location:
    """A dotted key up to and including the token that ends it."""
    parts: list[str | int] = []
    while (token := tokens.take()) and token != until:
        if token not in (".", "\n"):
            parts.append(token[1:-1] if token[0] in "\"'" else token)
    return tuple(parts)


def _value(tokens: _Tokens, at: Location, found: dict[Location, int]) -> None:
    """Walk over one value and note the lines of what it holds."""
    tokens.skip_newlines()
    first = tokens.take()
    if first == "[":
        index = 0
        tokens.skip_newlines()
        while tokens.peek() not in ("]", ""):
            found.setdefault((*at, index), tokens.line)
            _value(tokens, (*at, index), found)
            index += 1
            tokens.skip_newlines()
            if tokens.peek() == ",":
                tokens.take()
            tokens.skip_newlines()
        tokens.take()
    elif first == "{":
        tokens.skip_newlines()
        while tokens.peek() not in ("}", ""):
            _assignment(tokens, at, found)
            tokens.skip_newlines()
            if tokens.peek() == ",":
                tokens.take()
            tokens.skip_newlines()
        tokens.take()
    else:
        while tokens.peek() not in ("\n", ",", "]", "}", ""):  # numbers and dates are cut at dots
            tokens.take()


def _assignment(tokens: _Tokens, at: Location, found: dict[Location, int]) -> None:
    line = tokens.line
    key = _key(tokens, until="=")
    for length in range(1, len(key) + 1):
        found.setdefault(at + key[:length], line)
    _value(tokens, at + key, found)


def positions(text: str) -> dict[Location, int]:
    r"""The line of every table, key and array item of a valid TOML text.

    Example:
        >>> positions('[crawl]\nseeds = [\n  "a",\n  "b",\n]\n')[("crawl", "seeds", 1)]
        4
    """
    tokens = _Tokens(text)
    found: dict[Location, int] = {}
    tables: dict[Location, int] = {}
    table: Location = ()
    tokens.skip_newlines()
    while tokens.peek():
        if tokens.peek() == "[":
            line = tokens.line
            tokens.take()
            repeated = tokens.peek() == "["
            if repeated:
                tokens.take()
            name = _resolve(_key(tokens, until="]"), tables)
            if repeated:
                tokens.take()
                tables[name] = tables.get(name, -1) + 1
                found.setdefault(name, line)
                name = (*name, tables[name])
            table = name
            for length in range(1, len(table) + 1):
                found.setdefault(table[:length], line)
        else:
            _assignment(tokens, table, found)
        tokens.skip_newlines()
    return found


def _resolve(key: Location, tables: dict[Location, int]) -> Location:
    """A table's name with the index of the last element of each array of tables it goes through."""
    name: Location = ()
    for part in key[:-1]:
        name = (*name, part)
        if name in tables:
            name = (*name, tables[name])
    return name + key[-1:]
