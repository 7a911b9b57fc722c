from __future__ import annotations

import numpy as np
import pytest

from honeyguide.text.vectors import (
    HashedTerms,
    Vocabulary,
    normalise_rows,
    rows_of,
)

DOCUMENTS = [["owl", "nest", "owl"], ["nest"], [], ["tax", "owl"]]


def test_vocabulary_is_by_frequency_then_name() -> None:
    assert Vocabulary.of(DOCUMENTS).terms == ("owl", "nest", "tax")
    assert Vocabulary.of(DOCUMENTS, most_frequent=1).terms == ("owl",)
    assert Vocabulary.of(DOCUMENTS, least_documents=2).terms == ("owl", "nest")


def test_counts() -> None:
    counts = Vocabulary(["nest", "owl"]).counts(DOCUMENTS)
    assert counts.toarray().tolist() == [[1, 2], [1, 0], [0, 0], [0, 1]]
    assert counts.has_canonical_format


def test_no_documents() -> None:
    assert Vocabulary(["a"]).counts([]).shape == (0, 1)


def test_hashes_are_stable_and_in_range() -> None:
    hashed = HashedTerms(1024)
    # Saved models name these columns.
    assert hashed.column("owl") == HashedTerms(1024).column("owl")
    assert all(0 <= hashed.column(f"t{i}") < 1024 for i in range(2000))
    assert hashed.counts(DOCUMENTS).sum() == 6.0
    assert hashed.column("\ud800") >= 0


def test_normalised_rows() -> None:
    lengths = np.linalg.norm(normalise_rows(rows_of([[0, 0, 1], [], [2]], 3)).toarray(), axis=1)
    assert lengths == pytest.approx([1.0, 0.0, 1.0])
