from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.content_svm import ContentSvm
from honeyguide.relevance.evolved.formula import parse
from honeyguide.relevance.evolved.knn import EvolvedKnn
from honeyguide.relevance.evolved.model_file import Similarity, read_similarity, write_similarity
from honeyguide.relevance.evolved.picture import tree_svg
from honeyguide.testing import page_models as checks


@pytest.mark.parametrize("check", checks.all_checks(), ids=lambda check: check.__name__)
def test_contract(check: checks.Check) -> None:
    check(lambda: EvolvedKnn(population=30, generations=3), checks.made_up_examples())


@pytest.mark.parametrize("check", checks.all_checks(), ids=lambda check: check.__name__)
def test_contract_of_the_content_svm(check: checks.Check) -> None:
    check(ContentSvm, checks.made_up_examples())


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "similarity.json"
    write_similarity(path, Similarity(formula=["+", "body_cosine", ["sqrt", "title_bow"]], k=5))
    return path


def test_a_formula_from_a_file_is_used_as_it_is(saved: Path) -> None:
    model = EvolvedKnn(formula=str(saved)).fit(checks.made_up_examples())
    assert model.formula == "body_cosine + sqrt(title_bow)"
    assert model.scores == {}
    verdict = model.judge(
        Page(url="https://a.example/", id=1, text=checks.made_up_text(checks.ON_TOPIC, 900))
    )
    assert verdict.on_topic
    assert verdict.facts["neighbours"] == 5.0
    assert verdict.terms[0][0] in {
        "owl",
        "nest",
        "feather",
        "prei",
        "wing",
        "hunt",
        "barn",
        "egg",
        "beak",
        "forest",
    }


def test_a_number_of_neighbours_asked_for_goes_before_the_files(saved: Path) -> None:
    model = EvolvedKnn(formula=str(saved), k=3).fit(checks.made_up_examples())
    page = Page(url="https://a.example/", id=1, text=checks.made_up_text(checks.ON_TOPIC, 900))
    assert model.judge(page).facts["neighbours"] == 3.0


def test_neighbours_decide(saved: Path) -> None:
    examples = Examples(
        positives=tuple(Document(f"owl nest {n}") for n in range(10)),
        negatives=tuple(Document(f"tax form {n}") for n in range(10)),
    )
    model = EvolvedKnn(formula=str(saved)).fit(examples)
    assert model.judge_texts(["owl", "tax", "sky"]) == [1.0, 0.0, 0.0]
    assert model.judge_texts(["owl owl tax nest"])[0] > 0.5 > model.judge_texts(["owl tax tax form"])[0]


def test_large_classes_do_not_outvote_small_ones(saved: Path) -> None:
    examples = Examples(
        positives=tuple(Document(f"owl page {n}") for n in range(10)),
        negatives=tuple(Document(f"tax page {n}") for n in range(200)),
    )
    page = ["owl page story"]
    balanced = EvolvedKnn(formula=str(saved), balance=True).fit(examples).judge_texts(page)[0]
    plain = EvolvedKnn(formula=str(saved)).fit(examples).judge_texts(page)[0]
    assert balanced >= plain
    assert balanced > 0.5


def test_a_page_without_a_title_is_judged_by_its_body(tmp_path: Path) -> None:
    path = tmp_path / "titles.json"
    write_similarity(path, Similarity(formula=["*", "title_bow", "body_bow"], k=5))
    model = EvolvedKnn(formula=str(path)).fit(checks.made_up_examples())
    text = checks.made_up_text(checks.ON_TOPIC, 901)
    assert model.judge(Page(url="https://a.example/", id=1, text=text)).on_topic


@pytest.mark.parametrize(("on", "off"), [(9, 50), (50, 9), (0, 50)])
def test_too_few_examples(on: int, off: int) -> None:
    examples = Examples(
        positives=tuple(Document(f"owl {n}") for n in range(on)),
        negatives=tuple(Document(f"tax {n}") for n in range(off)),
    )
    with pytest.raises(TopicError, match="needs 10 example documents"):
        EvolvedKnn().fit(examples)


def test_unlabelled_text_stands_in_for_negatives() -> None:
    given = checks.made_up_examples()
    examples = Examples(positives=given.positives, unlabelled=given.negatives)
    model = EvolvedKnn(population=20, generations=2).fit(examples)
    assert model.judge_texts(["owl nest feather"])[0] > model.judge_texts(["tax form income"])[0]


def broken(path: Path) -> dict[str, Callable[[], object]]:
    return {
        "missing": lambda: None,
        "no JSON": lambda: path.write_bytes(b"\x80\x04code"),
        "no formula": lambda: path.write_text('{"k": 3, "formula": ["system", "rm"]}'),
        "no k": lambda: path.write_text('{"k": 0, "formula": "body_bow"}'),
        "another format": lambda: path.write_text('{"format": 9, "k": 3, "formula": "body_bow"}'),
        "deep": lambda: path.write_text(
            '{"k": 3, "formula": ' + '["sqrt",' * 5000 + '"body_bow"' + "]" * 5000 + "}"
        ),
        "huge": lambda: path.write_bytes(b" " * (2 << 20)),
    }


@pytest.mark.parametrize(
    "what", ["missing", "no JSON", "no formula", "no k", "another format", "deep", "huge"]
)
def test_files_that_are_no_similarity(tmp_path: Path, what: str) -> None:
    path = tmp_path / "bad.json"
    broken(path)[what]()
    with pytest.raises(TopicError) as caught:
        read_similarity(path)
    assert "\n" not in str(caught.value)


def test_the_picture_shows_every_node() -> None:
    formula = parse(["/", ["+", "body_cosine", "title_bow"], ["sqrt", "body_okapi"]])
    root = ET.fromstring(tree_svg(formula, caption="a < b & c"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[1] == "a < b & c"
    assert sorted(str(text) for text in texts[2:]) == sorted(
        ["\u00f7", "+", "body cosine", "title bow", "\u221a", "body okapi"]
    )
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 5
