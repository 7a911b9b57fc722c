"""Two kinds of pages in one heap: who belongs where, from weak evidence and a few sure cases.

Everything here is arithmetic on arrays; `calibrated.py` says what is done with it.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.text.ridge import weights_of

Array = NDArray[np.float64]

SURE_WEIGHT: Final = 3.0
"""What a page that somebody vouches for counts among pages that are guessed at."""
GUESS_POWER: Final = 3
"""Keyword scores to this power are the first guess: only clear cases teach."""
TRUST: Final = 0.6
"""How much likeness to examples says in the first guess, beside keywords."""
JOINT_EXAMPLES: Final = 4.0
"""From so many examples on, the first guess is more theirs than the keywords' alone."""
TEMPER: Final = 0.5
"""The three numbers that are added say partly the same: their sum is believed half as much."""
LIKENESS_EXAMPLES: Final = 10.0
"""From so many examples on, likeness to them says half as much as all the rest in the end."""
NEARLY_BEST: Final = 0.95
"""Lines that do so well by Lee and Liu's measure count as equally good."""
LEAST_CALLED: Final = 4
STRAYED: Final = (0.2, 0.4)
"""Where Otsu's line takes so much more of all pages than the others do, it begins to be believed, and is."""
MANY: Final = (0.1, 0.2)
"""Share of the pages above Lee and Liu's line, from which on many may be on topic, and are."""
TELLING: Final = (1.7, 1.3)
"""Pages with a keyword for each that Otsu's line takes, below which keywords begin to be telling, and are."""
CROWDED: Final = 0.65
"""Share of pages with a high keyword score from which on that many are believed to be on topic."""
MOST_ON_TOPIC: Final = 0.9
LEAST_ON_TOPIC: Final = 0.005
LEAST_VARIANCE: Final = 0.25
"""Of the two normal distributions, where pages vary by one or more: no line is as sharp as it looks."""
ROUNDS: Final = 40
FAR: Final = 0.98
"""Examples that stand higher than this share of the pages count as standing there when the line is placed."""
AT_THE_LINE: Final = (0.15, 0.5)
"""Share of the pages at the line that people say yes to, at least and at most; F1 decides in between."""
LEAST_LINKED: Final = 20
"""Pages with links that are known, before these are heard."""
MOST_SAID: Final = 3.0
"""What links say counts as at most so many deviations from what they say of a usual page."""
MOST_AGREED: Final = 0.9
FAR_OUT: Final = 4.0
"""Deviations from the mean that a score of links is worth at most."""
LEAST_SCALE: Final = 1e-6
NEVER: Final = 1e9
"""Deviation of a score that is the same for all."""
FIRST_STEP: Final = (0.1, 200.0)
"""What a deviation of each score of links says at first, and how many pages that stands for."""
TRUST_IN_SCORES: Final = 20.0
"""Pages after which a weight of its own is believed by half."""
SHIFT_DEVIATION: Final = 1.5
"""How far reviews may move the line, on the scale of log odds, as the deviation of a normal prior."""


class Texts(NamedTuple):
    """Texts as vectors over numbered terms, one after the other."""

    ends: NDArray[np.int64]
    """Where the entries of each text end."""
    terms: NDArray[np.int32]
    values: Array

    @property
    def rows(self) -> NDArray[np.int64]:
        """The text that each entry belongs to."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))


@compiled
def count_texts(texts: list[NDArray[np.int64]], counts: Array) -> None:
    """Add to the count of each term the number of texts that have it."""
    seen = np.concatenate([np.zeros(0, np.int64), *texts])
    counts += np.bincount(seen, minlength=len(counts))


@compiled
def fill(  # noqa: PLR0917 - as C takes them
    texts: list[NDArray[np.int64]],
    counts: list[Array],
    idf: Array,
    terms: NDArray[np.int32],
    values: Array,
    ones: Array,
) -> None:
    """Write texts one after the other, each as a unit vector.

    Args:
        texts: The terms of each.
        counts: What each term of each counts by itself.
        idf: What each term of the vocabulary counts.
        terms: Gets the terms.
        values: Gets the parts of the vectors.
        ones: Gets the squared length of each text: 1, or 0 for one without a term that counts.
    """
    rows = np.repeat(np.arange(len(texts)), [len(each) for each in texts])
    terms[:] = np.concatenate([np.zeros(0, np.int64), *texts])
    values[:] = np.concatenate([np.zeros(0), *counts]) * idf[terms]
    squares = np.bincount(rows, values * values, len(texts))
    values /= np.sqrt(np.where(squares > 0.0, squares, 1.0))[rows]
    ones[:] = squares > 0.0


@compiled
def products(texts: Texts, weights: Array, found: Array) -> None:
    """The inner product of each text with a vector over terms."""
    found[:] = np.bincount(texts.rows, texts.values * weights[texts.terms], len(found))


@compiled
def add_up(texts: Texts, shares: Array, found: Array) -> None:
    """Sum of the texts, each times its share."""
    found += np.bincount(texts.terms, texts.values * shares[texts.rows], len(found))


class Heap(msgspec.Struct, frozen=True):
    """Texts as unit vectors; pages first, then sure cases."""

    texts: Texts
    pages: int
    """Texts up to here are pages of the crawl: the background."""
    sure: NDArray[np.int8]
    """For each text 1 (on topic), -1 (not) or 0 (nobody knows)."""
    squares: Array
    """Squared length of each text: 1, or 0 for an empty one."""
    words: Array
    """Logarithm of one more than the number of words of each text."""
    links: Array | None = None
    """What is known of the links to each text, a row of scores; not numbers where nothing is."""

    def times(self, weights: Array) -> Array:
        """The inner product of each text with a vector over terms."""
        found = np.empty(len(self.sure))
        products(self.texts, weights, found)
        return found

    def total(self, shares: Array, size: int) -> Array:
        """Sum of the texts, each times its share."""
        found = np.zeros(size)
        add_up(self.texts, shares, found)
        return found


class Line(msgspec.Struct, frozen=True):
    """Log odds by places on a scale."""

    slope: float
    middle: float
    shift: float
    """What reviews add."""
    share: float
    """Of the pages, on topic."""

    def odds(self, position: float) -> float:
        """Log odds that a text at this place is on topic."""
        return self.slope * (position - self.middle) + self.shift


class Linked(msgspec.Struct, frozen=True):
    """What links to a text say beside its words."""

    gain: float
    """What it moves on the scale for each deviation of what its links say."""
    mean: float
    deviation: float
    line: Line
    """Where the line is then."""
    scores: tuple[tuple[float, float, float], ...] = ()
    """Mean and deviation of each score of links, and what a deviation of it says."""

    def gained(self, links: NDArray[np.floating[Any]]) -> Array:
        """What texts gain by their links, a row of scores each."""
        middle, scale, weight = np.array(self.scores).T
        said = _said(np.clip((links - middle) / scale, -FAR_OUT, FAR_OUT), weight)
        return self.gain * np.clip((said - self.mean) / self.deviation, -MOST_SAID, MOST_SAID)


class Fit(msgspec.Struct, frozen=True):
    """The scale of scores and where the line is."""

    contrast: Array
    """Weights of terms: texts that seem on topic against the others."""
    likeness: Array
    """Weights of terms: texts surely on topic against the others."""
    scales: tuple[tuple[float, float], ...]
    """Mean and deviation over the pages of keyword score, contrast and likeness."""
    gamma: float
    line: Line
    position: Array
    """Where each text stands on the scale, itself left out of what it is compared with."""
    by_words: tuple[float, float] = (0.0, 0.0)
    """What a text gains on the scale by each unit of `Heap.words`, and the mean of those over the pages."""
    witnessed: float = 1.0
    """How far it is believed: 0 where nothing shows that any text is on topic, up to 1."""
    linked: Linked | None = None
    """Nothing where links say nothing."""

    def by_text(self) -> Array:
        """How likely each text is on topic by its words alone."""
        return chances(self.line.slope * (self.position - self.line.middle) + self.line.shift)


def fit(
    heap: Heap,
    keyword_scores: Array | None,
    *,
    size: int,
    taught: NDArray[np.bool_],
    even_lengths: bool = False,
    clear: int = LEAST_CALLED,
) -> Fit:
    """Find who belongs together.

    Two groups are found in any heap, also in one that has nothing on topic: `clear`, how many texts are on
    topic by their keywords alone, says how far to believe it, with those that somebody vouches for.

    1. A first guess: keyword scores, and likeness to what is surely on topic.
    2. Rocchio's contrast of the two guessed groups, in which sure cases count threefold. Each text is
       compared with the others only.
    3. Keyword score, contrast and likeness are standardised over the pages and added. What pages of either
       kind gain by being long is taken off again (`even_lengths`).
    4. Two normal distributions of one variance over that sum, sure cases fixed, by expectation maximisation.
       The line is the mean of theirs and a second one that assumes no shape: Lee and Liu's, on clear keyword
       pages and left-out examples; Otsu's where there are no keywords. Where many pages are on topic and
       Otsu's would take far more of them, it is followed. Where most pages have a high keyword score, as
       many as have one are on topic.
    5. What people said about pages of the crawl turns the sum into a chance (logistic regression on one
       number), and the line goes where F1 is best by these chances.
    6. What links say is added as far as it goes with that sum, and the line is placed once more: a second
       scale, for texts with links that are known.
    """
    on, off = heap.sure > 0, heap.sure < 0
    pages = heap.pages
    parts: list[Array] = []
    scales = [(0.0, 1.0)] * 3
    if keyword_scores is not None:
        scales[0] = _scale(keyword_scores[:pages])
        parts.append((keyword_scores - scales[0][0]) / scales[0][1])
    likeness = np.zeros(size)
    likely = np.zeros(len(heap.sure))
    count = int(on.sum())
    if count:
        likely, likeness = _against(heap, on.astype(float), _others(on, off, np.zeros(len(on))), size)
        scales[2] = _scale(likely[:pages])
        likely = (likely - scales[2][0]) / scales[2][1]
    guess = _guess(keyword_scores, parts, likely, count)
    first = np.where(on, SURE_WEIGHT, np.where(off, 0.0, guess))
    standing, contrast = _against(heap, first, _others(on, off, guess), size)
    scales[1] = _scale(standing[:pages])
    gamma = count / (count + LIKENESS_EXAMPLES)
    position = sum(parts, (standing - scales[1][0]) / scales[1][1]) + gamma * likely
    start = keyword_scores if keyword_scores is not None else _upper(position, pages)
    by_words = (0.0, 0.0)
    if even_lengths:
        by_words = _gained_by_words(position, np.clip(start, 0.01, 0.99), heap)
        position = position - by_words[0] * (heap.words - by_words[1])
    line = _line(position, start, heap, keyword_scores, taught)
    linked = _told_by_links(position, heap, line)
    if linked is not None and heap.links is not None:
        gains = np.nan_to_num(linked.gained(heap.links), nan=0.0)
        moved = _line(position + gains, start, heap, keyword_scores, taught)
        linked = msgspec.structs.replace(linked, line=moved)
    witnessed = 1.0 if keyword_scores is None else min(1.0, (clear + SURE_WEIGHT * count) / LEAST_CALLED)
    return Fit(contrast, likeness, tuple(scales), gamma, line, position, by_words, witnessed, linked)


def _line(
    position: Array, start: Array, heap: Heap, keyword_scores: Array | None, taught: NDArray[np.bool_]
) -> Line:
    """Where the line is (4. and 5. of `fit`)."""
    on, pages = heap.sure > 0, heap.pages
    # Examples of one site look more like each other than any page of another: as they stand, the line would
    # go up to them and leave nothing above it.
    placed = np.where(on, np.minimum(position, np.quantile(position[:pages], FAR)), position)
    slope, middle, share = _two_normals(placed, np.clip(start, 0.01, 0.99), heap)
    if keyword_scores is None:
        second = _between_groups(position[:pages])
    else:
        second = _found_against_called(placed, keyword_scores[:pages] ** GUESS_POWER, on, pages)
    middle = (middle + second) / 2.0
    if keyword_scores is not None:
        middle = _led_back(position[:pages], keyword_scores[:pages], middle, second)
        middle = min(middle, _crowded(position[:pages], keyword_scores[:pages], middle))
    slope *= TEMPER
    odds = slope * (position - middle)
    shift = _moved(odds[taught], on[taught])
    if taught.any():
        shift -= _odds_at_the_line(chances(odds[:pages] + shift))
    return Line(slope, middle, shift, share)


def _told_by_links(position: Array, heap: Heap, line: Line) -> Linked | None:
    """What the links to a text say of its place on the scale; nothing where they tell nothing.

    Words and links are two views of a page, and each can tell where the other cannot (Blum and Mitchell's
    co-training). A ridge regression tells a page's place from the scores of its links, in which the page has
    no part itself. What it says counts as far as the two go together (c, their correlation) and the more, the
    less it leaves open (1 - c²): where links know nothing, it is nothing.
    """
    if heap.links is None or not heap.links.shape[1]:
        return None
    told = np.flatnonzero(np.isfinite(heap.links[: heap.pages]).all(axis=1))
    if len(told) < LEAST_LINKED:
        return None
    links, place = heap.links[told], position[told]
    middle, scale = links.mean(axis=0), links.std(axis=0)
    scale = np.where(scale > LEAST_SCALE, scale, NEVER)
    z = np.clip((links - middle) / scale, -FAR_OUT, FAR_OUT)
    mean, spread = _scale(place)
    weight = weights_of(z - z.mean(axis=0), (place - mean) / spread, step=FIRST_STEP, trust=TRUST_IN_SCORES)
    said = _said(z, weight)
    centre, deviation = _scale(said)
    agreed = float(np.mean((said - centre) * (place - mean))) / (deviation * spread)
    if agreed <= 0.0:
        return None
    agreed = min(agreed, MOST_AGREED)
    gain = agreed / (1.0 - agreed * agreed) * spread
    scores = tuple(zip(middle.tolist(), scale.tolist(), weight.tolist(), strict=True))
    return Linked(gain, centre, deviation, line, scores)


def _said(z: Array, weight: Array) -> Array:
    """Weighted sums of rows; not a matrix product, for which numpy's library would take threads."""
    return np.asarray(np.add.reduce(z * weight, axis=1))


def _scale(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std()) + 1e-9


def _others(on: NDArray[np.bool_], off: NDArray[np.bool_], guess: Array) -> Array:
    return np.where(off, SURE_WEIGHT, np.where(on, 0.0, 1.0 - guess))


def _against(heap: Heap, first: Array, second: Array, size: int) -> tuple[Array, Array]:
    """Mean likeness to one group less that to the other, each text left out of its own; the term weights."""
    found = np.zeros(len(first))
    weights = np.zeros(size)
    for share, sign in ((first, 1.0), (second, -1.0)):
        total, whole = heap.total(share, size), share.sum()
        found += sign * (heap.times(total) - share * heap.squares) / np.maximum(whole - share, 1e-9)
        weights += sign * total / max(float(whole), 1e-9)
    return found, weights


def _guess(keyword_scores: Array | None, parts: list[Array], likely: Array, count: int) -> Array:
    alone = None if keyword_scores is None else keyword_scores**GUESS_POWER
    if not count:
        assert alone is not None
        return alone
    trust = TRUST * math.sqrt(count / (count + 2.0))
    position = sum(parts, trust * likely)
    spread = math.sqrt((alone is not None) + trust * trust)
    joint: Array = chances(2.0 * (position - 1.3 * spread)) ** 2
    weight = count / (count + JOINT_EXAMPLES)
    return joint if alone is None else (1.0 - weight) * alone + weight * joint


def _upper(position: Array, pages: int) -> Array:
    return chances(3.0 * (position - float(np.quantile(position[:pages], 0.85))))


def _two_normals(position: Array, chance: Array, heap: Heap) -> tuple[float, float, float]:
    """Slope and middle of the log odds, and the share of pages on topic."""
    on, off, pages = heap.sure > 0, heap.sure < 0, heap.pages
    slope, middle, share = 1.0, 0.0, 0.5
    for _ in range(ROUNDS):
        chance = np.where(on, 1.0, np.where(off, 0.0, chance))
        share = min(max(float(chance[:pages].mean()), LEAST_ON_TOPIC), MOST_ON_TOPIC)
        high = float(chance @ position / max(chance.sum(), 1e-9))
        low = float((1.0 - chance) @ position / max((1.0 - chance).sum(), 1e-9))
        high = max(high, low + 0.1)
        spread = chance @ (position - high) ** 2 + (1.0 - chance) @ (position - low) ** 2
        variance = max(LEAST_VARIANCE, float(spread) / len(position))
        slope = (high - low) / variance
        middle = (high + low) / 2.0 - math.log(share / (1.0 - share)) / slope
        chance = chances(slope * (position - middle))
    return slope, middle, share


def _gained_by_words(position: Array, chance: Array, heap: Heap) -> tuple[float, float]:
    """How much higher a text stands for each unit of `words`, among its own kind; their mean over the pages.

    A long page mentions more keywords, and more of any topic's words, than a short one that is as much on
    topic. The slope is one for both kinds, so a topic whose pages are longer than others does not look like
    a gain by length: a mixture of two regression lines, parallel, by expectation maximisation. Sure cases
    take no part, since examples may be of another make. Never below 0: that short pages stand higher by
    being short has no reason but the topic.
    """
    position, chance, words = position[: heap.pages], chance[: heap.pages], heap.words[: heap.pages]
    mean = float(words.mean())
    gain = 0.0
    for _ in range(ROUNDS):
        share = min(max(float(chance.mean()), LEAST_ON_TOPIC), MOST_ON_TOPIC)
        sides = (chance, 1.0 - chance)
        sizes = [max(float(side.sum()), 1e-9) for side in sides]
        heights = [float(side @ position) / size for side, size in zip(sides, sizes, strict=True)]
        widths = [float(side @ words) / size for side, size in zip(sides, sizes, strict=True)]
        both = list(zip(sides, heights, widths, strict=True))
        spread = math.fsum(float(side @ (words - width) ** 2) for side, _, width in both)
        joint = math.fsum(
            float(side @ ((position - height) * (words - width))) for side, height, width in both
        )
        gain = joint / max(spread, 1e-9)
        high, low = (height - gain * (width - mean) for _, height, width in both)
        high = max(high, low + 0.1)
        level = position - gain * (words - mean)
        rest = chance @ (level - high) ** 2 + (1.0 - chance) @ (level - low) ** 2
        variance = max(LEAST_VARIANCE, float(rest) / len(level))
        odds = (high - low) / variance * (level - (high + low) / 2.0) + math.log(share / (1.0 - share))
        chance = chances(odds)
    return max(0.0, gain), mean


def _found_against_called(position: Array, clear: Array, on: NDArray[np.bool_], pages: int) -> float:
    """Lee and Liu's line: the largest r²/Pr.

    r is the share of sure and clear cases above it, Pr that of all pages. This goes with the square of F1 and
    needs no cases off topic. Examples were left out of what they are compared with, so they are held out;
    each counts as much as in the contrast.
    """
    order = np.argsort(-position[:pages], kind="stable")
    ranked = position[:pages][order]
    held = np.sort(position[on])
    above = np.cumsum(clear[order]) + SURE_WEIGHT * (len(held) - np.searchsorted(held, ranked))
    merit = above**2 / np.arange(1, pages + 1)
    merit[: LEAST_CALLED - 1] = 0.0
    # Where lines do nearly as well as the best, the middle of that stretch of the scale.
    after = np.append(ranked[1:], ranked[-1])
    good = merit >= NEARLY_BEST * merit.max()
    width = (ranked - after)[good] + 1e-9
    return float(width @ ((ranked + after)[good] / 2.0) / width.sum())


def _led_back(position: Array, keyword_scores: Array, middle: float, second: float) -> float:
    """The line where it takes too few pages: Otsu's.

    In a good crawl half of the pages are on topic, and a part of them that is much alike, or that has all
    the keywords, stands out from the rest. Two normal distributions can settle on that part, and `second`,
    Lee and Liu's line, looks at pages with keywords alone. Otsu's line has no such trap, but it finds two
    groups in any heap, also where few pages are on topic. It is heard in two cases: where hardly more pages
    have a keyword than it takes, so keywords are telling; and where it takes far more pages than the
    others, and Lee and Liu's takes many.
    """
    line = _between_groups(position)
    taken = float((position > line).mean())
    if not taken:  # all pages are alike
        return middle
    telling = part_of(TELLING, float((keyword_scores > 0.0).mean()) / taken)
    strayed = part_of(STRAYED, taken - float((position > middle).mean()))
    many = part_of(MANY, float((position > second).mean()))
    trust = max(telling, min(strayed, many))
    return min(middle, (1.0 - trust) * middle + trust * line)


def _crowded(position: Array, keyword_scores: Array, middle: float) -> float:
    """The line where most pages are clearly on topic by their keywords: as many as are.

    Two groups are found in any heap. Keywords that say little are on most pages, too, but count less for
    it: on recorded webs half of the pages have a high keyword score only where nearly all are on topic.
    """
    share = float((keyword_scores >= 0.5).mean())
    trust = part_of((0.5, CROWDED), share)
    line = float(np.quantile(position, 1.0 - share))
    return (1.0 - trust) * middle + trust * line


def _between_groups(values: Array) -> float:
    """Otsu's line: the one that parts the values into two groups with the largest variance between them."""
    ranked = np.sort(values)
    below = np.cumsum(ranked)[:-1]
    count = np.arange(1, len(ranked))
    between = (ranked.mean() * count - below) ** 2 / (count * (len(ranked) - count))
    best = int(np.argmax(between))
    return float(ranked[best] + ranked[best + 1]) / 2.0


def _moved(odds: Array, said: NDArray[np.bool_]) -> float:
    """How far the odds are to be moved so that they agree with what people said."""
    shift = 0.0
    for _ in range(20 if len(odds) else 0):
        chance = chances(odds + shift)
        slope = float((chance - said).sum()) + shift / SHIFT_DEVIATION**2
        shift -= slope / (float((chance * (1.0 - chance)).sum()) + 1.0 / SHIFT_DEVIATION**2)
        shift = min(max(shift, -6.0), 6.0)
    return shift


def _odds_at_the_line(chance: Array) -> float:
    """Log odds of a page at the line for which F1 is best.

    That is where the chance is half of the F1 to expect (Lipton and others): where pages are hard to tell
    apart, the line is low, or hardly any page would be above it.
    """
    ranked = np.sort(chance)[::-1]
    f1 = 2.0 * np.cumsum(ranked) / (np.arange(1, len(ranked) + 1) + ranked.sum())
    least, most = AT_THE_LINE
    half = min(max(float(f1.max()) / 2.0, least), most)
    return math.log(half / (1.0 - half))


def part_of(way: tuple[float, float], value: float) -> float:
    """How much of the way from one value to another is done, 0..1."""
    start, end = way
    return min(max((value - start) / (end - start), 0.0), 1.0)


def chances(odds: Array) -> Array:
    """Probabilities of log odds."""
    found: Array = 0.5 * (1.0 + np.tanh(0.5 * odds))
    return found
