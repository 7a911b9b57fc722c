"""What a page itself says to robots: `<meta name="robots">` and the X-Robots-Tag header."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

_AGENT = re.compile(r"(?=.*[a-z*])[\w*.-]+")
# Directives that carry a value after a colon, and so are not names of robots. A value may be `none`, too.
_VALUED = re.compile(r"max-(?:snippet|image-preview|video-preview)\s*:\s*[\w.-]*|unavailable_after\s*:[^,;]*")
_WORD = re.compile(r"([^\s,;:]+)\s*(:?)")
_EVERYONE: Final = frozenset(("", "robots", "*"))


class Directives(msgspec.Struct, frozen=True):
    """What we are asked not to do with a page."""

    noindex: bool = False
    """Do not keep it."""
    nofollow: bool = False
    """Do not follow its links."""


def directives(values: Iterable[str], agent: str) -> Directives:
    """Add up the directives that concern us; the strictest counts, as search engines do it.

    Commas belong between them; owners write semicolons and spaces as well, and what they ask for is plain.

    Args:
        values: The `content` of each robots `meta` element and each X-Robots-Tag header. A value
            may begin with the name of the robot it is for (`otherbot: noindex`); for a
            `<meta name="honeyguide" content="nofollow">` pass `"honeyguide: nofollow"`.
        agent: Our product token.

    Example:
        >>> directives(["index, NoFollow", "otherbot: noindex"], "honeyguide")
        Directives(noindex=False, nofollow=True)
        >>> directives(["noindex nofollow"], "honeyguide")
        Directives(noindex=True, nofollow=True)
    """
    ours = _EVERYONE | {agent.lower()}
    found: set[str] = set()
    for value in values:
        robot = ""
        for word, colon in _WORD.findall(_VALUED.sub(" ", value.lower())):
            if colon and _AGENT.fullmatch(word):
                robot = word
            elif robot in ours:
                found.add(word)
    nothing = "none" in found
    return Directives(noindex=nothing or "noindex" in found, nofollow=nothing or "nofollow" in found)
