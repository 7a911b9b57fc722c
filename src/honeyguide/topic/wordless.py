"""Keywords of which models count nothing, or less than they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from honeyguide.text.tokens import Analyser, words

NOT_COUNTED = 'single letters, signs, words such as "the" and long numbers are not counted'
_NOT_WORDS = re.compile(r"[\W_]+")


def wordless(keywords: Iterable[str], languages: Sequence[str]) -> tuple[str, ...]:
    """The keywords that hold no word that models count.

    Example:
        >>> wordless(["C++", "barn owl", "R&D"], ("en",))
        ('C++', 'R&D')
    """
    analyser = Analyser(languages)
    return tuple(keyword for keyword in keywords if not analyser.terms(keyword))


def lessened(keywords: Iterable[str], languages: Sequence[str]) -> dict[str, str]:
    """The keywords that lose a sign or a capital letter which makes their meaning, and the words that remain.

    Example:
        >>> lessened([".NET", "C# programming", "vitamin C", "barn owl", "a cappella", "C++"], ("en",))
        {'.NET': 'net', 'C# programming': 'programming', 'vitamin C': 'vitamin'}
    """
    analyser = Analyser(languages)
    remain = {
        keyword: " ".join(word for word in words(keyword) if analyser.terms(word))
        for keyword in keywords
        if any(map(_loses, keyword.split()))
    }
    return {keyword: rest for keyword, rest in remain.items() if rest}


def _loses(word: str) -> bool:
    letters = _NOT_WORDS.sub("", word)
    signs = word.startswith(".") or word.endswith(("+", "#"))
    return bool(letters) and (signs or (len(letters) == 1 and letters.isupper()))


def nothing_to_look_for(keywords: Sequence[str]) -> str:
    """What to tell whoever gave no keywords, or only such.

    Example:
        >>> nothing_to_look_for([])
        'the topic has no word to look for; give keywords or example pages'
    """
    if not keywords:
        return "the topic has no word to look for; give keywords or example pages"
    named = ", ".join(repr(keyword) for keyword in keywords[:5])
    return f"no word in the keywords ({named}) is counted; give longer ones or example pages ({NOT_COUNTED})"
