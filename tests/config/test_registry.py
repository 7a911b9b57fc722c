from __future__ import annotations

import msgspec
import pytest

from honeyguide.config.recipes import RECIPES, find_recipe, given_by, missing_needs, recipe_names
from honeyguide.config.registry import OptionError, check_options, construct, find, names, options_of
from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Topic
from honeyguide.relevance.tf_cosine import TfCosine


class Taking:
    def __init__(self, judge: object, *, depth: int = 3, mode: str = "a", share: float | None = None) -> None:
        self.judge = judge


class Knobs(msgspec.Struct, frozen=True, kw_only=True):
    depth: int = 3
    mode: str = "a"


class Grouped:
    def __init__(self, judge: object, options: Knobs = Knobs(), *, share: float | None = None) -> None:  # noqa: B008
        self.judge, self.options, self.share = judge, options, share


def test_a_struct_of_options_is_written_like_single_options() -> None:
    given = frozenset({"judge"})
    assert list(options_of(Grouped, given=given)) == ["depth", "mode", "share"]
    check_options(Grouped, {"depth": 2, "share": 0.5}, given=given)
    with pytest.raises(OptionError, match="unknown option 'dept'; did you mean 'depth'"):
        check_options(Grouped, {"dept": 2}, given=given)
    with pytest.raises(OptionError, match="option 'depth' must be a whole number"):
        check_options(Grouped, {"depth": "x"}, given=given)
    made = construct(Grouped, {"depth": 2, "share": 0.5}, {"judge": 1})
    assert (made.judge, made.options, made.share) == (1, Knobs(depth=2), 0.5)
    assert construct(Grouped, {}, {"judge": 1}).options == Knobs()


def test_unknown_names_are_answered_with_the_nearest_and_the_list() -> None:
    with pytest.raises(
        TopicError, match=r"unknown recipe 'best-frist'; did you mean 'best-first'\? \(choose from: "
    ):
        find_recipe("best-frist")
    with pytest.raises(TopicError, match="unknown page model 'tf-cosin'; did you mean 'tf-cosine'"):
        find("relevance", "tf-cosin")
    with pytest.raises(TopicError, match="unknown link order 'zzz'; choose from: "):
        find("ordering", "zzz")


def test_the_key_that_names_the_part_may_be_what_was_misspelt() -> None:
    given = frozenset({"judge"})
    with pytest.raises(OptionError, match="unknown option 'mdoel'; did you mean 'model'"):
        check_options(Taking, {"mdoel": "x"}, given=given, named_by="model")
    with pytest.raises(OptionError, match="unknown option 'zzz'; choose from: depth, mode, share"):
        check_options(Taking, {"zzz": "x"}, given=given, named_by="model")


def test_every_recipe_names_parts_that_exist() -> None:
    for recipe in RECIPES.values():
        assert recipe.relevance.name in names("relevance"), recipe.name
        assert recipe.ordering.name in names("ordering"), recipe.name
        assert {part.name for part in recipe.discovery} <= set(names("discovery")), recipe.name
        check_options(find("relevance", recipe.relevance.name), recipe.relevance.options, given=frozenset())
    assert recipe_names()[: len(RECIPES)] == tuple(RECIPES)


@pytest.mark.usefixtures("plugin")
def test_installed_packages_add_parts() -> None:
    assert "plug-words" in names("relevance")
    assert find("relevance", "plug-words").__name__ == "Words"
    assert find_recipe("plug-recipe").ordering.name == "plug-anchors"
    assert recipe_names()[-2:] == ("plug-nothing", "plug-recipe")


@pytest.mark.usefixtures("plugin")
def test_built_in_names_cannot_be_replaced() -> None:
    assert find("relevance", "tf-cosine") is TfCosine


@pytest.mark.usefixtures("plugin")
def test_a_broken_package_is_named() -> None:
    with pytest.raises(TopicError, match=r"cannot import 'plug-broken' .*repair or uninstall"):
        find("ordering", "plug-broken")
    with pytest.raises(TopicError, match="is not a Recipe; correct its entry point"):
        find_recipe("plug-nothing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dept": 3}, "unknown option 'dept'; did you mean 'depth'?"),
        ({"judge": 3}, "unknown option 'judge'; choose from: depth, mode, share"),
        ({"depth": "deep"}, "option 'depth' must be a whole number"),
        ({"mode": 1}, "option 'mode' must be a text in quotes"),
        ({"share": []}, "option 'share' must be a number"),
    ],
)
def test_options_are_checked_by_the_constructor(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        check_options(Taking, options, given=frozenset({"judge"}))
    assert str(caught.value).startswith(message)
    assert caught.value.option == next(iter(options))


def test_valid_and_missing_options() -> None:
    check_options(Taking, {"depth": 2, "share": None}, given=frozenset({"judge"}))
    with pytest.raises(OptionError, match="option 'judge' is missing"):
        check_options(Taking, {}, given=frozenset())


def test_needs() -> None:
    assert given_by(Topic(name="n", keywords=("k",), background=("b",))) == {"keywords", "background"}
    assert given_by(Examples(positives=(Document("d"),), taxonomy=("a",))) == {"examples", "taxonomy"}
    assert missing_needs(RECIPES["ss2"], frozenset()) == ["keywords", "background"]
    assert missing_needs(RECIPES["best-first"], frozenset({"taxonomy"})) == []
    assert missing_needs(RECIPES["best-first"], frozenset({"negatives"})) == [
        "keywords or examples or taxonomy"
    ]
