"""What a command must not import: libraries that it does not need make it slow, and some are extras."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from honeyguide.config.registry import EXTRAS
from honeyguide.testing.made_collection import MadeCollection

HEAVY = (
    "aiohttp",
    "lxml",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
    "sklearn",
    "starlette",
)

CRAWLING = (
    "honeyguide.engine.crawler",
    "honeyguide.engine.arrival",
    "honeyguide.fetch.http",
    "honeyguide.frontier",
    "honeyguide.parse.html",
    "honeyguide.collection.exports.formats",
)
"""What a command that only looks at things has no use for."""
MODULES = {"--help": 15, "status": 160, "topic check": 105, "doctor": 65}
"""Modules of our own that a command may import: some more than it does (10, 145, 93, 52). With all of the
engine, `status` imported 223."""

RUN = """
import json, sys
from honeyguide.cli import main
main(sys.argv[1:])
print("\\n" + json.dumps(sorted(sys.modules)))
"""


def modules(*arguments: str) -> set[str]:
    """What a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], check=True, capture_output=True, text=True, timeout=60
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def imported(*arguments: str) -> set[str]:
    """Top-level packages that a command imports."""
    return {name.partition(".")[0] for name in modules(*arguments)}


EARLY = """
import sys
import honeyguide.cli

class Impatient:  # Ctrl-C while the first library is imported
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Impatient())
sys.exit(honeyguide.cli.main(["recipes"]))
"""


@pytest.mark.parametrize("library", ["cyclopts", "rich", "msgspec", "honeyguide.cli.recipes"])
def test_ctrl_c_while_libraries_are_imported(library: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY, library], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (130, "honeyguide: interrupted\n")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_needs_no_library(arguments: list[str]) -> None:
    assert not imported(*arguments) & set(HEAVY)


def test_looking_at_things_needs_no_learning(tmp_path: Path) -> None:
    topic = tmp_path / "owls.toml"
    topic.write_text('[topic]\nname = "owls"\nkeywords = ["owl"]\nseeds = ["https://example.org/"]\n')
    for arguments in (["topic", "check", str(topic)], ["status", str(tmp_path)], ["recipes"]):
        found = imported(*arguments)
        assert not found & {*EXTRAS, "aiohttp", "matplotlib", "pandas", "starlette"}, arguments


@pytest.mark.parametrize("command", MODULES)
def test_a_command_imports_what_it_needs(command: str, tmp_path: Path) -> None:
    topic = tmp_path / "owls.toml"
    topic.write_text('[topic]\nname = "owls"\nkeywords = ["owl"]\nseeds = ["https://example.org/"]\n')
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/", title="A", text="a")
    about = {"status": [str(tmp_path / "c")], "topic check": [str(topic)]}.get(command, [])
    found = modules(*command.split(), *about)
    assert not found & set(CRAWLING)
    assert len([name for name in found if name.startswith("honeyguide")]) <= MODULES[command]


WITHOUT = """
import sys
for name in ("scipy", "sklearn", "numba", "deap", "joblib", "matplotlib"):
    sys.modules[name] = None
from honeyguide import Crawl, Topic
from honeyguide.errors import MissingExtra
topic = Topic("owls", keywords=("owl",), seeds=("http://a.example/",))
Crawl(topic, recipe="best-first")
try:
    Crawl(topic, recipe="ache-like")
except MissingExtra as error:
    print(error)
"""


def test_a_crawl_without_the_extras() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True, timeout=60
    )
    assert "pip install 'honeyguide[learn]'" in done.stdout


READING = """
import sys
for name in ("scipy", "sklearn", "matplotlib"):
    sys.modules[name] = None
from honeyguide.cli import main
folder = sys.argv[1]
asked = ["report", folder], ["links", folder, "--duplicates"], ["report", folder, "--out", "x.png"]
print(*[main(words) for words in asked])
"""


def test_figures_and_copies_are_shown_without_the_extras(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/", title="A", text="a")
    done = subprocess.run(
        [sys.executable, "-c", READING, str(tmp_path / "c")],
        check=True, capture_output=True, text=True, timeout=60, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 0 2"
    assert "pages\t1" in done.stdout
    assert "pip install 'honeyguide[plots]'" in done.stderr


PORTAL = """
import sys
for name in "sklearn numba deap matplotlib pandas polars pyarrow mcp scrapy trafilatura".split():
    sys.modules[name] = None
import honeyguide.cli.serve
import honeyguide.ui.server
"""


def test_the_portal_needs_its_own_extra_only() -> None:
    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    brought = {re.split(r"[<>=]", one)[0] for one in extras["optional-dependencies"]["ui"]}
    assert "scipy" in brought  # the directory and the links
    subprocess.run([sys.executable, "-c", PORTAL], check=True, timeout=60)
