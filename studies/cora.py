"""Two subsets of the Cora papers as webs: a paper is a page, a citation a link."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from honeyguide.engine.visit import Visit
from honeyguide.errors import HoneyguideError
from honeyguide.frontier import Waiting
from honeyguide.model import Document, Link, Outcome, Page
from honeyguide.text.tokens import Analyser
from honeyguide.web.url import url_id

HOST = "http://cora.example/"
TITLE_WORDS = 8
"""Words of an abstract that stand for the title, where there is none."""


class Papers(msgspec.Struct, frozen=True):
    """Papers with their words, labels and citations."""

    name: str
    texts: Mapping[str, str]
    titles: Mapping[str, str]
    labels: Mapping[str, frozenset[str]]
    cites: Mapping[str, tuple[str, ...]]

    def part(self, names: Iterable[str]) -> Papers:
        """Some of the papers, with the citations among them."""
        kept = set(names)
        return Papers(
            self.name,
            {name: text for name, text in self.texts.items() if name in kept},
            {name: text for name, text in self.titles.items() if name in kept},
            {name: found for name, found in self.labels.items() if name in kept},
            {
                name: tuple(one for one in found if one in kept)
                for name, found in self.cites.items()
                if name in kept
            },
        )

    def neighbours(self) -> dict[str, list[str]]:
        """Papers linked either way: a library's record names what a paper cites and what cites it."""
        found: dict[str, dict[str, None]] = {name: {} for name in self.texts}
        for name, cited in self.cites.items():
            for other in cited:
                if other != name:
                    found[name][other] = None
                    found[other][name] = None
        return {name: list(others) for name, others in found.items()}

    def documents(self) -> tuple[Document, ...]:
        """The papers as unlabelled text."""
        return tuple(Document(text) for text in self.texts.values())


def read_titles(path: Path) -> Papers:
    """`apex_cora11804`: papers with the words of their titles, 81 classes in two or three levels."""
    files = _members(path, "apex_cora11804/")
    # A word of the dictionary is NaN: somebody's spreadsheet read "nan" as a number.
    dictionary: dict[str, object] = json.loads(files["term_dictionary.json"])
    words = {term: word if isinstance(word, str) else "" for term, word in dictionary.items()}
    terms: dict[str, dict[str, float]] = json.loads(files["paper_terms.json"])
    classes: dict[str, list[int]] = json.loads(files["classification_papers.json"])
    texts = {name: " ".join(words[term] for term in found) for name, found in terms.items()}
    labels: dict[str, set[str]] = {name: set() for name in texts}
    for label, members in classes.items():
        for number in members:
            if str(number) in labels:
                labels[str(number)].add(label)
    pairs = [(str(source), str(target)) for source, target in json.loads(files["paper_references.json"])]
    return Papers("titles", texts, texts, _frozen(labels), _cited(texts, pairs))


def read_abstracts(path: Path) -> Papers:
    """`cane_cora2277`: papers with abstracts, 7 classes that the data set gives numbers only."""
    files = _members(path, "cane_cora2277/")
    abstracts = files["data.txt"].splitlines()
    texts = {str(number): text for number, text in enumerate(abstracts) if text.strip()}
    titles = {name: " ".join(text.split()[:TITLE_WORDS]) for name, text in texts.items()}
    groups = dict(enumerate(files["group.txt"].splitlines()))
    numbers = {name: groups.get(int(name), "").strip() for name in texts}
    labels = {name: {f"class {number}"} if number else set() for name, number in numbers.items()}
    pairs = [(pair[0], pair[1]) for line in files["graph.txt"].splitlines() if len(pair := line.split()) == 2]
    return Papers("abstracts", texts, titles, _frozen(labels), _cited(texts, pairs))


def halves(papers: Papers, seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The papers in two halves, by chance."""
    names = np.array(sorted(papers.texts))
    shuffled = np.random.default_rng(seed).permutation(names).tolist()
    middle = len(shuffled) // 2
    return tuple(shuffled[:middle]), tuple(shuffled[middle:])


def telling_words(papers: Papers, label: str, count: int) -> tuple[str, ...]:
    """Frequent words of a class: those whose share of its papers most exceeds their share of all."""
    analyser = Analyser(stem=False)
    inside, everywhere, members = Counter[str](), Counter[str](), 0
    for name, text in papers.texts.items():
        words = {word for word in analyser.terms(text) if word.isalpha() and len(word) > 2}
        everywhere.update(words)
        if label in papers.labels[name]:
            members += 1
            inside.update(words)
    total = len(papers.texts)
    excess = {word: n / max(1, members) - everywhere[word] / total for word, n in inside.items()}
    return tuple(sorted(excess, key=lambda word: (-excess[word], word))[:count])


class PaperWeb:
    """The papers as the engine visits them; unknown addresses are missing pages."""

    def __init__(self, papers: Papers) -> None:
        self._papers = papers
        self._links = papers.neighbours()

    async def visit(self, waiting: Waiting) -> Visit:
        """One paper: its text, and links whose anchors are titles."""
        name = waiting.url.removeprefix(HOST)
        text = self._papers.texts.get(name)
        if text is None:
            return Visit(Outcome.CLIENT_ERROR, detail="HTTP 404", requests=1, status=404)
        links = tuple(
            Link(address(other), url_id(address(other)), self._papers.titles[other], position=place)
            for place, other in enumerate(self._links[name])
        )
        # Papers are no copies of each other, even where titles are equal.
        page = Page(
            url=waiting.url,
            id=url_id(waiting.url),
            text=text,
            links=links,
            bytes=len(text),
            digest=f"paper:{name}",
        )
        return Visit(Outcome.FETCHED, page, requests=1, status=200)

    async def close(self) -> None:
        """Nothing to close."""


def address(name: str) -> str:
    """The URL of a paper."""
    return f"{HOST}{name}"


def _members(path: Path, folder: str) -> dict[str, str]:
    """Files of one folder of the archive, as text; nothing is unpacked to disk."""
    found: dict[str, str] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                place = member.name.rpartition(folder)
                if member.isfile() and place[1]:
                    stream: Any = archive.extractfile(member)
                    found[place[2]] = stream.read().decode("utf-8")
    except (OSError, tarfile.TarError, UnicodeDecodeError) as error:
        raise HoneyguideError(f"{path}: {error}; get the Cora archive anew") from error
    if not found:
        raise HoneyguideError(f"{path}: no folder {folder} in it; get the Cora archive anew")
    return found


def _cited(texts: Mapping[str, str], pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: [] for name in texts}
    for source, target in pairs:
        if source in texts and target in texts:
            found[source].append(target)
    return {name: tuple(dict.fromkeys(others)) for name, others in found.items()}


def _frozen(labels: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(found) for name, found in labels.items()}
