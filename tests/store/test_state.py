"""The state file: round trips, refusals, crashes."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from crawls import finish, small_crawl

from honeyguide.errors import CollectionError
from honeyguide.model import Host, Outcome
from honeyguide.store.columns import RECORD, Columns
from honeyguide.store.records import NewUrl, PageRecord
from honeyguide.store.state import State


def url_row(row: int, *, parent: int = 0, status: Outcome = Outcome.WAITING, anchor: str = "") -> NewUrl:
    return (
        *(row, row * 100, f"http://e.example/{row}", 1, int(status), 0.5, 1, 0, 0, parent),
        *("link", anchor, "", '{"a":1.0}', "", ""),
    )


def log(state: State, columns: Columns, rows: list[int]) -> None:
    state.append_changes(columns, np.array(rows, np.int32))


def filled_columns(size: int) -> Columns:
    columns = Columns()
    columns.extend(size)
    columns.ids[1 : size + 1] = np.arange(1, size + 1) * 100
    columns.priority[1 : size + 1] = np.linspace(0, 1, size)
    return columns


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "birds" / "state.sqlite"


def test_only_commits_survive(path: Path) -> None:
    with State.open(path) as state:
        state.put_setting("clock", 1.5)
        state.append_event("page", "http://a/", {"score": 0.5}, at=2.0)
        state.commit()
        state.put_setting("clock", 9.0)
        state.append_event("page", "http://b/", {}, at=3.0)
    with State.open(path, read_only=True) as state:
        assert state.setting("clock") == 1.5
        assert [event.url for event in state.events()] == ["http://a/"]
        assert state.setting("absent", "none") == "none"


def test_rollback_numbers_events_again() -> None:
    with State.open(None) as state:
        state.append_event("page", "", {}, at=1.0)
        state.commit()
        state.append_event("page", "", {}, at=2.0)
        state.rollback()
        assert state.append_event("page", "", {}, at=3.0).number == 2
        assert [event.at for event in state.events()] == [1.0, 3.0]


def test_second_writer_is_refused_and_told_who_holds_it(path: Path) -> None:
    with State.open(path):
        program = (
            "import sys; from pathlib import Path; from honeyguide.errors import CollectionError\n"
            "from honeyguide.store.state import State\n"
            "try: State.open(Path(sys.argv[1]))\n"
            "except CollectionError as e: print(e)"
        )
        answer = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
        )
        assert f"is in use by another process (pid {os.getpid()}); stop it first" in answer.stdout
        with State.open(path, read_only=True) as reader:
            assert reader.counts() == {}
    State.open(path).close()


def test_a_second_writer_of_the_same_program_is_told_what_to_do(path: Path) -> None:
    with State.open(path), pytest.raises(CollectionError, match=r"by this very program.*; stop\(\) it"):
        State.open(path)


def test_reader_sees_commits_while_the_crawl_runs(path: Path) -> None:
    with State.open(path) as writer, State.open(path, read_only=True) as reader:
        columns = filled_columns(2)
        columns.status[2] = Outcome.FETCHED
        writer.add_urls([url_row(1), url_row(2, parent=1, status=Outcome.FETCHED)])
        log(writer, columns, [1, 2])
        assert reader.counts() == {}
        writer.commit()
        assert reader.counts() == {Outcome.WAITING: 1, Outcome.FETCHED: 1}
        assert reader.row_of(200) == 2
        assert reader.row_of(1) == 0
        record = reader.url_by_row(2)
        assert record is not None
        assert record.status is Outcome.FETCHED
        assert record.factors == {"a": 1.0}
        assert reader.url_by_row(3) is None
        assert reader.check() == []


def test_missing_collection(path: Path) -> None:
    with pytest.raises(CollectionError, match="no collection"):
        State.open(path, read_only=True)
    assert not path.parent.exists()


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_a_state_that_was_lost_is_not_a_crawl_to_begin_or_to_resume(path: Path, what: str) -> None:
    (path.parent / "archive").mkdir(parents=True)
    (path.parent / "archive" / "pages-00001.warc.gz").write_bytes(b"x")
    if what == "empty":
        path.write_bytes(b"")
    with pytest.raises(CollectionError, match=f"is {what}, but there are pages in .*restore the state"):
        State.open(path, read_only=True)


def alter(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


def foreign(path: Path) -> None:
    path.write_text("not a database, but long enough to be read as one " * 40, encoding="ascii")


def other_application(path: Path) -> None:
    alter(path, "CREATE TABLE url (row INTEGER PRIMARY KEY)")


def other_version(path: Path) -> None:
    State.open(path).close()
    alter(path, "PRAGMA user_version = 99")


def with_trigger(path: Path) -> None:
    State.open(path).close()
    alter(path, "CREATE TRIGGER t AFTER INSERT ON url BEGIN DELETE FROM journal; END")


def without_table(path: Path) -> None:
    State.open(path).close()
    alter(path, "DROP TABLE journal")


def with_other_columns(path: Path) -> None:
    State.open(path).close()
    alter(path, "ALTER TABLE host ADD COLUMN more TEXT")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (foreign, "not a readable state file"),
        (other_application, "not written by Honeyguide"),
        (other_version, "state version 99"),
        (with_trigger, "unexpected or missing table"),
        (without_table, "unexpected or missing table"),
        (with_other_columns, "altered table"),
    ],
)
def test_spoilt_files_are_refused(path: Path, spoil: object, message: str, read_only: bool) -> None:
    path.parent.mkdir()
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(CollectionError, match=message):
        State.open(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "blob",
    [
        b"short",
        np.array([(0, 0, 1, 0.0, 0)], RECORD).tobytes(),
        np.array([(5000, 0, 1, 0.0, 0)], RECORD).tobytes(),
        np.array([(1, 0, 1, 0.0, 200)], RECORD).tobytes(),
        np.array([(1, 0, 1, 0.0, 0), (2, 0, 2, 0.0, 0)], RECORD).tobytes(),
    ],
)
def test_spoilt_log_is_refused(path: Path, blob: bytes) -> None:
    with State.open(path) as state:
        state.add_urls([url_row(1)])
        state.commit()
    alter(path, "INSERT INTO change (records) VALUES (?)", blob)
    with State.open(path) as state, pytest.raises(CollectionError, match="restore"):
        state.columns()


def test_check_finds_a_status_that_the_log_does_not_have(path: Path) -> None:
    with State.open(path) as state:
        state.add_urls([url_row(1)])
        log(state, filled_columns(1), [1])
        state.end_urls([(int(Outcome.FETCHED), "", 1)])
        assert "statuses of URLs differ" in state.check()[0]


def test_hosts_that_were_never_asked_share_what_they_have_in_common(path: Path) -> None:
    hosts = [Host(row, f"{row}.example.org", "example.org") for row in (1, 2)]
    asked = Host(3, "3.example.org", "example.org", ready_at=2.5, requests=1)
    with State.open(path) as state:
        state.save_hosts([(host, 0.0) for host in (*hosts, asked)])
        state.commit()
    with State.open(path) as state:
        (first, _), (second, _), (third, _) = state.hosts()
    assert [first, second, third] == [*hosts, asked]
    assert first.domain is second.domain is third.domain
    assert first.recent is second.recent


def test_hosts_round_trip(path: Path) -> None:
    host = Host(row=1, name="a.example", domain="a.example", ip="192.0.2.1", ready_at=5.5, given_up=True)
    with State.open(path) as state:
        state.save_hosts([(host, 0.0)])
        host.fetched = 7
        state.save_hosts([(host, 0.25)])
        state.commit()
    with State.open(path) as state:
        assert state.hosts() == [(host, 0.25)]


def page_record(row: int, number: int, **fields: object) -> PageRecord:
    return PageRecord(row=row, number=number, at=float(number), **fields)  # type: ignore[arg-type]


def test_pages_round_trip(path: Path) -> None:
    page = page_record(
        *(2, 1),
        title="Owls \ud800",
        score=0.75,
        on_topic=True,
        terms=(("owl", 0.5),),
        facts={"layer": 2.0},
        digest="sha1:ABC",
        simhash=(1 << 64) - 5,
        file="a.warc.gz",
        offset=12,
        length=99,
    )
    with State.open(path) as state:
        state.add_urls([url_row(row, status=Outcome.FETCHED) for row in (1, 2, 3)])
        state.save_page(page, [1, 3])
        state.save_page(page_record(1, 2, digest="sha1:ABC", duplicate_of=2), [2])
        state.commit()
    with State.open(path, read_only=True) as state:
        first, second = state.pages()
        assert first.title == "Owls ?"
        assert (first.url, first.id) == ("http://e.example/2", 200)
        assert (first.terms, first.facts, first.simhash) == (page.terms, page.facts, page.simhash)
        assert (first.on_topic, first.file, first.offset, first.length) == (True, "a.warc.gz", 12, 99)
        assert state.page_by_row(1) == second
        assert state.page_by_row(3) is None
        assert [p.number for p in state.pages(after=1)] == [2]
        assert [p.number for p in state.pages(on_topic=True)] == [1]
        assert (state.page_by_digest("sha1:ABC"), state.page_by_digest("sha1:X")) == (2, 0)
        assert state.simhashes() == [(2, page.simhash)]
        assert state.page_count() == 2
        sources, targets = state.links()
        assert (sources.tolist(), targets.tolist()) == ([2, 2, 1], [1, 3, 2])
        assert state.links_of(2).tolist() == [1, 3]
        assert state.links_of(3).tolist() == []


def test_many_pages_come_in_order() -> None:
    with State.open(None) as state:
        state.add_urls([url_row(row, status=Outcome.FETCHED) for row in range(1, 1202)])
        for row in range(1, 1202):
            state.save_page(page_record(row, 1202 - row))
        assert [page.number for page in state.pages()] == list(range(1, 1202))


def test_in_links_are_not_fooled_by_neighbouring_numbers() -> None:
    with State.open(None) as state:
        state.add_urls([url_row(row, status=Outcome.FETCHED) for row in (1, 2, 3)])
        # The bytes of 256 then 0 hold those of 1 at an odd place.
        state.save_page(page_record(1, 1), [256, 0])
        state.save_page(page_record(2, 2), [7, 1])
        assert state.in_links(1) == [2]


def test_path_from_seed_ends_even_in_a_circle() -> None:
    with State.open(None) as state:
        state.add_urls([url_row(1), url_row(2, parent=1), url_row(3, parent=2), url_row(4, parent=5)])
        state.add_urls([url_row(5, parent=4)])
        assert state.path_from_seed(3) == [1, 2, 3]
        assert state.path_from_seed(4) == [5, 4]
        assert state.path_from_seed(9) == [9]


def test_journal_bytes_depend_on_events_alone(tmp_path: Path) -> None:
    files = []
    for turn, data in enumerate(({"b": 1, "a": [0.1, "ü"]}, {"a": [0.1, "ü"], "b": 1})):
        with State.open(None) as state:
            for number in range(1500):
                state.append_event("page", "http://a/", dict(data), at=number / 3)
                if turn and number % 7 == 0:
                    state.commit()
            files.append(tmp_path / f"{turn}.jsonl")
            assert state.dump_journal(files[-1]) == 1500
    assert files[0].read_bytes() == files[1].read_bytes()
    line = files[0].read_text(encoding="utf-8").splitlines()[0]
    assert line == '{"data":{"a":[0.1,"ü"],"b":1},"at":0.0,"kind":"page","number":1,"url":"http://a/"}'


def test_hostile_text_is_kept_without_lone_surrogates() -> None:
    with State.open(None) as state:
        state.add_urls([url_row(1), url_row(2, anchor="a\ud800\x00b"), url_row(3)])
        record = state.url_by_row(2)
        assert record is not None
        assert record.anchor == "a?\x00b"
        assert state.url_text(3) == "http://e.example/3"
        event = state.append_event("page", "http://a/\udfff", {"t\ud800": ["\ud800", {"x": "y"}]}, at=0.0)
        assert next(state.events()) == event
        assert event.data == {"t?": ["?", {"x": "y"}]}


def test_sessions(path: Path) -> None:
    with State.open(path) as state:
        number = state.start_session(10.0, version="0.1.0")
        state.commit()
        assert state.sessions()[0].stop is None
        state.stop_session(number, 20.0, reason="asked to")
        state.commit()
        session = state.sessions()[0]
        assert (session.start, session.stop, session.reason) == (10.0, 20.0, "asked to")


def test_kill_loses_nothing_committed(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from honeyguide.store.state import State\n"
        "state = State.open(Path(sys.argv[1]))\n"
        "for n in range(1, 10**9):\n"
        "    state.append_event('page', 'http://a/', {'n': n}, at=float(n))\n"
        "    if n % 10 == 0: state.commit(); print(n, flush=True)"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(20)][-1]
        process.send_signal(signal.SIGKILL)
    with State.open(path) as state:
        numbers = [event.data["n"] for event in state.events()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) >= told
        assert len(numbers) % 10 == 0
        assert state.check() == []


def test_full_synchronisation_and_a_wrong_word(path: Path) -> None:
    State.open(path, synchronous="FULL").close()
    with pytest.raises(CollectionError, match="use NORMAL or FULL"):
        State.open(path, synchronous="SOMETIMES")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("host", "failures", "many"),
        ("host", "requests", b"\xff"),
        ("url", "status", 63),
        ("url", "memo", "{"),
        ("page", "title", b"\xff"),
        ("page", "terms", "[" * 5_000),
        ("page", "links", b"abc"),
        ("journal", "data", "x"),
        ("session", "start", "now"),
        ("setting", "value", "["),
    ],
)
def test_values_that_nobody_wrote_are_named(tmp_path: Path, table: str, column: str, value: object) -> None:
    """A stranger's file, or one bad bit: an error that says what to do, not a fault of the program later."""
    out = tmp_path / "owls"
    asyncio.run(finish(small_crawl(out, max_pages=5)))
    with closing(sqlite3.connect(out / "state.sqlite")) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
        connection.commit()
    with State.open(out / "state.sqlite", read_only=True) as state:
        reads: dict[str, Callable[[], object]] = {
            "host": state.hosts,
            "url": lambda: state.url_by_row(1),
            "page": lambda: (list(state.pages()), state.links()),
            "journal": lambda: list(state.events()),
            "session": state.sessions,
            "setting": lambda: state.setting("tally"),
        }
        with pytest.raises(CollectionError, match=r"damaged .*restore it from a copy"):
            reads[table]()
