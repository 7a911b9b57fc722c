from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.errors import CollectionError
from honeyguide.store.layout import Layout


def test_a_created_collection_opens(tmp_path: Path) -> None:
    layout = Layout.create(tmp_path / "deep" / "birds", software="honeyguide/0")
    assert Layout.open(tmp_path / "deep" / "birds") == layout
    assert layout.archive_folder.is_dir()
    assert layout.models_folder.is_dir()
    names = [
        layout.topic_file,
        layout.state_file,
        layout.archive_folder,
        layout.index_file,
        layout.models_folder,
    ]
    assert [path.name for path in names] == [
        "topic.toml",
        "state.sqlite",
        "archive",
        "index.sqlite",
        "models",
    ]
    with pytest.raises(CollectionError, match="already"):
        Layout.create(layout.root)


def test_create_beside_a_topic_file_and_after_an_interrupted_create(tmp_path: Path) -> None:
    (tmp_path / "topic.toml").write_text("[topic]\n")
    (tmp_path / "archive").mkdir()
    (tmp_path / ".collection.json.x1.part").write_text("{")
    Layout.create(tmp_path)
    assert Layout.open(tmp_path).topic_file.read_text() == "[topic]\n"


def test_create_refuses_other_places(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("x")
    with pytest.raises(CollectionError, match=r"thesis\.doc"):
        Layout.create(tmp_path)
    with pytest.raises(CollectionError, match="not a folder"):
        Layout.create(tmp_path / "thesis.doc")
    with pytest.raises(CollectionError, match="write to"):
        Layout.create(tmp_path / "thesis.doc" / "below")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_open_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="no such folder"):
        Layout.open(tmp_path / "none")
    with pytest.raises(CollectionError, match="not a collection"):
        Layout.open(tmp_path)
    for content in ("", "{", "[]", '{"format": "x"}', "[" * 10_000):
        (tmp_path / "collection.json").write_text(content)
        with pytest.raises(CollectionError, match="restore"):
            Layout.open(tmp_path)
    (tmp_path / "collection.json").write_text('{"format": 99}')
    with pytest.raises(CollectionError, match="newer honeyguide"):
        Layout.open(tmp_path)


def test_folders_lost_in_a_copy_come_back(tmp_path: Path) -> None:
    layout = Layout.create(tmp_path)
    layout.models_folder.rmdir()
    Layout.open(tmp_path)
    assert layout.models_folder.is_dir()
