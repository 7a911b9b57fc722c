from __future__ import annotations

import json
import socket
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from honeyguide.cli import main
from honeyguide.cli.checkup import check_proxy
from honeyguide.config.load import load
from honeyguide.config.recipes import RECIPES

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


def test_new_then_check(honeyguide: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = honeyguide(
        "topic", "new", "owls of Europe", "--keywords", "owl", "barn owl", "--seeds", "https://example.org/",
        "--contact", "mailto:me@example.org", "--out", "owls.toml", "--max-pages", "50",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "owls.toml\n", "")
    config = load(tmp_path / "owls.toml")
    assert config.topic.keywords == ("owl", "barn owl")
    assert config.crawl.max_pages == 50
    assert config.identity.has_contact
    assert "--out collections/owls-of-europe" in (tmp_path / "owls.toml").read_text()

    done = honeyguide("topic", "check", "owls.toml")
    assert (done.returncode, done.stderr) == (0, "")
    frozen = tomllib.loads(done.stdout)
    assert frozen["ordering"] == {"order": "scout"}
    assert frozen["relevance"]["model"] == "calibrated"
    assert main(["topic", "check", str(tmp_path / "owls.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == frozen
    assert main(["topic", "check", str(tmp_path / "owls.toml"), "--quiet"]) == 0
    assert capsys.readouterr().out == ""

    again = honeyguide("topic", "new", "other", "--out", "owls.toml")
    assert again.returncode == 2
    assert "is there already" in again.stderr
    assert load(tmp_path / "owls.toml").model_dump() == config.model_dump()


def test_recipes(honeyguide: Run) -> None:
    done = honeyguide("recipes")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0].split("\t") == ["recipe", "what it does", "needs", "reference"]
    assert [line.split("\t")[0] for line in lines[1:]] == list(RECIPES)
    listed = json.loads(honeyguide("recipes", "--json").stdout)
    assert listed[0]["ordering"] == {"order": "scout"}
    assert all(recipe["reference"] and recipe["title"] for recipe in listed)


def test_one_recipe(honeyguide: Run) -> None:
    done = honeyguide("recipes", "cfc-backlinks")
    assert done.returncode == 0
    facts, _, options = done.stdout.partition("\n\n")
    told = dict(line.split("\t") for line in facts.splitlines())
    assert told["recipe"] == "cfc-backlinks"
    assert "Diligenti" in told["reference"]
    assert told["page model"].startswith("layered-bayes: ")
    assert told["source"].startswith("backlinks: ")
    assert "name one as 'service'" in told["without a service"]
    rows = {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in options.splitlines()}
    assert rows["[[discovery]]", "on_pages"][0] == "true (the part's default: false)"
    assert rows["[ordering]", "depth"] == ["4", "N, for a page model without layers."]
    listed = json.loads(honeyguide("recipes", "cfc-backlinks", "--json").stdout)
    assert [one["discovery"] for one in listed] == [[{"source": "backlinks", "on_pages": True}]]
    wrong = honeyguide("recipes", "scot")
    assert wrong.returncode == 2
    assert "unknown recipe 'scot'; did you mean 'scout'?" in wrong.stderr


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_can_be_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", name]) == 0
    assert f"recipe\t{name}\n" in capsys.readouterr().out


def test_doctor(honeyguide: Run, tmp_path: Path) -> None:
    (tmp_path / "topic.toml").write_text('[topic]\nname = "n"\n')
    done = honeyguide("doctor", "topic.toml", "--json")
    checks = {check["check"]: check for check in json.loads(done.stdout)}
    assert done.returncode == (1 if any(check["result"] == "failed" for check in checks.values()) else 0)
    essential = {
        "Python",
        "dependencies",
        "SQLite",
        "SQLite full text (FTS5)",
        "write permission",
        "sockets",
        "processes",
    }
    assert {name: checks[name]["result"] for name in essential} == dict.fromkeys(essential, "ok")
    assert checks["contact in user agent"]["result"] == "warning"
    assert all(check["fix"] for check in checks.values() if check["result"] != "ok")
    assert [file.name for file in tmp_path.iterdir()] == ["topic.toml"]


def test_doctor_says_what_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--folder", "/proc/nothing"]) == 1
    written = capsys.readouterr()
    assert written.err == "honeyguide: essential checks failed: write permission\n"
    assert "write permission\tFAILED\t/proc: " in written.out


def test_version(honeyguide: Run) -> None:
    facts = json.loads(honeyguide("version", "--json").stdout)
    assert facts.keys() == {"honeyguide", "python", "sqlite", "platform"}
    assert f"honeyguide\t{facts['honeyguide']}\n" in honeyguide("version").stdout


def test_doctor_tries_the_proxy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        good = list(check_proxy("environment", {"HTTPS_PROXY": address, "http_proxy": address}))
    bad = list(check_proxy("environment", {"HTTPS_PROXY": address}))
    odd = list(check_proxy("environment", {"ALL_PROXY": "socks5://127.0.0.1"}))
    assert [(one.result, one.found) for one in good] == [("ok", f"{address} (HTTPS_PROXY) answers")]
    assert [one.result for one in bad + odd] == ["failed", "failed"]
    assert list(check_proxy("none", {"HTTPS_PROXY": address})) == []
