from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from honeyguide.cli import main
from honeyguide.cli.failure import explain
from honeyguide.errors import TopicError

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

GOOD = '[topic]\nname = "n"\nkeywords = ["k"]\n[crawl]\nseeds = ["https://example.org/"]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "no topic file topic.toml; write one with: honeyguide topic new"),
        ("[topic]\nname = 'n'\nkeywords = ['a'\n", "topic.toml:3: not valid TOML: "),
        ("[topic]\nname = n\n", "topic.toml:2: not valid TOML: "),
        (
            GOOD + "max_page = 5\n",
            "topic.toml:6: unknown key 'max_page' in [crawl]; did you mean 'max_pages'?",
        ),
        (
            GOOD + "recipe = 'best-frist'\n",
            "topic.toml:6: unknown recipe 'best-frist'; did you mean 'best-first'?",
        ),
        (
            GOOD + "max_pages = 'many'\n",
            "topic.toml:6: 'max_pages' in [crawl] must be a whole number, not 'many'",
        ),
        (
            GOOD + "max_pages = -1\n",
            "topic.toml:6: 'max_pages' in [crawl] must be greater than or equal to 1, not -1",
        ),
        (
            GOOD.replace("https://", ""),
            "topic.toml:5: item 1 of 'seeds' in [crawl]: 'example.org/' is not a valid URL",
        ),
        (
            GOOD.replace("[crawl]", "languages = ['english']\n[crawl]"),
            "topic.toml:4: item 1 of 'languages' in [topic]: 'english' is not a language code of ISO 639-1;"
            " write two letters, such as 'en'\n",
        ),
        (
            GOOD + "[relevance]\nthreshhold = 1\n",
            "topic.toml:7: page model 'calibrated': unknown option 'threshhold'; did",
        ),
        (
            GOOD.replace("[crawl]", "examples = ['x/*']\n[crawl]"),
            "topic.toml:4: 'examples' in [topic]: no file matches 'x/*'",
        ),
    ],
)
def test_a_bad_topic_file_gets_one_line(
    honeyguide: Run, tmp_path: Path, text: str | None, expected: str
) -> None:
    path = tmp_path / "topic.toml"
    if text is not None:
        path.write_text(text)
    done = honeyguide("topic", "check", "topic.toml")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"honeyguide: {expected}")
    assert [file.name for file in tmp_path.iterdir()] == (["topic.toml"] if text is not None else [])
    assert text is None or path.read_text() == text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["searchh"], 'unknown command "searchh". Did you mean "search"? '),
        (["topic", "neww"], 'unknown command "neww". Did you mean "new"? '),
        (
            ["topic", "new"],
            "NAME is missing. See: honeyguide topic new --help",
        ),
        (["recipes", "--jsn"], "unknown option: --jsn. Did you mean --json? See: honeyguide recipes --help"),
        (["version", "a", "b"], "too many arguments: a b. See: honeyguide version --help"),
        (
            ["topic", "new", "x", "--max-pages", "ten"],
            'invalid value for --max-pages: unable to convert "ten" into int.',
        ),
        (
            ["topic", "new", "x", "--max-pages", "-5"],
            "'max_pages' in [crawl] must be greater than or equal to 1, not -5",
        ),
        (
            ["topic", "new", "x", "--seeds", "a.example"],
            "item 1 of 'seeds' in [crawl]: 'a.example' is not a valid URL",
        ),
        (
            ["topic", "new", "x", "--recipe", "best-frist"],
            "unknown recipe 'best-frist'; did you mean 'best-first'?",
        ),
        (["topic", "new", " "], "'name' in [topic]: must not be empty"),
        (["topic", "new", "x", "--contact", "é"], "'user_agent' in [identity]: must be plain ASCII"),
        (
            ["topic", "new", "x", "--out", "no/such/topic.toml"],
            "no folder no/such; create it first with: mkdir -p no/such",
        ),
        (["doctor", "none.toml"], "no topic file none.toml; "),
        (["export", "x", "--format"], "--format needs a value. See: honeyguide export --help"),
        (["trust", "nope"], "nope: no such file or folder; name a topic file or a collection\n"),
        (["serve", "--port", "99999"], "there is no port 99999; choose --port from 1 to 65535, or 0 for a"),
        (
            ["topic", "new", "x", "--out", "/proc/x.toml"],
            "/proc/x.toml: No such file or directory; choose another place with --out\n",
        ),
    ],
)
def test_bad_words_get_one_line_and_write_nothing(
    honeyguide: Run, tmp_path: Path, words: list[str], expected: str
) -> None:
    done = honeyguide(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"honeyguide: {expected}")
    assert list(tmp_path.iterdir()) == []


def test_keywords_that_do_nothing_are_named(honeyguide: Run, tmp_path: Path) -> None:
    (tmp_path / "topic.toml").write_text(GOOD.replace('"k"', '"C++", "barn owl", "R&D"'))
    for log in ((), ("--log-format", "json")):
        found = honeyguide("topic", "check", "topic.toml", *log)
        assert found.returncode == 0
        assert "pages cannot be judged by 'C++', 'R&D': single letters" in found.stderr
    assert "names no contact" in found.stderr
    (tmp_path / "topic.toml").write_text(GOOD.replace('"k"', '"C# programming", "barn owl", ".NET"'))
    found = honeyguide("topic", "check", "topic.toml")
    told = "honeyguide: warning: 'C# programming' is read as 'programming', '.NET' is read as 'net': signs"
    assert told in found.stderr
    found = honeyguide("crawl", "https://example.invalid/", "--keywords", "C++")
    assert found.returncode == 2
    assert "no word in the keywords ('C++') is counted; give longer ones or example pages" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_traceback_only_with_debug(honeyguide: Run) -> None:
    assert "Traceback" not in honeyguide("topic", "check", "none.toml").stderr
    done = honeyguide("topic", "check", "none.toml", "--debug")
    assert "Traceback" in done.stderr
    assert done.returncode == 2


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A file size limit of zero stands for the full disk: the write itself fails."""
    path = tmp_path / "topic.toml"
    path.write_text("old")

    def no_space() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [sys.executable, "-B", "-m", "honeyguide", "topic", "new", "x", "--out", str(path), "--overwrite"],
        capture_output=True,
        text=True,
        preexec_fn=no_space,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_to_a_full_disk() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "honeyguide", "recipes"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("honeyguide: the disk is full; free some space")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "honeyguide", "recipes"],
        stdout=writing, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
    )  # fmt: skip
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("error", "message", "status"),
    [
        (TopicError("a\nb\x1b[31m; do c"), "a b [31m; do c", 2),
        (KeyboardInterrupt(), "interrupted", 130),
        (OSError(28, "No space left on device"), "the disk is full; free some space", 2),
        (sqlite3.OperationalError("database or disk is full"), "the disk is full; free some space", 2),
        (PermissionError(13, "Permission denied", "/x"), "no permission for /x; check its owner", 2),
        (FileNotFoundError(2, "No such file", "/x"), "no such file or folder: /x; check the path", 2),
        (OSError(24, "Too many open files"), "too many open files; raise the limit", 2),
        (
            OSError(
                98, "error while attempting to bind on address ('127.0.0.1', 8099): address already in use"
            ),
            "127.0.0.1:8099 is in use by another program; choose another port",
            2,
        ),
        (OSError(98, "Address already in use"), "this port is in use by another program", 2),
        (OSError(5, "Input/output error", "/x"), "Input/output error: /x; run it again with --debug", 2),
        (MemoryError(), "out of memory; close other programs", 2),
        (ZeroDivisionError("x"), "internal error: ZeroDivisionError: x; run it again with --debug", 70),
    ],
)
def test_errors_become_one_line_with_the_remedy(error: BaseException, message: str, status: int) -> None:
    line, code = explain(error)
    assert line.startswith(message)
    assert code == status
    assert "\n" not in line


def test_main_gives_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    assert capsys.readouterr().err.startswith("honeyguide: unknown command")
