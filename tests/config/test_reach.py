from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.config.load import freeze, load
from honeyguide.config.reach import reach

BEGIN = '[topic]\nname = "owls"\n'


def told(folder: Path, text: str) -> list[str]:
    (folder / "topic.toml").write_text(BEGIN + text)
    return reach(load(folder / "topic.toml"))


def test_a_file_that_keeps_to_itself(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("owl")
    text = 'examples = ["pages/*.html", "./pages/a.html", "pages/**/x*", "https://example.org/a/../b"]\n'
    assert told(tmp_path, text + '[crawl]\nseeds = ["https://example.org/"]\n') == []


@pytest.mark.parametrize("key", ["examples", "negatives", "background"])
@pytest.mark.parametrize("pattern", ["/etc/passwd", "../other/*.html", "~/.ssh/*", "pages/../../x", "/etc/*"])
def test_files_outside_are_named(tmp_path: Path, key: str, pattern: str) -> None:
    (found,) = told(tmp_path, f"{key} = [{pattern!r}]\n")
    assert found.startswith("reads ")
    assert f"'{key}' in [topic]" in found


@pytest.mark.parametrize("pattern", ["inside.html", "in*.html", "deep/*.html"])
def test_links_that_lead_outside_are_named(tmp_path: Path, pattern: str) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (tmp_path / "secret.html").write_text("password")
    (folder / "inside.html").symlink_to("../secret.html")
    (folder / "deep").symlink_to("..")
    assert told(folder, f"examples = [{pattern!r}]\n")


def test_networks_and_code_are_named(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        '[network]\nproxy = "10.0.0.2:3128"\n'
        'allow_net = ["0.0.0.0/0"]\nconnect_to = { "*" = "10.0.0.1:80" }\n'
        '[relevance]\nmodel = "os:system"\npath = "/etc/shadow"\n'
        '[[discovery]]\nsource = "edge-list"\nfiles = ["../edges.gz"]\n',
    )
    assert [line.partition(" (")[0] for line in found] == [
        "runs the Python class os:system",
        "reads /etc/shadow",
        f"reads {tmp_path}/../edges.gz",
        "asks all hosts through 10.0.0.2:3128",
        "asks hosts in 0.0.0.0/0",
        "asks 10.0.0.1:80 for *",
    ]


def test_a_frozen_copy_reaches_what_was_agreed_to(tmp_path: Path) -> None:
    """What is agreed to before a collection is made covers the copy of the topic file in it."""
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("owl")
    (tmp_path / "out").mkdir()
    (tmp_path / "topic.toml").write_text(BEGIN + 'examples = ["pages/*.html"]\nnegatives = ["/etc/passwd"]\n')
    config = load(tmp_path / "topic.toml")
    (tmp_path / "out" / "topic.toml").write_text(freeze(config))
    agreed = reach(config, root=tmp_path / "out")
    assert len(agreed) == 2
    assert agreed == reach(load(tmp_path / "out" / "topic.toml"))
