"""The language of a page, by CLD2 on a sample of its text.

A thousand characters are enough for a reliable answer (some 30 µs). What the page says of itself
(`<html lang>`) is a hint, and the answer when the text is too short to tell.
"""

from __future__ import annotations

import re
from typing import Final

import pycld2

SAMPLE: Final = 1_000
"""Characters looked at."""
MINIMUM: Final = 24
"""Bytes of text below which the page's own word is taken."""

_KNOWN: Final = frozenset(code for _, code in pycld2.LANGUAGES)
_RENAMED: Final = {"iw": "he", "jw": "jv", "in": "id", "mo": "ro", "sh": "sr", "nb": "no"}
_UNPRINTABLE = re.compile(r"[^\S ]|[^\x20-\uD7FF\uE000-\uFDCF\uFDF0-\uFFFD\U00010000-\U0001FFFD]|[\x7f-\x9f]")
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]")
_DECLARED = re.compile(r"\s*([a-zA-Z]{2})(?:[-_][a-zA-Z0-9-]*)?\s*$")


def declared_language(attribute: str) -> str:
    """ISO 639-1 code in a `lang` attribute; empty when there is none.

    Example:
        >>> declared_language("pt-BR")
        'pt'
    """
    match = _DECLARED.match(attribute[:64])
    return _RENAMED.get(match[1].lower(), match[1].lower()) if match else ""


def language_of(text: str, *, hint: str = "") -> str:
    """ISO 639-1 code of the language of a text; empty when unknown.

    Args:
        text: Main text, or all text, of the page.
        hint: The page's `lang` attribute.

    Example:
        >>> language_of("Der schnelle braune Fuchs springt über den faulen Hund und läuft davon.")
        'de'
        >>> language_of("", hint="fr-CA")
        'fr'
    """
    declared = declared_language(hint)
    start = text[:SAMPLE].replace("\n", " ")
    sample = start.encode("utf-8", "ignore")
    # What can be printed has nothing to be taken out, which is quicker to see, four-byte characters aside.
    if not start.isprintable() or (not start.isascii() and _FOUR_BYTES.search(sample)):
        sample = _UNPRINTABLE.sub(" ", start).encode("utf-8", "ignore")
    if len(sample) < MINIMUM:
        return declared
    try:
        reliable, _, details = pycld2.detect(sample, hintLanguage=declared if declared in _KNOWN else None)
    except pycld2.error:
        return declared
    code: str = details[0][1].partition("-")[0]
    if code == "un" or not reliable:
        return declared
    return _RENAMED.get(code, code) if len(code) == 2 else ""
