from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from honeyguide.errors import TopicError
from honeyguide.topic.pinyin import full_pinyin, is_chinese, pinyin_initials
from honeyguide.topic.tokens import (
    KINDS,
    Mapping,
    UserTable,
    built_in_table,
    check_mapping,
    layered,
    squeezed,
)
from honeyguide.topic.tokens_of_url import STOP_TOKENS

TABLE = built_in_table()


def test_built_in_table_holds_the_common_topics() -> None:
    assert len(TABLE) >= 200
    assert sum(bool(entry.chinese) for entry in TABLE.entries.values()) >= 200
    wanted = ["Sports", "Software", "Automobiles", "Shanghai", "News", "Finance", "Education", "Travel"]
    assert all(TABLE.find(name) for name in wanted)


def test_papers_examples_are_in_the_table() -> None:
    for token, topic in [
        ("tiyu", "Sports"),
        ("soft", "Software"),
        ("ruanjian", "Software"),
        ("auto", "Automobiles"),
        ("qiche", "Automobiles"),
        ("sh", "Shanghai"),
        ("lanqiu", "Basketball"),
    ]:
        assert TABLE.topic_of(token) == topic


@pytest.mark.parametrize("entry", TABLE.entries.values(), ids=lambda entry: entry.topic)
def test_every_entry_is_sound(entry) -> None:  # type: ignore[no-untyped-def]
    assert entry.english
    assert all(token == squeezed(token) and token not in STOP_TOKENS for token in entry.all())
    assert all(len(token) >= 3 for kind in KINDS[:3] for token in entry.of(kind))
    assert all(is_chinese(name) for name in entry.chinese)
    assert set(entry.pinyin) <= {full_pinyin(name) for name in entry.chinese}
    assert set(entry.initials) <= {pinyin_initials(name) for name in entry.chinese}
    assert len(set(entry.of("english"))) == len(entry.of("english"))


def test_a_token_stands_for_one_topic_homophones_apart() -> None:
    owners = Counter(
        token
        for entry in TABLE.entries.values()
        for kind in KINDS
        if kind != "pinyin"
        for token in entry.of(kind)
    )
    assert [token for token, count in owners.items() if count > 1] == []
    names = Counter(squeezed(name) for one in TABLE.entries.values() for name in (one.topic, *one.chinese))
    assert [name for name, count in names.items() if count > 1] == []


def test_full_spellings_are_not_inside_common_words() -> None:
    # Containment makes "art" match "article" and "war" match "software".
    common = ("article", "start", "department", "party", "forward", "software", "card", "career", "team")
    full = {token for entry in TABLE.entries.values() for token in (*entry.english, *entry.pinyin)}
    wrong = {(token, word) for token in full for word in common if token in word and token != word}
    assert wrong == set()


def test_labels_are_spelled_by_table_or_by_themselves() -> None:
    assert TABLE.spell(["篮球"]).english == ("basketball", "篮球")
    both = TABLE.spell(["Real Estate", "房产"])
    assert (both.topic, both.pinyin[0]) == ("Real Estate", "fangchan")
    unknown = TABLE.spell(["Underwater Hockey", "水下曲棍球"])
    assert unknown.english == ("underwaterhockey", "水下曲棍球")
    assert unknown.pinyin == ("shuixiaqugunqiu",)
    assert unknown.abbreviation == unknown.initials == ()


def test_user_tokens_lie_on_top() -> None:
    table = TABLE.with_mappings([Mapping("hoops", "篮球"), Mapping("sh", "Society", "initials")])
    assert "hoops" in table.spell(["Basketball"]).english
    assert table.topic_of("sh") == "Society"
    assert "sh" not in table.spell(["Shanghai"]).initials
    fresh = TABLE.with_mappings([Mapping("shoujishe", "Handcraft", "pinyin")])
    assert fresh.spell(["handcraft"]).all() == {"handcraft": "english", "shoujishe": "pinyin"}
    assert TABLE.topic_of("hoops") is None


def test_tables_in_files(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine.tsv", tmp_path / "theirs.tsv"
    mine.write_text("# a comment\n\nhoops\tBasketball\nshlq\t篮球\tinitials\n", encoding="utf-8")
    theirs.write_text("hoops\tSports\n", encoding="utf-8")
    assert UserTable.read(mine).mappings[1] == Mapping("shlq", "篮球", "initials")
    assert layered([mine]).topic_of("hoops") == "Basketball"
    assert layered([mine, theirs]).topic_of("hoops") == "Sports"
    assert layered([theirs], personal=mine).topic_of("shlq") == "Basketball"
    assert layered([], personal=tmp_path / "none.tsv") is TABLE
    mine.write_text(UserTable.read(mine).text(), encoding="utf-8")
    assert len(UserTable.read(mine).mappings) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "hoops\tBasketball\nother\tSports\nhoops\tSports\n",
            "t.tsv:3: token 'hoops' is mapped twice, to 'Basketball' on line 1 and to 'Sports' here; ",
        ),
        ("hoops Basketball\n", "t.tsv:1: a line is token, topic and kind, parted by tabs"),
        ("ho-ops\tBasketball\n", "t.tsv:1: 'ho-ops' is not a token; write letters and digits only"),
        ("hoops\tBasketball\tslang\n", "t.tsv:1: 'slang' is not a kind of spelling; choose from: english"),
    ],
)
def test_broken_tables_get_one_line(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(text)
    with pytest.raises(TopicError) as problem:
        UserTable.read(path)
    assert expected in str(problem.value)


def test_missing_or_binary_tables(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="cannot read the token table"):
        layered([tmp_path / "none.tsv"])
    (tmp_path / "b.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TopicError, match="not UTF-8"):
        UserTable.read(tmp_path / "b.tsv")
    with pytest.raises(TopicError, match="is empty"):
        check_mapping("hoops", " ")
