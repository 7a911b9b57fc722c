"""What every command takes: logs, levels, tracebacks, `--json` as a flag."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

from honeyguide.cli import main
from honeyguide.cli.verbs import VERBS


def test_with_json_logs_every_line_of_standard_error_is_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", str(tmp_path / "none"), "--log-format", "json", "--debug"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["level"], said["event"]) == ("error", "error")
    assert "no such folder" in said["message"]
    assert "CollectionError" in said["traceback"]


def test_the_environment_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HONEYGUIDE_LOG_FORMAT", "text")
    monkeypatch.setenv("HONEYGUIDE_DEBUG", "1")
    assert main(["status", str(tmp_path / "none")]) == 2
    said = capsys.readouterr().err
    assert " error error message=" in said
    assert "Traceback" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--log-format", "xml"], "--log-format xml: use one of text, json"),
        (["--log-level=loud"], "--log-level loud: use one of debug, info, warning, error"),
        (["--log-level"], "--log-level needs a value"),
    ],
)
def test_wrong_values_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_json_is_a_flag_of_every_command_that_prints_something(verb) -> None:  # type: ignore[no-untyped-def]
    if verb.name == "completion":
        pytest.skip("it prints a script")
    module, _, name = verb.target.partition(":")
    parameter = inspect.signature(getattr(import_module(module), name)).parameters.get("json")
    assert parameter is not None
    assert (parameter.annotation, parameter.default) == ("bool", False)
