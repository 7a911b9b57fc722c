"""From text to terms: lower case, words, stop words, stems."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final, cast

import numpy as np
import Stemmer
from numpy.typing import NDArray

from honeyguide.text import stop_words
from honeyguide.text.segmentation import RUNS, UNSPACED, Segmenter, best_segmenter, bigrams, han_words

MAX_CHARACTERS: Final = 400_000
"""How much of one text is read: more only makes a hostile page dearer, not clearer."""
MAX_WORD: Final = 40
"""Longer words are identifiers, data or noise, and are dropped."""
MAX_DIGITS: Final = 8
"""Longer numbers are identifiers; shorter ones (years, models, standards) are words."""
CACHE_LIMIT: Final = 400_000
"""Words an analyser remembers (about 60 MB, at worst); then it starts afresh. A smaller cache is emptied
several times in a crawl of an encyclopedia, and stemming a word again costs ten times its look-up."""

SNOWBALL: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "porter", "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip
"""Stemmers by language; English has Porter's, as the literature uses it."""

_ASCII_WORD = re.compile("[a-z0-9]+")
# Marks that `\w` leaves out although they are parts of words: accents written apart, Hebrew and Arabic
# points, the vowel signs of Indian scripts.
_WORD = re.compile("[\\w\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff]+")


# Ends at white space where there is some, so that no letter is parted from its accent.
_PIECE = re.compile(r"(?s).{1,500}(?:\s|\Z)|.{1,500}")


def folded(text: str) -> str:
    r"""Compatibility form (NFKC), in time linear in the text.

    Sorting a run of n combining marks takes the standard algorithm n^2 steps: a hostile page of
    400,000 marks would take minutes. Here the text is folded in pieces of 500 characters, and cut where
    folding makes it longer (up to 18 times) than we read.

    Example:
        >>> folded("\uff21\uff22 \ufb01n")
        'AB fin'
    """
    pieces = (unicodedata.normalize("NFKC", piece) for piece in _PIECE.findall(text))
    return "".join(pieces)[:MAX_CHARACTERS]


def words(text: str) -> list[str]:
    r"""Lower-case words of `text`, none left out; scripts without spaces give one word a run.

    Full-width letters and ligatures are folded (NFKC). `_` separates words.

    Example:
        >>> words("Neural_networks: 2nd \uff25dition!")
        ['neural', 'networks', '2nd', 'edition']
    """
    text = text[:MAX_CHARACTERS].lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _WORD.findall(folded(text).replace("_", " "))


# Letters and digits of ASCII as lower case, bytes of other characters as they are, the rest as spaces:
# parting words so takes a quarter of a regular expression's time.
_SPACED = bytes(ord(chr(code).lower()) if chr(code).isalnum() else 32 for code in range(128))
_SPACED += bytes(range(128, 256))
_REMEMBERED: Final = 4 * MAX_WORD
"""Bytes of the longest piece that is remembered: longer ones are data, or Chinese, and never come again."""

LONG: Final = 1_000
"""Bytes from which on a text is read by machine code: calling it costs as much as looking up 50 words."""
_SEVERAL: Final = 1 << 30


class _Terms(dict[bytes, str | tuple[str, ...]]):
    """The term of a piece of UTF-8 between spaces; a tuple where there is not exactly one.

    Nearly all pieces are one word. Others have a dash or a no-break space inside, or are Chinese.
    """

    def __init__(
        self, dropped: frozenset[str], stem: Callable[[str], str] | None, segmenter: Segmenter
    ) -> None:
        super().__init__()
        self._dropped = dropped
        self._stem = stem
        self._han_words = han_words(segmenter)

    def __missing__(self, piece: bytes) -> str | tuple[str, ...]:
        found = self.fresh(piece)
        if len(piece) <= _REMEMBERED:
            if len(self) >= CACHE_LIMIT:
                self.clear()
            self[piece] = found
        return found

    def fresh(self, piece: bytes) -> str | tuple[str, ...]:
        """Not remembered."""
        if piece.isascii():
            return self._term(piece.decode("ascii"))
        several = self._several(piece.decode("utf-8", "surrogatepass"))
        return several[0] if len(several) == 1 else tuple(several)

    def _term(self, word: str) -> str:
        if len(word) < 2 or len(word) > MAX_WORD or word in self._dropped:
            return ""
        if word.isdigit():
            return word if len(word) <= MAX_DIGITS else ""
        return word if self._stem is None else self._stem(word)

    def _several(self, piece: str) -> list[str]:
        if not UNSPACED.search(piece):
            return [term for word in words(piece) if (term := self._term(word))]
        found: list[str] = []
        for han, other, rest in RUNS.findall(folded(piece)):
            if rest:
                found.extend(term for word in words(rest) if (term := self._term(word)))
            else:
                parts = self._han_words(han) if han else bigrams(other)
                found.extend(part for part in parts if part not in self._dropped)
        return found


class _LongTexts:
    """The same for texts of thousands of words, by a `WordTable`. Number 0 is a word that is dropped."""

    def __init__(self, terms: _Terms) -> None:
        # Numba takes half a second to import, and a command that reads a few keywords never needs it.
        from honeyguide.text.word_table import WordTable

        self._terms = terms
        self._table = WordTable()
        self._forget()

    def _forget(self) -> None:
        self._table.clear()
        self._known: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}
        self._several: list[tuple[str, ...]] = []

    def terms(self, data: bytes) -> list[str]:
        if len(self._table) >= CACHE_LIMIT:
            self._forget()
        found, new = self._table.scan(data)
        if len(new):
            self._learn(data, found, new)
        found = found[found != 0]
        several = np.flatnonzero(found >= _SEVERAL)
        if not len(several):
            return list(map(self._known.__getitem__, found.tolist()))
        places, numbers = several.tolist(), (found[several] - _SEVERAL).tolist()
        found[several] = 0
        terms = list(map(self._known.__getitem__, found.tolist()))
        for place, number in zip(reversed(places), reversed(numbers), strict=True):
            terms[place : place + 1] = self._several[number]
        return terms

    def _learn(self, data: bytes, found: NDArray[np.int32], new: NDArray[np.int64]) -> None:
        """Give numbers to the new words of a text, and put them where they belong."""
        numbers: dict[int, int] = {}
        for place, key, start, end in new.tolist():
            if key not in numbers:
                numbers[key] = self._number(self._terms.fresh(data[start:end]))
            found[place] = numbers[key]
        kept = new[:, 3] - new[:, 2] <= _REMEMBERED
        self._table.put(new[kept, 1], found[new[kept, 0]])

    def _number(self, found: str | tuple[str, ...]) -> int:
        if isinstance(found, tuple):
            if not found:
                return 0
            self._several.append(found)
            return _SEVERAL + len(self._several) - 1
        number = self._numbers.setdefault(found, len(self._known))
        if number == len(self._known):
            self._known.append(found)
        return number


class _Memory:
    """What analysers with equal options remember together: models of one crawl read the same pages."""

    def __init__(self, languages: tuple[str, ...], stem: bool, segmenter: Segmenter) -> None:
        empty: frozenset[str] = frozenset()
        dropped = empty.union(*(stop_words.BY_LANGUAGE.get(name, empty) for name in languages))
        stemmer = next((SNOWBALL[name] for name in languages if name in SNOWBALL), None)
        # The dict is the cache; the stemmer's own would only repeat it.
        stems = Stemmer.Stemmer(stemmer, 0).stemWord if stem and stemmer else None
        self.pieces = _Terms(dropped, stems, segmenter)
        self.long: _LongTexts | None = None
        self.last: tuple[str, list[str]] = ("", [])

    def terms(self, text: str) -> list[str]:
        """A page is often read twice in a row, by the page model and by the order: once will do."""
        if text is self.last[0]:
            return self.last[1].copy()
        data = text[:MAX_CHARACTERS].encode("utf-8", "surrogatepass").translate(_SPACED)
        if len(data) < LONG:
            return _flattened([each for each in map(self.pieces.__getitem__, data.split()) if each])
        if self.long is None:
            self.long = _LongTexts(self.pieces)
        found = self.long.terms(data)
        self.last = (text, found)
        return found.copy()


class _Memories(threading.local):
    """By options, and by thread: tables that grow are not safe to share."""

    def __init__(self) -> None:
        self.by_options: dict[tuple[tuple[str, ...], bool, Segmenter], _Memory] = {}


_MEMORIES = _Memories()


class Analyser:
    """Turns text into the terms that every model counts.

    Words of one letter, words of more than 40, numbers of more than 8 digits and stop words (English
    and Chinese have lists) are dropped; the rest is stemmed for the first of `languages` that has a
    stemmer. Text in scripts without spaces is cut by `segmenter`, whatever the languages; single
    characters are kept there, since many are words.

    Words once seen are remembered, up to a limit, for all analysers with the same options in a thread.

    Args:
        languages: ISO 639-1 codes; they choose stop words and stemmer.
        stem: False keeps words as they are.
        segmenter: `rjieba` or `bigrams` for Han text; None takes the best that is installed.

    Example:
        >>> Analyser().terms("The networks were trained with back-propagation in 1986.")
        ['network', 'train', 'back', 'propag', '1986']
        >>> Analyser(("zh",), segmenter="bigrams").terms("神经网络 CNN")
        ['神经', '经网', '网络', 'cnn']
    """

    def __init__(
        self, languages: Iterable[str] = ("en",), stem: bool = True, *, segmenter: Segmenter | None = None
    ) -> None:
        self.languages = tuple(languages)
        self.stem = stem
        self.segmenter: Segmenter = segmenter or best_segmenter()
        han_words(self.segmenter)  # says at once what is missing
        self._options = (self.languages, stem, self.segmenter)

    @property
    def _memory(self) -> _Memory:
        found = _MEMORIES.by_options.get(self._options)
        if found is None:
            found = _MEMORIES.by_options[self._options] = _Memory(*self._options)
        return found

    def terms(self, text: str) -> list[str]:
        """Terms of `text` in reading order, with repetitions."""
        return self._memory.terms(text)

    def remember(self, text: str, terms: list[str]) -> None:
        """Say what `terms` gives for this very text, as read from a cache: it will be asked for next."""
        self._memory.last = (text, terms)


def _flattened(found: list[str | tuple[str, ...]]) -> list[str]:
    if tuple not in set(map(type, found)):
        return cast("list[str]", found)
    return [term for each in found for term in ((each,) if isinstance(each, str) else each)]
