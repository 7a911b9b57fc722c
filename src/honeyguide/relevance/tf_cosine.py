"""TF cosine: how much of a page's words are the topic's words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, Self, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.calibration import separating_value
from honeyguide.store.models import Saved
from honeyguide.text.background import background
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser, Names, Numbered
from honeyguide.text.weighting import (
    DocumentFrequencies,
    centroid,
    document_frequencies,
    norm,
    normalised,
    strongest,
    tf_idf,
)
from honeyguide.topic.wordless import nothing_to_look_for

Scoring: TypeAlias = Literal["evidence", "cosine"]
_Phrase: TypeAlias = tuple[str, ...]

STEEPNESS: Final = 2.0
"""Without examples: score = 1 - exp(-2 * evidence), so that 0.35 of evidence reaches the threshold."""
SATURATION: Final = 2.0
LENGTH_SHARE: Final = 0.75
USUAL_LENGTH: Final = 400.0
LOOSE: Final = 0.25
"""What a phrase counts when its words occur apart from each other."""
TOP_TERMS: Final = 10
LITERATURE_THRESHOLD: Final = 0.1


class _Learned(msgspec.Struct, frozen=True):
    topic: tuple[tuple[_Phrase, float], ...]
    """Keywords as terms, with weights; the weights have Euclidean length one."""
    steepness: float
    threshold: float
    languages: tuple[str, ...]
    segmenter: Segmenter


class TfCosine:
    """Scores a page by the terms it shares with the topic.

    The topic vector holds the keywords and, where positive examples are given, the strongest terms of
    their centroid with the same total weight. Without keywords, the labels of a taxonomy path serve, with
    weight i/D for label i of D.

    `scoring="evidence"` (default) is made to work out of the box with a handful of keywords. The plain
    cosine of a long page with two keywords is tiny, and the shorter the page the larger it is. Here each
    keyword k gives evidence `e = n / (n + 2 * (0.25 + 0.75 * length/400))`, where n is the number of its
    occurrences in the text plus `title_weight` times those in the title (a phrase counts as a whole, and
    a quarter when its words occur apart). The page's evidence is the dot product with the unit topic
    vector, and `score = 1 - exp(-s * evidence)`. Keywords weigh as their idf in the background text, or in
    a built-in table of common words. s = 2 without examples; examples set s so that the value that parts
    positives from negatives (or from the background) gets score 0.5. The threshold is 0.5.

    `scoring="cosine"` is the literal `cos(TF(title and text), topic)` of the literature, raw term
    frequencies, equal weights; threshold 0.1 (FCMRPS' rule), or set by examples.

    Args:
        scoring: `evidence` or `cosine`.
        threshold: On topic from this score on; None for the value described above.
        title_weight: Mentions that one in the title stands for (evidence only).
        example_terms: Terms taken from the positive examples.

    Example:
        >>> model = TfCosine().fit(Examples(keywords=("neural network", "backpropagation")))
        >>> page = Page(url="https://a.example/", id=1, text="Neural networks learn.")
        >>> model.judge(page).on_topic, model.judge_texts(["tax law"])
        (True, [0.0])

    References:
        Gerard Salton, Michael McGill, "Introduction to Modern Information Retrieval", 1983.
    """

    def __init__(
        self,
        *,
        scoring: Scoring = "evidence",
        threshold: float | None = None,
        title_weight: float = 3.0,
        example_terms: int = 50,
    ) -> None:
        self._scoring = scoring
        self._threshold = threshold
        self._title_weight = title_weight
        self._example_terms = example_terms
        self._analyser = Analyser()
        self._learned: _Learned | None = None
        self._topic: tuple[tuple[_Phrase, float], ...] = ()
        self._phrases: tuple[_Phrase, ...] = ()
        self._words: frozenset[str] = frozenset()
        self._names: Names | None = None
        self._ranks: NDArray[np.int32] = np.zeros(0, np.int32)
        """By number of the analyser: 0, or which of the topic's words it is, from 1 on."""
        self._ranked: list[tuple[int, ...]] = []
        """Keywords by these."""

    def fit(self, examples: Examples) -> Self:
        """Take the topic from keywords, positive examples or a taxonomy path; any of them will do."""
        self._analyser = Analyser(examples.languages)
        table = self._frequencies(examples)
        keywords = self._keywords(examples, table)
        if not keywords and not examples.positives:
            raise TopicError(nothing_to_look_for(examples.keywords))
        topic = self._joined(keywords, examples.positives, table)
        if not topic:
            raise TopicError("keywords and examples hold no word that counts; give more telling ones")
        self._take(topic)
        value = self._calibrate(examples, keywords, table)
        evidence = self._scoring == "evidence"
        steepness = math.log(2.0) / value if evidence and value else STEEPNESS
        default = 0.5 if evidence else value or LITERATURE_THRESHOLD
        threshold = default if self._threshold is None else self._threshold
        self._learned = _Learned(topic, steepness, threshold, examples.languages, self._analyser.segmenter)
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        learned = self._fitted()
        shares = self._shares(self._analyser.terms(page.title), self._analyser.terms(page.content))
        raw = math.fsum(shares.values())
        score = self._score(raw, learned)
        top = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        scale = score / raw if raw else 0.0
        # Rounding down keeps the sum of the shares at or below the score.
        terms = tuple((" ".join(phrase), math.floor(share * scale * 1e9) / 1e9) for phrase, share in top)
        return Verdict(score, score >= learned.threshold, terms, {"evidence": raw})

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts, each as a page without a title."""
        learned = self._fitted()
        terms_of = self._analyser.terms
        # Nearly all anchors have none of the topic's words.
        mentioning = self._analyser.which_mention(texts, self._words)
        return [
            self._score(self._raw((), terms_of(text)), learned) if mentions else 0.0
            for text, mentions in zip(texts, mentioning, strict=True)
        ]

    @property
    def topic(self) -> tuple[tuple[_Phrase, float], ...]:
        """Keywords (and example terms) as terms, with their weights in the unit topic vector."""
        return self._topic

    @property
    def phrases(self) -> tuple[_Phrase, ...]:
        """The same without weights."""
        return self._phrases

    def evidence(self, title: Sequence[str], text: Sequence[str]) -> dict[_Phrase, float]:
        """For each keyword that occurs, `n / (n + penalty)` in 0..1, from the terms of a page."""
        body, head = _counted(text, self._words), _counted(title, self._words)
        found: dict[_Phrase, float] = {}
        if not body and not head:
            return found
        penalty = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * len(text) / USUAL_LENGTH)
        for phrase, _ in self._topic:
            count = _occurrences(phrase, text, body)
            if head:
                count += self._title_weight * _occurrences(phrase, title, head)
            if count:
                found[phrase] = count / (count + penalty)
        return found

    def evidence_of(self, read: Numbered, analyser: Analyser) -> list[float]:
        """The same from the numbers of a page's terms, for all of `phrases`.

        Args:
            read: Title and text, as `analyser` has just given them.
            analyser: With the options that the topic was read with.
        """
        if read.names is not self._names or len(read.names) > len(self._ranks):
            self._learn_numbers(read.names, analyser)
        title, text = read.texts
        words = 1 + len(self._words)
        counts = count_phrases(text, self._ranks, self._ranked, words, LOOSE)
        if len(title):
            head = count_phrases(title, self._ranks, self._ranked, words, LOOSE)
            counts = [body + self._title_weight * own for body, own in zip(counts, head, strict=True)]
        penalty = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * len(text) / USUAL_LENGTH)
        return [count / (count + penalty) for count in counts]

    def _learn_numbers(self, names: Names, analyser: Analyser) -> None:
        rank = {word: place for place, word in enumerate(sorted(self._words), 1)}
        self._ranked = [tuple(rank[word] for word in phrase) for phrase, _ in self._topic]
        numbers = {word: analyser.number(word) for word in rank}
        self._names = names
        self._ranks = np.zeros(2 * len(names), np.int32)
        for word, number in numbers.items():
            self._ranks[number] = rank[word]

    def save(self) -> Saved:
        """The topic vector and the calibrated constants."""
        return Saved(values=cast("dict[str, object]", msgspec.to_builtins(self._fitted())))

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        learned = msgspec.convert(saved.values, _Learned)
        self._analyser = Analyser(learned.languages, segmenter=learned.segmenter)
        self._take(learned.topic)
        self._learned = learned
        return self

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _take(self, topic: tuple[tuple[_Phrase, float], ...]) -> None:
        self._topic = topic
        self._phrases = tuple(phrase for phrase, _ in topic)
        self._words = frozenset(word for phrase, _ in topic for word in phrase)
        self._names = None

    def _frequencies(self, examples: Examples) -> DocumentFrequencies:
        """The user's background text where there is enough of it to tell common words."""
        if len(examples.unlabelled) < 50:
            return background(self._analyser)
        return document_frequencies(self._analyser.terms(each.text) for each in examples.unlabelled)

    def _keywords(self, examples: Examples, table: DocumentFrequencies) -> dict[_Phrase, float]:
        weights: dict[_Phrase, float] = {}
        labels = () if examples.keywords else examples.taxonomy
        for place, label in enumerate(labels, 1):
            if phrase := tuple(self._analyser.terms(label.replace("_", " "))):
                weights[phrase] = place / len(labels)
        for keyword in examples.keywords:
            if phrase := tuple(self._analyser.terms(keyword)):
                idf = max(0.5, *(table.idf(term) for term in phrase))
                weights[phrase] = idf if self._scoring == "evidence" else 1.0
        if self._scoring == "evidence":
            return weights
        single: Counter[_Phrase] = Counter()
        for phrase, weight in weights.items():
            for term in phrase:
                single[(term,)] += weight  # type: ignore[assignment]
        return dict(single)

    def _joined(
        self, keywords: Mapping[_Phrase, float], positives: Sequence[Document], table: DocumentFrequencies
    ) -> tuple[tuple[_Phrase, float], ...]:
        """The unit topic vector: keywords and centroid of the positives, each with half the weight."""
        length = math.sqrt(math.fsum(weight * weight for weight in keywords.values())) or 1.0
        total = {phrase: weight / length for phrase, weight in keywords.items()}
        vectors = (tf_idf(self._analyser.terms(f"{each.title} {each.text}"), table) for each in positives)
        middle = normalised(strongest(centroid(vectors), self._example_terms)) if positives else {}
        for term, weight in middle.items():
            total[(term,)] = total.get((term,), 0.0) + weight
        length = math.sqrt(math.fsum(weight * weight for weight in total.values())) or 1.0
        return tuple((phrase, weight / length) for phrase, weight in total.items())

    def _calibrate(
        self, examples: Examples, keywords: Mapping[_Phrase, float], table: DocumentFrequencies
    ) -> float | None:
        """The raw value between positives and others; each half of the positives judged by the other."""
        positives = examples.positives
        if not positives:
            return None
        whole = self._topic
        halves = (positives[::2], positives[1::2]) if len(positives) >= 4 else (positives, positives)
        scores: list[float] = []
        for learn_from, judged in (halves, halves[::-1]):
            self._take(self._joined(keywords, learn_from, table))
            scores.extend(self._raw_of(judged))
        self._take(whole)
        others = examples.negatives or examples.unlabelled
        return separating_value(scores, self._raw_of(others))

    def _raw_of(self, documents: Iterable[Document]) -> list[float]:
        terms = self._analyser.terms
        return [self._raw(terms(each.title), terms(each.text)) for each in documents]

    def _raw(self, title: Sequence[str], text: Sequence[str]) -> float:
        return math.fsum(self._shares(title, text).values())

    def _shares(self, title: Sequence[str], text: Sequence[str]) -> dict[_Phrase, float]:
        return self._cosine(title, text) if self._scoring == "cosine" else self._evidence(title, text)

    def _cosine(self, title: Sequence[str], text: Sequence[str]) -> dict[_Phrase, float]:
        if self._words.isdisjoint(text) and self._words.isdisjoint(title):
            return {}
        counts = Counter(text)
        counts.update(title)
        length = norm(counts)
        return {
            phrase: weight * counts[phrase[0]] / length
            for phrase, weight in self._topic
            if phrase[0] in counts
        }

    def _evidence(self, title: Sequence[str], text: Sequence[str]) -> dict[_Phrase, float]:
        found = self.evidence(title, text)
        return {phrase: weight * found[phrase] for phrase, weight in self._topic if phrase in found}

    def _score(self, raw: float, learned: _Learned) -> float:
        if self._scoring == "cosine":
            return min(1.0, raw)
        return -math.expm1(-learned.steepness * raw)


def _counted(terms: Sequence[str], words: frozenset[str]) -> dict[str, int]:
    # Most texts hold few of the topic's words: finding which, and counting those, is quicker than a Counter.
    found = words.intersection(terms)
    if len(found) <= 2:
        return {word: terms.count(word) for word in found}
    counts: dict[str, int] = {}
    for term in [term for term in terms if term in words]:
        counts[term] = counts.get(term, 0) + 1
    return counts


def _occurrences(phrase: _Phrase, terms: Sequence[str], counts: Mapping[str, int]) -> float:
    """How often a phrase occurs; words that occur, but not next to each other, count a quarter."""
    if len(phrase) == 1:
        return counts.get(phrase[0], 0)
    least = min(counts.get(term, 0) for term in phrase)
    if not least:
        return 0.0
    found, place, width = 0, -1, len(phrase)
    for _ in range(counts[phrase[0]]):
        place = terms.index(phrase[0], place + 1)
        found += tuple(terms[place : place + width]) == phrase
    return found + LOOSE * max(0, least - found)


@compiled
def count_phrases(
    numbers: NDArray[np.int32],
    ranks: NDArray[np.int32],
    phrases: list[tuple[int, ...]],
    words: int,
    loose: float,
) -> list[float]:
    """How often each phrase occurs.

    Args:
        numbers: Of the terms of a text.
        ranks: By such numbers, 0 or which of the topic's words a term is.
        phrases: By these.
        words: One more than the topic has words.
        loose: What a phrase counts whose words occur, but not next to each other.
    """
    text = ranks[numbers]
    often = np.bincount(text, minlength=words)
    found: list[float] = []
    for phrase in phrases:
        least = int(min(often[word] for word in phrase))
        if len(phrase) == 1 or not least:
            found.append(float(least))
            continue
        whole = text[: max(len(text) - len(phrase) + 1, 0)] == phrase[0]
        for place, word in enumerate(phrase[1:], 1):
            whole &= text[place : place + len(whole)] == word
        together = int(np.count_nonzero(whole))
        found.append(together + loose * max(0, least - together))
    return found
