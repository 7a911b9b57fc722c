"""Computing and other documents for the study `gp-classify`, from public data sets."""

from __future__ import annotations

import json
import random
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.study import DataFinder
from honeyguide.model import Document
from honeyguide.relevance.evolved.index import Terms
from honeyguide.relevance.evolved.samples import Labelled
from honeyguide.text.tokens import Analyser
from honeyguide.topic.file import nearest

DRAW = 7
"""Seed of the draws that bring the larger class to the size of the smaller one."""


def load_set(name: str, data: DataFinder) -> tuple[Labelled, str]:
    """A data set by name, balanced as in the study, with a line on what it is."""
    if name not in SETS:
        raise HoneyguideError(f"no set {name!r}; {nearest(name, SETS)}")
    read, file, about = SETS[name]
    analyser = Analyser()
    classes: tuple[list[Terms], list[Terms]] = ([], [])
    for document, computing in read(data.file(file)):
        terms = Terms(tuple(analyser.terms(document.title)), tuple(analyser.terms(document.text)))
        if terms.title or terms.body:
            classes[int(computing)].append(terms)
    least = min(map(len, classes))
    if least < 100:
        raise HoneyguideError(f"{file} holds {least} documents of a class only; get the whole data set")
    source = random.Random(DRAW)  # noqa: S311  Not a secret.
    kept = [source.sample(documents, least) for documents in classes]
    labels = np.repeat(np.array([0, 1], dtype=np.int32), least)
    return Labelled((*kept[0], *kept[1]), labels), f"{about}; {least} documents of each class"


def newsgroups(path: Path) -> Iterator[tuple[Document, bool]]:
    """Posts with Subject as title and the text after the header; comp.* is computing."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            head, _, body = file.read().decode("latin-1").partition("\n\n")
            subject = next((line for line in head.split("\n") if line.lower().startswith("subject:")), "")
            group = member.name.split("/")[-2]
            yield Document(body, subject.partition(":")[2].removeprefix(" Re:")), group.startswith("comp.")


def directory_sites(path: Path) -> Iterator[tuple[Document, bool]]:
    """Sites with the title, description and keywords of their home page; under Computers is computing."""
    with tarfile.open(path) as archive:
        file = archive.extractfile("dmoz_meta2398/meta.json")
        assert file is not None
        values = json.load(file)
    for row, branch in zip(values["meta"], values["dmoz_categories"], strict=True):
        text = " ".join([*row.get("description", ()), *row.get("keywords", ())])
        yield Document(text, " ".join(row.get("title", ()))), branch[:1] == ["computers"]


Read = Callable[[Path], Iterator[tuple[Document, bool]]]
SETS: dict[str, tuple[Read, str, str]] = {
    "newsgroups": (
        newsgroups,
        "text/20newsgroups.tar.gz",
        "20 Newsgroups, comp.* against the rest (the study's DMOZ pages are not at hand)",
    ),
    "dmoz-sites": (
        directory_sites,
        "text/directory.tar.gz",
        "home pages of DMOZ sites (title, description and keywords only)",
    ),
}
