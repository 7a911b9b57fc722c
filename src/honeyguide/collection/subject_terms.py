"""Words for subjects: documents as weighted vectors, and labels that people can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from honeyguide.text.tokens import Analyser, words
from honeyguide.text.vectors import Rows, Vocabulary, normalise_rows

MAX_CHARACTERS = 4_000
"""Of a text's beginning: what a page is about stands there, and more only takes longer."""
MOST_TERMS = 30_000
_TITLE_WEIGHT = 3
_CANDIDATES = 8
_SEVERAL = -1


class SubjectSpace:
    """Turns pages into vectors; the vocabulary comes from a sample of them.

    Terms in fewer than two pages or in more than half of them tell no subjects apart and are left out. So are
    terms of a single host where there are several: names and navigation of a site are not subjects.

    Args:
        sample: Terms of some pages.
        hosts: A number for the host of each of them.
    """

    def __init__(self, sample: Sequence[Sequence[str]], hosts: Sequence[int]) -> None:
        spread: Counter[str] = Counter()
        only: dict[str, int] = {}
        for terms, host in zip(sample, hosts, strict=True):
            different = set(terms)
            spread.update(different)
            for term in different:
                if only.setdefault(term, host) != host:
                    only[term] = _SEVERAL
        most = max(2, len(sample) // 2)
        several = len(set(hosts)) > 2
        kept = [
            term
            for term, count in spread.items()
            if 2 <= count <= most and not term.isdigit() and (not several or only[term] == _SEVERAL)
        ]
        kept.sort(key=lambda term: (-spread[term], term))
        self.vocabulary = Vocabulary(kept[:MOST_TERMS])
        counts = np.array([spread[term] for term in self.vocabulary.terms], dtype=np.float64)
        self._idf: NDArray[np.float64] = np.log(max(1, len(sample)) / counts) if len(counts) else counts

    def rows(self, documents: Iterable[Sequence[str]]) -> Rows:
        """Unit vectors of `(1 + log tf) * idf`."""
        matrix = self.vocabulary.counts(documents)
        matrix.data = (1.0 + np.log(matrix.data)) * self._idf[matrix.indices]
        return normalise_rows(matrix).tocsr()


def page_terms(analyser: Analyser, title: str, text: str) -> list[str]:
    """A page's terms, those of its title three times."""
    return analyser.terms(title[:500]) * _TITLE_WEIGHT + analyser.terms(text[:MAX_CHARACTERS])


def telling_terms(space: SubjectSpace, centroids: NDArray[np.float64]) -> list[list[str]]:
    """For each cluster the terms that are heavy in it and light in the others, best first."""
    if not len(centroids):
        return []
    share = centroids / np.maximum(centroids.sum(axis=0), 1e-12)
    weight = centroids * share
    terms = space.vocabulary.terms
    found = []
    for row in weight:
        order = np.argsort(-row, kind="stable")[:_CANDIDATES]
        found.append([terms[place] for place in order.tolist() if row[place] > 0.0])
    return found


def readable(candidates: Sequence[str], texts: Iterable[str], analyser: Analyser) -> list[str]:
    """Terms as they are written: the most frequent form of each stem, two that stand side by side as one.

    Example:
        >>> readable(["owl", "barn"], ["Barn owls and a barn owl", "The barn owl"], Analyser())
        ['barn owl']
    """
    wanted = set(candidates)
    stems: dict[str, str] = {}
    forms: dict[str, Counter[str]] = {term: Counter() for term in candidates}
    pairs: Counter[tuple[str, str]] = Counter()
    for text in texts:
        found: list[str] = []
        for word in words(text[:MAX_CHARACTERS]):
            stem = stems.get(word)
            if stem is None:
                made = analyser.terms(word)
                stem = stems[word] = made[0] if len(made) == 1 and made[0] in wanted else ""
            found.append(stem)
            if stem:
                forms[stem][word] += 1
        pairs.update(pair for pair in pairwise(found) if pair[0] and pair[1] and pair[0] != pair[1])
    written = {term: _most(forms[term]) or term for term in candidates}
    return _joined(candidates, written, forms, pairs)


def _joined(
    candidates: Sequence[str],
    written: dict[str, str],
    forms: dict[str, Counter[str]],
    pairs: Counter[tuple[str, str]],
) -> list[str]:
    shown: list[str] = []
    used: set[str] = set()
    for term in candidates:
        if term in used:
            continue
        used.add(term)
        best = max(
            (pair for pair in pairs if term in pair and not used & ({*pair} - {term})),
            key=lambda pair: (pairs[pair], pair),
            default=None,
        )
        if best is not None and 2 * pairs[best] >= min(sum(forms[part].values()) for part in best) > 1:
            used.update(best)
            shown.append(f"{written[best[0]]} {written[best[1]]}")
        else:
            shown.append(written[term])
    return shown


def _most(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form)) if forms else ""
