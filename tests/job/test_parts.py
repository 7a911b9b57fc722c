from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from honeyguide.config.load import changed, load
from honeyguide.config.recipes import RECIPES, Part
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.job.parts import build_parts, check_config, chosen, spelled_out, with_own_parts
from honeyguide.model import Document, Examples, Link, Page, Verdict
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import PageModel

BIRDS = "the owl and the hawk are birds of prey that hunt at night with silent wings"
MONEY = "the bank raised the interest rate and the market for bonds fell again today"
EXAMPLES = Examples(
    keywords=("owl", "hawk"),
    positives=tuple(Document(f"{BIRDS} {number}") for number in range(12)),
    negatives=tuple(Document(f"{MONEY} {number}") for number in range(12)),
    unlabelled=tuple(Document(f"{text} {number}") for number in range(6) for text in (BIRDS, MONEY)),
    taxonomy=("Birds", "Owls"),
)
PAGE = Page(
    url="https://a.example/",
    id=1,
    title="Owls",
    text=BIRDS,
    links=(Link("https://a.example/owl", 2, anchor="owl"),),
)
HEAD = '[topic]\nname = "n"\nkeywords = ["owl"]\n'


def put(folder: Path, text: str) -> Path:
    path = folder / "topic.toml"
    path.write_text(HEAD + text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(TopicError) as caught:
        check_config(load(path))
    return str(caught.value).removeprefix(f"{path}:")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_builds_and_ranks(name: str) -> None:
    parts = build_parts(name, EXAMPLES, seed=5, services={"clock": VirtualClock()})
    assert isinstance(parts.model, PageModel)
    assert isinstance(parts.order, LinkOrder)
    verdict = parts.model.judge(PAGE)
    parts.order.learn(PAGE, verdict)
    assert {scored.link for scored in parts.order.rank(PAGE, verdict, PAGE.links)} <= {0}
    assert verdict.score > parts.model.judge(Page(url="https://b.example/", id=3, text=MONEY)).score


@pytest.mark.usefixtures("plugin")
def test_parts_get_what_they_declare() -> None:
    parts = build_parts("plug-recipe", Examples(keywords=("owl",)), seed=7)
    model, order = cast("Any", parts.model), cast("Any", parts.order)
    assert (model.words, model.threshold) == (("owl",), 0.25)
    assert order.judge is model
    assert order.seed == 7
    assert order.rank(PAGE, Verdict(1.0, True), PAGE.links)[0].priority == 1.0
    untrained = build_parts("plug-recipe", Examples(), fit=False)
    assert cast("Any", untrained.model).words == ()


@pytest.mark.usefixtures("plugin")
def test_a_source_gets_its_service_or_is_refused(tmp_path: Path) -> None:
    config = load(
        put(tmp_path, "[crawl]\nrecipe = 'plug-recipe'\n[[discovery]]\nsource = 'plug-listed'\nfile = 'x'\n")
    )
    recipe = check_config(config)
    parts = build_parts(recipe, EXAMPLES, services={"fetcher": "F"})
    source = cast("Any", parts.sources[0])
    assert (source.fetcher, source.file) == ("F", "x")
    with pytest.raises(TopicError, match="source 'plug-listed' needs fetcher, which this crawl cannot give"):
        build_parts(recipe, EXAMPLES)


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[crawl]\nseeds = ['https://a.example']\nrecipe = 'best-frist'",
            "6: unknown recipe 'best-frist'; did you mean",
        ),
        ("[relevance]\nmodel = 'tf-cosin'", "5: unknown page model 'tf-cosin'; did you mean 'tf-cosine'?"),
        ("[ordering]\n\norder = 'fish'", "6: unknown link order 'fish'; did you mean 'fish-search'?"),
        (
            "[ordering]\norder = 'plug-anchors'\nwight = 1",
            "6: link order 'plug-anchors': unknown option 'wight'; did you",
        ),
        (
            "[ordering]\norder = 'plug-anchors'\nseed = 1",
            "6: link order 'plug-anchors': unknown option 'seed'",
        ),
        (
            "[ordering]\norder = 'plug-anchors'\nweight = 'a'",
            "6: link order 'plug-anchors': option 'weight' must be",
        ),
        (
            "[[discovery]]\nsource = 'plug-listed'",
            "5: source 'plug-listed': option 'file' is missing; add it",
        ),
        ("[crawl]\nmax_pages = 3", "4: no 'seeds' in [crawl]; add addresses to begin with"),
        (
            "[crawl]\nseeds = ['https://a.example']\nrecipe = 'ss2'",
            "1: recipe 'ss2' needs background; add them to [topic]",
        ),
    ],
)
def test_a_file_that_cannot_be_wired_is_refused_with_its_line(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert refusal(put(tmp_path, text + "\n")).startswith(expected)


@pytest.mark.usefixtures("plugin")
def test_options_are_laid_over_those_of_the_recipe(tmp_path: Path) -> None:
    text = "[crawl]\nrecipe = 'plug-recipe'\nseeds = ['https://a.example/']\n[ordering]\nweight = 2.0\n"
    config = load(put(tmp_path, text))
    recipe = check_config(config)
    assert recipe.relevance == Part("plug-words", {"threshold": 0.25})
    assert recipe.ordering == Part("plug-anchors", {"weight": 2.0})
    whole = spelled_out(config, recipe)
    assert (whole.relevance.model, whole.relevance.options) == ("plug-words", {"threshold": 0.25})
    assert chosen(whole) == recipe
    other = load(put(tmp_path, text + "[relevance]\nmodel = 'tf-cosine'\n"))
    assert chosen(other).relevance == Part("tf-cosine")


def test_what_the_command_line_got_wrong_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    config = changed(load(put(tmp_path, "")), {"crawl": {"recipe": "nonsense"}})
    with pytest.raises(TopicError, match=r"^unknown recipe 'nonsense'; choose from: "):
        chosen(config)


@pytest.mark.usefixtures("plugin")
def test_what_a_part_itself_refuses() -> None:
    recipe = RECIPES["best-first"]
    broken = type(recipe)(name="x", title="", reference="", ordering=Part("plug-anchors", {"weight": -1.0}))
    with pytest.raises(TopicError, match="link order 'plug-anchors': weight must not be negative"):
        build_parts(broken, EXAMPLES)


def test_a_topic_without_words_is_refused() -> None:
    with pytest.raises(TopicError, match="recipe 'best-first' needs keywords or examples or taxonomy"):
        build_parts("best-first", Examples())


def test_a_users_own_objects() -> None:
    ready = build_parts("best-first", EXAMPLES)
    recipe = with_own_parts(
        RECIPES["breadth-first"], relevance=ready.model, ordering=ready.order, discovery=()
    )
    parts = build_parts(recipe, EXAMPLES)
    assert parts.model is ready.model
    assert parts.order is ready.order


def test_a_scikit_learn_estimator_is_a_page_model() -> None:
    estimator = make_pipeline(TfidfVectorizer(), MultinomialNB())
    parts = build_parts(with_own_parts(RECIPES["best-first"], relevance=estimator), EXAMPLES)
    good, bad = parts.model.judge_texts([BIRDS, MONEY])
    assert good > 0.5 > bad


@pytest.mark.parametrize("name", ["cfc-backlinks", "scout-backlinks"])
def test_naming_a_service_keeps_what_else_the_recipe_set(tmp_path: Path, name: str) -> None:
    service = {"kind": "crawl", "path": "earlier"}
    table = '[[discovery]]\nsource = "backlinks"\nservice = {kind = "crawl", path = "earlier"}\n'
    config = load(put(tmp_path, f'[crawl]\nrecipe = "{name}"\nseeds = ["https://a.example/"]\n{table}'))
    (source,) = chosen(config).discovery
    assert source.options == {**RECIPES[name].discovery[0].options, "service": service}
    assert source.options["on_pages"] is True
    other = changed(config, {}, discovery=[{"source": "backlinks", "on_pages": False}])
    assert chosen(other).discovery[0].options["on_pages"] is False
    assert chosen(changed(config, {}, discovery=[{"source": "meta-search"}])).discovery == (
        Part("meta-search"),
    )
