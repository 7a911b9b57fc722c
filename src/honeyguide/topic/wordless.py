"""Keywords by which nothing can be judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from honeyguide.text.tokens import Analyser

NOT_COUNTED = 'single letters, signs, words such as "the" and long numbers are not counted'


def wordless(keywords: Iterable[str], languages: Sequence[str]) -> tuple[str, ...]:
    """The keywords that hold no word that models count.

    Example:
        >>> wordless(["C++", "barn owl", "R&D"], ("en",))
        ('C++', 'R&D')
    """
    analyser = Analyser(languages)
    return tuple(keyword for keyword in keywords if not analyser.terms(keyword))


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
