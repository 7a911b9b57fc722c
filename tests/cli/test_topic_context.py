from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest

from honeyguide.cli.topic_context import typical_terms
from honeyguide.config.load import check_values, freeze
from honeyguide.errors import HoneyguideError
from honeyguide.model import ContextGraph, ContextNode, Document, Examples
from honeyguide.plots.context import draw_context
from honeyguide.store.layout import Layout

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

GRAPH = ContextGraph(
    (
        Document("barn owl nests and prey", url="http://owls.example/1"),
        Document("staff list of the institute", url="http://uni.example/staff"),
        Document("welcome to the university", url="http://uni.example/"),
    ),
    (
        (ContextNode(0, -1, 0),),
        (ContextNode(1, 0, 0),),
        (ContextNode(2, 0, 0), ContextNode(2, 0, 0)),
    ),
    requests=3,
    fetched=2,
    notes=("backlinks of http://x.example/: it answered HTTP 503",),
)


def collection(folder: Path, context: ContextGraph | None = GRAPH) -> Path:
    layout = Layout.create(folder)
    config = check_values({"topic": {"name": "owls"}, "crawl": {"seeds": ["http://owls.example/"]}})
    layout.topic_file.write_text(freeze(config))
    layout.prepared_file.write_bytes(msgspec.json.encode(Examples(context=context)))
    return folder


def test_layers_terms_and_hosts(honeyguide: Run, tmp_path: Path) -> None:
    collection(tmp_path / "c")
    done = honeyguide("topic", "context", "c", "--plot", "context.svg")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert ["2", "2", "1"] in [row[:3] for row in rows]
    assert any(row[0] == "1" and "staff" in row[3] and row[4] == "uni.example" for row in rows)
    assert (tmp_path / "context.svg").read_bytes().startswith(b"<?xml")


def test_json(honeyguide: Run, tmp_path: Path) -> None:
    collection(tmp_path / "c")
    told = json.loads(honeyguide("topic", "context", "c", "--json").stdout)
    assert told["depth"] == 2
    assert told["notes"] == list(GRAPH.notes)
    assert told["layers"][2]["hosts"] == ["uni.example"]


@pytest.mark.parametrize("case", ["nothing", "no context", "damaged"])
def test_bad_collections(honeyguide: Run, tmp_path: Path, case: str) -> None:
    folder = collection(tmp_path / "c", None)
    if case == "nothing":
        Layout(folder).prepared_file.unlink()
    elif case == "damaged":
        Layout(folder).prepared_file.write_bytes(b"{")
    done = honeyguide("topic", "context", "c")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert ("restore" if case == "damaged" else "cfc") in done.stderr


def test_a_crawl_that_was_asked_for_a_graph_and_has_none_yet(honeyguide: Run, tmp_path: Path) -> None:
    folder = collection(tmp_path / "c", None)
    Layout(folder).prepared_file.unlink()
    topic = Layout(folder).topic_file
    topic.write_text(topic.read_text().replace('recipe = "scout"', 'recipe = "cfc"'))
    done = honeyguide("topic", "context", "c")
    assert done.returncode == 2
    assert "let it go on" in done.stderr


def test_equal_graphs_give_equal_pictures(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw_context(GRAPH, tmp_path / name, title="owls")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    with pytest.raises(HoneyguideError, match=r"context\.svg"):
        draw_context(GRAPH, tmp_path / "none" / "x.svg")
    with pytest.raises(HoneyguideError, match=r"context\.svg"):
        draw_context(GRAPH, tmp_path / "x.nonsense")


def test_an_empty_graph_is_shown_too(tmp_path: Path) -> None:
    assert typical_terms(ContextGraph(), ("en",)) == []
    draw_context(ContextGraph(), tmp_path / "x.png")
