"""Vocabularies: a topic's words, and ready-made halves of sentences to build pages from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.generated.words import (
    ADJECTIVES,
    CLOSERS,
    ENDINGS,
    EVERYDAY,
    GENERAL,
    OPENERS,
    SYLLABLES,
    TOPICS,
    VERBS,
)

TITLES = 64
"""How many of a topic's words may stand in titles and URLs (a power of two)."""
HALVES = 1024
"""Openers and closers a topic: a million sentences."""
_INVENTED = 120
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])")


def invented_word(draws: Draws) -> str:
    """A word nobody uses but anyone can read aloud."""
    count = 2 + draws.below(2)
    word = "".join(SYLLABLES[draws.below(len(SYLLABLES))] for _ in range(count))
    return word + ENDINGS[draws.below(len(ENDINGS))]


@dataclass(frozen=True)
class Vocabulary:
    """The words of one topic or background theme. Sentences are made when first needed."""

    name: str
    key: int
    words: tuple[str, ...]
    """Written words first, then invented ones; earlier ones are more frequent."""
    gateway: tuple[str, ...]
    """Words of the off-topic pages that lead to this topic: nine, three for each step of a tunnel."""

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Exactly `TITLES` words for titles and URLs."""
        return self.words[:TITLES]

    @cached_property
    def openers(self) -> tuple[str, ...]:
        """First halves of sentences."""
        draws = Draws(fingerprint(self.key, 1))
        return tuple(self._fill(OPENERS, draws) for _ in range(HALVES))

    @cached_property
    def closers(self) -> tuple[str, ...]:
        """Second halves of sentences, with their full stop."""
        draws = Draws(fingerprint(self.key, 2))
        return tuple(self._fill(CLOSERS, draws) for _ in range(HALVES))

    def sentences(self, draws: Draws, count: int) -> str:
        """So many sentences as one text."""
        openers, closers, draw = self.openers, self.closers, draws.next
        parts: list[str] = []
        for _ in range(count):
            value = draw()
            parts.append(openers[value & 1023] + closers[value >> 10 & 1023])
        return " ".join(parts)

    def _fill(self, patterns: tuple[str, ...], draws: Draws) -> str:
        out: list[str] = []
        for piece in patterns[draws.below(len(patterns))].split("{"):
            mark, closed, rest = piece.partition("}")
            out.append(self._word(mark, draws) + rest if closed else piece)
        return _ARTICLE.sub(r"\1n ", "".join(out))

    def _word(self, mark: str, draws: Draws) -> str:
        if mark == "t":
            # The cube of a uniform number favours the front of the list, as real frequencies do.
            part = draws.next() / 4294967296.0
            return self.words[int(part * part * part * len(self.words))]
        words = {"g": GENERAL, "v": VERBS, "a": ADJECTIVES}[mark]
        return words[draws.below(len(words))]


def vocabularies(seed: int, topics: int) -> tuple[Vocabulary, ...]:
    """The asked number of topics, then the background themes."""
    written = list(TOPICS.items())[:topics]
    used = {word for words in TOPICS.values() for word in words.split()} | set(GENERAL)
    made: list[Vocabulary] = []
    for number in range(topics + len(EVERYDAY)):
        key = fingerprint(seed, 11, number)
        draws = Draws(key)
        if number >= topics:
            name, text = list(EVERYDAY.items())[number - topics]
        else:
            name, text = written[number] if number < len(written) else ("", "")
        words = list(dict.fromkeys(text.split()))
        wanted = len(words) + _INVENTED
        while len(words) < wanted:
            word = invented_word(draws)
            if word not in used:
                used.add(word)
                words.append(word)
        gateway = tuple(words.pop() for _ in range(9))
        made.append(Vocabulary(name or words[0], key, tuple(words), gateway))
    return tuple(made)
