"""The two labelled collections of the positive-unlabelled study, read from their archives."""

from __future__ import annotations

import html
import random
import re
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.text.tokens import Analyser

GROUPS = (
    *("alt.atheism", "comp.graphics", "comp.windows.x", "misc.forsale", "rec.autos"),
    *("rec.sport.hockey", "sci.crypt", "sci.med", "soc.religion.christian", "talk.politics.mideast"),
)
"""Ten of the twenty groups; the study does not say which ones it took."""
MOST_BYTES = 200 << 20
_STORY = re.compile(r"<REUTERS ([^>]*)>(.*?)</REUTERS>", re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TEXT = re.compile(r"<(TITLE|BODY)>(.*?)</\1>", re.DOTALL)


class Labelled(msgspec.Struct, frozen=True):
    """A collection as terms, with topics, in a training and a test part."""

    name: str
    topics: tuple[str, ...]
    train: tuple[tuple[tuple[str, ...], frozenset[str]], ...]
    test: tuple[tuple[tuple[str, ...], frozenset[str]], ...]


def reuters(path: Path, *, topics: int = 10) -> Labelled:
    """Reuters-21578: stories on the most frequent topics, split as ModApte does."""
    stories: list[tuple[str, frozenset[str], str]] = []
    for _, data in _members(path, ".sgm"):
        for head, body in _STORY.findall(data.decode("latin-1")):
            split = re.search(r'LEWISSPLIT="(\w+)"', head)
            if 'TOPICS="YES"' not in head or split is None or split[1] not in ("TRAIN", "TEST"):
                continue
            found = _TOPICS.search(body)
            labels = frozenset(re.findall(r"<D>(.*?)</D>", found[1])) if found else frozenset()
            text = " ".join(html.unescape(part) for _, part in _TEXT.findall(body))
            stories.append((split[1], labels, text))
    counts = Counter(label for _, labels, _ in stories for label in labels)
    largest = tuple(sorted(sorted(counts), key=lambda label: -counts[label])[:topics])
    analyser = Analyser()
    parts: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {"TRAIN": [], "TEST": []}
    for split_name, labels, text in stories:
        if not labels.isdisjoint(largest):
            parts[split_name].append((tuple(analyser.terms(text)), labels & frozenset(largest)))
    return Labelled("Reuters-21578", largest, tuple(parts["TRAIN"]), tuple(parts["TEST"]))


def newsgroups(path: Path, *, groups: Sequence[str] = GROUPS, test_share: float = 0.3) -> Labelled:
    """20 Newsgroups: posts of some groups, subject and body, no other header; split by chance."""
    analyser = Analyser()
    posts: list[tuple[tuple[str, ...], frozenset[str]]] = []
    for name, data in _members(path, ""):
        group = Path(name).parent.name
        if group in groups:
            head, _, body = data.decode("latin-1").partition("\n\n")
            subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
            text = f"{subject[1] if subject else ''}\n{body}"
            posts.append((tuple(analyser.terms(text)), frozenset((group,))))
    random.Random(0).shuffle(posts)  # noqa: S311 - a split, no secret
    cut = int(len(posts) * test_share)
    return Labelled("20 Newsgroups", tuple(groups), tuple(posts[cut:]), tuple(posts[:cut]))


def _members(path: Path, ending: str) -> Iterator[tuple[str, bytes]]:
    """Files of an archive in the order of their names, read without unpacking anything to disk."""
    found: list[tuple[str, bytes]] = []
    size = 0
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None and member.name.endswith(ending):
                    size += member.size
                    if size > MOST_BYTES:
                        raise HoneyguideError(f"{path}: more than {MOST_BYTES >> 20} MB; check the archive")
                    found.append((member.name, file.read()))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise HoneyguideError(f"{path}: {error}; fetch the archive again") from error
    yield from sorted(found)
