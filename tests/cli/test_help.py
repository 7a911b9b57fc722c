from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys

import pytest

from honeyguide.cli import main
from honeyguide.cli.verbs import GROUPS, VERBS

HEAVY = ("numba", "sklearn", "scipy", "matplotlib", "numpy", "aiohttp")


@pytest.mark.parametrize("words", ["", *GROUPS, *(verb.name for verb in VERBS)])
def test_help_fits_a_screen_and_has_an_example(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main([*words.split(), "--help"]) == 0
    lines = output.getvalue().rstrip("\n").split("\n")
    assert len(lines) <= 24
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
    assert "Commands" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("0.")
