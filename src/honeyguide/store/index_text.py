"""How the full-text index sees words: CJK bigrams, safe queries, snippets.

SQLite's `unicode61` splits at spaces, which Chinese and Japanese do not write. Runs of such characters
are therefore expanded to overlapping pairs before they are indexed (`神经网络` becomes `神经 经网 网络 络`),
and a run in a query becomes the phrase of its pairs, which matches exactly where the run occurs. The
trigram tokenizer was the alternative: it finds no word of two characters (most Chinese words), and makes
the index of Latin text about three times as large.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

import msgspec

from honeyguide.text.stop_words import ENGLISH

MAX_QUERY_CHARACTERS = 1_000
MAX_QUERY_TERMS = 32
# Han with its extensions, Hiragana, Katakana, Bopomofo, Hangul syllables.
_CJK_RUN = re.compile(
    "[\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LEADS_BELOW_CJK = bytes(range(0xE3))
_PIECES = re.compile(f"({_CJK_RUN.pattern})")
_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class Query(msgspec.Struct, frozen=True):
    """What a user typed, taken apart."""

    match: str
    """FTS5 expression; empty when nothing can match."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """The wanted words and phrases, as folded words, for snippets."""
    rest: str = ""
    """Finds the pages that say it in rare forms only, which come after all others; empty when none do."""


class Forms(msgspec.Struct, frozen=True):
    """Other forms of a word (`word_forms`)."""

    common: tuple[str, ...] = ()
    """They count as much as the word itself."""
    rare: tuple[str, ...] = ()


def clean(text: str) -> str:
    """Text without control characters and lone surrogates."""
    return text if text.isprintable() else _CONTROLS.sub(" ", text)


def storable(text: str) -> str:
    """Text that SQLite takes: no NUL, no lone surrogates. Quicker than `clean` for long texts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")


def expand(text: str) -> str:
    """Text for the index: runs of CJK characters as overlapping pairs.

    The last character stands alone after its pair, so that a query of one character (a prefix query)
    finds it at the end of a run too.

    Example:
        >>> expand("用神经网络 learning")
        ' 用神 神经 经网 网络 络  learning'
    """
    # Lead bytes from E3 on: the first look is ten times as fast as the expression.
    if text.isascii() or not text.encode("utf-8", "replace").translate(None, _LEADS_BELOW_CJK):
        return text
    return _CJK_RUN.sub(_pairs, text)


def parse_query(text: str, forms_of: Callable[[str], Forms] | None = None) -> Query:
    """A user's words as an FTS5 expression that is never a syntax error.

    All words must occur; `"several words"` is a phrase, `-word` must not occur, `word*` is a prefix.
    Everything else, such as `AND`, `NEAR(` or `title:`, is taken as words.

    Args:
        text: What the user typed.
        forms_of: Gives the other forms that a bare word stands for, too; quoted words, prefixes and words
            that SQLite takes apart stand for themselves.

    Example:
        >>> parse_query('neural "back propagation" -spam AND').match
        '("neural" AND "back propagation" AND "AND") NOT ("spam")'
        >>> parse_query('barn owls', lambda word: Forms(("owl",) if word == "owls" else ())).match
        '"barn" AND ("owls" OR "owl")'
    """
    wanted: list[tuple[str, str]] = []
    unwanted: list[str] = []
    phrases: list[tuple[str, ...]] = []
    for count, match in enumerate(
        _TERM.finditer(clean(unicodedata.normalize("NFC", text[:MAX_QUERY_CHARACTERS])))
    ):
        if count >= MAX_QUERY_TERMS:
            break
        minus, quoted, word = match.groups()
        term = quoted if quoted is not None else word
        expression = _expression(term, prefix=quoted is None and term.endswith("*"))
        if not expression:
            continue
        forms = Forms()
        if forms_of is not None and quoted is None and (bare := _bare(term)):
            forms = forms_of(bare)
        common = _any([expression, *map(_quoted, forms.common)])
        every = _any([expression, *map(_quoted, (*forms.common, *forms.rare))])
        if minus:
            unwanted.append(every)
            continue
        wanted.append((common, every))
        phrases += (tuple(_words(fold(one))) for one in (term, *forms.common, *forms.rare))
    if not wanted:
        return Query(match="")
    match_all, wider = (" AND ".join(each) for each in zip(*wanted, strict=True))
    rest = f"({wider}) NOT ({' OR '.join((f'({match_all})', *unwanted))})" if wider != match_all else ""
    if unwanted:
        match_all = f"({match_all}) NOT ({' OR '.join(unwanted)})"
    return Query(match_all, tuple(phrases), rest)


def as_indexed(word: str) -> str:
    """A word as SQLite's `unicode61` keeps it: in lower case, Latin letters without their accents.

    Example:
        >>> as_indexed("Häuser"), as_indexed("Йод")
        ('hauser', 'йод')
    """
    folded = (_fold_character(one) if _is_latin(one) else one.lower() for one in word)
    return "".join(folded).replace("\u03c2", "\u03c3")  # the same letter at the end of a word


def _is_latin(character: str) -> bool:
    return character < "\u0250" or "\u1e00" <= character < "\u1f00"


def fold(text: str) -> str:
    """Lower case without diacritics, character by character, so that positions stay the same."""
    return text.lower() if text.isascii() else "".join(map(_fold_character, text))


def snippet(
    text: str, phrases: Iterable[tuple[str, ...]], *, markers: tuple[str, str] = ("[", "]"), width: int = 220
) -> str:
    """The part of a text with most of the phrases, each occurrence between markers.

    Words such as "the" choose no part and are not marked, unless nothing else was asked for. Marker
    characters that occur in the text itself are taken out, so a page cannot forge them.
    """
    for marker in filter(None, markers):
        text = text.replace(marker, "")
    found = occurrences(text, phrases)
    if not found:
        return clean(text[:width]).rstrip() + ("…" if len(text) > width else "")
    start, end = _window(text, found, width)
    parts = ["…" if start else ""]
    place = start
    for first, last in found:
        if first >= place and last <= end:
            parts += (clean(text[place:first]), markers[0], clean(text[first:last]), markers[1])
            place = last
    parts += (clean(text[place:end]), "…" if end < len(text) else "")
    return "".join(parts).strip()


def occurrences(text: str, phrases: Iterable[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Where the phrases of a query are in a text; words such as "the" only if nothing else was asked for.

    Example:
        >>> occurrences("The Café of owls.", [("cafe",), ("the",)])
        [(4, 8)]
    """
    phrases = list(phrases)
    pattern = _pattern([words for words in phrases if not ENGLISH.issuperset(words)] or phrases)
    return _find(pattern, text) if pattern else []


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(map(str.__add__, run, (*run[1:], '')))} "


def _expression(term: str, *, prefix: bool) -> str:
    """One quoted FTS5 phrase for a word or phrase, its tokens in the order in which the index has them."""
    if not any(map(str.isalnum, term)):
        return ""
    pieces = [piece for piece in _PIECES.split(term) if any(map(str.isalnum, piece))]
    tokens: list[str] = []
    star = prefix
    for number, piece in enumerate(pieces, 1):
        if not _CJK_RUN.match(piece):
            tokens.append(piece)
            continue
        tokens += (first + second for first, second in itertools.pairwise(piece))
        at_end = number == len(pieces)
        if not at_end or len(piece) == 1:
            tokens.append(piece[-1])
        if at_end:
            # One character is the start of a pair; of more, the text may go on after the last pair.
            star = len(piece) == 1
    return f'"{" ".join(tokens)}"{"*" if star else ""}'


def _quoted(word: str) -> str:
    return f'"{word}"'


def _any(expressions: list[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"({' OR '.join(expressions)})"


def _bare(term: str) -> str:
    """The word, where a term is a single one with nothing but punctuation around it; else nothing."""
    words = _words(term)
    return words[0] if len(words) == 1 and not term.endswith("*") and not _CJK_RUN.search(term) else ""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@lru_cache(maxsize=16_384)
def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFD", character)[0].lower().replace("\u03c2", "\u03c3")
    return folded if len(folded) == 1 else character


def _pattern(phrases: Iterable[tuple[str, ...]]) -> re.Pattern[str] | None:
    choices = []
    for words in filter(None, phrases):
        body = r"\W+".join(map(re.escape, words))
        before = "" if _CJK_RUN.match(words[0][:1]) else r"(?<!\w)"
        after = "" if _CJK_RUN.match(words[-1][-1:]) else r"(?!\w)"
        choices.append(f"{before}{body}{after}")
    return re.compile("|".join(sorted(choices, key=len, reverse=True))) if choices else None


def _find(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Where the phrases are; diacritics are folded only if they are nowhere without, as folding is slow."""
    lower = text.lower()
    found = [match.span() for match in pattern.finditer(lower)] if len(lower) == len(text) else []
    return found or [match.span() for match in pattern.finditer(fold(text))]


def _window(text: str, found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """The stretch of about `width` characters with most different matches, the earliest among equals."""
    folded = [text[first:last].lower() for first, last in found]
    best, best_score, last_index = 0, 0, 0
    for index, (first, _) in enumerate(found):
        last_index = max(last_index, index)
        while last_index + 1 < len(found) and found[last_index + 1][1] <= first + width:
            last_index += 1
        score = 10 * len(set(folded[index : last_index + 1][:50])) + min(last_index - index, 9)
        if score > best_score:
            best, best_score = index, score
    start = max(0, found[best][0] - width // 4)
    end = max(min(len(text), start + width), found[best][1])
    if start:
        space = text.find(" ", start, found[best][0])
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", found[best][1], end)
        end = space if space >= 0 else end
    return start, end
