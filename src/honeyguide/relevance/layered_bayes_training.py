"""Training of layered naive Bayes: probabilities, priors and thresholds from layers of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Document
from honeyguide.relevance.layered_bayes_graph import Layers
from honeyguide.relevance.reduced_tf_idf import Features, ReducedTfIdf

LEAST_SPREAD: Final = 0.25
NEVER: Final = -1e12
"""Log prior of an empty layer: it can win no page."""


class Classifiers(msgspec.Struct, frozen=True):
    """What training gives; row j of every array belongs to layer j."""

    log_p: NDArray[np.float64]
    """log P(w | layer), layers x vocabulary."""
    log_prior: NDArray[np.float64]
    threshold: NDArray[np.float64]
    sizes: NDArray[np.int64]
    """Training documents of each layer, repetitions counted."""
    middle: float
    """Where the score is 0.5: layer 0's threshold, per feature."""
    spread: float
    """Standard deviation of layer 0's likelihoods per feature: the unit of the score."""


def likelihoods(found: Features, now: Classifiers, *, joint: bool) -> NDArray[np.float64]:
    """Log likelihood of a page under each layer: of all its features, or their mean."""
    total: NDArray[np.float64] = now.log_p[:, found.columns].sum(axis=1)
    return total if joint else total / max(1, len(found.columns))


def train(
    layers: Layers,
    *,
    size: int,
    held: Sequence[Features],
    quantiles: tuple[float, float],
    joint: bool,
    leave_out: bool,
) -> Classifiers:
    """Multinomial naive Bayes with Laplace smoothing: `P(w|c) = (1 + n(w,c)) / (|V| + n(c))`.

    Priors are the layers' sizes, or uniform when a layer was sampled.

    Args:
        layers: Training documents.
        size: Phrases of the vocabulary, |V|.
        held: The example pages as they look to a vocabulary made without them (`held_out`).
        quantiles: Of the documents' likelihoods, for the threshold of layer 0 and of the others.
        joint: Whether likelihoods are joint or per feature.
        leave_out: Judge documents, for the threshold, by classifiers trained without them.
    """
    counts = layers.counts(size)
    log_p = np.log((1.0 + counts) / (size + counts.sum(axis=1, keepdims=True)))
    sizes = np.array([len(layers.documents(layer)) for layer in range(layers.depth + 1)], dtype=np.int64)
    there = sizes > 0
    share = sizes / max(1, sizes.sum())
    if layers.sampled:
        share = np.full(len(sizes), 1.0 / max(1, there.sum()))
    log_prior = np.where(there, np.log(np.where(there, share, 1.0)), NEVER)
    lines = [
        seed_lines(layers, counts[0], held=held, joint=joint, leave_out=leave_out),
        *(_own_lines(layers, layer, counts[layer], joint, leave_out) for layer in range(1, len(sizes))),
    ]
    shares = (quantiles[0], *(quantiles[1] for _ in lines[1:]))
    threshold = np.array(
        [np.quantile(own, share) if len(own) else 0.0 for own, share in zip(lines, shares, strict=True)]
    )
    means = seed_lines(layers, counts[0], held=held, joint=False, leave_out=leave_out)
    middle, spread = 0.0, 1.0
    if len(means):
        middle, spread = float(np.quantile(means, quantiles[0])), max(LEAST_SPREAD, float(means.std()))
    return Classifiers(log_p, log_prior, threshold, sizes, middle, spread)


def held_out(text: ReducedTfIdf, documents: Sequence[Document]) -> list[Features]:
    """Each document as it looks to a vocabulary that was made from the others only.

    One document alone is left as it is.
    """
    every = [text.counts(one.title, one.text) for one in documents]
    total: Counter[int] = Counter()
    for counts in every:
        total.update(counts)
    if len(every) < 2:
        return [text.strongest(counts) for counts in every]
    return [
        text.strongest({place: count for place, count in counts.items() if total[place] > count})
        for counts in every
    ]


def seed_lines(
    layers: Layers, counts: NDArray[np.float64], *, held: Sequence[Features], joint: bool, leave_out: bool
) -> NDArray[np.float64]:
    """Likelihoods of the example pages (the first documents of layer 0) under layer 0.

    Held out, a page counts with no more than its likelihood as it is: no example is to fall below itself.
    """
    if not leave_out or len(held) < 2:
        return _own_lines(layers, 0, counts, joint, False)
    own = layers.unique(0)[: len(held)]
    found = [
        min(
            _line(seen, counts, without=one, times=1, joint=joint),
            _line(one, counts, without=one, times=0, joint=joint),
        )
        for seen, one in zip(held, own, strict=True)
        if len(seen.columns)
    ]
    return np.array(found)


def _own_lines(
    layers: Layers, layer: int, counts: NDArray[np.float64], joint: bool, leave_out: bool
) -> NDArray[np.float64]:
    """Likelihoods of a layer's own documents, each once, under its classifier."""
    times = Counter(layers.documents(layer))
    found = [
        _line(one, counts, without=one, times=times[index] if leave_out else 0, joint=joint)
        for index, one in zip(dict.fromkeys(layers.documents(layer)), layers.unique(layer), strict=True)
        if len(one.columns)
    ]
    return np.array(found)


def _line(
    seen: Features, counts: NDArray[np.float64], *, without: Features, times: int, joint: bool
) -> float:
    """Likelihood of a document in a layer from which another was taken out as often as it stood there."""
    left = counts[seen.columns]
    total = counts.sum()
    if times:
        taken = dict(zip(without.columns.tolist(), without.counts.tolist(), strict=True))
        left = left - times * np.array([taken.get(place, 0) for place in seen.columns.tolist()])
        total = total - times * without.counts.sum()
    lines = np.log((1.0 + left) / (len(counts) + total))
    return float(lines.sum() if joint else lines.mean())
