"""Other forms of a searched word: whoever looks for `owls` wants the pages that say "owl".

The index holds words as pages write them, so that phrases are found exactly. What a bare word of a query also
stands for is looked up when it is asked: of the words that the index has, those with the same stem in one of
the languages of its pages (`fts5vocab`, a range of a few hundred words). Stemming the index instead would
take the exact phrases away, ask for one language for all pages, and need every old collection made again.
"""

from __future__ import annotations

import re
import sqlite3
from itertools import takewhile
from typing import Final

import Stemmer

from honeyguide.store.index_text import Forms, as_indexed
from honeyguide.text.tokens import MAX_WORD, SNOWBALL

MOST_FORMS: Final = 16
"""Forms of one word, the most frequent ones; words of languages with many endings have a dozen in use."""
_COMMON: Final = 0.2
"""A form is common that has so large a share of the most frequent one's pages. BM25 gives a rare word a high
weight, and the one page that says "childrens" is not the best for whoever looks for `children`."""
_LOOKED_AT: Final = 20_000
"""Words of the index that one word of a query may make us look at: a hostile site can put in many."""
_SAMPLE: Final = 1_000
"""Pages at each end of the index whose languages are asked for."""
_SHARE: Final = 50
"""A language that fewer than one page in so many is written in lends no endings."""
_OWN: Final = 0.2
"""A word belongs to a language that so large a share of its pages is written in. In a collection in English
and French, `news` takes no French endings (they would make it "new"), though some French pages have it."""
_NO_LETTER = re.compile(r"[\d_]")
_LAST: Final = "\U0010ffff"
_STEMMERS: Final = SNOWBALL | {"en": "english"}
"""English by Snowball's second stemmer, which leaves `news` and `new`, or `organ` and `organise`, apart."""
_ARTICLES: Final = ("ال", "وال", "بال", "كال", "فال", "لل", "و")
"""What Arabic writes in front of a noun, in one word with it."""


class WordForms:
    """The forms of words that one index has.

    Args:
        connection: To the index.
        tables: Its full-text tables; the first is of the table `page`.
    """

    def __init__(self, connection: sqlite3.Connection, tables: tuple[str, ...]) -> None:
        self._connection = connection
        self._newest = tables[0]
        self._vocabularies = tuple(f"temp.{table}_vocabulary" for table in tables)
        for name, table in zip(self._vocabularies, tables, strict=True):
            connection.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab(main, {table}, row)"
            )
        self._stemmers = {name: Stemmer.Stemmer(_STEMMERS[name], 0) for name in self._languages()}

    def of(self, word: str) -> Forms:
        """The other forms of a word that the index has, as it writes them.

        Only of words of letters that have three of them at least: others have no endings.
        """
        plain = as_indexed(word)
        if _NO_LETTER.search(plain) or not 3 <= len(plain) <= MAX_WORD:
            return Forms()
        found = {plain: 0}
        for language in self._languages_of(plain):
            stemmer = self._stemmers[language]
            stem = stemmer.stemWord(plain)
            for beginning in _beginnings(plain, stem, language):
                begin = self._words_that_begin(beginning)
                found |= {term: pages for term, pages in begin if stemmer.stemWord(term) == stem}
        enough = max(found.values()) * _COMMON
        others = sorted(found.keys() - {plain}, key=lambda term: (-found[term], term))[:MOST_FORMS]
        common = tuple(term for term in others if found[term] >= enough)
        return Forms(common, tuple(others[len(common) :]))

    def _words_that_begin(self, beginning: str) -> list[tuple[str, int]]:
        return [
            row
            for name in self._vocabularies
            for row in self._connection.execute(
                f"SELECT term, doc FROM {name} WHERE term >= ? AND term < ? LIMIT {_LOOKED_AT}",  # noqa: S608
                (beginning, beginning + _LAST),
            )
        ]

    def _languages_of(self, word: str) -> tuple[str, ...]:
        """The languages that a word belongs to, by the pages that have it; all, where that does not tell."""
        if len(self._stemmers) == 1:
            return tuple(self._stemmers)
        pages = dict(
            self._connection.execute(
                f"SELECT p.language, count(*) FROM (SELECT rowid AS row FROM {self._newest}"  # noqa: S608
                f" WHERE {self._newest} MATCH ? LIMIT {_SAMPLE}) JOIN page p USING (row) GROUP BY p.language",
                (f'"{word}"',),
            )
        )
        known = {name: pages[name] for name in self._stemmers if name in pages}
        least = sum(known.values()) * _OWN
        return tuple(name for name, count in known.items() if count >= least) or tuple(self._stemmers)

    def _languages(self) -> tuple[str, ...]:
        """Languages with a stemmer that pages are written in; English where none is known."""
        ends = " UNION ALL ".join(
            f"SELECT * FROM (SELECT language FROM page ORDER BY row {order} LIMIT {_SAMPLE})"  # noqa: S608
            for order in ("ASC", "DESC")
        )
        counted = dict(
            self._connection.execute(f"SELECT language, count(*) FROM ({ends}) GROUP BY language")  # noqa: S608
        )
        known = {name: pages for name, pages in counted.items() if name in _STEMMERS}
        least = sum(known.values()) / _SHARE
        return tuple(sorted(name for name, pages in known.items() if pages >= least)) or ("en",)


def _beginnings(word: str, stem: str, language: str) -> tuple[str, ...]:
    """How words with this stem may begin. A stemmer changes the last letter (`berri` of `berry`)."""
    shared = "".join(
        one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False))
    )
    if language == "ar":
        core = stem[: max(2, len(stem) - 1)]
        return (core, *(f"{article}{core}" for article in _ARTICLES))
    return (shared[:-1] if len(shared) > 2 else shared,) if len(shared) > 1 else ()
