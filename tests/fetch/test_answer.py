"""Answers read as they arrive: what comes out never depends on how the bytes were cut up."""

from __future__ import annotations

import random
import time

import pytest
from tests.fetch.servers import chunked, ok
from tests.fetch.test_fuzz import mutate

from honeyguide.fetch.answer import (
    MAX_CHUNK_LINE,
    MAX_INTERIM,
    MAX_TRAILERS,
    AnswerReader,
    BadHead,
    read_head,
)

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes, **limits: int) -> tuple[AnswerReader, bytes]:
    reader = AnswerReader(**limits)
    body = b""
    for piece in pieces:
        if reader.done or reader.fault:
            break
        body += reader.feed(piece)
    return reader, body


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


WHOLE = {
    "length": (ok(b"hello world"), b"hello world", True),
    "chunks": (CHUNKED + chunked(b"hello", b" ", b"world"), b"hello world", True),
    "chunks with extensions and trailers": (
        CHUNKED + b"5;a=b\r\nhello\r\n0\r\nX: y\r\nZ: w\r\n\r\n",
        b"hello",
        True,
    ),
    "chunks with bare line feeds": (CHUNKED + b"5 \nhello\n0\n\n", b"hello", True),
    "continue first": (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + ok(b"hi"), b"hi", True),
    "empty lines first": (b"\r\n\r\n" + ok(b"hi"), b"hi", True),
    "no body": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", b"", True),
    "close": (ok(b"hi", "Connection: Close"), b"hi", False),
    "HTTP/1.0": (ok(b"hi").replace(b"1.1", b"1.0"), b"hi", False),
    "HTTP/1.0, kept": (ok(b"hi", "Connection: keep-alive").replace(b"1.1", b"1.0"), b"hi", True),
    "the same length twice": (ok(b"hi", "Content-Length: 2"), b"hi", True),
    "a list of the same length": (ok(b"hi").replace(b"Length: 2", b"Length: 2, 2"), b"hi", True),
    "identity": (ok(b"hi", "Transfer-Encoding: identity"), b"hi", True),
    "chunks said twice": (
        CHUNKED.replace(b"chunked", b"Chunked\r\nTransfer-Encoding: chunked") + chunked(b"hi"),
        b"hi",
        True,
    ),
    "chunks with sizes filled up": (CHUNKED + b"0" * 40 + b"2\r\nhi\r\n000\r\n\r\n", b"hi", True),
    "a length and chunks": (
        CHUNKED.replace(b"Tr", b"Content-Length: 9\r\nTr") + chunked(b"hi"),
        b"hi",
        False,
    ),
    "a name with a space in it": (ok(b"hi", "Content Length: 3"), b"hi", False),
    "no name": (ok(b"hi", ": x"), b"hi", False),
    "no colon": (ok(b"hi", "HTTP/1.1 200 OK"), b"hi", False),
    "a name in other letters": (ok(b"hi", "Größe: 3"), b"hi", False),
    "a folded first line": (b"HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 2\r\n\r\nhi", b"hi", False),
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
def test_whole_answers(case: str, size: int) -> None:
    data, expected, keeps = WHOLE[case]
    reader, body = read(*cut(data, size))
    assert (body, reader.done, reader.keeps, reader.fault) == (expected, True, keeps, "")
    assert reader.head is not None
    assert reader.head.status in (200, 304)


@pytest.mark.parametrize(
    "data", [ok(b"hello")[:-1], CHUNKED + b"5\r\nhello\r\n", CHUNKED, b"HTTP/1.1 200 OK\r\n"]
)
def test_a_server_that_hangs_up_early_has_not_answered_whole(data: bytes) -> None:
    reader, _ = read(data)
    assert not reader.ended()


def test_without_a_length_the_body_ends_with_the_connection() -> None:
    reader, body = read(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")
    assert (body, reader.done, reader.keeps) == (b"hello", False, False)
    assert reader.ended()


def test_the_last_chunk_is_the_end_though_its_empty_line_never_comes() -> None:
    reader, body = read(CHUNKED + b"2\r\nhi\r\n0\r\n")
    assert (body, reader.done) == (b"hi", False)
    assert reader.ended()


@pytest.mark.parametrize("data", [ok(b"hi") + b"HTTP/1.1 200 OK\r\n", CHUNKED + chunked(b"hi") + b"x"])
def test_a_connection_with_more_in_it_than_was_asked_for_is_not_kept(data: bytes) -> None:
    """The rest would pass for the answer to the next request, of another page."""
    reader, body = read(data)
    assert (body, reader.done, reader.keeps) == (b"hi", True, False)


REFUSED = {
    "two lengths": ok(b"hi", "Content-Length: 3"),
    "a list of lengths": ok(b"hi").replace(b"Length: 2", b"Length: 2, 3"),
    "an empty length": ok(b"hi").replace(b"Length: 2", b"Length: "),
    "a transfer coding that nobody asked for": ok(b"hi", "Transfer-Encoding: gzip, chunked"),
    "interim answers without an end": b"HTTP/1.1 103 Early\r\n\r\n" * (MAX_INTERIM + 1) + ok(b"hi"),
    "a signed length": ok(b"hi").replace(b"Length: 2", b"Length: +2"),
    "a length in other digits": ok(b"hi").replace(b"Length: 2", "Length: ٢".encode()),
    "a length beyond all sense": ok(b"hi").replace(b"Length: 2", b"Length: " + b"9" * 30),
    "another protocol": b"SSH-2.0\r\n",
    "switching": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
    "NUL": ok(b"hi", "X: a\0b"),
    "a lone carriage return": ok(b"hi", "X: a\rContent-Length: 9"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("size", [1, 10_000])
def test_heads_that_two_readers_could_read_in_two_ways_are_refused(case: str, size: int) -> None:
    reader, body = read(*cut(REFUSED[case], size))
    assert reader.fault
    assert (reader.head, body) == (None, b"")


def taken(reader: AnswerReader, data: bytes, at_once: int = 65_536) -> int:
    """How much of an answer is read before it is over or refused; bytes of the body."""
    length = 0
    for start in range(0, len(data), at_once):
        length += len(reader.feed(data[start : start + at_once]))
        if reader.fault or reader.done:
            break
    return length


def test_millions_of_chunks_that_hold_next_to_nothing_are_refused() -> None:
    reader = AnswerReader()
    assert taken(reader, CHUNKED + b"1\r\na\r\n" * 2_000_000) < 800_000
    assert reader.fault == "chunks that hold next to nothing"
    reader = AnswerReader()
    taken(reader, CHUNKED + (b"1;" + b"x" * 3_000 + b"\r\na\r\n") * 2_000)
    assert reader.fault == "chunks that hold next to nothing"


@pytest.mark.parametrize(
    ("chunk", "times"), [(b"a", 300_000), (b"0123456789abcdef", 300_000), (b"x" * 9_000, 900)]
)
def test_many_chunks_are_none_too_many(chunk: bytes, times: int) -> None:
    reader = AnswerReader()
    assert (
        taken(reader, CHUNKED + b"%x\r\n%s\r\n" % (len(chunk), chunk) * times + b"0\r\n\r\n")
        == len(chunk) * times
    )
    assert (reader.fault, reader.done) == ("", True)


def test_chunks_of_all_sizes_however_they_are_cut_up() -> None:
    choose = random.Random(3)
    for _ in range(200):
        chunks = [choose.randbytes(choose.choice((1, 2, 15, 16, 300))) for _ in range(choose.randint(1, 20))]
        written = (choose.choice((b"%x\r\n%s\r\n", b"%04X;x=y\r\n%s\r\n", b"%x \n%s\n")) for _ in chunks)
        coded = b"".join(form % (len(chunk), chunk) for form, chunk in zip(written, chunks, strict=True))
        reader, body = read(*cut(CHUNKED + coded + b"0\r\n\r\n", choose.choice((1, 3, 17, 1000, 100_000))))
        assert (body, reader.done, reader.keeps, reader.fault) == (b"".join(chunks), True, True, "")


BROKEN = {
    "no size": CHUNKED + b"zz\r\nhello\r\n",
    "a negative size": CHUNKED + b"-5\r\nhello\r\n",
    "a size beyond all sense": CHUNKED + b"f" * 16 + b"\r\nhello\r\n",
    "a chunk that is longer than it says": CHUNKED + b"2\r\nhello\r\n",
    "a size line without an end": CHUNKED + b"5;" + b"x" * MAX_CHUNK_LINE,
    "trailers without an end": CHUNKED + b"0\r\n" + b"X: y\r\n" * MAX_TRAILERS,
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("size", [1, 100_000])
def test_broken_chunks(case: str, size: int) -> None:
    reader, _ = read(*cut(BROKEN[case], size))
    assert reader.fault
    assert reader.head is not None
    assert not reader.done


def test_limits_of_a_head() -> None:
    long = ok(b"hi", "X: " + "y" * 200)
    assert read(long, max_line=200)[0].fault
    assert not read(long, max_line=250)[0].fault
    many = ok(b"hi", *(f"X-{number}: y" for number in range(10)))
    assert read(many, max_headers=11)[0].fault
    assert not read(many, max_headers=12)[0].fault
    endless = [b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n" * 10] * 100]
    assert read(*endless, max_line=100)[0].fault  # it does not wait for the end
    long = ok(b"hi", *["X: " + "y" * 90] * 5)
    assert read(long, max_line=100)[0].fault  # whole, and longer than the archive's reader looks for its end


def test_no_head_takes_long() -> None:
    """Each is as long as a head may be: a reader that goes over it again and again would take seconds."""
    size = 4 * 64 * 1024 - 100
    fillings = (b" ", b"\t", b"\n ", b": ", b"a", b"\r\n\t", b"a:\n", b";", b"\xff", b"Transfer-Encoding:\n")
    started = time.process_time()
    for filling in fillings:
        head = b"HTTP/1.1 200 OK\r\nX:" + filling * (size // len(filling)) + b"a\n y\r\n\r\n"
        reader, _ = read(head, max_headers=size, max_line=size)
        if reader.head is not None:
            reader.head.archived()
    assert time.process_time() - started < 3


def test_a_head_for_the_archive() -> None:
    head = read_head(b"HTTP/1.1 200 Fine\nX: a\n b\nTRANSFER-encoding : chunked\nY:\xe9\n\n")
    assert head.headers == (("X", "a b"), ("TRANSFER-encoding", "chunked"), ("Y", "é"))
    assert head.archived() == (
        b"HTTP/1.1 200 Fine\r\nX: a b\r\nX-Crawler-TRANSFER-encoding: chunked\r\nY:\xe9\r\n\r\n"
    )
    both = b"HTTP/1.1 200\r\nContent-Length: 9\r\nfoo\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert read_head(both).archived() == (
        b"HTTP/1.1 200\r\nX-Crawler-Content-Length: 9\r\nfoo\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n"
    )
    plain = b"HTTP/1.1 200\r\nETag: x\r\n\r\n"
    assert read_head(plain).archived() == plain
    assert read_head(plain).fields == {"etag": "x"}
    assert read_head(b"HTTP/1.1 200\r\nA: x\r\na: y\r\n\r\n").fields == {"a": "x\ny"}
    with pytest.raises(BadHead):
        read_head(b"HTTP/1.1 20 OK\r\n\r\n")


def test_how_the_bytes_are_cut_up_never_matters() -> None:
    choose = random.Random(5)
    faults = 0
    for number in range(3000):
        data = mutate(choose)
        whole, body = read(data)
        pieces = cut(data, choose.randint(1, 20))
        reader, again = read(*pieces)
        assert bool(reader.fault) == bool(whole.fault), (number, data)
        assert (reader.done, reader.head) == (whole.done, whole.head), (number, data)
        assert again == body, (number, data)
        faults += bool(whole.fault)
    assert 300 < faults < 2700


@pytest.mark.parametrize("seed", range(200))
def test_headers_read_at_once_are_those_read_one_by_one(seed: int) -> None:
    draw = random.Random(seed)
    pieces = (
        "Via",
        "via",
        "X-A",
        "X A",
        ":",
        ": ",
        " :",
        "a",
        "é",
        "\t",
        " ",
        "",
        "b: c",
        "\x85",
        "\u2028",
        "!",
    )
    lines = ["".join(draw.choices(pieces, k=draw.randrange(6))).strip() or "A: b" for _ in range(4)]
    text = "HTTP/1.1 200 OK\r\n" + "\r\n".join(lines) + "\r\n\r\n"
    head = read_head(text.encode())
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.rstrip(" \t")
        if colon and name and name.isascii() and not set(name) & set(" \t\x85"):
            found.append((name, value.strip(" \t")))
    assert head.headers == tuple(found)
    assert head.odd == (len(found) != len(lines))
    for name in {name.lower() for name, _ in found}:
        assert head.fields[name] == "\n".join(value for each, value in found if each.lower() == name)
