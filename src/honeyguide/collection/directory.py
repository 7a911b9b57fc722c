"""A collection as a subject directory: its pages by subject and by host."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.duplicate_groups import without_copies
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.guarded import host_of
from honeyguide.collection.subject_terms import SubjectSpace, page_terms, readable, telling_terms
from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain
from honeyguide.store.reviews import Reviews
from honeyguide.store.state import State
from honeyguide.text.spherical_kmeans import Clusters, nearest, spherical_kmeans
from honeyguide.text.tokens import Analyser
from honeyguide.text.vectors import Rows

SAMPLE = 10_000
"""Pages that subjects are learned from; the others are only put into them."""
MOST_SUBJECTS = 36
_BATCH = 1_000
_CRUMB = 0.2
"""A subject with less than this share of the average one is dissolved."""
_LABEL_TERMS = 3
_LABEL_PAGES = 40
_MAX_FILE_BYTES = 1 << 28
_FORMAT = 1

TextOf: TypeAlias = Callable[[int], str]


class Subject(msgspec.Struct, frozen=True):
    """Pages about the same."""

    label: str
    terms: tuple[str, ...]
    """Words that set it apart, best first."""
    rows: tuple[int, ...]
    """Rows of its pages, the most relevant and typical first."""


class HostPages(msgspec.Struct, frozen=True):
    """The pages of one host, best first."""

    name: str
    rows: tuple[int, ...]


class Directory(msgspec.Struct, frozen=True):
    """The whole directory; rows are pages of the collection."""

    subjects: tuple[Subject, ...]
    """Largest first; pages without words are in the last one, if there are any."""
    hosts: tuple[HostPages, ...]
    """In order of their names."""
    listed: int
    """Pages in it."""
    copies: int
    """Relevant pages left out because they repeat one that is listed."""
    pages: int
    """Pages the collection had when this was made."""
    seed: int
    format: int = _FORMAT

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_bytes(msgspec.json.encode(self))

    @classmethod
    def load(cls, path: Path) -> Directory | None:
        """Read it again; None when there is none, or none that this release can read."""
        with contextlib.suppress(OSError, msgspec.MsgspecError, RecursionError):
            if path.stat().st_size <= _MAX_FILE_BYTES:
                found = msgspec.json.decode(read_plain(path), type=cls)
                return found if found.format == _FORMAT else None
        return None


def subjects_for(pages: int) -> int:
    """How many subjects a number of pages is divided into: more for more pages, but never a long list.

    Example:
        >>> [subjects_for(pages) for pages in (5, 56, 500, 100_000)]
        [1, 4, 13, 36]
    """
    return 1 if pages < 8 else min(MOST_SUBJECTS, round((pages / 3) ** 0.5))


def build_directory(
    state: State,
    text_of: TextOf,
    *,
    reviews: Reviews | None = None,
    languages: Sequence[str] = ("en",),
    subjects: int = 0,
    seed: int = 0,
    sample: int = SAMPLE,
    progress: Progress = silent,
) -> Directory:
    """Sort the relevant pages into subjects and hosts.

    Subjects are clusters (`text.spherical_kmeans`) of TF-IDF vectors; they are learned from an even sample,
    the other pages go to the nearest. What is in memory at once is the sample's vectors and a few bytes a
    page.

    Args:
        state: Of the collection.
        text_of: Text of a page by its row.
        reviews: What people said; it counts more than the model's verdicts.
        languages: They choose stop words and stemmer.
        subjects: How many; 0 for a number that suits the collection.
        seed: Equal seeds give equal directories.
        sample: Pages to learn from, at most.
        progress: Told how many pages were read.
    """
    selection = Selection(state, reviews=reviews)
    rows = without_copies(state, selection.rows)
    copies = len(selection.rows) - len(rows)
    analyser = Analyser(languages)
    reader = _Reader(state, text_of, analyser, len(rows), progress)
    step = max(1, -(-len(rows) // max(1, sample)))
    learned = rows[::step]
    documents = list(reader.terms(learned.tolist()))
    space = SubjectSpace(documents, state.columns().hosts[learned].tolist())
    matrix = space.rows(documents)
    del documents
    clusters = _without_crumbs(
        matrix, spherical_kmeans(matrix, subjects or subjects_for(len(rows)), seed=seed)
    )
    labels, closeness = _assigned(rows, space, clusters, reader=reader, step=step)
    score = _scores(state, rows)
    weight = score * (0.5 + 0.5 * closeness)
    order = np.lexsort((rows, -weight))
    grouped = _grouped(rows, labels, order, len(clusters.centroids))
    named = _named(grouped, telling_terms(space, clusters.centroids), reader)
    hosts = _by_host(state, rows, order)
    return Directory(named, hosts, len(rows), copies, state.page_count(), seed)


class _Reader:
    """Reads pages' terms, and tells how far it is."""

    def __init__(
        self, state: State, text_of: TextOf, analyser: Analyser, total: int, progress: Progress
    ) -> None:
        self.state = state
        self.text_of = text_of
        self.analyser = analyser
        self._total = total
        self._progress = progress
        self._done = 0

    def terms(self, rows: Sequence[int]) -> Iterator[list[str]]:
        for row in rows:
            yield page_terms(self.analyser, self.title(row), self.text_of(row))
            self._done += 1
            if self._done % 64 == 0 or self._done == self._total:
                self._progress(self._done, self._total)

    def title(self, row: int) -> str:
        page = self.state.page_by_row(row)
        return page.title if page is not None else ""


def _without_crumbs(matrix: Rows, clusters: Clusters) -> Clusters:
    """The clusters without very small ones, whose pages go to the nearest of the others."""
    count = len(clusters.centroids)
    sizes = np.bincount(clusters.labels[clusters.labels >= 0], minlength=count)
    kept = sizes >= max(2.0, _CRUMB * sizes.sum() / max(1, count))
    if kept.all() or not kept.any():
        return clusters
    centroids = clusters.centroids[kept]
    return Clusters(centroids, *nearest(matrix, centroids))


def _assigned(
    rows: NDArray[np.int32], space: SubjectSpace, clusters: Clusters, *, reader: _Reader, step: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    labels = np.full(len(rows), -1, np.int32)
    closeness = np.zeros(len(rows))
    known = np.zeros(len(rows), np.bool_)
    known[::step] = True
    labels[known], closeness[known] = clusters.labels, clusters.closeness
    places = np.flatnonzero(~known)
    for start in range(0, len(places), _BATCH):
        batch = places[start : start + _BATCH]
        matrix = space.rows(reader.terms(rows[batch].tolist()))
        labels[batch], closeness[batch] = nearest(matrix, clusters.centroids)
    return labels, closeness


def _scores(state: State, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    everywhere, _, scores = state.verdicts()
    table = np.zeros(int(everywhere.max(initial=0)) + 1)
    table[everywhere] = scores
    found: NDArray[np.float64] = table[rows]
    return found


def _grouped(
    rows: NDArray[np.int32], labels: NDArray[np.int32], order: NDArray[np.int64], clusters: int
) -> list[tuple[int, list[int]]]:
    """(cluster, its rows), the largest cluster first, what is in none last."""
    members: dict[int, list[int]] = {cluster: [] for cluster in (*range(clusters), -1)}
    for place in order.tolist():
        members[int(labels[place])].append(int(rows[place]))
    filled = [(cluster, found) for cluster, found in members.items() if found]
    return sorted(filled, key=lambda item: (item[0] < 0, -len(item[1]), item[0]))


def _named(
    grouped: list[tuple[int, list[int]]], candidates: list[list[str]], reader: _Reader
) -> tuple[Subject, ...]:
    taken: set[str] = set()
    subjects: list[Subject] = []
    for cluster, rows in grouped:
        if cluster < 0:
            subjects.append(Subject("Other pages", (), tuple(rows)))
            continue
        texts = (f"{reader.title(row)} . {reader.text_of(row)}" for row in rows[:_LABEL_PAGES])
        terms = readable(candidates[cluster], texts, reader.analyser)
        label = ""
        for count in range(_LABEL_TERMS, len(terms) + 1):
            label = ", ".join(terms[:count])
            if label not in taken:
                break
        label = label or ", ".join(terms) or reader.title(rows[0]) or f"Subject {len(subjects) + 1}"
        taken.add(label)
        subjects.append(Subject(label[:1].upper() + label[1:], tuple(terms), tuple(rows)))
    return tuple(subjects)


def _by_host(state: State, rows: NDArray[np.int32], order: NDArray[np.int64]) -> tuple[HostPages, ...]:
    hosts = state.columns().hosts
    names = {host.row: host.name for host, _ in state.hosts()}
    found: dict[str, list[int]] = {}
    for row in rows[order].tolist():
        name = names.get(int(hosts[row])) or host_of(state.url_text(row))
        found.setdefault(name, []).append(row)
    return tuple(HostPages(name, tuple(found[name])) for name in sorted(found))


def require_pages(directory: Directory) -> Directory:
    """The directory, if there is anything in it.

    Raises:
        CollectionError: It is empty.
    """
    if not directory.listed:
        raise CollectionError("there are no relevant pages to list; crawl on, or lower the threshold")
    return directory
