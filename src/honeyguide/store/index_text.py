"""How the full-text index sees words: pairs where no spaces are written, safe queries, snippets.

SQLite's `unicode61` splits at spaces, which Chinese, Japanese and Thai do not write. Runs of such characters
are therefore expanded to overlapping pairs before they are indexed (`神经网络` becomes `神经 经网 网络 络`),
and a run in a query becomes the phrase of its pairs, which matches exactly where the run occurs. The
trigram tokenizer was the alternative: it finds no word of two characters (most Chinese words), and makes
the index of Latin text about three times as large.

Letters that writers use for each other, or leave out, are made one: Greek accents, `ё`, the points of Arabic
and Hebrew. Latin accents are SQLite's to drop.
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
_CJK = (
    "\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese and Khmer letters with their vowel signs; not their digits and stops.
_SOUTH_EAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f"
    "\u1780-\u17d3\u17dc\u17dd"
)
_LATIN_LEADS = bytes((*range(0xC6), 0xE2))
"""Lead bytes of letters with accents, and of dashes and quotation marks."""
_FOLDED = re.compile(
    "[\u0370-\u03ff\u1f00-\u1fff\u0300-\u036f\u0401\u0451\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0622\u0623\u0625\u0640\u0649\u064b-\u065f\u0670\u0671\u06cc\u06d6-\u06dc\u06df-\u06e4"
    "\u06e7\u06e8\u06ea-\u06ed\ufe00-\ufe0f]+"
)
_SAME_LETTER = {0x0401: "\u0435", 0x0451: "\u0435", 0x0622: "\u0627", 0x0623: "\u0627", 0x0625: "\u0627"} | {
    0x0671: "\u0627", 0x0649: "\u064a", 0x06CC: "\u064a", 0x03C2: "\u03c3"
}  # fmt: skip
"""Russian yo, Arabic alef with what it carries, yeh without its dots, sigma at the end of a word."""
_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
# With the vowel signs and points that `\w` leaves out.
_WORD = re.compile(
    f"[\\w\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff{_SOUTH_EAST}]+"
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class Spelling(msgspec.Struct, frozen=True, eq=False):
    """How an index writes texts down. Its queries have to be written the same way."""

    runs: re.Pattern[str]
    """Finds characters between which no spaces are written."""
    pieces: re.Pattern[str]
    """Parts a text at them."""
    one_letter: bool
    """Whether letters that stand for each other are made one."""

    @classmethod
    def of(cls, characters: str, *, one_letter: bool) -> Spelling:
        """A spelling with these unspaced characters."""
        return cls(re.compile(f"[{characters}]+"), re.compile(f"([{characters}]+)"), one_letter)

    def written(self, text: str) -> str:
        """The text with one letter for those that stand for each other."""
        return _FOLDED.sub(_one_letters, text) if self.one_letter and not text.isascii() else text


TODAY = Spelling.of(_CJK + _SOUTH_EAST, one_letter=True)
BEFORE_3 = Spelling.of(_CJK, one_letter=False)
"""Of indexes of version 1 and 2."""


class Query(msgspec.Struct, frozen=True):
    """What a user typed, taken apart."""

    match: str
    """FTS5 expression; empty when nothing can match."""
    ranked: str = ""
    """Finds the same pages, and counts those that say all of it in their titles once more, and again where
    they say it as it was typed: BM25 alone takes a title for a few more words of the text, and a rare form
    somewhere in a long page for more than that."""
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


def expand(text: str, spelling: Spelling = TODAY) -> str:
    """Text for the index: runs of characters between which no spaces are written as overlapping pairs.

    The last character stands alone after its pair, so that a query of one character (a prefix query)
    finds it at the end of a run too.

    Example:
        >>> expand("用神经网络 learning")
        ' 用神 神经 经网 网络 络  learning'
    """
    # A look at the lead bytes is ten times as fast as the expressions.
    if text.isascii() or not text.encode("utf-8", "replace").translate(None, _LATIN_LEADS):
        return text
    return spelling.runs.sub(_pairs, spelling.written(text))


def parse_query(
    text: str, forms_of: Callable[[str], Forms] | None = None, spelling: Spelling = TODAY
) -> Query:
    """A user's words as an FTS5 expression that is never a syntax error.

    All words must occur; `"several words"` is a phrase, `-word` must not occur, `word*` is a prefix.
    Everything else, such as `AND`, `NEAR(` or `title:`, is taken as words.

    Args:
        text: What the user typed.
        forms_of: Gives the other forms that a bare word stands for, too; quoted words, prefixes and words
            that SQLite takes apart stand for themselves.
        spelling: Of the index that is asked.

    Example:
        >>> parse_query('neural "back propagation" -spam AND').match
        '("neural" AND "back propagation" AND "AND") NOT ("spam")'
        >>> parse_query('barn owls', lambda word: Forms(("owl",) if word == "owls" else ())).match
        '"barn" AND ("owls" OR "owl")'
    """
    wanted: list[tuple[str, str]] = []
    unwanted: list[str] = []
    as_typed: list[str] = []
    phrases: list[tuple[str, ...]] = []
    text = spelling.written(clean(unicodedata.normalize("NFC", text[:MAX_QUERY_CHARACTERS])))
    for count, match in enumerate(_TERM.finditer(text)):
        if count >= MAX_QUERY_TERMS:
            break
        minus, quoted, word = match.groups()
        term = quoted if quoted is not None else word
        expression = _expression(term, spelling, prefix=quoted is None and term.endswith("*"))
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
        as_typed.append(expression)
        phrases += (tuple(_words(fold(one))) for one in (term, *forms.common, *forms.rare))
    if not wanted:
        return Query(match="")
    match_all, wider = (" AND ".join(each) for each in zip(*wanted, strict=True))
    rest = f"({wider}) NOT ({' OR '.join((f'({match_all})', *unwanted))})" if wider != match_all else ""
    typed = " AND ".join(as_typed)
    in_titles = dict.fromkeys((match_all, typed))
    ranked = " OR ".join((f"({match_all})", *(f"(title : ({each}))" for each in in_titles)))
    if unwanted:
        match_all, ranked = (f"({each}) NOT ({' OR '.join(unwanted)})" for each in (match_all, ranked))
    return Query(match_all, ranked, tuple(phrases), rest)


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


def _expression(term: str, spelling: Spelling, *, prefix: bool) -> str:
    """One quoted FTS5 phrase for a word or phrase, its tokens in the order in which the index has them."""
    if not any(map(str.isalnum, term)):
        return ""
    pieces = [piece for piece in spelling.pieces.split(term) if any(map(str.isalnum, piece))]
    tokens: list[str] = []
    star = prefix
    for number, piece in enumerate(pieces, 1):
        if not spelling.runs.match(piece):
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
    return words[0] if len(words) == 1 and not term.endswith("*") and not TODAY.runs.search(term) else ""


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _one_letters(match: re.Match[str]) -> str:
    return "".join(map(_one_letter, match[0]))


@lru_cache(maxsize=4_096)
def _one_letter(character: str) -> str:
    """A Greek letter without accents, what a letter stands for, or nothing for points and accents alone."""
    code = ord(character)
    if code in _SAME_LETTER:
        return _SAME_LETTER[code]
    greek = 0x370 <= code < 0x400 or 0x1F00 <= code < 0x2000
    return _fold_character(character) if greek else ""


@lru_cache(maxsize=16_384)
def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFD", character)[0].lower().replace("\u03c2", "\u03c3")
    return folded if len(folded) == 1 else character


def _pattern(phrases: Iterable[tuple[str, ...]]) -> re.Pattern[str] | None:
    choices = []
    for words in filter(None, phrases):
        body = r"\W+".join(map(re.escape, words))
        before = "" if TODAY.runs.match(words[0][:1]) else r"(?<!\w)"
        after = "" if TODAY.runs.match(words[-1][-1:]) else r"(?!\w)"
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
