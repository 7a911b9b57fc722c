"""Support vector machines that the GP study compares with, and one that it does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC, LinearSVC

from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.relevance.evolved.samples import Labelled, Split
from honeyguide.relevance.evolved.scores import macro_f1

COSTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Costs that the linear machine is tried with on the validation sample."""


def content_rbf_svm(samples: Split, *, c: float = 1.0, plain: bool = False) -> NDArray[np.int32]:
    """Classes of the test sample by an RBF machine over TF-IDF of title and body.

    Args:
        samples: Training and test sample.
        c: Cost of an error; LIBSVM's default is 1.
        plain: Use LIBSVM's default width of the kernel, one over the number of features, which hardly
            bends for sparse vectors of length one; otherwise it is scaled by their variance.
    """
    vectors = TfidfVectorizer(analyzer=_joined)
    machine = SVC(C=c, kernel="rbf", gamma="auto" if plain else "scale")
    machine.fit(vectors.fit_transform(samples.training.documents), samples.training.classes)
    return _as_classes(machine.predict(vectors.transform(samples.test.documents)))


def tuned_linear_svm(samples: Split) -> NDArray[np.int32]:
    """Classes by a linear machine over sublinear TF-IDF, its cost chosen on the validation sample."""
    vectors = TfidfVectorizer(analyzer=_joined, sublinear_tf=True)
    rows = vectors.fit_transform(samples.training.documents)
    held = vectors.transform(samples.validation.documents)

    def fitted(cost: float) -> LinearSVC:
        return LinearSVC(C=cost, random_state=0).fit(rows, samples.training.classes)

    machines = [fitted(cost) for cost in COSTS]
    scores = [macro_f1(samples.validation.classes, _as_classes(one.predict(held))) for one in machines]
    best = machines[int(np.argmax(scores))]
    return _as_classes(best.predict(vectors.transform(samples.test.documents)))


def combined_kernel_svm(samples: Split, index: ExampleIndex, *, c: float = 1.0) -> NDArray[np.int32]:
    """Classes by a machine whose kernel is the mean of the six kinds of evidence.

    Bag of words and Okapi are not symmetric: in training both directions are averaged; a test document
    is compared as the page that is asked about.

    Args:
        samples: Training and test sample.
        index: Of the training documents.
        c: Cost of an error.
    """
    kernel = _mean_evidence(samples.training, index)
    machine = SVC(C=c, kernel="precomputed")
    machine.fit((kernel + kernel.T) / 2.0, samples.training.classes)
    predicted = [machine.predict(_mean_evidence(part, index)) for part in _blocks(samples.test, 500)]
    return _as_classes(np.concatenate(predicted))


def _mean_evidence(sample: Labelled, index: ExampleIndex) -> NDArray[np.float64]:
    rows = [index.evidence(document).mean(axis=0) for document in sample.documents]
    return np.array(rows, dtype=np.float64)


def _blocks(sample: Labelled, size: int) -> list[Labelled]:
    places = range(len(sample.documents))
    return [sample.part(places[start : start + size]) for start in range(0, len(places), size)]


def _joined(document: Terms) -> tuple[str, ...]:
    return (*document.title, *document.body)


def _as_classes(predicted: NDArray[np.generic]) -> NDArray[np.int32]:
    return predicted.astype(np.int32)
