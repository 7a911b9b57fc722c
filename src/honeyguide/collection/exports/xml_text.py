"""Text from the web in XML files: what XML 1.0 cannot hold is replaced, the rest escaped."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

# Control characters but tab and line ends, lone surrogates, the two non-characters XML forbids.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REPLACEMENT = "\ufffd"
_QUOTES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def attribute(text: str, *, limit: int = 2_000) -> str:
    r"""A quoted attribute value.

    Example:
        >>> attribute('a "b" <c>\x00')
        '"a &quot;b&quot; &lt;c&gt;\ufffd"'
    """
    return '"' + escape(_FORBIDDEN.sub(_REPLACEMENT, text[:limit]), _QUOTES) + '"'


def content(text: str, *, limit: int = 2_000) -> str:
    """Text between two tags."""
    return escape(_FORBIDDEN.sub(_REPLACEMENT, text[:limit]))
