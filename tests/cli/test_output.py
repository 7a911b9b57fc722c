from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from honeyguide.cli.output import (
    Progress,
    clean,
    fail,
    note,
    print_entries,
    print_facts,
    print_json,
    print_table,
)

HOSTILE = "a\x1b]0;owned\x07\tb\n[bold]:smile:\u202etxt.exe\ud800"


def test_nothing_from_the_web_steers_the_terminal() -> None:
    shown = clean(HOSTILE)
    assert shown.isprintable()
    assert "[bold]:smile:" in shown
    assert "\u202e" not in shown


def test_a_pipe_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(
        [{"a": 12345, "b": HOSTILE, "c": 0.25}, {"a": True}], {"a": "A", "b": "B", "c": "C"}, title="T"
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "A\tB\tC"
    assert lines[1].split("\t")[0::2] == ["12345", "0.25"]
    assert lines[2] == "yes\t\t"
    assert len(lines) == 3


def test_a_terminal_gets_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "dumb")
    print_table([{"name": HOSTILE, "count": 12345}], ["name", "count"], title="Title")
    print_facts({"pages": 12345})
    text = terminal.getvalue()
    assert "Title" in text
    assert "12,345" in text
    assert "[bold]:smile:" in text
    assert "\x1b]0" not in text


def test_results_of_a_search_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "30")
    address = "https://example.org/a-long-way-to-the-owls"
    print_entries([("Owls", address, "The barn owl hunts every night."), ("", address, HOSTILE)])
    lines = [line.rstrip() for line in screen.getvalue().splitlines()]
    assert lines[:5] == ["Owls", address, "  The barn owl hunts every", "  night.", ""]
    assert "".join(lines[5:7]) == address, "what has no title is called by its address"
    assert "\x1b]0" not in screen.getvalue()


def test_json_is_complete_and_valid(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"a": 1, "hidden": HOSTILE[:-1], "set": {2, 1}}]
    print_table(rows, ["a"], json=True)
    assert json.loads(capsys.readouterr().out) == [{"a": 1, "hidden": HOSTILE[:-1], "set": [1, 2]}]
    print_facts({"a": None}, json=True)
    assert json.loads(capsys.readouterr().out) == {"a": None}
    with pytest.raises(ValueError, match="JSON"):
        print_json({"a": float("nan")})


def test_errors_are_one_line_and_notes_are_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    fail("bad\nthing")
    note("not shown in a pipe")
    assert capsys.readouterr().err == "honeyguide: bad thing\n"


def test_progress_shows_the_crawl() -> None:
    screen = io.StringIO()
    console = Console(file=screen, width=100, force_terminal=True, color_system=None, legacy_windows=False)
    with Progress(1000, console=console) as progress:
        progress.update(
            pages=412, relevant=103, waiting=12345, hosts=52, rate=8.25, last=f"https://a.example/{HOSTILE}"
        )
    drawn = screen.getvalue()
    for expected in (
        "412 of 1,000 pages",
        "relevant 103",
        "harvest 25.0%",
        "waiting 12,345",
        "hosts 52",
        "8.2 pages/s",
    ):
        assert expected in drawn
    assert "https://a.example/a" in drawn
    assert "owned\x07" not in drawn


def test_progress_is_silent_in_a_pipe_and_when_quiet() -> None:
    screen = io.StringIO()
    for console, quiet in ((Console(file=screen), False), (Console(file=screen, force_terminal=True), True)):
        with Progress(None, quiet=quiet, console=console) as progress:
            progress.update(pages=1)
    assert screen.getvalue() == ""


def test_pages_that_are_only_read_have_no_harvest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("honeyguide.cli.output.LINE_SECONDS", 0.0)
    with Progress() as progress:
        progress.update(pages=600, of=5462)
    assert capsys.readouterr().err.splitlines() == ["honeyguide: 600 of 5462 pages"]
    screen = io.StringIO()
    console = Console(file=screen, width=100, force_terminal=True, color_system=None, legacy_windows=False)
    with Progress(console=console) as progress:
        progress.update(pages=600, of=5462)
    drawn = screen.getvalue()
    assert "600 of 5,462 pages" in drawn
    assert "relevant" not in drawn
    assert "pages/s" not in drawn


def test_lines_in_a_pipe_say_only_what_they_were_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("honeyguide.cli.output.LINE_SECONDS", 0.0)
    with Progress() as progress:
        progress.update(pages=30, relevant=3, rate=1.5, recipe="scout", last="https://a.example/")
        progress.update(waiting=40)
    assert capsys.readouterr().err.splitlines() == [
        "honeyguide: scout: 30 pages, 3 relevant, 1.5 pages/s",
        "honeyguide: scout: 30 pages, 3 relevant, 40 waiting, 1.5 pages/s",
    ]
