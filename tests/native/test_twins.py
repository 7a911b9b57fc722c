"""The compiled module and its twins in Python give the same answers."""

from __future__ import annotations

import base64
import importlib.util
import math
import random
import sys
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from honeyguide import compiled, ordering
from honeyguide import native as native_package
from honeyguide.engine import admission
from honeyguide.frontier import queues
from honeyguide.frontier import seen as seen_module
from honeyguide.frontier.seen import Seen
from honeyguide.model import Link, Outcome, Page, Verdict
from honeyguide.ordering import scout, scout_evidence, scout_links, scout_words
from honeyguide.parse import blocks, links, main_links, prescan, search
from honeyguide.parse.html import read_page
from honeyguide.parse.notes import FoundLink
from honeyguide.parse.walk import MAX_OCCURRENCES, walk_page
from honeyguide.relevance import calibrated, mixture, tf_cosine
from honeyguide.store import columns
from honeyguide.store.columns import Columns
from honeyguide.text import ridge, simhash, tokens, word_table
from honeyguide.text.word_table import Counting, WordTable
from honeyguide.web import digest, traps, zones
from honeyguide.web import url as addresses
from honeyguide.web.url import url_id

pytestmark = pytest.mark.skipif(native_package.native is None, reason="the C part is not built here")

PIECES = (
    *(
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<br>",
    ),
    *("<h1>", "</h1>", "<h2 class=x>", "</h2>", "<nav>", "</nav>", "<form>", "</form>", "<button>", "<span>"),
    *(
        "<a href=/one>",
        "<a href='two?a=1&amp;b=2' rel='x NoFollow' title=' a  title '>",
        "</a>",
        "<a name=n>",
    ),
    *("<img alt='a picture'>", "<img alt='  '>", "<area href=/area alt=map>", "<iframe src=/in><b></iframe>"),
    *(
        "<frameset>",
        "<frame src=/frame>",
        "<base href=/base/>",
        "<title>T &amp; t</title>",
        "<head>",
        "<body>",
    ),
    *("<meta name=robots content=noindex>", "<meta http-equiv=refresh content='0; url=/r'>"),
    *("<link rel=canonical href=/c>", "<link rel='Alternate next' href=/n type=text/html>", "<template>"),
    *(
        "<div hidden>",
        "<p style='Display : none'>",
        "<a hidden href=/h>",
        "<b style=color:red>",
        "</template>",
    ),
    *("<script>if (a<b) '</p>'</script>", "<script><!-- <script> </script>", "-->", "<style>p{}</style>"),
    *("<svg>", "</svg>", "<math>", "<mtext>", "</math>", "<select><option>x", "</select>", "<textarea>"),
    *("<noscript><a href=/no>", "</noscript>", "<xmp>", "</xmp>", "<!-- c -->", "<?php ?>", "<!x>", "<a<b>"),
    *(
        "word ",
        " two words ",
        "\n\t ",
        "&nbsp;",
        "&lt;b&gt;",
        "&amp;amp;",
        "ünï",
        "漢字",
        "\U0001f989",
        "so\xadft &shy; \u200b",
        "\xad",
        "w\u2060\ufeffj ",
        "\x1b[31mr\x07 \x9b \x85\x7f\x1c.",
        "<img alt=' a\u200bb &shy; c'>",
        "x" * 400,
    ),
    *("many words in a row " * 20, "<p " + "a=1 " * 5 + ">", "<html lang=de>", "</body>", "<center>", "<hr>"),
)


def same_notes(html: str) -> None:
    parser = LexborHTMLParser(html, options=1, scripting=True)
    for wanted in (False, True):
        ours, reference = read_page(parser, blocks=wanted), walk_page(parser, blocks=wanted)
        assert [tuple(link) for link in ours.links] == [tuple(link) for link in reference.links]
        assert ours == reference


@pytest.mark.parametrize(
    "html",
    [
        *(
            "",
            "<a href=x>",
            "<p>a<p>b",
            "plain text",
            "<frameset><frame src=a><noframes><a href=b></noframes>",
        ),
        "<p>" + "<b>" * 1100 + "deep <a href=/deep>link</a>",
        "<div>" + "<a href=/x>y</a> " * (MAX_OCCURRENCES + 5),
        "<p>" + "word " * 100 + "<a href=/mid>an anchor of " + "several words " * 40 + "</a>" + " word" * 100,
        "<h1>" + "long " * 100 + "</h1><h2><span hidden>no</span>yes</h2>" + "<h3>x</h3>" * 120,
        "<svg><style>&lt;/svg></style><a href=/in></a></svg><a href=/out>out</a>",
        "<plaintext>one</plaintext><a href=x>two",
        "<p><a><plaintext>one",
        "<math><plaintext><a href=x>",
        "<table><p><template><plaintext>< ",
        "<table><r><script><!--<script>",
        "<math><iframe><a href=x>one</a></iframe><mtext><iframe><a href=y>two</a></iframe>",
        "<table><a href=/foster>f</a><tr><td>cell</table>",
        "<div hidden><h1>no</h1><a href=/h1>one <img alt=x></a> two</div><a hidden href=/h2>three</a>",
        "<nav><a href=/a>aa</a></nav>" + "<ul>" + "<li><a href=/m>menu</a>" * 7 + "</ul><p>" + "prose " * 200,
    ],
)
def test_pages(html: str) -> None:
    same_notes(html)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_pages_of_random_pieces(pieces: list[str]) -> None:
    same_notes("".join(pieces))


BOXES = (
    *("<div>", "<div class='post-Comments x'>", "<section id=related>", "<div role=navigation>", "<article>"),
    *(
        "</div>",
        "</div>",
        "</section>",
        "</article>",
        "<div class='ad&amp;hoc a-d'>",
        "<div class=advertisements>",
    ),
    *(
        "<h1>A title</h1>",
        "<h2>A part</h2>",
        "<figcaption>A picture of an owl. " + 8 * "They sleep. " + "</figcaption>",
    ),
    *(
        "<p>" + 5 * "Owls hunt at night. " + "</p>",
        "<p>" + 12 * "Owls sleep by day. " + "</p>",
        "<p>" + 30 * "梟" + "</p>",
    ),
    *(
        "<p>" + 4 * "Half <a href=/x>of it is link</a> ",
        "<li><a href=/y>an entry</a>",
        "<p>short</p>",
        "<br>",
        "<hr>",
    ),
    *("<table><tr><td>", "</table>", "<footer>" + 90 * "f" + "</footer>", "<div hidden class=share>"),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(BOXES), min_size=5, max_size=60))
def test_articles_of_random_boxes(pieces: list[str]) -> None:
    same_notes("".join(pieces))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_no_text_breaks_the_reader(data: bytes) -> None:
    """It is only ever given what the tree builder writes; anything else must not harm it either."""
    assert native_package.native is not None
    for text in (
        data.decode("latin-1"),
        data.decode("utf-8", "replace"),
        "<a href=" + data.decode("latin-1"),
    ):
        native_package.native.scan_page(text, True)


def test_simhash_of_every_character() -> None:
    """Lower case in C is that of Python, for each character alone, in a word and at its end."""
    with pytest.MonkeyPatch.context() as patch:
        for start in range(0, 0x11000, 0x200):
            codes = range(start, start + 0x200)
            texts = [" ".join(f"{chr(code)} A{chr(code)}b Ä{chr(code)}" for code in codes)]
            texts += [f"Ä{chr(code)} x" for code in (0, 0x130, 0x3A3, 0x10400, start)]
            for text in texts:
                patch.undo()
                compiled = simhash.simhash(text, shingle=1)
                patch.setattr(simhash, "native", None)
                assert simhash.simhash(text, shingle=1) == compiled, (start, text[:20])


@given(st.text(max_size=200), st.integers(1, 5))
def test_simhash(text: str, shingle: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        compiled = simhash.simhash(text, shingle=shingle)
        patch.setattr(simhash, "native", None)
        assert simhash.simhash(text, shingle=shingle) == compiled


@given(st.integers(0, 2**32))
def test_content_blocks(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.randrange(1, 60)
    parents = [-1, *(chance.randrange(node) for node in range(1, size))]
    tags = [chance.choice(["div", "p", "a", "", "span", "table"]) for _ in range(size)]
    links = [int(tag == "a") for tag in tags]
    alpha = chance.choice([0.1, 0.5, 1.0])
    with pytest.MonkeyPatch.context() as patch:
        compiled = blocks.content_blocks(parents, tags, links=links, alpha=alpha)
        patch.setattr(blocks, "native", None)
        assert blocks.content_blocks(parents, tags, links=links, alpha=alpha) == compiled


@given(st.lists(st.sampled_from([b"<", b">", b"</", b"a", b" ", b"a=1 " * 700]), max_size=30))
def test_prescan(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        compiled = prescan.prescan(body)
        patch.setattr(prescan, "native", None)
        assert prescan.prescan(body) == compiled


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(" \t\n\x1c\x85\xa0\u1680\u2003\u201c\u2028\u205f\u3000\U0001f989a&"), max_size=6
    ),
    st.lists(st.integers(0, 40), min_size=7, max_size=7),
    st.sampled_from(["x", "\xe9", "\u2013", "\U0001f989"]),
)
def test_text_that_is_read_many_characters_at_once(odd: list[str], gaps: list[int], letter: str) -> None:
    text = "".join("owls by night "[:gap] * 2 + one for gap, one in zip(gaps, [*odd, letter], strict=False))
    same_notes(f"<p>{text * 3}</p><ul>{f'<li><a href=/x>{text}</a></li>' * 6}</ul>")


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([b"ookie", b"o", b"oo", b"k", b"i", b"gdp", b"r", b"onsent"]), max_size=40),
    st.lists(st.sampled_from([b"ookie", b"gdpr", b"onsent", b"oki", b"rrr", b"iook"]), max_size=6),
)
def test_words_are_found(pieces: list[bytes], words: list[bytes]) -> None:
    body = b"".join(pieces)
    assert search.has_any(body, tuple(words)) == any(word in body for word in words)


@given(st.binary(max_size=60), st.lists(st.binary(min_size=3, max_size=9), max_size=16))
def test_words_of_any_bytes_are_found(body: bytes, words: list[bytes]) -> None:
    assert search.has_any(body, tuple(words)) == any(word in body for word in words)
    for word in words:
        assert search.has_any(body + word, (word,))


def test_searching_refuses_what_it_cannot_find() -> None:
    for wrong in ((b"ab",), ("abc",), (b"abc",) * 17):
        with pytest.raises(TypeError):
            search.has_any(b"ab", wrong)  # type: ignore[arg-type]


_PLACES = st.sampled_from(["body/ul/li/a", "body/nav/a", "body/p/b/a", "a", "", "body/div/footer/a"])
_SAID = st.sampled_from(["", "one", "two three", "x" * 40, "x" * 41, "\u6587\u4ef6", "of owls"])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(_SAID, _SAID, _PLACES), max_size=20),
    st.lists(_SAID | st.just("one two three"), max_size=6).map("\n".join),
)
def test_main_links(rows: list[tuple[str, str, str]], main_text: str) -> None:
    python = pure("honeyguide.parse.main_links")
    found = [
        FoundLink("a", "/", "", "", anchor, f"{anchor} {more}".strip(), path) for anchor, more, path in rows
    ]
    assert main_links.in_main_text(found, main_text) == python.in_main_text(found, main_text)


def test_main_links_refuse_what_is_none() -> None:
    rules = (40, 0.8, 5)
    for wrong in ([()], [("a",) * 8], [(None,) * 9], [None]):
        with pytest.raises(TypeError):
            main_links.marked(wrong, "", main_links._place, rules)  # type: ignore[arg-type]
    good = [("a", "/", "", "", "b", "b", "p/a", -1, 0)] * 6
    with pytest.raises(TypeError):
        main_links.marked(good, "", lambda path: None, rules)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        main_links.marked(good, "", lambda path: 1 / 0, rules)  # type: ignore[arg-type,return-value]


def test_a_page_of_numbers_without_entries_is_refused() -> None:
    good, rest, pages, picture = np.zeros((4, 8), np.float32)
    vectors = scout_words.Vectors(good, rest, pages, picture, np.zeros(3))
    places, often = np.array([3, 8, -1], np.int32), np.zeros(8, np.int32)
    assert scout_words.take_in_page(np.zeros(2, np.int32), places, 1.0, vectors, often) == 0.0
    for wrong in (1, 2, 3, -1):
        with pytest.raises(IndexError):
            scout_words.take_in_page(np.array([0, wrong], np.int32), places, 1.0, vectors, often)
    with pytest.raises(ValueError, match="counters"):
        scout_words.take_in_page(np.zeros(2, np.int32), places, 1.0, vectors, often[:4])
    with pytest.raises(IndexError):
        pure("honeyguide.ordering.scout_words").take_in_page(np.array([0, 2]), places, 1.0, vectors, often)
    assert not often.any()
    assert vectors.totals[2] == 1.0


@given(st.binary(max_size=40).filter(lambda data: len(data) % 5 == 0))
def test_base32(data: bytes) -> None:
    assert (
        digest.base32(data) == base64.b32encode(data).decode() == pure("honeyguide.web.digest").base32(data)
    )
    with pytest.raises(TypeError):
        digest.base32(data + b"x")


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.booleans(), st.sampled_from(["", "de"]))
    ),
    st.integers(0, 3),
)
def test_links_at_a_quick_look(rows: list[tuple[str, int, bool, str]], own: int) -> None:
    links = tuple(
        Link(f"/{i % 7}", number, kind=kind, nofollow=nofollow, language=language)
        for i, (kind, number, nofollow, language) in enumerate(rows)
    )
    answers = []
    for module in (admission, pure("honeyguide.engine.admission")):
        judged: dict[str, Any] = {"/0": None, "/1": (Outcome.SCOPE, "far")}
        asked: list[str] = []

        def judge(url: str, asked: list[str] = asked) -> tuple[Outcome, str] | None:
            asked.append(url)
            return (Outcome.TRAP, "deep") if url == "/3" else None

        answers.append((module.sifted(links, frozenset("ab"), own, judged, judge), asked))
    assert answers[0] == answers[1]


def test_a_rule_that_fails_is_heard_of() -> None:
    with pytest.raises(ZeroDivisionError):
        admission.sifted((Link("/", 1),), {"a"}, 0, {}, lambda url: 1 / 0)  # type: ignore[arg-type,return-value]


@given(st.lists(st.lists(st.integers(0, 11), unique=True, max_size=8), max_size=12))
def test_who_links_to_whom(pages: list[list[int]]) -> None:
    chain = np.array([0, 1, 2], np.uint8)
    both = []
    for _ in range(2):
        source = np.zeros(12, np.int32)
        source[2:5] = -2, -3, -4  # fetched, in this order
        both.append((source, np.zeros(3, np.int32)))
    (ours, of_pages), (reference, of_others) = both
    python = pure("honeyguide.web.zones")
    for row, targets in enumerate(pages, 1):
        named = np.array(targets, np.int32)
        found = zones.linked(ours, (of_pages, chain), named, row)
        assert found == python.linked(reference, (of_others, chain), named, row)
        assert ours.tolist() == reference.tolist()
        assert of_pages.tolist() == of_others.tolist()
    ours[5] = -5  # there is no such page
    for wrong in (12, -1, 5):
        with pytest.raises(IndexError):
            zones.linked(ours, (of_pages, chain), np.array([wrong], np.int32), 1)


def pure(module: str) -> ModuleType:
    """A module once more, made without the C part."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "native", None)
        spec.loader.exec_module(fresh)
    return fresh


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_frontier(seed: int) -> None:
    """Two frontiers, one in Python, are asked the same and keep the same arrays."""
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        heap = pure("honeyguide.frontier.pairing_heap")
        patch.setitem(sys.modules, "honeyguide.frontier.pairing_heap", heap)
        python = pure("honeyguide.frontier.queues")
    assert type(python.take) is not type(queues.take)
    both = [module.Queues(Columns()) for module in (python, queues)]
    for one in both:
        one._columns.extend(200)
        one.grow_urls()
        one.grow_hosts(10)
    known = 0
    for _ in range(40):
        step = chance.randrange(8)
        rows = np.array(sorted(min(199, chance.randrange(1, known + 3)) for _ in range(4)), np.int32)
        rows = np.minimum(rows, known + 1 + np.arange(4)).astype(np.int32)
        batch = (
            np.round(np.array([chance.random() for _ in range(4)]), 1),
            np.full(4, Outcome.WAITING, np.uint8),
        )
        places = np.array([1 + int(row) % 9 for row in rows], np.int32)
        host, number = chance.randrange(1, 10), chance.random() * 10
        mode = chance.randrange(4)
        answers: list[str] = []
        for module, one in zip((python, queues), both, strict=True):
            urls, hosts = one.urls, one.hosts
            answer: object = None
            if step <= 2:
                made = queues.Batch(known, rows, batch[0], batch[1], places)
                answer = module.join(urls, hosts, one.counts, made, mode).tolist()
            elif step == 3:
                best = module.best_host(urls, hosts, number)
                answer = [best, module.take(urls, hosts, best) if best else 0]
            elif step == 4:
                module.schedule(urls, hosts, host, number, mode == 0)
            elif step == 5 and hosts.state[host] != queues.BUSY:
                module.park(hosts, host)
                answer = module.best_of(urls, hosts, np.array([host], np.int32))
                module.unpark(urls, hosts, host)
            elif step == 6:
                module.change_priorities(urls, hosts, rows[:1].astype(np.int64), batch[0][:1])
                answer = module.earliest(hosts, number)
            elif step == 7 and seed % 2:
                answer = module.clear(urls, hosts, host).tolist()
            answers.append(str(answer))
        if step <= 2:
            known = max(known, int(rows.max()))
        assert answers[0] == answers[1]
        for mine, yours in zip(both[0].hosts[:5], both[1].hosts[:5], strict=True):
            np.testing.assert_array_equal(mine, yours)
        np.testing.assert_array_equal(both[0].hosts.joined, both[1].hosts.joined)
        for mine, yours in zip(both[0].urls.tree, both[1].urls.tree, strict=True):
            np.testing.assert_array_equal(mine, yours)
        np.testing.assert_array_equal(both[0].counts, both[1].counts)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_seen(ids: list[int]) -> None:
    python = pure("honeyguide.frontier.seen")
    answers = []
    for kind in (python.Seen, Seen):
        seen, column = kind(), np.zeros(100, np.int64)
        rows, size = seen.rows(np.array(ids, np.int64), column, size=0)
        many = seen.find(np.array([*ids, 7, *ids], np.int64), column).tolist()
        answers.append(
            (rows.tolist(), size, column.tolist(), [seen.row(number, column) for number in ids], many)
        )
    assert answers[0] == answers[1]


def test_seen_refuses_too_little_room() -> None:
    seen, column = Seen(), np.zeros(10, np.int64)
    with pytest.raises(ValueError, match="room"):
        seen_module._rows_of(seen._slots, column, np.zeros(3, np.int64), np.zeros(2, np.int32))
    with pytest.raises(TypeError):
        seen_module._rows_of(seen._slots, column, np.zeros(3, np.int32), np.zeros(3, np.int32))


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(0, 2**32))
def test_records_of_the_log(rows: list[int], seed: int) -> None:
    python = pure("honeyguide.store.columns")
    chance = np.random.default_rng(seed)
    records = np.zeros(len(rows), columns.RECORD)
    records["row"] = rows
    for name, most in (("host", 2**31), ("id", 2**62), ("priority", 100), ("status", 64)):
        records[name] = chance.integers(0, most, len(rows))
    both = []
    for module in (python, columns):
        arrays: list[Any] = [np.zeros(31, kind) for kind in (np.int64, np.int32, np.uint8, np.float64)]
        module.put_records(records.tobytes(), *arrays)
        both.append([array.tolist() for array in arrays])
    assert both[0] == both[1]


def test_records_of_rows_that_are_not_there_are_refused() -> None:
    arrays: list[Any] = [np.zeros(3, kind) for kind in (np.int64, np.int32, np.uint8, np.float64)]
    for row in (-1, 3, 2**31 - 1):
        with pytest.raises(IndexError):
            columns.put_records(np.array([(row, 0, 0, 0, 0)], columns.RECORD).tobytes(), *arrays)
    with pytest.raises(ValueError, match="whole"):
        columns.put_records(b"x" * 26, *arrays)
    with pytest.raises(ValueError, match="length"):
        columns.put_records(b"", arrays[0], arrays[1], arrays[2], np.zeros(4))


@given(st.lists(st.text(alphabet="abC0 -_\0\n\x7fé神😀", max_size=300) | st.text(max_size=50), max_size=5))
def test_word_table(texts: list[str]) -> None:
    python = pure("honeyguide.text.word_table")
    tables = python.WordTable(), WordTable()
    assert type(python._read) is not type(word_table._read)
    for number, text in enumerate(texts):
        answers = []
        for table in tables:
            found, missed = table.scan(text.encode("utf-8", "surrogatepass"))
            answers.append((found.tolist(), missed[:, [0, 2, 3]].tolist()))
            table.put(missed[:, 1], np.full(len(missed), number, np.int32))
        assert answers[0] == answers[1]
        assert len(tables[0]) == len(tables[1])


@given(st.lists(st.text("aB9 é\ud800-", max_size=12), max_size=6), st.lists(st.integers(0, 1), max_size=6))
def test_who_mentions_a_word(texts: list[str], marks: list[int]) -> None:
    python = pure("honeyguide.text.word_table")
    answers = []
    for module in (python, word_table):
        table = module.WordTable()
        _, new = table.scan(b"a b 9 ab ba aba \xc3\xa9")
        table.put(new[:, 1], np.array([0, 1, 2, 3, 4, 5, 1 << 30], np.int32))
        asked = [*texts, "A-b", "é", "9" * 5_000, "\ud800"]
        answers.append(table.mentions(asked, np.array(marks, np.uint8)))
    assert answers[0] == answers[1]
    assert answers[1][-3:] == bytes([word_table.UNSURE] * 3)
    with pytest.raises(TypeError):
        WordTable().mentions([None], np.zeros(1, np.uint8))  # type: ignore[list-item]


def test_words_of_any_length_are_told_apart() -> None:
    table = WordTable()
    words = [letter * length for letter in ("a", "b", "é") for length in range(1, 60)]
    words += ["x" * place + "y" + "x" * (20 - place) for place in range(20)]
    _, missed = table.scan(" ".join(words).encode())
    assert len(set(missed[:, 1].tolist())) == len(set(words)) == len(missed)


@given(st.lists(st.lists(st.integers(0, 9_000) | st.integers(0, 5), max_size=60), max_size=4))
def test_counting(lists: list[list[int]]) -> None:
    both = pure("honeyguide.text.word_table").Counting(), Counting()
    for numbers in lists:
        answers = []
        for counting in both:
            found = counting.count(np.array(numbers, np.int32), max(numbers, default=0) + 1)
            answers.append([each.tolist() for each in found])
        assert answers[0] == answers[1]
        counted = Counter(numbers)
        assert answers[0] == [list(counted), list(counted.values())]


@pytest.mark.parametrize("numbers", [[-1], [5_000], [2**31 - 1]])
def test_counting_refuses_numbers_beyond_its_table(numbers: list[int]) -> None:
    wrong = np.array(numbers, np.int32)
    room = np.zeros(1, np.int32), np.zeros(1, np.int64)
    with pytest.raises(IndexError):
        word_table._count(wrong, np.zeros(5_000, np.int32), *room)
    with pytest.raises(ValueError, match="room"):
        word_table._count(np.zeros(2, np.int32), np.zeros(5_000, np.int32), *room)


@given(st.lists(st.lists(st.integers(0, 30), max_size=60), min_size=1, max_size=3), st.integers(1, 12))
def test_frequent_numbers(lists: list[list[int]], most: int) -> None:
    both = pure("honeyguide.text.word_table").Counting(), Counting()
    texts = tuple(np.array(numbers, np.int32) for numbers in lists)
    answers = []
    for counting in both:
        numbers, weights, words = counting.frequent(texts, 31, most)
        answers.append((numbers.tolist(), weights.tolist(), words))
        assert not counting._places.any()
    assert answers[0] == answers[1]
    counted = Counter(number for numbers in lists for number in numbers).most_common()
    expected = list(counted) if len(counted) <= most else counted[:most]
    assert set(answers[0][0]) == {number for number, _ in expected}
    assert answers[0][2] == sum(count for _, count in expected)


def test_often_means_the_same_number_in_both() -> None:
    texts = (np.repeat(np.arange(300, dtype=np.int32), np.arange(1, 301)),)
    both = pure("honeyguide.text.word_table").Counting(), Counting()
    for _ in range(2):  # the second time from memory
        found = [counting.frequent(texts, 300, 300).weights.tolist() for counting in both]
        assert found[0] == found[1] == [1.0 + math.log(count) for count in range(1, 301)]


@given(st.lists(st.integers(-2, 40), min_size=1, max_size=20), st.data())
def test_places_of_terms(known: list[int], data: st.DataObject) -> None:
    python = pure("honeyguide.text.tokens")
    assert type(python.look_up) is not type(tokens.look_up)
    terms = data.draw(st.lists(st.integers(0, len(known) - 1), max_size=30))
    arrays = np.array(known, np.int64), np.array(terms, np.int32)
    found = [np.zeros(len(terms), np.int64) for _ in range(2)]
    least = python.look_up(*arrays, found[0]), tokens.look_up(*arrays, found[1])
    assert least[0] == least[1] == min((known[term] for term in terms), default=0)
    assert found[0].tolist() == found[1].tolist() == [known[term] for term in terms]


def test_places_are_refused_for_what_does_not_fit() -> None:
    known, room = np.zeros(3, np.int64), np.zeros(1, np.int64)
    for wrong in (-1, 3, 2**31 - 1):
        with pytest.raises(IndexError):
            tokens.look_up(known, np.array([wrong], np.int32), room)
    with pytest.raises(ValueError, match="fit"):
        tokens.look_up(known, np.zeros(2, np.int32), room)


def test_frequent_numbers_refuse_what_does_not_fit() -> None:
    room = np.empty(2, np.int32), np.empty(2)
    places = np.zeros(8, np.int32)
    with pytest.raises(IndexError):
        word_table._frequent((np.array([1, 9], np.int32),), places, *room)
    assert not places.any()
    with pytest.raises(ValueError, match="texts"):
        word_table._frequent((np.zeros(2, np.int32),), places, room[0], np.empty(3))


@given(
    st.lists(st.integers(0, 5), max_size=40), st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3))
)
def test_phrases(numbers: list[int], phrases: list[list[int]]) -> None:
    python = pure("honeyguide.relevance.tf_cosine")
    assert type(python.count_phrases) is not type(tf_cosine.count_phrases)
    ranks = np.array([0, 1, 2, 3, 0, 2], np.int32)
    text, wanted = np.array(numbers, np.int32), [tuple(phrase) for phrase in phrases]
    answers = [module.count_phrases(text, ranks, wanted, 4, 0.25) for module in (python, tf_cosine)]
    assert answers[0] == answers[1]


def test_phrases_refuse_what_is_none() -> None:
    ranks, text = np.array([0, 1], np.int32), np.array([1], np.int32)
    wrong: list[tuple[list[int], tuple[int, ...], type[Exception]]]
    wrong = [([5], (1,), IndexError), ([1], (7,), IndexError), ([1], (), ValueError)]
    for numbers, phrase, error in wrong:
        with pytest.raises(error):
            tf_cosine.count_phrases(np.array(numbers, np.int32), ranks, [phrase], 2, 0.25)
    with pytest.raises(IndexError):
        tf_cosine.count_phrases(text, ranks, [(1,)], 1, 0.25)


@given(st.integers(0, 2**32))
def test_a_text_beside_what_was_learned(seed: int) -> None:
    """To the last bit, too."""
    python = pure("honeyguide.relevance.calibrated")
    assert type(python.compare) is not type(calibrated.compare)
    draw = np.random.default_rng(seed)
    terms = draw.choice(20, int(draw.integers(0, 15)), replace=False).astype(np.int32)
    counts = 1.0 + np.log(draw.integers(1, 5, len(terms)).astype(np.float64))
    known = draw.permutation(np.arange(-5, 15)).clip(-1)
    learned = draw.random(12) * (draw.random(12) < 0.8), draw.random(12), draw.normal(size=12).round(1)
    answers = [
        module.compare(known, (terms, counts), learned, strange, 4)
        for module in (python, calibrated)
        for strange in (0.0, 28.0)
    ]
    assert answers[:2] == answers[2:]


def test_a_text_beside_what_was_learned_refuses_what_does_not_fit() -> None:
    text = np.array([1], np.int32), np.ones(1)
    learned = np.ones(3), np.ones(3), np.ones(3)
    with pytest.raises(IndexError):
        calibrated.compare(np.array([0, -2]), text, learned, 0.0, 4)
    with pytest.raises(IndexError):
        calibrated.compare(np.array([0]), text, learned, 0.0, 4)
    with pytest.raises(ValueError, match="fit"):
        calibrated.compare(np.array([0, 1]), text, (*learned[:2], np.ones(2)), 0.0, 4)
    with pytest.raises(ValueError, match="fit"):
        calibrated.compare(np.array([0, 1]), (text[0], np.ones(2)), learned, 0.0, 4)


def _texts(seed: int, vocabulary: int) -> tuple[list[Any], list[Any]]:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(0, 9, int(draw.integers(0, 7)))
    terms = [draw.choice(vocabulary, size, replace=False).astype(np.int64) for size in sizes]
    return terms, [1.0 + np.log(draw.integers(1, 5, size).astype(np.float64)) for size in sizes]


@given(st.integers(0, 2**32))
def test_heaps_of_texts(seed: int) -> None:
    """To the last bit: a crawl that is taken up elsewhere goes on in the same way."""
    python = pure("honeyguide.relevance.mixture")
    assert type(python.fill) is not type(mixture.fill)
    terms, counts = _texts(seed, 12)
    draw = np.random.default_rng(seed)
    idf, weights, shares = draw.random(12) * (draw.random(12) < 0.7), draw.random(12), draw.random(len(terms))
    ends = np.cumsum([len(each) for each in terms], dtype=np.int64)
    answers = []
    for module in (python, mixture):
        size = int(ends[-1]) if len(ends) else 0
        texts = module.Texts(ends, np.empty(size, np.int32), np.empty(size))
        ones, counted = np.empty(len(terms)), np.zeros(12)
        module.fill(terms, counts, idf, texts.terms, texts.values, ones)
        module.count_texts(terms, counted)
        found, total = np.empty(len(terms)), np.zeros(12)
        module.products(texts, weights, found)
        module.add_up(texts, shares, total)
        answers.append([each.tolist() for each in (*texts, ones, counted, found, total)])
    assert answers[0] == answers[1]


def test_heaps_of_texts_refuse_what_does_not_fit() -> None:
    terms, counts = [np.array([1, 3])], [np.ones(2)]
    room = np.empty(2, np.int32), np.empty(2), np.empty(1)
    with pytest.raises(IndexError):
        mixture.fill(terms, counts, np.ones(3), *room)
    with pytest.raises(IndexError):
        mixture.count_texts([np.array([-1])], np.ones(3))
    for wrong in ([np.ones(3)], [np.ones(1)]):
        with pytest.raises(ValueError, match="fit"):
            mixture.fill(terms, wrong, np.ones(4), *room)
    with pytest.raises(ValueError, match="fit"):
        mixture.fill(terms, counts, np.ones(4), np.empty(3, np.int32), np.empty(3), np.empty(1))
    texts = mixture.Texts(np.array([2]), np.array([0, 9], np.int32), np.ones(2))
    for work, arrays in (
        (mixture.products, (np.ones(4), np.ones(1))),
        (mixture.add_up, (np.ones(1), np.ones(4))),
    ):
        with pytest.raises(IndexError):
            work(texts, *arrays)
        with pytest.raises(ValueError, match="fit"):
            work(texts._replace(ends=np.array([3])), *arrays)
        with pytest.raises(ValueError, match="fit"):
            work(texts, *(np.ones(5) for _ in arrays))


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from((0.0, 0.5, 1.0, 2.0))), max_size=9))
def test_priorities_that_change(pairs: list[tuple[int, float]]) -> None:
    python = pure("honeyguide.frontier.queues")
    assert type(python.revisable) is not type(queues.revisable)
    status, old = np.array([0, 0, 0, 1, 0, 0], np.uint8), np.array([0.0, 0.5, 1.0, 0.0, 2.0, 0.0])
    rows, priorities = np.array([row for row, _ in pairs], np.int32), np.array([float(p) for _, p in pairs])
    answers = []
    for module in (python, queues):
        changed, given_ = np.zeros(len(pairs), np.int64), np.zeros(len(pairs))
        count = module.revisable(status, old, rows, priorities, 1.5, 0, changed, given_)
        answers.append((count, changed[:count].tolist(), given_[:count].tolist()))
    assert answers[0] == answers[1]


def test_priorities_that_cannot_be_are_refused() -> None:
    status, old, one = np.zeros(2, np.uint8), np.zeros(2), np.ones(1, np.int32)
    room = np.zeros(1, np.int64), np.zeros(1)
    with pytest.raises(ValueError, match="not a number"):
        queues.revisable(status, old, one, np.array([np.nan]), 1.0, 0, *room)
    for row in (-1, 2):
        with pytest.raises(IndexError):
            queues.revisable(status, old, np.array([row], np.int32), np.ones(1), 1.0, 0, *room)
    with pytest.raises(ValueError, match="length"):
        queues.revisable(status, old, one, np.ones(2), 1.0, 0, *room)


@given(
    st.lists(
        st.sampled_from(
            ("/", "a", "b", "ab", "2024", "12024", "-", "1", "?", "(", "%", "252525", "%252525", "é", "/c/c/")
        ),
        max_size=14,
    ),
    st.sampled_from(("https://a.example", "http://a", "ab", "")),
)
def test_plain_addresses(pieces: list[str], start: str) -> None:
    python = pure("honeyguide.web.traps")
    assert type(python.plain) is not type(traps.plain)
    url = start + "".join(pieces)
    for longest, most in ((2000, 20), (20, 20), (2000, 2)):
        assert traps.plain(url, longest, most) is python.plain(url, longest, most)
    if traps.plain(url, 2000, 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(traps, "plain", lambda *_: False)
            assert traps.trap_reason(url, 0, traps.TrapLimits(now_year=2026)) is None


def test_addresses_of_many_segments_are_not_plain() -> None:
    url = "https://a.example/" + "/".join(map(str, range(100)))
    assert not traps.plain(url, 2000, 1000)
    assert not pure("honeyguide.web.traps").plain(url, 2000, 1000)


@given(
    st.lists(
        st.from_regex(r"https?://[a-z.]{0,9}(/[a-zA-Z0-9_%.-]{0,9}){0,4}(\?[a-z=&%2F]{0,9})?", fullmatch=True)
        | st.text(max_size=30),
        max_size=5,
    )
)
def test_addresses(urls: list[str]) -> None:
    python = pure("honeyguide.ordering.scout_words")
    urls = [*urls, "https://a.example/26378.html"]
    assert scout_words.entry("26378") == scout_words.entry("html")  # it counts once
    answers = []
    for module in (python, scout_words):
        held = scout_evidence.new_urls(len(urls) + 2)
        held.entries.view(np.uint8)[:] = 3
        module.enter(held, urls, list(range(len(urls))), 1, scout_evidence.TABLE)
        paths = np.zeros(len(urls), np.int32)
        module.read_site_paths(urls[0], urls, paths, scout_evidence.TABLE)
        answers.append([paths.tolist(), *(each.tolist() for each in scout_evidence.fields(held).values())])
        with pytest.raises(ValueError, match="no room"):
            module.enter(held, urls, list(range(len(urls))), 3, scout_evidence.TABLE)
    assert answers[0] == answers[1]


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, 9),
                st.sampled_from(["", "owl", "é", "\ud800"]),
                st.sampled_from("ab"),
                st.integers(0, 3),
            ),
            max_size=9,
        ),
        max_size=4,
    ),
    st.integers(0, 12),
)
def test_links_of_pages(pages: list[list[tuple[int, str, str, int]]], room: int) -> None:
    python = pure("honeyguide.ordering.scout_links")
    assert type(python.read_links) is not type(scout_links.read_links)
    answers = []
    for module in (python, scout_links):
        slots: dict[int, int] = {}
        anchors: dict[str, int] = {}
        draw = np.random.default_rng(room)
        urls = scout_evidence.new_urls(12)
        urls.state[:] = draw.integers(1, 3, 12)
        urls.topic[:] = draw.random((12, scout_evidence.TOPICS), np.float32)
        urls.anchor_words[:] = draw.integers(-1, 1, (12, 8))
        urls.list_words[:] = draw.integers(-1, 1, (12, 8))
        known = draw.random(4, np.float32), draw.integers(-1, 9, (4, 8)).astype(np.int32)
        for page in pages:
            links = [Link(str(to), to, text, tag_path=path, group=group) for to, text, path, group in page]
            first = len(slots)
            read = module.new_read(len(links))
            found = module.read_links(links, slots, anchors, (len(slots), room - len(slots)), read)
            module.note_anchors(urls, read, known)
            module.note_groups(urls, read, known, first)
            texts = [each.tolist() for each in (*read, urls.state, urls.topic)]
            words = [each.tolist() for each in (urls.anchor_words, urls.list_words)]
            answers.append((found, *texts, *words, dict(slots), dict(anchors)))
    assert answers[: len(pages)] == answers[len(pages) :]


def test_links_of_pages_refuse_what_does_not_fit() -> None:
    links = [Link("a", 1, "owl")]
    with pytest.raises(ValueError, match="four"):
        scout_links.read_links(links, {}, {}, (0, 9), scout_links.new_read(2))
    with pytest.raises(ValueError, match="negative"):
        scout_links.read_links(links, {1: -3}, {}, (0, 9), scout_links.new_read(1))
    with pytest.raises(AttributeError):
        scout_links.read_links([None], {}, {}, (0, 9), scout_links.new_read(1))  # type: ignore[list-item]
    urls = scout_evidence.new_urls(2)
    known = np.zeros(2, np.float32), np.zeros((2, 8), np.int32)
    for at, said in ((2, 0), (-1, 0), (0, 2)):
        read = scout_links.Read(np.array([at]), np.array([said]), np.ones(1, np.int32), np.zeros(1, np.int32))
        with pytest.raises(IndexError):
            scout_links.note_anchors(urls, read, known)
    for at, said, group in ((2, 0, 0), (0, 2, 0), (0, 0, 1), (0, 0, -1)):
        ones = np.ones(1, np.int32)
        read = scout_links.Read(np.array([at]), np.array([said]), ones, np.array([group], np.int32))
        with pytest.raises(IndexError):
            scout_links.note_groups(urls, read, known, 0)
    with pytest.raises(ValueError, match="fit"):
        scout_links.note_anchors(urls, read, (known[0], known[1][:1]))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32))
def test_scout(seed: int) -> None:
    """Two crawls, one in Python, learn the same and give the same priorities, to the last bit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "honeyguide.text.ridge", pure("honeyguide.text.ridge"))
        for name in ("scout_evidence", "scout_weights", "scout_words", "scout_links", "scout"):
            python = pure(f"honeyguide.ordering.{name}")
            patch.setitem(sys.modules, f"honeyguide.ordering.{name}", python)
            patch.setattr(ordering, name, python)
    assert type(python.evidence.read_scores) is not type(scout_evidence.read_scores)

    class Owls:
        def judge_texts(self, texts: list[str]) -> list[float]:
            return [float("owl" in text) for text in texts]

    both = [module.Scout(Owls()) for module in (python, scout)]
    chance = random.Random(seed)
    urls = [f"https://h{i % 7}.example/{i % 5}/owl-{i % 11}/{i}" for i in range(300)]
    words = ["owl", "nest", "tax", "\ud800x", "\u6587\u4ef6", "hoot"]
    for url in chance.sample(urls, 80):
        named = chance.sample(urls, 12)  # and two of them twice
        links = [
            Link(
                to,
                url_id(to),
                " ".join(chance.choices(words, k=2)),
                tag_path=chance.choice("abc"),
                group=chance.randrange(4),
            )
            for to in (*named, *named[:2])
        ]
        page = Page(url, url_id(url), text=" ".join(chance.choices(words, k=40)))
        verdict, lost = Verdict(chance.random(), True), url_id(chance.choice(urls))
        told = []
        for order in both:
            order.learn(page, verdict)
            order.gone(lost)
            found = [one.priority for one in order.rank(page, verdict, links)]
            order.rejudged(page, Verdict(verdict.score / 2, False))
            revised = order.revised()
            told.append((found, dict(zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True))))
        assert told[0] == told[1]
    for name in ("scores", "explore", "priority", "links", "parent"):
        mine, yours = (getattr(order._urls, name)[: order._held] for order in both)
        np.testing.assert_array_equal(mine, yours)
    for mine, yours in zip(both[0]._sums, both[1]._sums, strict=True):
        np.testing.assert_array_equal(mine, yours)


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_weights_of_scores(seed: int, rows: int) -> None:
    python = pure("honeyguide.text.ridge")
    assert type(python.descend) is not type(ridge.descend)
    draw = np.random.default_rng(seed)
    z, wanted = draw.normal(size=(rows, scout_evidence.COLUMNS)), draw.normal(size=rows)
    answers = []
    for module in (python, ridge):
        weight = np.full(scout_evidence.COLUMNS, 0.02)
        module.descend(z, wanted, weight, 1.0, 15)
        answers.append(weight.tolist())
    assert answers[0] == answers[1]
    assert min(answers[0]) >= 0.0


def test_scout_refuses_what_does_not_fit() -> None:
    urls = scout_evidence.new_urls(4)
    held = scout_evidence.Held(urls, scout_evidence.new_pages(2), scout_evidence.new_sums())
    beyond, out = np.array([4]), np.zeros(1, np.int64)
    ones, nothing = np.ones(scout_evidence.COLUMNS), np.zeros(0, np.int64)
    standing, joining = (
        scout_evidence.Standing(1, 0.1, 0, 0.5, 0.5),
        scout_evidence.Joining(0.0, ones, ones, ones),
    )
    for wrong in (
        lambda: scout_evidence.read_scores(held, beyond, standing, joining),
        lambda: scout_evidence.set_priorities(urls, beyond, joining),
        lambda: scout_evidence.tell(urls, urls.told, beyond, 0.1, out),
        lambda: scout_evidence.that_wait(urls, beyond, out),
        lambda: scout_evidence.promise(urls, beyond),
    ):
        with pytest.raises(IndexError):
            wrong()
    for page, target, path in ((2, 0, 0), (0, 4, 0), (0, 0, 1)):
        with pytest.raises(IndexError):
            scout_evidence.add_links(
                held,
                scout_evidence.NewLinks(
                    page, np.array([target]), np.array([path], np.int32), out, np.zeros(1, np.int32), 2
                ),
            )
    with pytest.raises(ValueError, match="fit"):
        scout_evidence.tell(urls, urls.told, np.array([0]), 0.1, nothing)
    with pytest.raises(ValueError, match="fit"):
        scout_evidence.that_wait(urls, np.array([0]), nothing)
    with pytest.raises(ValueError, match="weights"):
        scout_evidence.set_priorities(urls, out, joining._replace(weight=ones[1:]))
    with pytest.raises(ValueError, match="rows"):
        ridge.descend(np.zeros((2, 3)), np.zeros(2), ones, 1.0, 1)


REFERENCES = st.lists(
    st.sampled_from(
        [
            *(
                "http://",
                "https://",
                "//",
                "/",
                "a",
                "b.c",
                "../",
                "./",
                ".",
                "..",
                "?",
                "#",
                "&",
                "=",
                "127.1.0.1",
                "256.1.1.1",
                "01.2.3.4",
                "example.org",
                "a--b.org",
                "xn--a.org",
            ),
            *(
                "-a.b",
                "a-.b",
                ":80",
                ":443",
                ":8080",
                ":0",
                ":65536",
                ":65535",
                "utm_source=x",
                "sid=1",
                ";",
                "%",
                "%41",
                "~",
                "^",
                "@",
                "é",
                "A.B",
                "\0",
                "\n",
            ),
        ]
    ),
    max_size=9,
).map("".join)
BASES = (
    "http://example.org/a/b/c?d",
    "https://127.0.0.1:8765/x",
    "https://a.example/",
    "http://a.example/b;c/",
)


@settings(max_examples=300)
@given(st.lists(REFERENCES, max_size=4), st.sampled_from(BASES))
def test_plain_urls(references: list[str], base: str) -> None:
    python = pure("honeyguide.web.url")
    assert type(python.plain_urls) is not type(addresses.plain_urls)
    plain = addresses._plain_base(base)
    assert plain is not None
    assert python.plain_urls(references, *plain) == addresses.plain_urls(references, *plain)
    # What needs no parser is what the parser says.
    parsed = [canonical_of_parser(one, base) for one in references]
    assert addresses.canonical_many(references, base) == python.canonical_many(references, base) == parsed


def canonical_of_parser(reference: str, base: str) -> str | None:
    href = addresses._slow_href(reference, base)
    return addresses._tidy(href) if href is not None and href.startswith(addresses.WEB) else None


@pytest.mark.parametrize(
    "wrong", [("", "/"), ("http://a", "http://b/"), ("http://a", "http://a"), ("é", "é/")]
)
def test_plain_urls_refuses_a_strange_base(wrong: tuple[str, str]) -> None:
    with pytest.raises((ValueError, TypeError)):
        addresses.plain_urls(["../../x"], *wrong)


ELEMENTS = st.tuples(
    st.sampled_from(["a", "area", "link", "refresh", "é"]),
    st.just(""),
    st.sampled_from(["", "NoFollow x", "alternate", "stylesheet", "sitemap"]),
    st.sampled_from(["", "text/html", "application/rss+xml"]),
    st.sampled_from(["", "owls", " ", "é 神", "x" * 600, "y" * 999]),
    st.sampled_from(["", "of owls", "神", "z" * 1_001]),
    st.just("body/a"),
    st.just(-1),
    st.integers(0, 3),
)
TARGETS = st.sampled_from(
    [
        *(
            None,
            "http://a.example/",
            "http://a.example/b",
            "http://a.example/c.html",
            "http://a.example/d.jpg",
        ),
        *("http://a.example/sitemap.xml", "http://a.example/e.jpg?x=/y", "http://a.example/own"),
        *(
            "http://a.example/é",
            "http://a.example/f.x.php",
            "http://a.example/g?h=.xml",
            "http://a.example.html/",
        ),
    ]
)


@given(st.lists(st.tuples(ELEMENTS, TARGETS, st.booleans()), max_size=20), st.booleans(), st.integers(0, 5))
def test_joined_links(rows: list[tuple[Any, str | None, bool]], known: bool, most: int) -> None:
    python = pure("honeyguide.parse.links")
    found, urls, own = ([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    rules = ("http://a.example/own", links._kind, links._no_follow, most, links.MAX_JOINED)
    assert type(python.joined) is not type(links.joined)
    expected = python.joined(found, urls, own if known else None, rules)
    assert list(map(tuple, links.joined(found, urls, own if known else None, rules))) == expected


def test_joined_links_refuse_what_is_none() -> None:
    rules = ("", links._kind, links._no_follow, 9, 9)
    wrong: list[tuple[Any, Any]] = [([("a",)], ["x"]), ([(1,) * 9], ["x"]), ([()], []), ([("",) * 9], [b"x"])]
    for found, urls in wrong:
        with pytest.raises((TypeError, ValueError)):
            links.joined(found, urls, None, rules)
