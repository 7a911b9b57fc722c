"""Labelled documents from what a user has: folders, JSONL, or a topic file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from honeyguide.config.load import load
from honeyguide.errors import TopicError
from honeyguide.job.examples import read_document, read_examples
from honeyguide.model import Document
from honeyguide.relevance.evolved.index import Terms
from honeyguide.relevance.evolved.samples import Labelled
from honeyguide.text.tokens import Analyser

ON = frozenset({"on", "1", "true", "yes", "relevant", "positive"})
OFF = frozenset({"off", "0", "false", "no", "irrelevant", "negative"})
MAX_BYTES = 4 << 30


class _Row(msgspec.Struct, frozen=True):
    text: str
    label: str | int | bool
    title: str = ""


def read_labelled(path: Path, *, languages: Sequence[str] = ("en",)) -> Labelled:
    """Documents with classes, as terms; a document without a single term is left out.

    Args:
        path: A folder with `on` and `off`, a `.jsonl` file, or a topic file.
        languages: For stop words and stems; a topic file brings its own.

    Raises:
        TopicError: Nothing of that kind is there, or a line cannot be used.
    """
    if path.suffix == ".toml":
        found, languages = _topic(path)
    elif path.is_dir():
        found = _folders(path)
    elif path.is_file():
        found = _lines(path)
    else:
        raise TopicError(f"{path} is not there; name a folder with 'on' and 'off', a .jsonl or a topic file")
    analyser = Analyser(languages)
    documents: list[Terms] = []
    classes: list[int] = []
    for document, on_topic in found:
        terms = Terms(tuple(analyser.terms(document.title)), tuple(analyser.terms(document.text)))
        if terms.title or terms.body:
            documents.append(terms)
            classes.append(int(on_topic))
    return Labelled(tuple(documents), np.array(classes, dtype=np.int32))


def _topic(path: Path) -> tuple[Iterator[tuple[Document, bool]], tuple[str, ...]]:
    config = load(path)
    read = read_examples(config.as_topic(), config.base)
    if read.to_fetch:
        raise TopicError(
            f"{path}: examples are web addresses, which only a crawl fetches; save them as files"
        )
    examples = read.examples
    others = examples.negatives or examples.unlabelled
    pairs = [(one, True) for one in examples.positives] + [(one, False) for one in others]
    return iter(pairs), tuple(config.topic.languages)


def _folders(path: Path) -> Iterator[tuple[Document, bool]]:
    for name, on_topic in (("on", True), ("off", False)):
        if not (path / name).is_dir():
            raise TopicError(f"{path} has no subfolder '{name}'; put example files into 'on' and 'off'")
        for file in sorted(one for one in (path / name).rglob("*") if one.is_file()):
            yield read_document(file), on_topic


def _lines(path: Path) -> Iterator[tuple[Document, bool]]:
    if path.stat().st_size > MAX_BYTES:
        raise TopicError(f"{path} has more than {MAX_BYTES >> 30} GiB; give a sample of it")
    decoder = msgspec.json.Decoder(_Row)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise TopicError(f'{path}:{number}: {error}; write {{"title", "text", "label"}}') from None
            label = str(row.label).lower()
            if label not in ON | OFF:
                raise TopicError(f"{path}:{number}: label {label[:40]!r} is unknown; write 'on' or 'off'")
            yield Document(row.text, row.title), label in ON
