"""A searched word finds its other forms, and phrases stay exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.store.index import FullText
from honeyguide.store.index_text import TODAY, as_indexed
from honeyguide.store.word_forms import MOST_FORMS

PAGES = {
    "en": [
        "The barn owl hunts at night.",
        "Owls of Europe and what they hunt.",
        "Hunting with hounds.",
        "A night at the opera.",
        "Berries and a berry.",
    ],
    "de": ["Die Häuser am Fluss", "Ein Haus am See", "Kinder spielen"],
    "fr": ["Les élèves lisent", "Un élève écrit"],
    "ru": ["Совы ночью", "Мы видели сову", "Йога"],
    "ar": ["الكتاب جديد", "كتاب قديم"],
}


def filled(path: Path, pages: dict[str, list[str]]) -> FullText:
    index = FullText.open(path)
    row = 0
    for language, texts in pages.items():
        for text in texts:
            row += 1
            index.add(row, f"http://e.example/{row}", title="", text=text, language=language, at=float(row))
    index.commit()
    return index


@pytest.fixture(params=["writer", "reader"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FullText]:
    path = tmp_path / "index.sqlite"
    with closing(filled(path, PAGES)) as written:
        if request.param == "writer":
            yield written
            return
    with closing(FullText.open(path, read_only=True)) as read:
        yield read


def found(index: FullText, query: str) -> set[str]:
    hits = index.search(query, 100)
    assert index.count(query) == len(hits) == len(index.ranked(query))
    return {index.text(hit.row) for hit in hits}


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("owls", {"The barn owl hunts at night.", "Owls of Europe and what they hunt."}),
        ("OWL", {"The barn owl hunts at night.", "Owls of Europe and what they hunt."}),
        ("barn owls", {"The barn owl hunts at night."}),
        (
            "hunted",
            {"The barn owl hunts at night.", "Owls of Europe and what they hunt.", "Hunting with hounds."},
        ),
        ("hunting -owls", {"Hunting with hounds."}),
        ("hunting -night", {"Owls of Europe and what they hunt.", "Hunting with hounds."}),
        ("berry", {"Berries and a berry."}),
        ("Haus", {"Die Häuser am Fluss", "Ein Haus am See"}),
        ("häuser", {"Die Häuser am Fluss", "Ein Haus am See"}),
        ("Kind", {"Kinder spielen"}),
        ("élève", {"Les élèves lisent", "Un élève écrit"}),
        ("сова", {"Совы ночью", "Мы видели сову"}),
        ("йога", {"Йога"}),
        ("كتاب", {"الكتاب جديد", "كتاب قديم"}),
    ],
)
def test_a_word_finds_its_forms(index: FullText, query: str, texts: set[str]) -> None:
    assert found(index, query) == texts


def test_english_words_that_only_look_alike_stay_apart(tmp_path: Path) -> None:
    texts = ["The news of the week.", "A new opera.", "Organs of the body", "An organised body"]
    with closing(filled(tmp_path / "index.sqlite", {"en": texts})) as index:
        assert [found(index, word) for word in ("news", "new", "organ", "organising")] == [
            {text} for text in texts
        ]


def test_a_word_takes_the_endings_of_the_languages_that_its_pages_are_in(tmp_path: Path) -> None:
    english = ["The news of the week.", "A new opera.", *["News at ten."] * 4, *["A new owl."] * 4]
    french = ["Les chevaux", "Le cheval", "Fake news", "New York", *["Nous lisons"] * 4]
    with closing(filled(tmp_path / "index.sqlite", {"en": english, "fr": french})) as index:
        assert found(index, "news") == {"The news of the week.", "News at ten.", "Fake news"}
        assert found(index, "new") == {"A new opera.", "A new owl.", "New York"}
        assert found(index, "cheval") == {"Les chevaux", "Le cheval"}
        assert found(index, "owls") == {"A new owl."}, "no page has the word as it is typed"


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ('"owls"', {"Owls of Europe and what they hunt."}),
        ('"barn owls"', set()),
        ('"barn owl"', {"The barn owl hunts at night."}),
        ("owl*", {"The barn owl hunts at night.", "Owls of Europe and what they hunt."}),
        ('night -"owls"', {"The barn owl hunts at night.", "A night at the opera."}),
        ("opera-night", set()),
    ],
)
def test_quoted_words_and_beginnings_stay_as_they_are(index: FullText, query: str, texts: set[str]) -> None:
    assert found(index, query) == texts


def test_without_forms_only_the_word_itself_is_found(index: FullText) -> None:
    assert [index.text(hit.row) for hit in index.search("hunts", forms=False)] == [
        "The barn owl hunts at night."
    ]
    assert index.count("hunts", forms=False) == 1


def test_forms_are_marked_in_snippets(index: FullText) -> None:
    snippets = {hit.snippet for hit in index.search("owls")}
    assert snippets == {"The barn [owl] hunts at night.", "[Owls] of Europe and what they hunt."}
    assert index.snippet(1, "owls") == "The barn [owl] hunts at night."


def test_pages_that_have_only_a_rare_form_come_last(tmp_path: Path) -> None:
    texts = [f"the child of page {row} and another child" for row in range(40)]
    texts += [f"no such word here {row}" for row in range(400)]
    with closing(filled(tmp_path / "index.sqlite", {"en": [*texts, "childs childs childs play"]})) as index:
        hits = index.search("child", 100)
        assert [hit.row for hit in hits][-1] == 441
        assert len(hits) == index.count("child") == 41
        assert hits[-1].rank > hits[0].rank  # BM25 alone would put it first
        assert [hit.row for hit in index.search("child", 3, 39)] == [hits[39].row, 441]
        assert index.ranked("child") == [hit.row for hit in hits]
        assert index.search("childs")[0].row == 441  # who types it wants it
        assert [hit.row for hit in index.search_as_of("child", 1e9)] == [hit.row for hit in hits]
        assert {hit.row for hit in index.search("child -page")} == {441}


def test_past_versions_are_found_by_other_forms(tmp_path: Path) -> None:
    with closing(filled(tmp_path / "index.sqlite", {"en": ["The barn owl.", "Kites"]})) as index:
        index.set_aside(1, 50.0)
        index.add(1, "http://e.example/1", title="", text="Sold.", language="en", at=50.0)
        index.commit()
        assert index.search("owls") == []
        assert [hit.snippet for hit in index.search_as_of("owls", 20.0)] == ["The barn [owl]."]


def test_of_very_many_forms_the_most_frequent_are_taken(tmp_path: Path) -> None:
    words = ["form", *(f"form{'ing' * (number % 2)}s{'s' * number}" for number in range(400))]
    texts = [" ".join(words), *["form forms forming formed"] * 3]
    with closing(filled(tmp_path / "index.sqlite", {"en": texts})) as index:
        phrases = index.phrases("form")
        assert len(phrases) <= MOST_FORMS + 1
        assert {("form",), ("forms",), ("forming",), ("formed",)} <= set(phrases)
        assert index.count(" ".join(["form", "forms", "forming", "formed"] * 10)) == 4


# What SQLite keeps in letters that lend no word an ending does not matter.
_LETTERS: Sequence[str] = [
    chr(code)
    for start, end in (
        (0x41, 0x250),
        (0x386, 0x3D0),
        (0x400, 0x460),
        (0x5D0, 0x5EB),
        (0x620, 0x64B),
        (0x1E00, 0x1F00),
    )
    for code in range(start, end)
    if chr(code).isalpha() and chr(code) not in "ªºµſ" and not 0x1C4 <= code <= 0x1FF
]


@given(word=st.text(st.sampled_from(_LETTERS), min_size=3, max_size=12))
def test_words_are_written_as_sqlite_writes_them(word: str) -> None:
    with closing(FullText.open(Path(":memory:"))) as index:
        index.add(1, "", title="", text=word)
        connection = index._connection
        connection.execute("CREATE VIRTUAL TABLE temp.all_words USING fts5vocab(main, words, row)")
        assert [term for (term,) in connection.execute("SELECT term FROM temp.all_words")] == [
            as_indexed(TODAY.written(word))
        ]
