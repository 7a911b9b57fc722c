"""Every example of the documentation is run: Python as it stands, `honeyguide` lines as commands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import SPEC, TOPIC_NAME, small_topic
from warm import run_command

from honeyguide.config.load import check_values
from honeyguide.lab.webs.serve import start_server

pytestmark = pytest.mark.realtime

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SLOW = ("honeyguide demo", "honeyguide lab", "honeyguide mcp", "honeyguide serve")
"""Have tests of their own."""


def blocks(kind: str) -> list[tuple[str, str]]:
    found = []
    for path in PAGES:
        for number, match in enumerate(FENCE.finditer(path.read_text())):
            if match[1] == kind:
                found.append((f"{path.relative_to(ROOT)}#{number}", match[2]))
    return found


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a topic file for a web served on loopback, and a collection of it."""
    folder = tmp_path_factory.mktemp("docs")
    topic = small_topic()
    with start_server(SPEC) as server:
        (folder / "topic.toml").write_text(
            f"[topic]\nname = {TOPIC_NAME!r}\nkeywords = {list(topic.keywords)}\n"
            f"[crawl]\nseeds = {list(topic.seeds)}\n[politeness]\ndelay = 0.0\nip_delay = 0.0\n"
            f'[network]\nconnect_to = {{ "*" = "127.0.0.1:{server.port}" }}\n'
        )
        run(folder, "honeyguide trust topic.toml")
        run(folder, "honeyguide crawl topic.toml --out collection --max-pages 60")
        shutil.copytree(folder / "collection", folder / "collections" / "owls")
        yield folder


def run(folder: Path, line: str) -> None:
    words = shlex.split(line.partition(" | ")[0], comments=True)
    environment = {**os.environ, "HONEYGUIDE_CRAWL_MAX_PAGES": "90"}  # enough, where a line has no number
    if line.startswith("honeyguide crawl https://"):
        # The reader's own address; we take one of the web that is served here.
        known = tomllib.loads((folder / "topic.toml").read_text())
        words[2:3] = [known["crawl"]["seeds"][0], "--max-pages", "20"]
        target = known["network"]["connect_to"]["*"]
        environment |= {
            "HONEYGUIDE_NETWORK_CONNECT_TO": f'{{"*" = "{target}"}}',
            "HONEYGUIDE_POLITENESS_DELAY": "0",
        }
    done = run_command(*words[1:], cwd=folder, env=environment)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def commands() -> list[str]:
    lines = [line for _, text in blocks("sh") for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line.startswith("honeyguide ") and not line.startswith(SLOW)]


def test_there_are_examples() -> None:
    assert len(commands()) > 8
    assert len(blocks("python")) > 4


def test_commands(sandbox: Path) -> None:
    for line in commands():
        if line.startswith("honeyguide topic new"):
            (sandbox / "owls.toml").unlink(missing_ok=True)  # another page may have made it
        if "URL" not in line:
            # topic.toml is the sandbox's own.
            written_here = line.startswith("honeyguide topic new") and "--out" not in line
            run(sandbox, f"{line} --out other.toml --overwrite" if written_here else line)
        if line.startswith("honeyguide topic new") and "--out" in line:
            # The reader edits the file; we make it one of the web that is served here.
            written = shlex.split(line)[shlex.split(line).index("--out") + 1]
            (sandbox / written).write_text((sandbox / "topic.toml").read_text())
            run(sandbox, f"honeyguide trust {written}")


@pytest.mark.parametrize(("name", "text"), blocks("python"), ids=[name for name, _ in blocks("python")])
def test_python(sandbox: Path, name: str, text: str) -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "error::DeprecationWarning:__main__"}
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=sandbox,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "text"), blocks("toml"), ids=[name for name, _ in blocks("toml")])
def test_toml(name: str, text: str) -> None:
    values = tomllib.loads(text)
    if "topic" in values:
        check_values(values)


def test_the_plug_ins_of_the_guide_pass_their_contracts(tmp_path: Path) -> None:
    """CONTRIBUTING's page model, link orders and source are what it says they are."""
    found = [text for name, text in blocks("python") if name.startswith("CONTRIBUTING")]
    checks = (
        "check_page_model(WordCount)",
        "check_link_order(lambda: GoodAnchors(WordJudge()))",
        "check_link_order(ShortFirst)",
        "check_source(lambda: Bookmarks(['https://example.org/']))",
    )
    assert len(found) == len(checks)
    lines = [f"{text}\n{check}\n" for text, check in zip(found, checks, strict=True)]
    script = "from honeyguide.testing import *\n" + "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
