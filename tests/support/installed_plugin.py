from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PLUGIN = '''
import numpy as np
from honeyguide.config.recipes import Part, Recipe
from honeyguide.model import Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.models import Saved


class Words:
    """A page model: the share of topic words that a text holds."""

    def __init__(self, *, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.words = ()

    def fit(self, examples):
        self.words = examples.keywords
        return self

    def judge(self, page):
        score = self.judge_texts([page.text])[0]
        return Verdict(score, score >= self.threshold)

    def judge_texts(self, texts):
        return [sum(word in text for word in self.words) / max(1, len(self.words)) for text in texts]

    def save(self):
        return Saved({"words": list(self.words)})

    def load(self, saved):
        self.words = tuple(saved.values["words"])
        return self


class Anchors(LocalOrder):
    """A link order that asks for the judge and the seed."""

    needs = frozenset({"judge", "seed"})

    def __init__(self, *, judge, seed, weight: float = 1.0) -> None:
        if weight < 0:
            raise ValueError("weight must not be negative")
        self.judge, self.seed, self.weight = judge, seed, weight

    def rank(self, page, verdict, links):
        scores = self.judge.judge_texts([link.anchor for link in links])
        return [Scored(index, self.weight * score) for index, score in enumerate(scores)]


class Listed:
    """A source that needs a service."""

    needs = frozenset({"fetcher"})
    name, occasions, every, when_below = "listed", frozenset({"start"}), None, None

    def __init__(self, *, fetcher, file: str) -> None:
        self.fetcher, self.file = fetcher, file

    async def suggest(self, ask):
        raise AssertionError


recipe = Recipe(
    name="plug-recipe",
    title="t",
    reference="r",
    relevance=Part("plug-words", {"threshold": 0.25}),
    ordering=Part("plug-anchors"),
    needs=("keywords",),
)
not_a_recipe = 3
'''

ENTRY_POINTS = """
[honeyguide.relevance]
plug-words = honeyguide_test_plugin:Words
tf-cosine = honeyguide_test_plugin:Words
[honeyguide.ordering]
plug-anchors = honeyguide_test_plugin:Anchors
plug-broken = honeyguide_no_such_module:Order
[honeyguide.discovery]
plug-listed = honeyguide_test_plugin:Listed
[honeyguide.recipes]
plug-recipe = honeyguide_test_plugin:recipe
plug-nothing = honeyguide_test_plugin:not_a_recipe
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that registers parts: a real distribution on the import path."""
    site = tmp_path / "site"
    info = site / "honeyguide_test_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "honeyguide_test_plugin.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: honeyguide-test-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(site))
    yield
    sys.modules.pop("honeyguide_test_plugin", None)
