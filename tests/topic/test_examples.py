from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.errors import TopicError
from honeyguide.model import Document, Topic
from honeyguide.topic import gather


def plain(path: Path) -> Document:
    return Document(path.read_text(), url=path.name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good" / "deep").mkdir(parents=True)
    for name, text in {
        "good/b.txt": "bee",
        "good/a.txt": "ant",
        "good/deep/c.txt": "cat",
        "empty.txt": " ",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def texts(documents: tuple[Document, ...]) -> list[str]:
    return [document.text for document in documents]


def test_files_patterns_and_addresses(folder: Path) -> None:
    topic = Topic(
        name="x",
        keywords=("k",),
        examples=("good/*.txt", "https://example.org/", "good/a.txt"),
        negatives=(str(folder / "good" / "b.txt"),),
        background=("good/**/*.txt", "HTTPS://example.org/x"),
        taxonomy="A/B_C/",
        languages=("en", "de"),
    )
    gathered = gather(topic, to_document=plain, base=folder)
    assert texts(gathered.examples.positives) == ["ant", "bee"]
    assert texts(gathered.examples.negatives) == ["bee"]
    assert texts(gathered.examples.unlabelled) == ["ant", "bee", "cat"]
    assert gathered.examples.taxonomy == ("A", "B C")
    assert gathered.examples.languages == ("en", "de")
    assert gathered.deferred.positives == ("https://example.org/",)
    assert gathered.deferred.unlabelled == ("HTTPS://example.org/x",)
    assert gathered.deferred

    complete = gathered.complete({"https://example.org/": Document("web")}.get)
    assert texts(complete.positives) == ["ant", "bee", "web"]
    assert texts(complete.unlabelled) == ["ant", "bee", "cat"]
    assert complete.keywords == ("k",)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("good", "'good' is a folder; name its files, such as 'good/*.html'"),
        ("none.txt", "'examples' in [topic]: no file "),
        ("none/*.txt", "no file matches 'none/*.txt'"),
        ("empty.txt", "none of its 1 files holds any text"),
    ],
)
def test_patterns_that_cannot_serve(folder: Path, pattern: str, expected: str) -> None:
    with pytest.raises(TopicError) as caught:
        gather(Topic(name="x", examples=(pattern,)), to_document=plain, base=folder)
    assert expected in str(caught.value)


def test_nothing_given_is_nothing_gathered(tmp_path: Path) -> None:
    gathered = gather(Topic(name="x"), to_document=plain, base=tmp_path)
    assert not gathered.deferred
    assert gathered.examples.positives == ()
