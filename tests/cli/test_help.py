from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys

import pytest

from honeyguide.cli import main
from honeyguide.cli.verbs import GROUPS, SECTIONS, VERBS

HEAVY = ("numba", "sklearn", "scipy", "matplotlib", "numpy", "aiohttp")


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words, same in ((["help"], ["--help"]), (["help", "topic", "new"], ["topic", "new", "--help"])):
        assert main(words) == main(same) == 0
        told = capsys.readouterr().out
        assert told[: len(told) // 2] == told[len(told) // 2 :]


def test_the_first_help_shows_every_command_in_a_section(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for title, firsts in SECTIONS.items():
        assert f"╭─ {title} " in shown
        for first in firsts:
            assert re.search(rf"^│ {first} ", shown, re.MULTILINE), first
    assert {verb.name.split()[0] for verb in VERBS} == {one for firsts in SECTIONS.values() for one in firsts}


def test_the_help_of_a_command_is_all_that_its_author_wrote(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "--help"]) == 0
    assert ".config/fish/completions" in capsys.readouterr().out


@pytest.mark.parametrize("words", [*GROUPS, *(verb.name for verb in VERBS)])
def test_help_fits_a_screen_and_has_an_example(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main([*words.split(), "--help"]) == 0
    lines = output.getvalue().rstrip("\n").split("\n")
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 100
    assert "Example: honeyguide " in output.getvalue()
    assert lines[0].startswith(f"Usage: honeyguide {words}".strip())


def test_every_option_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for verb in VERBS:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            main([*verb.name.split(), "--help"])
        for line in output.getvalue().splitlines():
            if line.startswith("│ --"):
                assert len(line.strip("│ ").split("  ", 1)) == 2, f"{verb.name}: {line}"


@pytest.mark.realtime
@pytest.mark.realtime
def test_help_loads_no_heavy_library_and_is_quick() -> None:
    code = (
        "import sys, time; from honeyguide.cli import main; main(['--help']);"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules];"
        "print('heavy:', heavy, time.process_time(), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    _, loaded, seconds = done.stderr.split(maxsplit=2)
    assert loaded == "[]"
    assert float(seconds) < 0.4  # processor time; about 0.12 s when measured


def test_no_words_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "Crawl" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("0.")
