from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.errors import TopicError
from honeyguide.topic.file import MAX_BYTES, nearest, read, write_new


def put(folder: Path, content: bytes) -> Path:
    path = folder / "topic.toml"
    path.write_bytes(content)
    return path


def test_values_and_lines(tmp_path: Path) -> None:
    file = read(put(tmp_path, '\ufeff[topic]\r\nname = "x"\r\n\r\n[crawl]\r\nmax_pages = 5\r\n'.encode()))
    assert file.values == {"topic": {"name": "x"}, "crawl": {"max_pages": 5}}
    assert file.line(("crawl", "max_pages")) == 5
    assert file.line(("crawl", "absent")) == 4
    assert file.line(("absent",)) == 1
    assert str(file.error(("topic", "name"), "is bad")) == f"{file.path}:2: is bad"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[topic]\nname = x\n", ":2: not valid TOML: "),
        ("[topic]\nname = \u201cx\u201d\n".encode(), "; write straight quotes"),
        (b'[topic]\nname = "x"\nkeywords = ["a"\n', ":3: not valid TOML: "),
        (b'[topic]\nname = "x"\nname = "y"\n', ":3: not valid TOML: "),
        (b'[topic]\nname = "\xff"\n', ":2: not UTF-8 text; save the file as UTF-8"),
        (b"#" * (MAX_BYTES + 1), "larger than 1 MiB"),
        (b"x = " + 20_000 * b"[" + 20_000 * b"]", "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, content: bytes, expected: str) -> None:
    path = put(tmp_path, content)
    with pytest.raises(TopicError) as caught:
        read(path)
    assert expected in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(
        TopicError, match=r'no topic file .*; write one with: honeyguide topic new "my topic"'
    ):
        read(tmp_path / "none.toml")
    with pytest.raises(TopicError, match="is a folder; name the topic file in it"):
        read(tmp_path)


def test_writing_leaves_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "topic.toml"
    write_new(path, "one")
    with pytest.raises(TopicError, match=r"is there already; .*--overwrite"):
        write_new(path, "two")
    assert path.read_text() == "one"
    write_new(path, "three", overwrite=True)
    assert path.read_text() == "three"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_writing_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match=r"no folder .*; create it first"):
        write_new(tmp_path / "deep" / "topic.toml", "x")
    assert not (tmp_path / "deep").exists()


def test_nearest() -> None:
    assert nearest("best-frist", ["best-first", "random"]) == "did you mean 'best-first'?"
    assert nearest("zzz", ["b", "a"]) == "choose from: a, b"
