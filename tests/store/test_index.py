from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.errors import CollectionError
from honeyguide.store.index import FullText
from honeyguide.store.index_text import expand, fold, parse_query, snippet

PAGES = [
    (
        "http://birds.example/owl",
        "Owls",
        "The barn owl hunts at night. Neural networks are not birds.",
        "en",
        0.9,
    ),
    ("http://www.birds.example/robin", "Robin", "A robin sings; the Café naïve façade.", "en", 0.4),
    ("http://zh.example/nn", "神经网络", "深度学习使用神经网络处理数据。AI技术与上网", "zh", 0.8),
    ("http://zh.example/shu", "书", "图书馆的书很多。我爱读书", "zh", 0.2),
    ("http://other.example:8080/x", "Owl and robin", "word " * 300 + "back propagation of errors", "en", 0.6),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[FullText]:
    opened = FullText.open(tmp_path / "index.sqlite")
    for row, (url, title, text, language, score) in enumerate(PAGES, 1):
        opened.add(row, url, title=title, text=text, language=language, score=score, at=float(row))
    opened.commit()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("owl", {1, 5}),
        ("OWL night", {1}),
        ("owl -robin", {1}),
        ('"back propagation"', {5}),
        ('"propagation back"', set()),
        ("propagation back", {5}),
        ("cafe facade", {2}),
        ("naïve", {2}),
        ("nai\u0308ve", {2}),
        ("prop*", {5}),
        ("神经网络", {3}),
        ("经网", {3}),
        ("网络神经", set()),
        ("学", {3}),
        ("书", {4}),
        ("爱读书", {4}),
        ("网", {3}),
        ("AI技术", {3}),
        ("ai技", {3}),
        ('"神经网络处理数据"', {3}),
        ("数据 -学习", set()),
        ("书 -网络", {4}),
        ("", set()),
        ("-owl", set()),
        ("!!! ???", set()),
        ("owl !!!", {1, 5}),
    ],
)
def test_queries(index: FullText, query: str, rows: set[int]) -> None:
    assert {hit.row for hit in index.search(query)} == rows
    assert index.count(query) == len(rows)


@pytest.mark.parametrize(
    "query", ["AND", "owl OR", "NEAR(", "title:owl", '"', '"""', "(", "a^2", "owl*night*", "{x}", "\0owl\0"]
)
def test_syntax_is_only_words(index: FullText, query: str) -> None:
    index.search(query)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=40) | st.text(alphabet='"-*()^:+ aé网络{}', max_size=30))
def test_no_query_is_an_error(index: FullText, query: str) -> None:
    assert len(index.search(query, markers=("\x02", "\x03"))) <= 10


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet=st.sampled_from("神经网络数据 ab,。"), min_size=2, max_size=30), data=st.data())
def test_every_run_of_chinese_characters_is_found(index: FullText, text: str, data: st.DataObject) -> None:
    index.add(77, "http://x.example/", title="", text=text)
    runs = text.translate(dict.fromkeys(map(ord, ",。ab"), " ")).split()
    for run in runs:
        start = data.draw(st.integers(0, len(run) - 1))
        end = data.draw(st.integers(start + 1, len(run)))
        assert 77 in {hit.row for hit in index.search(run[start:end])}


SCRIPTS = (
    "นกฮูกได้ยินดีมากและบินเงียบ ข้าวผัด 25 บาท",
    "उल्लू रात में चूहों का शिकार करता है। हिंदी किताबें",
    "Το άλογο τρέχει. ΑΝΘΡΩΠΟΣ και άνθρωπος",  # noqa: RUF001
    "Ёлка и ёж, ещё йод",
    "كِتَابٌ قديم أسماك في الأنهـــار",
    "שָׁלוֹם עולם",
    "ຂ້ອຍຮັກເຈົ້າ",
    "မြန်မာဘာသာ",
    "ភាសាខ្មែរ",
    "Tiếng Việt nai\u0308ve \u2764\ufe0f",
)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("นกฮูก", 0),
        ("ข้าว", 0),
        ("ยิน", 0),
        ('"นกฮูกได้ยิน"', 0),
        ("25", 0),
        ("ฮูกนก", None),
        ("उल्लू", 1),
        ("हिंदी", 1),
        ("हादी", None),
        ("किताब*", 1),
        ("αλογο", 2),
        ("ΆΛΟΓΟ", 2),
        ('"ανθρωποσ"', 2),
        ("елка", 3),
        ("ЁЖ", 3),
        ("еще", 3),
        ("иод", None),
        ("كتاب", 4),
        ("كِتاب", 4),
        ("اسماك", 4),
        ("الأنهار", 4),
        ("שלום", 5),
        ("ຮັກ", 6),
        ("ဘာသာ", 7),
        ("ខ្មែរ", 8),
        ("tieng viet", 9),
        ("naïve", 9),
    ],
)
def test_words_of_all_scripts_are_found(tmp_path: Path, query: str, text: int | None) -> None:
    with closing(FullText.open(tmp_path / "index.sqlite")) as index:
        for row, each in enumerate(SCRIPTS):
            index.add(row, f"http://e.example/{row}", title="", text=each)
        assert [hit.row for hit in index.search(query)] == ([] if text is None else [text])
        for row in range(len(SCRIPTS)):
            index.remove(row)
        connection = index._connection
        connection.execute("CREATE VIRTUAL TABLE temp.left_over USING fts5vocab(main, words, row)")
        assert connection.execute("SELECT * FROM temp.left_over").fetchall() == []


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("นกฮูกได้ยินข้าว ab5"), min_size=2, max_size=30), data=st.data())
def test_every_run_of_thai_characters_is_found(index: FullText, text: str, data: st.DataObject) -> None:
    index.add(77, "http://x.example/", title="", text=text)
    for run in text.translate(dict.fromkeys(map(ord, "ab5"), " ")).split():
        start = data.draw(st.integers(0, len(run) - 1))
        end = data.draw(st.integers(start + 1, len(run)))
        if any(map(str.isalnum, run[start:end])):
            assert 77 in {hit.row for hit in index.search(run[start:end])}


def test_snippets_show_words_of_all_scripts() -> None:
    assert "[ยิน]" in snippet(SCRIPTS[0], parse_query("ยิน").phrases)
    assert "[हिंदी]" in snippet(SCRIPTS[1], parse_query("हिंदी").phrases)
    assert "[άλογο]" in snippet(SCRIPTS[2], parse_query("αλογο").phrases)
    assert "[Ёлка]" in snippet(SCRIPTS[3], parse_query("елка").phrases)


OLD_TABLES = """
CREATE TABLE page (
  row INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
  language TEXT NOT NULL, score REAL NOT NULL, at REAL NOT NULL, text BLOB NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(
  title, text, content='', tokenize="unicode61 remove_diacritics 2"
);
PRAGMA user_version=1;
"""


def test_an_older_index_goes_on_as_it_began(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(OLD_TABLES)
    for row, text in ((1, "ёлка и 神经网络"), (2, "Owls")):  # written down as version 1 and 2 did
        values = (row, "http://e.example/", "e.example", "", ("ru", "en")[row - 1], 1.0, 1.0)
        packed = zstandard.ZstdCompressor().compress(text.encode())
        connection.execute("INSERT INTO page VALUES (?,?,?,?,?,?,?,?)", (*values, packed))
        written = text.replace("神经网络", " 神经 经网 网络 络 ")
        connection.execute("INSERT INTO words(rowid, title, text) VALUES (?, '', ?)", (row, written))
    connection.commit()
    connection.close()
    for read_only in (True, False):
        with closing(FullText.open(path, read_only=read_only)) as index:
            for query, rows in (("ёлка", [1]), ("елка", []), ("神经网络", [1]), ("owl", [2])):
                assert [hit.row for hit in index.search(query)] == rows
    with closing(FullText.open(path)) as index:
        index.add(3, "http://e.example/3", title="", text="ёж")
        index.remove(1)
        assert [hit.row for hit in index.search("ёж")] == [3]
        assert index.search("ёлка") == []
        index.set_aside(3, 9.0)
        assert [hit.row for hit in index.search_as_of("ёж", 5.0)] == [3, 3]
        index.commit()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    words = connection.execute("SELECT count(*) FROM words WHERE words MATCH 'ёлка'").fetchone()
    assert words == (0,)
    connection.close()


def test_the_page_that_is_called_so_comes_first(index: FullText) -> None:
    """Its text says the words no oftener than others do, and others have rare forms of them."""
    for row in range(10, 40):
        form = "barns" if row % 3 else "barn"
        text = f"The little owl breeds in old {form} and is an owl like other owls. " * 3
        index.add(row, f"http://owls.example/{row}", title=f"Little Owl {row}", text=text, language="en")
    text = "The barn owl breeds in old buildings. " + "It hunts at night over rough grassland. " * 20
    index.add(50, "http://owls.example/barn-owl", title="Barn Owl", text=text, language="en")
    assert index.search("barn owl")[0].row == 50
    assert index.search("barn owls")[0].row == 50
    assert (
        index.search("barn owl -night") == [hit for hit in index.search("barn owl", 99) if hit.row != 50][:10]
    )
    assert index.count("barn owl") == len(index.search("barn owl", 99))


def test_filters_and_pages_of_results(index: FullText) -> None:
    assert {hit.row for hit in index.search("robin", host="birds.example")} == {2}
    assert {hit.row for hit in index.search("robin", host="example")} == {2, 5}
    assert index.search("robin", host="irds.example") == []
    assert {hit.row for hit in index.search("owl", minimum_score=0.7)} == {1}
    assert {hit.row for hit in index.search("神经", language="zh")} == {3}
    assert index.search("神经", language="en") == []
    assert index.count("owl", minimum_score=0.7) == 1
    both = index.search("owl")
    assert [index.search("owl", 1, 0)[0], index.search("owl", 1, 1)[0]] == both
    assert index.search("owl", -5, -5) == []
    assert both[0].rank > both[1].rank > 0


def test_snippets_show_the_match_between_markers(index: FullText) -> None:
    (hit,) = index.search("propagation", markers=("<", ">"))
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("back <propagation> of errors")
    assert len(hit.snippet) < 260
    assert "使用[神经网络]处理" in index.search("神经网络")[0].snippet
    assert "[naïve]" in index.search("naive")[0].snippet
    assert index.search("robin", language="en", host="www.birds.example")[0].snippet.startswith(
        "A [robin] sings"
    )


def test_snippets_are_chosen_by_the_words_that_matter() -> None:
    text = "The cat and the dog of the house. " * 20 + "Here the owl hunts."
    assert snippet(text, [("the",), ("owl",)]).endswith("Here the [owl] hunts.")
    assert snippet(text, [("the",)]).startswith("[The] cat")


def test_a_page_cannot_forge_markers() -> None:
    text = "evil \x02fake\x03 owl \x02"
    shown = snippet(text, [("owl",)], markers=("\x02", "\x03"))
    assert shown == "evil fake \x02owl\x03"
    assert "\x1b" not in snippet("a \x1b[31m owl", [("owl",)])


@given(text=st.text(max_size=300), words=st.lists(st.text(min_size=1, max_size=5), max_size=3))
def test_snippets_of_anything(text: str, words: list[str]) -> None:
    phrases = parse_query(" ".join(words)).phrases
    shown = snippet(text, phrases, markers=("\x02", "\x03"), width=50)
    assert shown.count("\x02") == shown.count("\x03")
    assert len(fold(text)) == len(text)


def test_adding_again_replaces_and_removing_leaves_no_trace(index: FullText) -> None:
    index.add(1, "http://birds.example/owl", title="Changed", text="Now about penguins.")
    assert {hit.row for hit in index.search("owl")} == {5}
    assert [hit.title for hit in index.search("penguins")] == ["Changed"]
    index.remove(3)
    index.remove(999)
    assert index.search("神经") == []
    assert index.size() == 4
    assert index.text(1) == "Now about penguins."
    assert index.text(3) == ""
    index.commit()


def test_catching_up(index: FullText, tmp_path: Path) -> None:
    assert index.missing([9, 2, 7, 5]) == [9, 7]
    with pytest.raises(CollectionError):
        FullText.open(tmp_path / "none.sqlite", read_only=True)
    reader = FullText.open(tmp_path / "index.sqlite", read_only=True)
    index.add(9, "http://x.example/", title="t", text="later")
    assert reader.search("later") == []
    index.commit()
    assert [hit.row for hit in reader.search("later")] == [9]
    reader.add(10, "http://x.example/", title="", text="")
    with pytest.raises(sqlite3.OperationalError):  # whoever comes next hears of it
        reader.size()
    reader.close()


KILLED = """
import os, sys
from pathlib import Path
from honeyguide.store.index import FullText
index = FullText.open(Path(sys.argv[1]))
for row in range(1, 301):
    index.add(row, f"http://k.example/{row}", title="kill", text=f"page number{row} of many words " * 20)
    if row == 200:
        index.commit()
os.kill(os.getpid(), 9)
"""


def test_after_kill_the_committed_part_is_there_and_the_rest_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    result = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert result.returncode == -9
    index = FullText.open(path)
    missing = index.missing(range(1, 301))
    assert missing == list(range(201, 301))
    for row in missing:
        index.add(row, f"http://k.example/{row}", title="kill", text=f"page number{row}")
    index.commit()
    assert index.count("kill") == 300
    assert [hit.row for hit in index.search("number250")] == [250]
    index.close()


def test_hostile_text_is_stored(index: FullText) -> None:
    index.add(6, "http://[bad", title="\ud800\0x", text="lone \ud800 surrogate \0 nul findme")
    assert [hit.row for hit in index.search("findme")] == [6]
    index.add(7, "http://long.example/", title="t" * 5000, text="x" * 500_000)
    index.commit()


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"not a database" * 100)
    with pytest.raises(CollectionError, match="delete it"):
        FullText.open(bad)
    empty = tmp_path / "empty.sqlite"
    empty.write_bytes(b"")
    with pytest.raises(CollectionError, match="is empty or not an index; delete it"):
        FullText.open(empty, read_only=True)
    newer = tmp_path / "newer.sqlite"
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version=99")
    connection.execute("CREATE TABLE x(y)")
    connection.commit()
    connection.close()
    for read_only in (False, True):
        with pytest.raises(CollectionError, match="version 99"):
            FullText.open(newer, read_only=read_only)


def test_whoever_searches_a_damaged_index_is_told_what_to_do(index: FullText, tmp_path: Path) -> None:
    index.commit()
    connection = sqlite3.connect(tmp_path / "index.sqlite")
    connection.execute("UPDATE words_data SET block = ? WHERE id >= 10", (b"\xff" * 50,))
    connection.commit()
    connection.close()
    with closing(FullText.open(tmp_path / "index.sqlite", read_only=True)) as damaged:
        for ask in (damaged.search, damaged.ranked, damaged.count, damaged.phrases):
            with pytest.raises(CollectionError, match=r"is damaged .*delete it, and `honeyguide resume`"):
                ask("owl")


def test_a_bomb_in_a_foreign_index_stays_packed(index: FullText, tmp_path: Path) -> None:
    bomb = zstandard.ZstdCompressor().compress(b"\0" * 50_000_000)
    connection = sqlite3.connect(tmp_path / "index.sqlite")
    connection.execute("UPDATE page SET text=? WHERE row=1", (bomb,))
    connection.execute("UPDATE page SET text=? WHERE row=5", (b"garbage",))
    connection.commit()
    connection.close()
    assert [hit.snippet for hit in index.search("owl")] == ["", ""]


def test_expansion_leaves_other_text_alone() -> None:
    for text in ("plain", "naïve — “quoted”", "кириллица", ""):
        assert expand(text) == text
    assert expand("一").split() == ["一"]
    assert expand("日本語と한국").split() == ["日本", "本語", "語と", "と한", "한국", "국"]


def test_pages_that_come_in_any_order_make_one_segment(tmp_path: Path) -> None:
    index = FullText.open(tmp_path / "index.sqlite")
    for row in range(60, 0, -1):
        index.add(row, f"http://e.example/{row}", title=f"Owl {row}", text="A barn owl.")
    index.commit(later=True)
    index.commit()
    connection = sqlite3.connect(tmp_path / "index.sqlite")
    assert connection.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone() == (1,)
    assert index.count("owl") == index.size() == 60
    connection.close()
    index.close()


def test_the_last_of_several_texts_of_a_page_is_kept(tmp_path: Path) -> None:
    index = FullText.open(tmp_path / "index.sqlite")
    for row, text in ((2, "owl"), (1, "robin"), (2, "heron"), (3, ""), (1, "wren"), (2, "crane")):
        index.add(row, f"http://e.example/{row}", title="", text=text)
    index.commit()
    index.add(1, "http://e.example/1", title="", text="stork")
    index.add(4, "http://e.example/4", title="", text="swan")
    index.commit()
    words = ("owl", "robin", "heron", "wren", "crane", "stork", "swan")
    found = {word: [hit.row for hit in index.search(word)] for word in words}
    assert found == {"owl": [], "robin": [], "heron": [], "wren": [], "crane": [2], "stork": [1], "swan": [4]}
    assert [index.text(row) for row in (1, 2, 3, 4)] == ["stork", "crane", "", "swan"]
    index.close()


def test_texts_that_nobody_waited_for_are_there_for_those_who_look(tmp_path: Path) -> None:
    with closing(FullText.open(tmp_path / "index.sqlite")) as index:
        index.add(1, "http://e.example/1", title="", text="owl")
        assert index.set_score(1, 0.5)
        index.add(2, "http://e.example/2", title="", text="owl")
        index.remove(2)
        index.add(3, "http://e.example/3", title="", text="owl")
        assert [hit.row for hit in index.search("owl")] == [1, 3]
        index.add(5, "http://e.example/5", title="", text="owl")
    with closing(FullText.open(tmp_path / "index.sqlite")) as index:
        assert index.size() == 0
