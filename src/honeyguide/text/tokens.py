"""From text to terms: lower case, words, stop words, stems."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Self, cast

import numpy as np
import Stemmer
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.text import stop_words
from honeyguide.text.segmentation import RUNS, UNSPACED, Segmenter, best_segmenter, bigrams, han_words
from honeyguide.text.word_table import ONE_OF_THEM, SPACED, UNSURE, Counting, Frequent, WordTable

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


_REMEMBERED: Final = 4 * MAX_WORD
"""Bytes of the longest piece that is remembered: longer ones are data, or Chinese, and never come again."""

LONG: Final = 1_000
"""Bytes from which on a text is read by machine code: calling it costs as much as looking up 50 words."""
_SEVERAL: Final = 1 << 30
_TOPICS: Final = 8
"""Sets of terms for which is remembered which words have one of them; a crawl asks for one or two."""


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


class _Mentions(dict[bytes, bool]):
    """Whether a piece between spaces has one of some terms; as `_Terms` has them."""

    def __init__(self, pieces: _Terms, terms: frozenset[str]) -> None:
        super().__init__()
        self._pieces = pieces
        self._terms = terms

    def __missing__(self, piece: bytes) -> bool:
        found = self._pieces[piece]
        known = found in self._terms if isinstance(found, str) else not self._terms.isdisjoint(found)
        if len(piece) <= _REMEMBERED:
            if len(self) >= CACHE_LIMIT:
                self.clear()
            self[piece] = known
        return known


_NOTHING: Final = np.zeros(0, np.uint8)


class Names(list[str]):
    """Terms by number. It only grows; a memory that starts afresh begins another one. Number 0 is no term."""

    def __deepcopy__(self, memo: object) -> Self:
        """What is copied with a model is that model, not the words it has met."""
        return self


class Numbered(NamedTuple):
    """Texts as numbers of their terms, in reading order."""

    names: Names
    texts: tuple[NDArray[np.int32], ...]


@compiled
def look_up(known: NDArray[np.int64], terms: NDArray[np.int32], found: NDArray[np.int64]) -> int:
    """Put the places of terms into `found`; the smallest of them, 0 where there are none.

    Args:
        known: Places by number.
        terms: Numbers.
        found: As long as `terms`.
    """
    found[:] = known[terms]
    return int(found.min(initial=np.iinfo(np.int64).max)) if len(found) else 0


class Places:
    """Where an analyser's terms are in a vocabulary of one's own; each term is looked up once.

    Args:
        vocabulary: Places by term. It may grow.

    Example:
        >>> analyser = Analyser(("en",))
        >>> read = analyser.numbered("owls at night")
        >>> Places({"night": 0, "owl": 1}).of(read.names, read.texts[0]).tolist()
        [1, 0]
    """

    ABSENT: Final = -1
    _NEW: Final = -2

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._names: Names | None = None
        self._known: NDArray[np.int64] = np.zeros(0, np.int64)

    def of(self, names: Names, terms: NDArray[np.int32]) -> NDArray[np.int64]:
        """The places of terms, by their numbers; `ABSENT` for those that the vocabulary does not have."""
        if names is not self._names:
            self._names, self._known = names, np.full(2 * len(names), self._NEW, np.int64)
        elif len(names) > len(self._known):
            more = np.full(2 * len(names) - len(self._known), self._NEW, np.int64)
            self._known = np.concatenate((self._known, more))
        found = np.empty(len(terms), np.int64)
        if look_up(self._known, terms, found) == self._NEW:
            for index in (found == self._NEW).nonzero()[0].tolist():
                number = int(terms[index])
                found[index] = self._known[number] = self._vocabulary.get(names[number], self.ABSENT)
        return found

    def taken_in(
        self, names: Names, terms: NDArray[np.int32], vocabulary: dict[str, int]
    ) -> NDArray[np.int64]:
        """The places of terms in the vocabulary, which gets those that it does not have.

        Args:
            names: What the numbers stand for.
            terms: Numbers, each once.
            vocabulary: The one that these places are of.
        """
        found = self.of(names, terms)
        if len(found) and found.min() < 0:
            for index in (found < 0).nonzero()[0].tolist():
                number = int(terms[index])
                found[index] = self._known[number] = vocabulary.setdefault(names[number], len(vocabulary))
        return found

    def by_number(self, names: Names) -> NDArray[np.int64]:
        """The places of all terms that were asked for with these names, by their numbers; less for others."""
        return self._known if names is self._names else np.zeros(0, np.int64)


class _Memory:
    """What analysers with equal options remember together: models of one crawl read the same pages."""

    def __init__(self, languages: tuple[str, ...], stem: bool, segmenter: Segmenter) -> None:
        empty: frozenset[str] = frozenset()
        dropped = empty.union(*(stop_words.BY_LANGUAGE.get(name, empty) for name in languages))
        stemmer = next((SNOWBALL[name] for name in languages if name in SNOWBALL), None)
        # The dict is the cache; the stemmer's own would only repeat it.
        stems = Stemmer.Stemmer(stemmer, 0).stemWord if stem and stemmer else None
        self.pieces = _Terms(dropped, stems, segmenter)
        self._mentions: dict[frozenset[str], _Mentions] = {}
        self._marked: dict[frozenset[str], tuple[Names, NDArray[np.uint8]]] = {}
        self._table = WordTable()
        self._counting = Counting()
        self._forget()
        self.last: tuple[str, list[str]] = ("", [])

    def _forget(self) -> None:
        self._table.clear()
        self.names = Names(("",))
        self._numbers: dict[str, int] = {"": 0}
        self._several: list[tuple[int, ...]] = []
        self._last: tuple[str, NDArray[np.int32]] = ("", np.zeros(0, np.int32))

    def terms(self, text: str) -> list[str]:
        """A page is often read twice in a row, by the page model and by the order: once will do."""
        if text is self.last[0]:
            return self.last[1].copy()
        data = _data(text)
        if len(data) < LONG:
            pieces = data.translate(SPACED).split()
            return _flattened([each for each in map(self.pieces.__getitem__, pieces) if each])
        self._make_room()
        found = list(map(self.names.__getitem__, self._long(text, data).tolist()))
        self.last = (text, found)
        return found.copy()

    def mentions(self, text: str, terms: frozenset[str]) -> bool:
        known = self._mentions.get(terms)
        if known is None:
            if len(self._mentions) >= _TOPICS:
                self._mentions.clear()
            known = self._mentions[terms] = _Mentions(self.pieces, terms)
        return any(map(known.__getitem__, _data(text).translate(SPACED).split()))

    def which_mention(self, texts: list[str], terms: frozenset[str]) -> list[bool]:
        names, marked = self._marked.get(terms, (None, _NOTHING))
        if names is not self.names or len(names) > len(marked):
            numbers = [self.number(term) for term in terms]
            marked = np.zeros(2 * len(self.names), np.uint8)
            marked[numbers] = 1
            if len(self._marked) >= _TOPICS:
                self._marked.clear()
            self._marked[terms] = self.names, marked
        found = self._table.mentions(texts, marked)
        if UNSURE not in found:
            return [one == ONE_OF_THEM for one in found]
        # A word that no page has had: those are remembered elsewhere.
        return [
            self.mentions(text, terms) if one == UNSURE else one == ONE_OF_THEM
            for text, one in zip(texts, found, strict=True)
        ]

    def numbered(self, texts: Sequence[str]) -> Numbered:
        self._make_room()
        found = []
        for text in texts:
            if text is self._last[0]:
                found.append(self._last[1])
                continue
            data = _data(text)
            if len(data) < LONG:
                pieces = data.translate(SPACED).split()
                terms = _flattened([each for each in map(self.pieces.__getitem__, pieces) if each])
                known = self._numbers
                numbers = [known[term] if term in known else self.number(term) for term in terms]
                found.append(np.array(numbers, np.int32))
            else:
                found.append(self._long(text, data))
        return Numbered(self.names, tuple(found))

    def number(self, term: str) -> int:
        """The number of a term, which gets one if it has none."""
        number = self._numbers.setdefault(term, len(self.names))
        if number == len(self.names):
            self.names.append(term)
        return number

    def counted(self, numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return self._counting.count(numbers, len(self.names))

    def frequent(self, texts: tuple[NDArray[np.int32], ...], most: int) -> Frequent:
        return self._counting.frequent(texts, len(self.names), most)

    def _make_room(self) -> None:
        if max(len(self._table), len(self.names)) >= CACHE_LIMIT:
            self._forget()

    def _long(self, text: str, data: bytes) -> NDArray[np.int32]:
        """Texts of thousands of words, by machine code."""
        if text is self._last[0]:
            return self._last[1]
        found, new = self._table.scan(data)
        kept = len(self._several)
        if len(new):
            kept = self._learn(data, found, new)
            found = found[found != 0]
        if self._several:  # only words beyond ASCII have several terms
            found = self._parted(found)
            del self._several[kept:]
        self._last = (text, found)
        return found

    def _parted(self, found: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers with all terms of those words that have several."""
        several = np.flatnonzero(found >= _SEVERAL)
        if not len(several):
            return found
        numbers: list[int] = found.tolist()
        for place in reversed(several.tolist()):
            numbers[place : place + 1] = self._several[numbers[place] - _SEVERAL]
        return np.array(numbers, np.int32)

    def _learn(self, data: bytes, found: NDArray[np.int32], new: NDArray[np.int64]) -> int:
        """Give numbers to the new words of a text; where the pieces begin that will not come again."""
        short = new[:, 3] - new[:, 2] <= _REMEMBERED
        self._name(data, found, new[short])
        self._table.put(new[short, 1], found[new[short, 0]])
        kept = len(self._several)
        self._name(data, found, new[~short])
        return kept

    def _name(self, data: bytes, found: NDArray[np.int32], new: NDArray[np.int64]) -> None:
        numbers: dict[int, int] = {}
        for place, key, start, end in new.tolist():
            if key not in numbers:
                numbers[key] = self._piece(self.pieces.fresh(data[start:end].translate(SPACED)))
            found[place] = numbers[key]

    def _piece(self, found: str | tuple[str, ...]) -> int:
        if isinstance(found, str):
            return self.number(found)
        if not found:
            return 0
        self._several.append(tuple(map(self.number, found)))
        return _SEVERAL + len(self._several) - 1


def _data(text: str) -> bytes:
    return text[:MAX_CHARACTERS].encode("utf-8", "surrogatepass")


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

    def mentions(self, text: str, terms: frozenset[str]) -> bool:
        """Whether a short text has one of some terms: quicker than to ask for all of its own.

        Example:
            >>> Analyser().mentions("Networks of roads", frozenset(("network",)))
            True
        """
        return self._memory.mentions(text, terms)

    def which_mention(self, texts: Sequence[str], terms: frozenset[str]) -> list[bool]:
        """The same of many texts: quicker, where most of their words were met before.

        Example:
            >>> Analyser().which_mention(["Networks of roads", "tax law"], frozenset(("network",)))
            [True, False]
        """
        return self._memory.which_mention(list(texts), terms)

    def numbered(self, *texts: str) -> Numbered:
        """The terms of texts as numbers: half the work, where terms are only counted.

        Example:
            >>> names, (title, text) = Analyser().numbered("Owls", "An owl hunts other owls.")
            >>> [names[number] for number in text], names[title[0]]
            (['owl', 'hunt', 'owl'], 'owl')
        """
        return self._memory.numbered(texts)

    def number(self, term: str) -> int:
        """The number of a term, good until `numbered` gives other names."""
        return self._memory.number(term)

    def counted(self, numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Of numbers of terms, each once, in the order of first occurrences, and how often it occurs."""
        return self._memory.counted(numbers)

    def frequent(self, texts: tuple[NDArray[np.int32], ...], most: int) -> Frequent:
        """Of the terms of texts, given by their numbers, those that occur most often, `most` at most."""
        return self._memory.frequent(texts, most)

    def remember(self, text: str, terms: list[str]) -> None:
        """Say what `terms` gives for this very text, as read from a cache: it will be asked for next."""
        self._memory.last = (text, terms)


def _flattened(found: list[str | tuple[str, ...]]) -> list[str]:
    if tuple not in set(map(type, found)):
        return cast("list[str]", found)
    return [term for each in found for term in ((each,) if isinstance(each, str) else each)]
