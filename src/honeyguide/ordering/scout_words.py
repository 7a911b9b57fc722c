"""Words as entries of a table, and which of them tell the best pages of a crawl from the rest."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.model import UrlId
from honeyguide.ordering.scout_evidence import TABLE, WAITING, WORDS, Floats, Ints, Urls
from honeyguide.text.tokens import Analyser, Names, Numbered

TERMS: Final = 150
"""Words that make up the picture of a good page."""
ANCHOR: Final = 200
"""Characters of an anchor that are looked at."""
BORDER: Final = "xqzxjqzx"
"""A word that no text has."""
TEXT_TERMS: Final = 2_000
"""Terms of a page that are looked at."""
_TOKEN: Final = re.compile(rb"[a-z0-9\x80-\xff]{2,}")


def entry(text: str | bytes) -> int:
    """Where a text is counted; equal on every machine."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return zlib.crc32(data) & (TABLE - 1)


def padded(places: list[int]) -> list[int]:
    """Eight entries, -1 where there are no more."""
    return (places + [-1] * WORDS)[:WORDS]


def url_words(url: str) -> list[bytes]:
    """Words of the path and query of an address.

    Letters beyond ASCII all count as one kind; addresses have few of them, and all the same ones.

    Example:
        >>> url_words("https://a.example/docs/birds/snowy-owl.html")
        [b'docs', b'birds', b'snowy', b'owl', b'html']
    """
    data = url.encode("utf-8", "surrogatepass")
    path, _, query = data.partition(b"://")[2].partition(b"/")[2].partition(b"?")
    if b"/" not in data.partition(b"://")[2].partition(b"?")[0]:
        path, query = b"", data.partition(b"://")[2].partition(b"?")[2]
    return [
        word for part in (path[-400:], query[:100]) for word in _TOKEN.findall(unquote_to_bytes(part).lower())
    ]


def host_and_folders(url: str) -> tuple[str, str, str]:
    """The host of an address, the host with the folder of its path, and with the one that lies in.

    Example:
        >>> host_and_folders("https://a.example/docs/birds/owl.html")
        ('a.example', 'a.example/docs/birds', 'a.example/docs')
    """
    rest = url.partition("://")[2]
    place = rest.partition("?")[0]
    folder = place.rpartition("/")[0] or place
    return place.partition("/")[0], folder, folder.rpartition("/")[0] or folder


@compiled
def enter(urls: Urls, addresses: list[str], ids: list[UrlId], first: int, size: int) -> None:
    """Make new entries of URLs that wait, one behind the other.

    Args:
        urls: All that are held.
        addresses: Of the new ones.
        ids: Theirs.
        first: The entry of the first of them.
        size: `TABLE`, of which the twin in C has to be told.
    """
    del size
    new = slice(first, first + len(addresses))
    if first < 0 or new.stop > len(urls.id) or len(ids) != len(addresses):
        raise ValueError("there is no room for so many addresses")
    urls.id[new] = ids
    urls.state[new] = WAITING
    urls.told[new] = 0.0
    urls.links[new] = 0
    urls.page[new] = -1
    urls.topic[new] = 0.0
    urls.anchor_words[new] = urls.list_words[new] = -1
    for at, url in enumerate(addresses, first):
        urls.host[at], urls.folder[at], urls.above[at] = map(entry, host_and_folders(url))
        # The last ones tell most. Two words may share an entry: it counts once.
        urls.url_words[at] = padded(list(dict.fromkeys(map(entry, url_words(url))))[-WORDS:])


@compiled
def read_site_paths(host: str, paths: list[str], entries: Ints, size: int) -> None:
    """Entries of tag paths on a site, in tables of `size`."""
    del size  # `TABLE`; the twin in C is told.
    entries[:] = [entry(f"{host} {path}") for path in paths]


@compiled
def read_anchors(terms: list[str], border: str, words: Ints, size: int) -> int:
    """Entries of the terms of texts that `border` keeps apart, a row a text; how many texts there were."""
    del size  # `TABLE`; the twin in C is told.
    words[:] = -1
    row = known = 0
    for term in terms:
        if term == border:
            row, known = row + 1, 0
        elif row < len(words) and known < WORDS:
            place = entry(term)
            if place not in words[row, :known]:
                words[row, known] = place
                known += 1
    return row + 1


class Vectors(NamedTuple):
    """Sums of the pages seen so far, by entry."""

    good: Floats
    rest: Floats
    pages: Floats
    """How many pages had a word."""
    picture: Floats
    """The difference of the two centroids, of length one."""
    totals: NDArray[np.float64]
    """Worth, what is missing to it, and number of pages."""


@compiled
def take_in_page(numbers: Ints, places: Ints, worth: float, vectors: Vectors, often: Ints) -> float:
    """Add a page, given by numbers of its terms, to the sums; its likeness to the picture.

    IndexError where a term has no entry: nothing was added then.

    Args:
        numbers: Of the terms that are looked at.
        places: Entries of the terms, by their numbers; -1 for none.
        worth: Of the page.
        vectors: The sums.
        often: A counter for each entry, for C; all 0 before and after.
    """
    del often
    if not len(numbers):
        return 0.0
    if places[numbers].min() < 0:
        raise IndexError("a term has no entry")
    counts: dict[int, int] = {}
    for place in places[numbers].tolist():
        counts[place] = counts.get(place, 0) + 1
    return _added(np.fromiter(counts, np.int64), list(counts.values()), worth, vectors)


def _added(places: NDArray[np.int64], often: list[int], worth: float, vectors: Vectors) -> float:
    """Add a page by its different entries. Everything is rounded and added up as in C, to the last bit."""
    vectors.pages[places] += 1.0
    vectors.totals[2] += 1.0
    rare = (vectors.totals[2] / (1.0 + vectors.pages[places].astype(np.float64))).tolist()
    parts = [(1.0 + math.log(n)) * math.log1p(each) for n, each in zip(often, rare, strict=True)]
    weights = np.array(parts)
    weights /= max(1e-9, math.sqrt(float(np.cumsum(weights * weights)[-1])))
    vectors.good[places] += (worth * weights).astype(np.float32)
    vectors.rest[places] += ((1.0 - worth) * weights).astype(np.float32)
    vectors.totals[:2] += worth, 1.0 - worth
    return float(np.cumsum(weights * vectors.picture[places])[-1])


class Likeness:
    """Rocchio's feedback: the words that pages of high worth have and others lack.

    Sums of tf-idf vectors, weighed by worth and by what is missing to it, make two centroids; their
    difference, cut to its `TERMS` largest parts, is what a good page looks like.

    References:
        J. J. Rocchio, "Relevance feedback in information retrieval", 1971.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self._analyser = Analyser(languages)
        self._border = "".join(self._analyser.terms(BORDER))
        good, rest, pages, picture = np.zeros((4, TABLE), np.float32)
        self._vectors = Vectors(good, rest, pages, picture, np.zeros(3))
        self._often = np.zeros(TABLE, np.int32)
        self._names: Names | None = None
        self._places: Ints = np.zeros(0, np.int32)

    @property
    def vectors(self) -> Vectors:
        """Sums of the pages seen so far."""
        return self._vectors

    def anchor_entries(self, texts: Sequence[str]) -> Ints:
        """Entries of the words of anchors, a row of at most eight each, -1 where there are no more."""
        words = np.empty((len(texts), WORDS), np.int32)
        # All in one go: the analyser takes its time to begin.
        terms = self._analyser.terms(f" {BORDER} ".join(text[:ANCHOR] for text in texts))
        if read_anchors(terms, self._border, words, TABLE) != len(texts):  # an anchor has that very word
            for row, text in enumerate(texts):
                read_anchors(self._analyser.terms(text[:ANCHOR]), "", words[row : row + 1], TABLE)
        return words

    def read(self, text: str) -> Numbered:
        """A page by its words."""
        return self._analyser.numbered(text)

    def learn(self, read: Numbered, worth: float) -> float:
        """Take in a page; its likeness to the picture as it is now."""
        names, (numbers,) = read
        numbers = numbers[:TEXT_TERMS]
        if names is self._names:
            try:
                return take_in_page(numbers, self._places, worth, self._vectors, self._often)
            except IndexError:  # a term that no page has had
                pass
        return take_in_page(numbers, self._places_of(names, numbers), worth, self._vectors, self._often)

    def _places_of(self, names: Names, numbers: Ints) -> Ints:
        """Entries by numbers of terms, all of `numbers` filled in; -1 for terms not met yet."""
        if names is not self._names:
            self._names, self._places = names, np.full(2 * len(names), -1, np.int32)
        elif len(names) > len(self._places):
            more = np.full(2 * len(names) - len(self._places), -1, np.int32)
            self._places = np.concatenate((self._places, more))
        places = self._places
        for number in numbers[places[numbers] < 0].tolist():
            if places[number] < 0:
                places[number] = entry(names[number])
        return places

    def draw(self) -> Floats:
        """Draw the picture again; what each word says for likeness (its part of it times its idf)."""
        known = self._vectors
        good, rest, pages = known.totals
        if good > 0.0 and rest > 0.0:
            difference = known.good / good - known.rest / rest
            best = np.argpartition(-difference, TERMS)[:TERMS]
            parts = np.maximum(difference[best], 0.0)
            length = float(np.sqrt(parts @ parts))
            known.picture[:] = 0.0
            known.picture[best] = parts / length if length > 0.0 else 0.0
        found = np.zeros(TABLE, np.float32)
        seen = np.flatnonzero(known.picture != 0.0)
        found[seen] = known.picture[seen] * np.log1p(pages / (1.0 + known.pages[seen]))
        return found

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything learned."""
        return {f"likeness_{name}": each for name, each in self._vectors._asdict().items()}

    def take(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Take back what `arrays` gave; ValueError where that cannot be."""
        given = {name: np.asarray(arrays[f"likeness_{name}"]) for name in self._vectors._fields}
        for name, each in self._vectors._asdict().items():
            if given[name].shape != each.shape or not np.isfinite(given[name].astype(np.float64)).all():
                raise ValueError(f"likeness_{name} is no array of {each.shape[0]} numbers")
        for name, each in self._vectors._asdict().items():
            each[:] = given[name]
