from __future__ import annotations

import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from honeyguide.text import tokens
from honeyguide.text.segmentation import RUNS, bigrams
from honeyguide.text.tokens import Analyser, folded, words


def test_words_are_lower_case_and_split_at_punctuation() -> None:
    assert words("Back-propagation, C3PO & naïve_Bayes") == ["back", "propagation", "c3po", "naïve", "bayes"]


def test_combining_marks_stay_inside_words() -> None:
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_stop_words_short_words_and_long_numbers_are_dropped() -> None:
    text = "the x 7 42 1986 12345678 123456789 " + "y" * 41
    assert Analyser().terms(text) == ["42", "1986", "12345678"]


def test_porter_stems_join_forms() -> None:
    assert len(set(Analyser().terms("connect connected connecting connections"))) == 1
    assert Analyser(stem=False).terms("connected connections") == ["connected", "connections"]


def test_first_language_with_a_stemmer_stems() -> None:
    assert Analyser(("zh", "de")).terms("Häuser") == ["haus"]


def test_chinese_by_pairs_keeps_latin_words() -> None:
    assert Analyser(("en", "zh"), segmenter="bigrams").terms("深度学习 uses GPUs") == [
        "深度", "度学", "学习", "gpu"
    ]  # fmt: skip


def test_chinese_words_and_stop_words_with_rjieba() -> None:
    pytest.importorskip("rjieba")
    terms = Analyser(("zh",), segmenter="rjieba").terms("神经网络的训练")
    assert "的" not in terms
    assert "训练" in terms


def test_full_width_letters_are_folded_in_chinese_text() -> None:
    assert "nba" in Analyser(("zh",), segmenter="bigrams").terms("篮球\uff2e\uff22\uff21联赛")


def test_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "CACHE_LIMIT", 10)
    analyser = Analyser(("en", "fi"))  # options that no other test has
    text = " ".join(f"word{i}" for i in range(100))
    assert len(analyser.terms(text)) == 100
    assert len(analyser._memory.pieces) <= 10
    assert len(analyser.terms(text * 3)) == len(analyser.terms(text * 3)) > tokens.LONG // 10
    assert len(analyser._memory._table) <= 110  # one text more than the limit
    before = analyser.numbered(text * 3).names
    after = analyser.numbered(text * 3).names
    assert after is not before
    assert len(after) <= 111


def test_pieces_of_several_words_do_not_pile_up() -> None:
    analyser = Analyser(("zh", "fi"), segmenter="bigrams")  # options that no other test has
    for number in range(20):
        analyser.terms("".join(chr(0x4E00 + (number * 997 + place) % 20_000) for place in range(2_000)))
    assert not analyser._memory._several


@given(st.lists(st.text(max_size=40) | st.sampled_from(["Owls", "the", "é-x", "神经网络 CNN"]), max_size=9))
@example(["Owls and é-x a-b "] * 200)
@example(["神经网络 neural-network "] * 100)
def test_numbers_stand_for_the_terms(texts: list[str]) -> None:
    analyser = Analyser(segmenter="bigrams")
    text = " ".join(texts)
    for one in (text, text * 30):
        terms = analyser.terms(one)
        names, (title, body) = analyser.numbered("Owls", one)
        assert [names[number] for number in body] == terms
        assert [names[number] for number in title] == ["owl"]
        assert list(map(analyser.number, terms)) == body.tolist()
        numbers, counts = analyser.counted(body)
        assert dict(zip((names[number] for number in numbers), counts.tolist(), strict=True)) == Counter(
            terms
        )


def test_only_the_start_of_a_huge_text_is_read() -> None:
    assert len(words("ab " * tokens.MAX_CHARACTERS)) <= tokens.MAX_CHARACTERS // 3 + 1


def test_folding_is_linear_and_agrees_with_the_standard() -> None:
    # In one piece this takes minutes.
    assert len(folded("a" + "\u0301\u0323" * 200_000)) <= tokens.MAX_CHARACTERS
    assert len(folded("\ufdfa" * 100_000)) == tokens.MAX_CHARACTERS
    text = "\uff21 e\u0301 \ufb01 " * 500
    assert folded(text) == unicodedata.normalize("NFKC", text)


@given(st.text())
def test_any_text_gives_clean_terms(text: str) -> None:
    analyser = Analyser(("en", "zh"))
    terms = analyser.terms(text)
    assert terms == analyser.terms(text)
    assert all(term and " " not in term for term in terms)


PIECES = [
    "The",
    "Networks",
    "na\u00efve",
    "caf\u00e9\u2013bar",
    "10\u00a0km",
    "\u6df1\u5ea6\u5b66\u4e60",
    "GPU\u7684",
    "x_y",
    "\ufb01ne",
    "\u0430\u0431\u0432",
    "1986",
    "--",
    "e\u0301t\u00e9",
    "a" * 50,
    "\u0e01\u0e02",
]


@given(st.lists(st.sampled_from(PIECES)), st.sampled_from([" ", ", ", "\n", "-"]))
def test_terms_are_the_words_that_count(pieces: list[str], between: str) -> None:
    """The quick way (bytes, remembered pieces) finds what reading the whole text at once finds."""
    analyser = Analyser(("en",), segmenter="bigrams")
    text = between.join(pieces)
    slow: list[str] = []
    for han, other, rest in RUNS.findall(folded(text)):
        found = words(rest) if rest else bigrams(han or other)
        slow += [term for word in found if (term := "".join(analyser.terms(word)) if rest else word)]
    assert analyser.terms(text) == slow


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text()), min_size=1))
def test_long_texts_give_what_short_ones_give(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assume(len(text.encode("utf-8", "surrogatepass")) < tokens.LONG)
    analyser = Analyser(("en", "zh"))
    often = tokens.LONG // max(1, len(text)) + 1
    assert analyser.terms(f"{text} " * often) == analyser.terms(text) * often


def test_a_caller_may_change_its_list() -> None:
    text = "owls and their feathers " * 100
    first = Analyser().terms(text)
    first.clear()
    assert Analyser().terms(text)[:2] == ["owl", "feather"]


def test_threads_have_their_own_memory() -> None:
    texts = [" ".join(f"w{n}x{i}" for i in range(400)) for n in range(40)]
    expected = [text.split() for text in texts]
    with ThreadPoolExecutor(4) as pool:
        analyser = Analyser(stem=False)
        assert list(pool.map(analyser.terms, texts)) == expected


def test_texts_that_mention_a_term_are_found_at_once_or_one_by_one() -> None:
    analyser = Analyser(("en",))
    topic = frozenset(("owl", "night", "\u795e\u7ecf"))
    texts = [
        "Owls",
        "tax law",
        "by Night!",
        "",
        "the",
        "\u795e\u7ecf\u7f51\u7edc",
        "naïve-owl",
        "\ud800 owl",
        "x" * 9_000,
    ]
    one_by_one = [analyser.mentions(text, topic) for text in texts]
    assert one_by_one[:3] == [True, False, True]
    assert analyser.which_mention(texts, topic) == one_by_one
    analyser.numbered(
        "owls at night pay no tax by the law of naïve-owl " * 40
    )  # now these words have numbers
    assert analyser.which_mention(texts, topic) == one_by_one
    assert analyser.which_mention(texts, frozenset(("tax",))) == [text == "tax law" for text in texts]
