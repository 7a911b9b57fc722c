"""What verbs print: tables and facts for people, plain lines for pipes, JSON for programs.

Results go to standard output; progress, notes and errors to standard error. A pipe gets no colour,
no frames, and progress in lines. Texts may come from the web, so nothing here interprets them: control
characters (terminal escapes) are replaced, and rich's markup is never parsed.
"""

from __future__ import annotations

import json as json_codec
import sys
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from honeyguide.log import ERROR, INFO, WARNING, say, writes_logs

LINE_SECONDS = 10.0
"""Between two lines of progress in a pipe."""
_UNSAFE = dict.fromkeys((*range(32), *range(127, 160)), "�")
# Bidirectional controls could make one address look like another.
_UNSAFE |= dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "")
_UNSAFE |= {ord(letter): " " for letter in "\t\n\r\u2028\u2029"}


def clean(text: str) -> str:
    r"""A text that cannot steer the terminal.

    Example:
        >>> clean("a\nb\x1b[31m")
        'a b\ufffd[31m'
    """
    return text.translate(_UNSAFE).encode("utf-8", "replace").decode("utf-8")


def show(value: object) -> str:
    """A value as people read it.

    Example:
        >>> show(12345), show(0.5), show(None), show(True), show(["a", "b"])
        ('12,345', '0.5', '', 'yes', 'a, b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(show(item) for item in value)
    return clean(str(value))


def print_json(value: object) -> None:
    """Print a value as one JSON document; sets and tuples become lists."""
    print(json_codec.dumps(value, indent=2, ensure_ascii=False, default=_jsonable, allow_nan=False))


def _jsonable(value: object) -> object:
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)


def print_table(
    rows: Sequence[Mapping[str, object]],
    columns: Sequence[str] | Mapping[str, str],
    *,
    json: bool = False,
    title: str = "",
) -> None:
    """Print rows: a framed table on a terminal, tab-separated lines in a pipe, or JSON.

    Args:
        rows: Values by column.
        columns: Which columns, in order; a mapping gives their headings.
        json: Print all of every row as a JSON list instead.
        title: Shown above the table on a terminal.
    """
    if json:
        print_json([dict(row) for row in rows])
        return
    headings = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    if not sys.stdout.isatty():
        print("\t".join(headings.values()))
        for row in rows:
            print("\t".join(clean(_plain(row.get(name))) for name in headings))
        return
    if not rows:  # a frame around nothing says nothing; the verb has a word for it
        return
    table = Table(title=Text(title) if title else None, box=box.SIMPLE_HEAD, title_justify="left")
    for name, heading in headings.items():
        numeric = any(isinstance(row.get(name), int | float) for row in rows)
        table.add_column(Text(heading), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(show(row.get(name))) for name in headings))
    Console().print(table)


def print_entries(entries: Sequence[tuple[str, str, str]]) -> None:
    """Print results for a terminal, as search engines do: a title, an address and a text below each other.

    Three columns of them would be a few letters wide each.
    """
    console = Console()
    for title, address, text in entries:
        console.print(Text(clean(title or address), style="bold"))
        # An address is copied: it is left whole for the terminal to break.
        console.print(Text(clean(address), style="dim"), soft_wrap=True)
        console.print(Padding(Text(clean(text)), (0, 0, 1, 2)))


def _plain(value: object) -> str:
    """For pipes: numbers without separators, so that other programs can read them."""
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else show(value)


def print_facts(facts: Mapping[str, object], *, json: bool = False) -> None:
    """Print names and values, one a line (tab-separated in a pipe), or as a JSON object."""
    if json:
        print_json(dict(facts))
    elif not sys.stdout.isatty():
        for name, value in facts.items():
            print(f"{name}\t{clean(_plain(value))}")
    else:
        grid = Table.grid(padding=(0, 2))
        for name, value in facts.items():
            grid.add_row(Text(name, style="dim"), Text(show(value), overflow="fold"))
        Console().print(grid)


def note(message: str) -> None:
    """Tell a person something on the side; a pipe is not disturbed, a log gets a line."""
    if writes_logs():
        say(INFO, "note", message=message)
    elif sys.stderr.isatty():
        Console(stderr=True).print(Text(clean(message)), soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning to standard error, also in a pipe: whoever reads it later has to know, too."""
    if writes_logs():
        say(WARNING, "warning", message=message)
    else:
        print(f"honeyguide: warning: {clean(message)}", file=sys.stderr)


def fail(message: str) -> None:
    """Print one line to standard error, as every error of the program looks."""
    if writes_logs():
        say(ERROR, "error", message=message)
    else:
        print(f"honeyguide: {clean(message)}", file=sys.stderr)


def announce(message: str) -> None:
    """Print one line to standard error, also in a pipe, where nothing went wrong; a log gets a note."""
    if writes_logs():
        say(INFO, "note", message=message)
    else:
        print(f"honeyguide: {clean(message)}", file=sys.stderr)


def begin(doing: str, *, quiet: bool) -> None:
    """Say what takes a while from now on: a pipe should not have to wait for the first line of progress."""
    if quiet or writes_logs() or sys.stderr.isatty():
        note(f"{doing} (Ctrl-C stops it in order)")
    else:
        announce(doing)


class Progress:
    """A live view of a crawl on standard error; a line every ten seconds in a pipe, nothing when quiet.

    Where standard error is a log, the crawl itself says how far it is.

    Args:
        total: Pages to fetch, or None when there is no such limit.
        quiet: Show nothing.
        console: Where to draw; by default standard error.

    Example:
        >>> with Progress(1000, quiet=True) as progress:
        ...     progress.update(pages=3, relevant=1, waiting=40, hosts=2, rate=1.5, last="https://a.example/")
    """

    def __init__(
        self, total: int | None = None, *, quiet: bool = False, console: Console | None = None
    ) -> None:
        self._total = total
        self._facts: dict[str, object] = {}
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        quiet = quiet or writes_logs()
        self._lines = not quiet and not self._console.is_terminal
        self._told = time.monotonic()
        if not quiet and self._console.is_terminal:
            self._live = Live(
                console=self._console, get_renderable=self.render, refresh_per_second=5, transient=True
            )

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the view; what remains to be said is printed by the verb."""
        if self._live is not None:
            self._live.stop()

    def update(self, **facts: object) -> None:
        """Take new facts: `pages`, `relevant`, `waiting`, `hosts`, `rate`, `last`, or any others.

        `rests` says what is waited for, where nothing can be done for a while.
        """
        rests = self._facts.get("rests")
        self._facts.update(facts)
        if self._lines and facts.get("rests", rests) != rests and facts["rests"]:
            print(f"honeyguide: {clean(str(facts['rests']))}", file=sys.stderr, flush=True)
        if facts.keys() == {"rests"}:
            return
        if self._lines and time.monotonic() - self._told >= LINE_SECONDS:
            self._told = time.monotonic()
            recipe = f"{self._facts['recipe']}: " if "recipe" in self._facts else ""
            told = [f"{_number(self._facts.get('pages', 0)):.0f}{self._of(thousands='')} pages"]
            known = [name for name in ("relevant", "waiting") if name in self._facts]
            told += [f"{_number(self._facts[name]):.0f} {name}" for name in known]
            if "rate" in self._facts:
                told.append(f"{_number(self._facts['rate']):.1f} pages/s")
            print(f"honeyguide: {recipe}{', '.join(told)}", file=sys.stderr, flush=True)

    def _of(self, thousands: str = ",") -> str:
        """How many pages there are, where pages are read and not looked for."""
        total = _number(self._facts.get("of", 0))
        return f" of {total:{thousands}.0f}" if total else ""

    def render(self) -> Group:
        """Bar, figures and the last page, as rich draws them."""
        facts = dict(self._facts)
        pages, relevant = (_number(facts.pop(name, 0)) for name in ("pages", "relevant"))
        harvest = _number(facts.pop("harvest", relevant / pages if pages else 0.0))
        rate, last = _number(facts.pop("rate", 0.0)), facts.pop("last", "")
        last = facts.pop("rests", "") or last
        head = Table.grid(padding=(0, 1))
        of = f" of {self._total:,}" if self._total else self._of()
        facts.pop("of", None)
        crawling = "relevant" in self._facts
        bar = ProgressBar(self._total, pages, width=40) if self._total else Text("")
        head.add_row(Text(f"{pages:,.0f}{of} pages", style="bold"), bar)
        figures = {"relevant": f"{relevant:,.0f}", "harvest": f"{harvest:.1%}"} if crawling else {}
        figures |= {name: show(value) for name, value in facts.items()}
        if "rate" in self._facts:
            figures["speed"] = f"{rate:.1f} pages/s"
        line = Text(no_wrap=True, overflow="ellipsis")
        for name, value in figures.items():
            line.append(f"{name} ", style="dim").append(f"{value}   ")
        return Group(head, line, Text(clean(str(last)), style="dim", no_wrap=True, overflow="ellipsis"))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
