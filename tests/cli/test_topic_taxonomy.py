from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from crawls import finish, small_crawl
from warm import run_command

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

TREE = (
    "path\tchinese\tdescription\turl\ttitle\n"
    "Sports\t体育\tAll games\n"
    "Sports/Basketball\t\tHoops\n"
    "Sports/Basketball\t\tNews\thttp://hoops.example/\tHoops\n"
)


@pytest.fixture
def at_home(tmp_path: Path) -> Run:
    """Run the real program with a personal folder of its own."""
    (tmp_path / "tree.tsv").write_text(TREE, encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HONEYGUIDE_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}
        return run_command(*words, cwd=tmp_path, env=environment, timeout=60)

    return run


def test_browse_and_write_a_topic(at_home: Run, tmp_path: Path) -> None:
    assert at_home("topic", "browse", "tree.tsv", "sports").stdout.splitlines()[1] == "Basketball\t\t0\t1"
    assert json.loads(at_home("topic", "browse", "tree.tsv", "--json").stdout)[0]["chinese"] == "体育"
    done = at_home("topic", "from-taxonomy", "tree.tsv", "sports/basketball", "--out", "b.toml")
    assert (done.returncode, done.stdout) == (0, "b.toml\n")
    written = tomllib.loads((tmp_path / "b.toml").read_text(encoding="utf-8"))
    assert written["topic"] == {
        "name": "Basketball",
        "taxonomy": "Sports|体育/Basketball|篮球",
        "languages": ["en", "zh"],
        "description": "Hoops",
    }
    assert written["crawl"]["seeds"] == ["http://hoops.example/"]
    assert written["crawl"]["recipe"] == "fcmrps"
    assert at_home("topic", "check", "b.toml", "--quiet").returncode == 0
    assert at_home("topic", "from-taxonomy", "tree.tsv", "Sports", "--languages", "zh").returncode == 0
    assert tomllib.loads((tmp_path / "topic.toml").read_text(encoding="utf-8"))["topic"]["taxonomy"] == "体育"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ["topic", "from-taxonomy", "tree.tsv", "Sports/Baseketball"],
            "the taxonomy has no topic 'Sports/Baseketball'; the nearest are 'Sports/Basketball', 'Sports'; ",
        ),
        (["topic", "browse", "tree.tsv", "Sprots"], "the taxonomy has no topic 'Sprots'; the nearest are"),
        (["topic", "browse", "none.tsv"], "cannot read the taxonomy none.tsv: No such file"),
        (
            ["topic", "from-taxonomy", "tree.tsv", "Sports", "--languages", "fr"],
            "--languages fr: a taxonomy has",
        ),
        (
            ["topic", "map-token", "lanqiu", "Sports"],
            "token 'lanqiu' is mapped to 'Basketball' already, in the",
        ),
        (["topic", "map-token", "a b", "Sports"], "'a b' is not a token; write letters and digits only"),
        (["topic", "map-token", "x", "Sports", "--kind", "slang"], "'slang' is not a kind of spelling"),
        (["topic", "tokens", "nowhere"], ""),
        (["topic", "tokens", "nowhere", "--at-least", "0"], "--at-least and --limit must be 1 or more"),
    ],
)
def test_bad_words_get_one_line(at_home: Run, tmp_path: Path, words: list[str], expected: str) -> None:
    done = at_home(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"honeyguide: {expected}")
    assert [file.name for file in tmp_path.iterdir()] == ["tree.tsv"]


def test_a_token_is_mapped_once_unless_replaced(at_home: Run, tmp_path: Path) -> None:
    assert at_home("topic", "map-token", "hoops", "Basketball").returncode == 0
    again = at_home("topic", "map-token", "hoops", "Sports")
    assert again.returncode == 2
    assert "token 'hoops' is mapped to 'Basketball' already" in again.stderr
    assert at_home("topic", "map-token", "hoops", "Sports", "--replace").returncode == 0
    assert at_home("topic", "map-token", "lq", "Sports", "--kind", "initials", "--replace").returncode == 0
    assert at_home("topic", "map-token", "cba", "Basketball", "--table", "mine.tsv").returncode == 0
    table = (tmp_path / "home" / "topic-tokens.tsv").read_text(encoding="utf-8").splitlines()
    assert table[1:] == ["hoops\tSports\tenglish", "lq\tSports\tinitials"]
    assert (tmp_path / "mine.tsv").read_text().splitlines()[1:] == ["cba\tBasketball\tenglish"]


async def test_tokens_of_a_crawl_are_listed_until_they_are_mapped(at_home: Run, tmp_path: Path) -> None:
    await finish(small_crawl(tmp_path / "out", max_pages=40))
    found = json.loads(at_home("topic", "tokens", "out", "--at-least", "20", "--json").stdout)
    assert found[0]["count"] >= 20
    assert {"token", "count", "hosts", "places", "examples"} == set(found[0])
    assert all(found[0]["token"] in url.lower() for url in found[0]["examples"])
    assert at_home("topic", "map-token", found[0]["token"], "Owls").returncode == 0
    after = json.loads(at_home("topic", "tokens", "out", "--at-least", "20", "--json").stdout)
    assert [one["token"] for one in after] == [one["token"] for one in found[1:]]
    assert at_home("topic", "tokens", "out", "--at-least", "20").stdout.startswith("token\taddresses\thosts")
