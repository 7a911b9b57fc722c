"""The verbs of recorded webs, as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from honeyguide.cli import main
from honeyguide.store.archive import ArchiveWriter, Exchange

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
A = "http://a.example/"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HONEYGUIDE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HONEYGUIDE_DATA", str(tmp_path / "nothing"))
    writer = ArchiveWriter(tmp_path, prefix="a", software="test", clock=lambda: 0.0, seed="t")
    writer.write_exchange(Exchange(A, 1.0, HEAD, b"<title>A</title><a href=b>b</a>"))
    writer.write_exchange(Exchange(f"{A}b", 1.0, HEAD, b"<title>B</title>owl"))
    writer.close()
    (tmp_path / "labels.tsv").write_text(f"url\tsite\tlabel\n{A}\ta\tx\n{A}b\ta\tx\n", encoding="utf-8")
    return (tmp_path / "a-00001.warc.gz").rename(tmp_path / "a.warc.gz")


def test_import_then_list_and_describe(honeyguide: Run, archive: Path) -> None:
    done = honeyguide(
        "lab", "import", "warc", str(archive), "--labels", "labels.tsv", "--name", "mine", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["pages"] == 2
    listed = json.loads(honeyguide("lab", "webs", "--json").stdout)
    assert {row["name"]: row["at_hand"] for row in listed}["mine"] is True
    webkb = next(row for row in listed if row["name"] == "webkb")
    assert "cmu" in webkb["origin"].lower()
    assert webkb["at_hand"] is False
    info = json.loads(honeyguide("lab", "info", "mine", "--json").stdout)
    assert (info["pages"], info["links"], info["reachable"], info["top"]["same"]) == (2, 1, 1.0, 1.0)
    plain = honeyguide("lab", "info", "mine")
    assert "reachable from them\t100.0%" in plain.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("import", "warc", "nothing.warc.gz"), "no such file"),
        (("import", "warc", "labels.tsv"), "labels.tsv"),
        (("import", "warc", "a.warc.gz", "--labels", "nope.tsv"), "nope.tsv"),
        (("import", "warc", "a.warc.gz", "--name", "../up"), "cannot name"),
        (("import", "webkb", "a.warc.gz", "--labels", "labels.tsv"), "--labels"),
        (("import", "webkb", "."), "4 Universities"),
        (("info", "nonsense"), "lab webs"),
        (("info", "webkb"), "lab import webkb"),
        (("serve", "nonsense"), "lab webs"),
        (("record", ".", "--name", "x"), "not a collection"),
        (("record", "none.toml", "--name", "x"), "none.toml"),
    ],
)
def test_bad_input_is_one_line(
    archive: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(archive.parent)
    assert main(["lab", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1
    webs = archive.parent / "home" / "webs"
    assert not webs.exists() or not list(webs.iterdir())


@pytest.mark.realtime
def test_serve_answers_a_proxy_client(archive: Path) -> None:
    command = [sys.executable, "-m", "honeyguide", "lab", "serve", str(archive), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "}\n")
        facts = json.loads("".join(lines) + "}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": facts["proxy"]}))
        with opener.open(f"{A}b", timeout=60) as answer:
            assert answer.read() == b"<title>B</title>owl"
        with opener.open("http://www.a.example/b/", timeout=60) as answer:
            assert answer.geturl() == f"{A}b"  # an alias, redirected
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
