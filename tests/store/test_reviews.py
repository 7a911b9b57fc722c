from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.reviews import FILE, add_review, read_reviews, undo_review


def test_decisions_are_kept_and_undone_in_turn(tmp_path: Path) -> None:
    add_review(tmp_path, "accept", url="https://a.example/1", at=1.0, drawn="random", score=0.5)
    add_review(tmp_path, "reject", url="https://a.example/2", at=2.0)
    add_review(tmp_path, "reject", url="https://a.example/1", at=3.0)
    held = read_reviews(tmp_path)
    assert held.pages["https://a.example/1"].said == "reject"
    assert undo_review(tmp_path, at=4.0).number == 3
    held = read_reviews(tmp_path)
    assert held.pages["https://a.example/1"].said == "accept"
    assert held.pages["https://a.example/1"].drawn == "random"
    assert undo_review(tmp_path, at=5.0).number == 2
    assert undo_review(tmp_path, at=6.0).number == 1
    assert len(read_reviews(tmp_path)) == 0
    with pytest.raises(HoneyguideError, match="no decision is left"):
        undo_review(tmp_path, at=7.0)
    assert read_reviews(tmp_path).written == 6


def test_a_host_counts_for_the_pages_there_were_and_the_later_word_wins(tmp_path: Path) -> None:
    add_review(tmp_path, "accept", url="https://a.example/1", at=1.0)
    add_review(tmp_path, "reject", host="a.example", upto=50, at=2.0)
    add_review(tmp_path, "accept", url="https://a.example/2", at=3.0)
    held = read_reviews(tmp_path)
    said = [
        decision.said if (decision := held.on(url, "a.example", number)) else None
        for url, number in (
            ("https://a.example/1", 10),
            ("https://a.example/2", 20),
            ("https://a.example/3", 50),
            ("https://a.example/4", 51),
        )
    ]
    assert said == ["reject", "accept", "reject", None]
    undo_review(tmp_path, at=4.0, number=2)
    assert read_reviews(tmp_path).on("https://a.example/3", "a.example", 50) is None


def test_half_a_line_is_ignored_and_cut_off_by_the_next_writer(tmp_path: Path) -> None:
    add_review(tmp_path, "accept", url="https://a.example/1", at=1.0)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole + b'{"number":2,"at":2,"said":"rej')
    assert len(read_reviews(tmp_path)) == 1
    assert add_review(tmp_path, "reject", url="https://a.example/2", at=3.0).number == 2
    assert (tmp_path / FILE).read_bytes().startswith(whole)
    assert len(read_reviews(tmp_path)) == 2


def test_a_foreign_line_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("hello\n")
    with pytest.raises(CollectionError, match=r"line 1: .*take the line out"):
        read_reviews(tmp_path)


def test_a_decision_is_on_one_page_or_one_host(tmp_path: Path) -> None:
    with pytest.raises(HoneyguideError, match="name one of them"):
        add_review(tmp_path, "accept", at=1.0)


WRITER = """
import sys
from pathlib import Path
from honeyguide.store.reviews import add_review
for place in range(100000):
    decision = add_review(Path(sys.argv[1]), "accept", url=f"https://a.example/{sys.argv[2]}/{place}", at=1.0)
    print(decision.number, flush=True)
"""


def test_two_writers_of_which_one_is_killed_lose_nothing_that_was_said(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    told: list[int] = []
    for writer in writers:
        assert writer.stdout is not None
        told += [int(writer.stdout.readline()) for _ in range(20)]
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
    for writer in writers:
        told += [int(line) for line in (writer.communicate()[0] or "").split()]
    held = read_reviews(tmp_path)
    assert len(set(told)) == len(told)
    assert max(told) <= held.written
    assert add_review(tmp_path, "reject", url="https://b.example/", at=9.0).number == held.written + 1
