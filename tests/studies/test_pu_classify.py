from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.study import DataFinder
from pu_classify import CEILING, CONSTRAINTS, MODELS, run
from pu_texts import newsgroups, reuters

WORDS = {"acq": "merger share bid offer firm", "grain": "wheat corn crop tonne farm"}


def story(random: np.random.Generator, topic: str, split: str) -> str:
    own, common = WORDS[topic].split(), [f"w{chr(97 + i)}x" for i in range(20)]
    words = [str(random.choice(own if random.random() < 0.4 else common)) for _ in range(30)]
    return (
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{split}" NEWID="1">\n<TOPICS><D>{topic}</D></TOPICS>\n'
        f"<TEXT><TITLE>{words[0]} &lt;X&gt;</TITLE><BODY>{' '.join(words)}</BODY></TEXT></REUTERS>\n"
    )


def archive(path: Path, files: dict[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            made.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def data(tmp_path: Path) -> DataFinder:
    random = np.random.default_rng(1)
    stories = [
        story(random, topic, split)
        for topic in WORDS
        for split, count in (("TRAIN", 60), ("TEST", 20), ("NOT-USED", 5))
        for _ in range(count)
    ]
    (tmp_path / "text").mkdir()
    archive(tmp_path / "text" / "reuters21578.tar.gz", {"reuters21578/a.sgm": "".join(stories)})
    posts = {
        f"20_newsgroups/{group}/{i}": f"From: a@b.example\nSubject: {words}\n\n{words} {i}"
        for group, words in WORDS.items()
        for i in range(10)
    }
    archive(tmp_path / "text" / "20newsgroups.tar.gz", posts)
    return DataFinder((tmp_path,))


def test_the_study_on_made_up_stories(data: DataFinder) -> None:
    options: dict[str, object] = {"collections": ["reuters"], "fractions": [0.5], "reuters_topics": 2}
    said: list[str] = []
    result = run(options, data=data, progress=said.append, jobs=1)
    reliable, error, scores, by_topic = result.tables
    assert len(reliable.columns) == 2 + len(CONSTRAINTS)
    counts = [float(str(value)) for value in reliable.rows[0][2:]]
    assert counts == sorted(counts)
    assert all(0.0 <= float(str(value)) <= 1.0 for value in error.rows[0][2:])
    assert [row[0] for row in scores.rows] == [*MODELS, CEILING]
    assert float(str(scores.rows[-1][1])) > 0.9
    assert len(by_topic.rows) == 2
    assert len(said) == 2
    again = run(options, data=data, progress=said.append, jobs=1)
    assert again.tables == result.tables


def test_readers(data: DataFinder) -> None:
    stories = reuters(data.file("text/reuters21578.tar.gz"), topics=1)
    assert len(stories.topics) == 1
    assert (len(stories.train), len(stories.test)) == (60, 20)
    posts = newsgroups(data.file("text/20newsgroups.tar.gz"), groups=tuple(WORDS))
    assert (len(posts.train), len(posts.test)) == (14, 6)
    assert all("exampl" not in terms for terms, _ in posts.train)


def test_a_damaged_archive_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(b"no archive")
    with pytest.raises(HoneyguideError, match="fetch the archive again"):
        reuters(path)
