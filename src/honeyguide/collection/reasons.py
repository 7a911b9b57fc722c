"""Why a page was judged as it was, for people: whole words for terms, and the sentences that decided.

A page model names terms with their share in the verdict; many are stems. Here the page's own words stand for
them, and those sentences are chosen that hold most of what the terms weigh.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from honeyguide.text.tokens import Analyser, words

MOST_CHARACTERS = 60_000
"""Of a text that are looked at."""
MOST_LENGTH = 320
"""Characters of a sentence; longer ones are cut around what weighs most."""
_STOPS = ".!?\u3002\uff01\uff1f"
_END = re.compile("(?<=[.!?])\\s+|(?<=[\u3002\uff01\uff1f])|\\n+")
_FEW = 4
"""Words under which a line is a heading or a link, not a sentence."""


class Sentence(msgspec.Struct, frozen=True):
    """A part of a text by its place."""

    start: int
    end: int
    weight: float
    """Sum of the shares of the terms in it, each counted once."""


class Reasons(msgspec.Struct, frozen=True):
    """What a verdict goes back to."""

    words: tuple[tuple[str, float], ...] = ()
    """The model's terms as words of the page, with their shares."""
    sentences: tuple[Sentence, ...] = ()
    """Those that hold most of it, best first."""


def reasons(
    text: str, terms: Sequence[tuple[str, float]], *, analyser: Analyser | None = None, most: int = 3
) -> Reasons:
    """Whole words and deciding sentences for a verdict's terms.

    Args:
        text: Of the page.
        terms: Of the verdict.
        analyser: Of the topic's languages; English by default.
        most: Sentences at most.

    Example:
        >>> text = "Start page of the site. The barn owl hunts mice at night. Contact."
        >>> found = reasons(text, [("owl", 0.6), ("hunt", 0.3)])
        >>> found.words
        (('owl', 0.6), ('hunts', 0.3))
        >>> [text[one.start : one.end] for one in found.sentences]
        ['The barn owl hunts mice at night.']
    """
    reader = analyser or Analyser()
    text = text[:MOST_CHARACTERS]
    weights = {term: share for term, share in terms if share > 0}
    if not weights or not text:
        return Reasons(tuple(terms))
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    stems: dict[str, str] = {}
    for word, count in Counter(words(text)).items():
        found = reader.terms(word)
        if len(found) == 1 and found[0] in weights:
            spelled[found[0]][word] += count
            stems[word] = found[0]
    told = tuple((_most_frequent(spelled[term], term), share) for term, share in terms)
    parts = (part for one in _parts(text) if (part := _weighed(text, *one, stems=stems, weights=weights)))
    best = sorted(parts, key=lambda part: (-part.weight, part.start))
    # A title comes again as a heading, and some pages say whole sentences twice.
    different = {tuple(words(text[part.start : part.end])): part for part in reversed(best)}
    return Reasons(told, tuple(sorted(different.values(), key=best.index)[:most]))


def _most_frequent(spellings: Counter[str], term: str) -> str:
    return max(spellings, key=lambda word: (spellings[word], -len(word)), default=term)


def _parts(text: str) -> list[tuple[int, int]]:
    """Places of the sentences."""
    places, start = [], 0
    for end in _END.finditer(text):
        places.append((start, end.start()))
        start = end.end()
    return [*places, (start, len(text))]


def _weighed(
    text: str, start: int, end: int, *, stems: dict[str, str], weights: dict[str, float]
) -> Sentence | None:
    said = words(text[start:end])
    held = {stems[word] for word in said if word in stems}
    if not held:
        return None
    weight = sum(weights[term] for term in held)
    if len(said) < _FEW or text[end - 1] not in _STOPS:
        weight *= 0.5  # headings, menus and captions tell less than sentences
    if end - start > MOST_LENGTH:
        first = min(text.lower().find(word, start) for word in said if word in stems)
        if first - start > MOST_LENGTH // 3:
            start = text.find(" ", first - MOST_LENGTH // 3, first) + 1 or first
        if end - start > MOST_LENGTH:
            end = text.rfind(" ", start + 1, start + MOST_LENGTH)
            end = end if end > start else start + MOST_LENGTH
    return Sentence(start, end, round(weight, 4))


def marked(text: str, sentences: Sequence[Sentence]) -> list[tuple[bool, str]]:
    """The text as pieces: whether one is of the sentences, and what it says.

    Example:
        >>> marked("One. Two. Three.", [Sentence(5, 9, 1.0)])
        [(False, 'One. '), (True, 'Two.'), (False, ' Three.')]
    """
    pieces: list[tuple[bool, str]] = []
    at = 0
    for one in sorted(sentences, key=lambda one: one.start):
        if one.start < at:
            continue
        pieces += [(False, text[at : one.start]), (True, text[one.start : one.end])]
        at = one.end
    return [(inside, piece) for inside, piece in [*pieces, (False, text[at:])] if piece]
