"""Words as entries of a table, and which of them tell the best pages of a crawl from the rest."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from honeyguide.ordering.scout_evidence import TABLE, WORDS
from honeyguide.text.tokens import Analyser

TERMS: Final = 150
"""Words that make up the picture of a good page."""
REMEMBERED: Final = 200_000
TEXT_TERMS: Final = 2_000
"""Terms of a page that are looked at."""
_TOKEN: Final = re.compile(r"[^\W_]{2,}")


def entry(text: str) -> int:
    """Where a text is counted; equal on every machine."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) & (TABLE - 1)


class Entries:
    """Entries of words, remembered while they are few."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, words: Iterable[str]) -> list[int]:
        """One entry a word."""
        known = self._known
        if len(known) > REMEMBERED:
            known.clear()
        found: list[int] = []
        for word in words:
            place = known.get(word)
            if place is None:
                place = known[word] = entry(word)
            found.append(place)
        return found


def padded(places: list[int]) -> list[int]:
    """Eight entries, -1 where there are no more."""
    return (places + [-1] * WORDS)[:WORDS]


def url_words(url: str) -> list[str]:
    """Words of the path and query of an address, at most eight: the last ones tell most.

    Example:
        >>> url_words("https://a.example/docs/birds/snowy-owl.html")
        ['docs', 'birds', 'snowy', 'owl', 'html']
    """
    path, _, query = url.partition("://")[2].partition("/")[2].partition("?")
    text = f"{path[-400:]} {query[:100]}"
    if "%" in text:
        text = unquote(text)
    return list(dict.fromkeys(_TOKEN.findall(text.lower())))[-WORDS:]


def host_and_folder(url: str) -> tuple[str, str]:
    """The host of an address, and the host with the folder of its path.

    Example:
        >>> host_and_folder("https://a.example/docs/birds/owl.html")
        ('a.example', 'a.example/docs/birds')
    """
    rest = url.partition("://")[2]
    place = rest.partition("?")[0]
    return place.partition("/")[0], place.rpartition("/")[0] or place


class Likeness:
    """Rocchio's feedback: the words that pages of high worth have and others lack.

    Sums of tf-idf vectors, weighed by worth and by what is missing to it, make two centroids; their
    difference, cut to its `TERMS` largest parts, is what a good page looks like.

    References:
        J. J. Rocchio, "Relevance feedback in information retrieval", 1971.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self._analyser = Analyser(languages)
        self._entries = Entries()
        self._good = np.zeros(TABLE, np.float32)
        self._rest = np.zeros(TABLE, np.float32)
        self._pages_with = np.zeros(TABLE, np.float32)
        self._totals = np.zeros(3)
        self.picture = np.zeros(TABLE, np.float32)
        """The difference of the centroids, of length one."""

    def anchor_entries(self, text: str) -> list[int]:
        """Entries of the words of an anchor, at most eight."""
        return self._entries.of(dict.fromkeys(self._analyser.terms(text[:200])[: 2 * WORDS]))[:WORDS]

    def learn(self, text: str, worth: float) -> float:
        """Take in a page; its likeness to the picture as it is now."""
        counts = Counter(self._analyser.terms(text)[:TEXT_TERMS])
        places = np.array(self._entries.of(counts), np.int64)
        if not len(places):
            return 0.0
        often = np.fromiter(counts.values(), np.float32, len(counts))
        self._pages_with[places] += 1.0
        self._totals[2] += 1.0
        weights = (1.0 + np.log(often)) * np.log1p(self._totals[2] / (1.0 + self._pages_with[places]))
        weights /= max(1e-9, float(np.sqrt(weights @ weights)))
        self._good[places] += worth * weights
        self._rest[places] += (1.0 - worth) * weights
        self._totals[:2] += worth, 1.0 - worth
        return float(weights @ self.picture[places])

    def draw(self) -> NDArray[np.float32]:
        """Draw the picture anew; what each word says for likeness (its part of it times its idf)."""
        good, rest, pages = self._totals
        if good > 0.0 and rest > 0.0:
            difference = self._good / good - self._rest / rest
            best = np.argpartition(-difference, TERMS)[:TERMS]
            picture = np.zeros(TABLE, np.float32)
            picture[best] = np.maximum(difference[best], 0.0)
            length = float(np.sqrt(picture @ picture))
            self.picture = picture / length if length > 0.0 else picture
        idf = np.log1p(pages / (1.0 + self._pages_with))
        return (self.picture * idf).astype(np.float32)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything learned."""
        return {
            "likeness_good": self._good,
            "likeness_rest": self._rest,
            "likeness_pages": self._pages_with,
            "likeness_totals": self._totals,
            "likeness_picture": self.picture,
        }

    def take(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Take back what `arrays` gave."""
        self._good = np.array(arrays["likeness_good"], np.float32)
        self._rest = np.array(arrays["likeness_rest"], np.float32)
        self._pages_with = np.array(arrays["likeness_pages"], np.float32)
        self._totals = np.array(arrays["likeness_totals"], np.float64)
        self.picture = np.array(arrays["likeness_picture"], np.float32)
