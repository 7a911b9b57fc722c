"""Parts handed in from Python: names of modules, classes, instances, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from crawls import finish, small_crawl
from sklearn.linear_model import LogisticRegression, Ridge

from honeyguide import Crawl, Topic
from honeyguide.cli import main
from honeyguide.collection.collection import Collection
from honeyguide.collection.own_parts import own_parts
from honeyguide.config.load import load
from honeyguide.errors import CollectionError, TopicError
from honeyguide.job.changed_topic import take_topic
from honeyguide.job.parts import check_config
from honeyguide.parts import Answer, Ask, Link, LocalOrder, Page, Part, Scored, Suggestion, TextJudge, Verdict
from honeyguide.relevance.tf_cosine import TfCosine

MODULE = '''
from honeyguide.parts import LocalOrder, Scored


class Judged(LocalOrder):
    """Anchors as the page model judges them."""

    needs = frozenset({"judge"})

    def __init__(self, judge, weight: float = 1.0):
        self.judge, self.weight = judge, weight

    def rank(self, page, verdict, links):
        scores = self.judge.judge_texts([link.anchor for link in links])
        return [Scored(index, self.weight * score) for index, score in enumerate(scores)]


number = 3
'''


class Anchors(LocalOrder):
    """Needs the page model, and says so by the name of an argument."""

    seen: ClassVar[list[object]] = []

    def __init__(self, judge: TextJudge) -> None:
        self.judge = judge
        self.seen.append(judge)

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> Sequence[Scored]:
        scores = self.judge.judge_texts([link.anchor for link in links])
        return [Scored(index, score) for index, score in enumerate(scores)]


class Bookmarks:
    name, occasions, every, when_below = "bookmarks", frozenset({"start"}), None, None

    def __init__(self, seed: int) -> None:
        self.seed = seed

    async def suggest(self, ask: Ask) -> Answer:
        return Answer((Suggestion("https://example.org/", "bookmarked"),))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_order_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_order_module", raising=False)
    return "own_order_module"


async def test_a_class_that_needs_a_judge_gets_the_fitted_page_model() -> None:
    Anchors.seen.clear()
    events = await finish(small_crawl(None, ordering=Anchors, max_pages=20))
    assert sum(event.kind == "page" for event in events) == 20
    (judge,) = Anchors.seen
    assert max(cast("TextJudge", judge).judge_texts([" ".join(small_crawl(None).config.topic.keywords)])) > 0


async def test_a_collection_knows_parts_of_its_users_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, name = tmp_path / "c", f"{Anchors.__module__}:Anchors"
    await finish(small_crawl(folder, ordering=Anchors, max_pages=20))
    assert main(["status", str(folder)]) == 0
    assert f"link order {name}" in capsys.readouterr().out
    with Collection.open(folder) as collection:
        collection.export(tmp_path / "sheet.md", format="datasheet")
    assert f"| link order | {name} |" in (tmp_path / "sheet.md").read_text().replace("\\", "")
    # Without it there is nobody who could use what it learned.
    with pytest.raises(CollectionError, match=rf"your own link order {name}.*ordering=\.\.\."):
        await finish(small_crawl(folder, max_pages=30))
    with Collection.open(folder) as collection:
        assert collection.status().reason.startswith("it could not begin: ")
        assert not collection.status().running
    await finish(small_crawl(folder, ordering=Anchors, max_pages=30))
    # Judged and ranked again by its topic file, it is an ordinary collection.
    take_topic(folder, small_crawl(folder).config, even_if_same=True)
    await finish(small_crawl(folder, max_pages=40))
    with Collection.open(folder) as collection:
        assert own_parts(collection.state) == {}
        assert collection.status().pages == 40


async def test_a_module_and_class_by_name_with_options(module: str) -> None:
    by_name = await finish(small_crawl(None, ordering=f"{module}:Judged", max_pages=30))
    by_part = await finish(
        small_crawl(None, ordering=Part(f"{module}:Judged", {"weight": 2.0}), max_pages=30)
    )
    by_class = await finish(small_crawl(None, ordering=sys.modules[module].Judged, max_pages=30))
    pages = [event.url for event in by_name if event.kind == "page"]
    assert len(pages) == 30
    assert [event.url for event in by_class if event.kind == "page"] == pages
    assert [event.url for event in by_part if event.kind == "page"] == pages


async def test_sources_of_all_kinds_together() -> None:
    crawl = small_crawl(None, discovery=[Bookmarks, Bookmarks(3)], relevance=TfCosine, max_pages=5)
    events = await finish(crawl)
    told = [event for event in events if event.kind == "suggest"]
    assert [event.data["urls"] for event in told] == [["https://example.org/"]] * 2
    assert small_crawl(None, discovery=Bookmarks).recipe.discovery[0].own is Bookmarks
    assert small_crawl(None, relevance="okapi").recipe.relevance == Part("okapi")


class NoRank(LocalOrder):
    pass


class Strange(LocalOrder):
    needs = frozenset({"judge", "oracle"})

    def __init__(self, judge: object, oracle: object) -> None: ...

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> Sequence[Scored]:
        return []


class Wants(Strange):
    needs = frozenset({"judge"})

    def __init__(self, judge: object, decay: float) -> None: ...


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ordering": lambda: 3}, "<lambda> is a function, not a link order; pass a class, an instance or"),
        ({"ordering": NoRank}, "NoRank is not a link order: it lacks rank"),
        ({"ordering": Strange}, "needs oracle, which no crawl gives; it can have judge, topic_terms"),
        ({"ordering": Wants}, "option 'decay' is missing; add it, or pass an instance"),
        ({"ordering": 3}, "int is not a link order: it lacks combine, explain, learn"),
        ({"ordering": "best-frist"}, "unknown link order 'best-frist'; did you mean 'best-first'"),
        ({"ordering": "no_such_module_at_all:Order"}, "cannot import 'no_such_module_at_all' for link order"),
        ({"ordering": "own_order_module:Juged"}, "has no class 'Juged'; did you mean 'Judged'"),
        ({"ordering": "own_order_module:number"}, "has no class 'number'"),
        ({"relevance": Anchors}, "Anchors is not a page model: it lacks fit, judge, judge_texts"),
        ({"relevance": LogisticRegression}, "is the class of an estimator; pass a fitted instance of it"),
        ({"relevance": Ridge()}, "cannot score pages: a classifier must have predict_proba"),
        ({"relevance": 3}, "int is not a page model: it lacks fit, judge, judge_texts, load, save"),
        ({"discovery": [object()]}, "object is not a source: it lacks every, name, occasions"),
    ],
)
@pytest.mark.usefixtures("module")
def test_what_cannot_serve_is_refused_before_anything_runs(given: dict[str, Any], said: str) -> None:
    with pytest.raises(TopicError) as refused:
        small_crawl(None, **given)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("table", ["[relevance]\nmodel", "[ordering]\norder", "[[discovery]]\nsource"])
def test_a_topic_file_cannot_name_a_module(tmp_path: Path, module: str, table: str) -> None:
    path = tmp_path / "topic.toml"
    path.write_text(
        '[topic]\nname = "n"\nkeywords = ["owl"]\n[crawl]\nseeds = ["https://a.example/"]\n'
        f'{table} = "{module}:Judged"\n'
    )
    for refuse in (lambda: check_config(load(path)), lambda: Crawl(path)):
        with pytest.raises(
            TopicError, match=r"topic.toml:7: .* is not registered; topic files name registered"
        ):
            refuse()
    assert module not in sys.modules, "not even imported"


def test_options_are_found_in_the_table_that_has_them() -> None:
    topic = Topic("owls", keywords=("owl",), seeds=("https://example.org/",))
    config = Crawl(topic, max_pages=5, delay=0.25, allow_net=["127.0.0.0/8"], user_agent="owls/1").config
    assert config.crawl.max_pages == 5
    assert config.politeness.delay == 0.25
    assert config.network.allow_net == ("127.0.0.0/8",)
    assert config.identity.user_agent == "owls/1"
    with pytest.raises(TopicError, match="max_pages"):
        Crawl(topic, max_page=5)
