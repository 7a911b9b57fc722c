"""What to ask search engines: terms from a query log, a list or the topic, drawn by chance."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples
from honeyguide.text.background import background
from honeyguide.text.tokens import Analyser

MAX_LOG_BYTES: Final = 64 << 20
MAX_LINE: Final = 1000
MAX_QUERY: Final = 200
ENOUGH: Final = 12
"""Terms from keywords; with fewer, the example pages are asked for more."""
TELLING: Final = 3.0
"""A telling word is on so many times as many of the example pages as of other pages."""
MOST_OTHERS: Final = 300
"""Other pages that are looked at for that."""


def log_terms(path: Path, *, languages: Sequence[str] = ("en",)) -> tuple[str, ...]:
    """The different words of a query log, in order of first use, without stop words.

    One query a line; empty lines and lines without a word are passed over.

    Raises:
        TopicError: The file cannot be read, is too large, or holds no word.
    """
    try:
        if path.stat().st_size > MAX_LOG_BYTES:
            raise TopicError(f"query log {path} has more than {MAX_LOG_BYTES >> 20} MB; give a part of it")
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise TopicError(f"query log {path}: {error.strerror}; correct its path") from None
    found = different_words((line[:MAX_LINE] for line in text.splitlines()), languages)
    if not found:
        raise TopicError(f"query log {path} holds no word to search for; give one query a line")
    return found


def different_words(texts: Iterable[str], languages: Sequence[str]) -> tuple[str, ...]:
    """The different words of texts, in order, without stop words and unstemmed.

    Example:
        >>> different_words(["the barn owl", "", "Owl nests"], ("en",))
        ('barn', 'owl', 'nests')
    """
    analyser = Analyser(languages, stem=False)
    return tuple(dict.fromkeys(word for text in texts for word in analyser.terms(text)))


def topic_terms(examples: Examples) -> tuple[str, ...]:
    """Keywords as they are, then the labels of the taxonomy, then telling words of the example pages.

    The example pages fill up where the user gave fewer than a dozen keywords: the words with the highest
    `tf * idf` over all of them, one mention a page. Words of the site rather than of the topic (menus,
    footers) stand on other pages, too: where there are negatives or background texts, a word must be on at
    least `TELLING` times as large a share of the example pages as of those.
    """
    given = dict.fromkeys(" ".join(text.split()) for text in (*examples.keywords, *examples.taxonomy[-2:]))
    terms = [text for text in given if text]
    if len(terms) >= ENOUGH or not examples.positives:
        return tuple(terms)
    analyser = Analyser(examples.languages, stem=False)
    spread = _spread(examples.positives, analyser)
    others = (*examples.negatives, *examples.unlabelled)[:MOST_OTHERS]
    usual = _spread(others, analyser)
    common = background(Analyser(examples.languages))
    stem = Analyser(examples.languages).terms
    share = TELLING * len(examples.positives) / max(1, len(others))
    weight = {
        word: count * common.idf(next(iter(stem(word)), word))
        for word, count in spread.items()
        if count > 1 and count >= share * usual[word] and not word.isdigit()
    }
    best = sorted(weight.items(), key=lambda item: (-item[1], item[0]))
    known = {word.lower() for term in terms for word in term.split()}
    new = [word for word, _ in best if word not in known]
    return (*terms, *new[: ENOUGH - len(terms)])


def _spread(documents: Sequence[Document], analyser: Analyser) -> Counter[str]:
    """On how many documents each word is."""
    spread: Counter[str] = Counter()
    for document in documents:
        spread.update(set(analyser.terms(f"{document.title} {document.text}")))
    return spread


def draw_query(terms: Sequence[str], source: random.Random, *, most: int = 3) -> str:
    """One to `most` different terms by chance, as the GP study asks its engines.

    Example:
        >>> draw_query(["owl"], random.Random(1))
        'owl'
    """
    count = source.randint(1, min(most, len(terms)))
    return " ".join(source.sample(list(terms), count))[:MAX_QUERY]
