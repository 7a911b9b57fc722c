"""A taxonomy node as a vector of its path's labels: what FCMRPS compares texts with."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

import msgspec

from honeyguide.errors import TopicError
from honeyguide.text.segmentation import UNSPACED, Segmenter
from honeyguide.text.tokens import SNOWBALL, Analyser

MAX_LABELS: Final = 30
"""Labels of a path; real trees have less than 15 levels."""
_COMPATIBILITY = re.compile(
    "[\u0300-\u036f\u2100-\u214f\u2460-\u24ff\uf900-\ufaff\ufb00-\ufb4f\uff00-\uffef\U0001d400-\U0001d7ff]"
)
"""Characters that folding may turn into plain letters."""


class Labels(msgspec.Struct, frozen=True):
    """The labels from the root to the topic, each in one or more languages; for several nodes in turn."""

    names: tuple[tuple[str, ...], ...]
    by_depth: bool = True
    """Weight i/D for label i; False: all alike."""
    starts: tuple[int, ...] = (0,)
    """Where the path of each node begins in `names`."""

    @property
    def paths(self) -> tuple[slice, ...]:
        """The labels of each node."""
        return tuple(slice(start, end) for start, end in pairwise((*self.starts, len(self.names))))

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each label."""
        return tuple(
            place / (path.stop - path.start) if self.by_depth else 1.0
            for path in self.paths
            for place in range(1, path.stop - path.start + 1)
        )


def labels_of(taxonomy: Sequence[str], keywords: Sequence[str] = ()) -> Labels:
    """The labels of a topic: its path, or its keywords, all of one weight, where it has no path.

    `|` parts the names of a label in several languages, ` + ` several nodes that are one topic.

    Raises:
        TopicError: There are neither, or far too many.

    Example:
        >>> labels_of(["Sports|体育", "NBA"])
        Labels(names=(('Sports', '体育'), ('NBA',)), by_depth=True, starts=(0,))
        >>> labels_of(["Sports", "Golf + Sports", "Tennis"]).starts
        (0, 2)
    """
    nodes = [node.split("/") for node in "/".join(taxonomy).split(" + ")] if taxonomy else [keywords]
    paths = [tuple(found for label in node if (found := _names(label))) for node in nodes]
    paths = [path for path in paths if path]
    names = tuple(label for path in paths for label in path)
    if not names:
        raise TopicError(
            'the topic has no label; add taxonomy = "Sports/Basketball" (or keywords) to [topic]'
        )
    if taxonomy and max(map(len, paths)) > MAX_LABELS:
        raise TopicError(
            f"the taxonomy path has {max(map(len, paths))} labels; {MAX_LABELS} are the most that make sense"
        )
    starts = tuple(accumulate((len(path) for path in paths[:-1]), initial=0))
    return Labels(names, by_depth=bool(taxonomy), starts=starts)


def _names(label: str) -> tuple[str, ...]:
    return tuple(name for part in label.split("|") if (name := part.replace("_", " ").strip()))


class Match(msgspec.Struct, frozen=True):
    """How much of a text is about the topic, and by which words."""

    score: float
    terms: tuple[tuple[str, float], ...] = ()
    """Terms with their share of the score, strongest first."""


NOTHING: Final = Match(0.0)


class TopicVector:
    """`cos(TF(text), v_t)`: the terms of label i weigh i/D.

    With labels in several languages there is one vector a language and one of all of them together; the
    best cosine counts. A page in one language is not punished for lacking the words of the other, and a
    page in both is not either. A label without a name in a language goes by its first name there. Of several
    nodes, too, the best cosine counts.

    Args:
        labels: From the root to the topic.
        languages: For stop words and stemmer.
        segmenter: As for `Analyser`.

    Example:
        >>> vector = TopicVector(labels_of(["Sports|体育", "Basketball|篮球"]), ("en", "zh"))
        >>> round(vector.match("basketball and more basketball").score, 3), vector.match("tax law").score
        (0.894, 0.0)
        >>> vector.match("篮球").score == vector.match("basketball").score
        True
    """

    def __init__(
        self, labels: Labels, languages: Sequence[str] = ("en",), *, segmenter: Segmenter | None = None
    ) -> None:
        self.analyser = Analyser(languages, segmenter=segmenter)
        self.vectors = _vectors(labels, self.analyser)
        if not self.vectors:
            names = "/".join(label[0] for label in labels.names)
            raise TopicError(
                f"no label of {names!r} holds a word that counts; choose another node or keywords"
            )
        self.words = frozenset(term for vector in self.vectors for term in vector)
        stemmed = next((name for name in languages if name in SNOWBALL), "en")
        # Other stemmers may change a word's beginning too (German umlauts).
        self._hints = _hints(self.words) if stemmed == "en" else ("",)

    def match(self, *texts: str) -> Match:
        """Compare texts, joined, with the topic."""
        if not any(map(self._may_match, texts)):
            return NOTHING
        terms: list[str] = []
        for text in texts:
            terms += self.analyser.terms(text)
        return self.match_terms(terms)

    def match_terms(self, terms: Sequence[str]) -> Match:
        """Compare a text, given by its terms, with the topic."""
        if self.words.isdisjoint(terms):
            return NOTHING
        counts = Counter(terms)
        length = math.sqrt(sum(count * count for count in counts.values()))
        best: dict[str, float] = {}
        score = 0.0
        for vector in self.vectors:
            shares = {
                term: weight * counts[term] / length for term, weight in vector.items() if term in counts
            }
            total = math.fsum(shares.values())
            if total > score:
                score, best = total, shares
        ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))
        # Rounding down keeps the sum of the shares at or below the score.
        shown = tuple((term, math.floor(share * 1e9) / 1e9) for term, share in ranked)
        return Match(min(1.0, score), shown)

    def _may_match(self, text: str) -> bool:
        """False when no word of the text can be one of the topic's: most link texts end here."""
        lowered = text.lower()
        if any(hint in lowered for hint in self._hints):
            return True
        return not text.isascii() and _COMPATIBILITY.search(text) is not None


def _vectors(labels: Labels, analyser: Analyser) -> tuple[dict[str, float], ...]:
    """Of each node one unit vector a language, and one of all languages where there are several."""
    return tuple(
        vector
        for path in labels.paths
        for vector in _vectors_of(labels.names[path], labels.weights[path], analyser)
    )


def _vectors_of(
    path: Sequence[tuple[str, ...]], weights_of: Sequence[float], analyser: Analyser
) -> tuple[dict[str, float], ...]:
    columns = max(len(names) for names in path)
    found: list[dict[str, float]] = []
    together: Counter[str] = Counter()
    for column in range(columns):
        weights: Counter[str] = Counter()
        for names, weight in zip(path, weights_of, strict=True):
            name = names[column] if column < len(names) else names[0]
            for term in analyser.terms(name):
                weights[term] += weight  # type: ignore[assignment]
        together.update(weights)
        found.append(dict(weights))
    if columns > 1:
        found.append(dict(together))
    return tuple(_unit(vector) for vector in found if vector)


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
    return {term: weight / length for term, weight in vector.items()}


def _hints(words: frozenset[str]) -> tuple[str, ...]:
    """Beginnings of the topic's words: Porter's stemming changes only the last letters of a word."""
    beginnings = {word if UNSPACED.search(word) else word[: len(word) - _changed(word)] for word in words}
    # One that another begins with finds that one, too.
    return tuple(
        sorted(one for one in beginnings if not any(one != two and two in one for two in beginnings))
    )


def _changed(word: str) -> int:
    """Letters at the end of a stem that the words it stands for may not have."""
    return min(3, max(1, len(word) // 3))
