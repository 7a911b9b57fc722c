from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from honeyguide.cli.labelled_examples import read_labelled
from honeyguide.cli.model_evolve import evolve
from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.model_file import read_similarity
from honeyguide.testing import page_models as checks


def rows(count: int, *, noise: int = 3) -> list[dict[str, object]]:
    """Owls against taxes with some wrong labels, so that no tree is perfect."""
    made: list[dict[str, object]] = []
    for number in range(count):
        on = number % 2 == 0
        text = checks.made_up_text(checks.ON_TOPIC if on else checks.OFF_TOPIC, number, length=25)
        label = on if number % 10 >= noise else not on
        made.append({"title": text.split()[0], "text": text, "label": "on" if label else "off"})
    return made


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n\n" for line in lines), encoding="utf-8")
    return path


def test_evolve_prints_saves_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = write(tmp_path / "owls.jsonl", rows(120))
    evolve(examples, population=30, generations=3, json=True)
    printed = capsys.readouterr().out
    said = json.loads(printed)
    saved = read_similarity(tmp_path / "similarity.json")
    assert said["formula"] == saved.text
    assert {"test_macro_f1", "test_study_f1", "validation_macro_f1", "best_single_evidence"} <= set(said)
    assert len(saved.history) == 3
    assert saved.examples == {"training": 60, "validation": 30, "test": 30}
    assert (tmp_path / "similarity.svg").read_text().startswith("<svg")
    assert not (tmp_path / "similarity.json.evolution").exists()
    evolve(examples, population=30, generations=3, json=True, threads=1)
    assert capsys.readouterr().out == printed


@pytest.mark.realtime
def test_an_interrupted_evolution_goes_on_where_it_was(tmp_path: Path) -> None:
    examples = write(tmp_path / "owls.jsonl", rows(400))
    state = tmp_path / "parts.json.evolution"
    words = ["--population", "200", "--generations", "12", "--out", "parts.json", "--json"]
    running = subprocess.Popen(
        [sys.executable, "-m", "honeyguide", "model", "evolve", "owls.jsonl", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not state.exists() and time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert json.loads(output)["stopped"] == "interrupted"
    assert state.exists()
    for name in ("parts.json", "once.json"):
        evolve(examples, population=200, generations=12, out=tmp_path / name, quiet=True)
    first, second = read_similarity(tmp_path / "parts.json"), read_similarity(tmp_path / "once.json")
    assert [one.formula for one in first.history] == [one.formula for one in second.history]
    assert first.formula == second.formula


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (rows(12, noise=0)[:12], "give 4 more"),
        ([{"text": "owl", "label": "perhaps"}], "write 'on' or 'off'"),
        ([{"label": "on"}], "text"),
    ],
)
def test_bad_examples(tmp_path: Path, lines: list[dict[str, object]], said: str) -> None:
    with pytest.raises(TopicError) as caught:
        evolve(write(tmp_path / "owls.jsonl", lines), out=tmp_path / "s.json")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("nowhere.jsonl", {}, "is not there"),
        ("", {}, "no subfolder 'on'"),
        ("owls.jsonl", {"training": 0.9, "validation": 0.5}, "add up to 1"),
        ("owls.jsonl", {"population": 0}, "raise them"),
        ("owls.jsonl", {"out": "old.json"}, "delete it to start afresh"),
    ],
)
def test_bad_options_and_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "owls.jsonl", rows(60))
    (tmp_path / "old.json.evolution").write_text("{}")
    if "out" in options:
        options = {"out": Path(options["out"])}
    with pytest.raises(TopicError, match=said):
        evolve(tmp_path / name, **options)


def test_folders_and_topic_files_are_read(tmp_path: Path) -> None:
    for name, word in (("on", "owl"), ("off", "tax")):
        (tmp_path / name).mkdir()
        for number in range(3):
            html = f"<title>{word}</title><p>{word} page number {number}</p>"
            (tmp_path / name / f"{number}.html").write_text(html)
    found = read_labelled(tmp_path)
    assert found.classes.tolist() == [1, 1, 1, 0, 0, 0]
    assert found.documents[0].title == ("owl",)
    topic = tmp_path / "topic.toml"
    topic.write_text("[topic]\nname = 'owls'\nexamples = ['on/*.html']\nnegatives = ['off/*.html']\n")
    assert read_labelled(topic).classes.tolist() == [1, 1, 1, 0, 0, 0]
    topic.write_text("[topic]\nname = 'owls'\nexamples = ['https://example.org/owl']\n")
    with pytest.raises(TopicError, match="web addresses"):
        read_labelled(topic)
