"""Each published system as a user has it: a topic file, one command, a web on loopback, no services."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import SPEC, TOPIC_NAME, WEB, small_topic
from warm import run_command

from honeyguide.lab.webs.serve import start_server

pytestmark = pytest.mark.realtime

SYSTEMS = {
    "hcla": "keywords background",
    "plsi-phits": "keywords background",
    "cfc": "examples",
    "fcmrps": "taxonomy",
    "gp-hybrid": "examples negatives",
    "cbp-slc": "examples background",
}
"""What each is given."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    place = tmp_path_factory.mktemp("systems")
    draw = random.Random(3)
    on = [word for phrase in WEB.keywords(TOPIC_NAME) for word in phrase.split()]
    off = [word for name in WEB.topics[1:] for phrase in WEB.keywords(name) for word in phrase.split()]
    for kind, words, count in (("on", on, 12), ("off", off, 12), ("text", on + off, 60)):
        (place / kind).mkdir()
        for number in range(count):
            (place / kind / f"{number}.txt").write_text(" ".join(draw.choices(words, k=60)))
    with start_server(SPEC) as server:
        yield place, server.port


@pytest.mark.parametrize("recipe", SYSTEMS)
def test_a_crawl_from_one_command(recipe: str, folder: tuple[Path, int]) -> None:
    place, port = folder
    topic = small_topic()
    given = {
        "keywords": f"keywords = {list(topic.keywords)}\n",
        "taxonomy": f'taxonomy = "Subjects/{topic.keywords[0]}"\n',
        "examples": 'examples = ["on/*.txt"]\n',
        "negatives": 'negatives = ["off/*.txt"]\n',
        "background": 'background = ["text/*.txt"]\n',
    }
    (place / f"{recipe}.toml").write_text(
        f'[topic]\nname = "{recipe}"\n'
        + "".join(given[name] for name in SYSTEMS[recipe].split())
        + f'[crawl]\nrecipe = "{recipe}"\nseeds = {list(topic.seeds)}\n'
        + ("[relevance]\npopulation = 20\ngenerations = 2\n" if recipe == "gp-hybrid" else "")
        + "[politeness]\ndelay = 0.0\nip_delay = 0.0\n"
        + f'[network]\nconnect_to = {{ "*" = "127.0.0.1:{port}" }}\n'
    )
    honeyguide(place, f"crawl {recipe}.toml --trust --out {recipe} --max-pages 60")
    status = json.loads(honeyguide(place, f"status {recipe} --json"))
    assert status["pages"] > 20
    assert "page model" in status["uses"]
    lacking = {"cfc": "no backlink service", "gp-hybrid": "no search engine"}
    expected = [lacking[recipe]] if recipe in lacking else []
    assert [one.partition(":")[0] for one in status["lacks"]] == expected


def honeyguide(place: Path, line: str) -> str:
    done = run_command(*line.split(), cwd=place, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
