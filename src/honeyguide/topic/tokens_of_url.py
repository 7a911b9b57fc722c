"""The words in an address, for matching topics and for finding words that no table knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote

Place: TypeAlias = Literal["host", "folder", "file", "query"]
"""Where in an address a token stands."""

MAX_URL: Final = 2_000
"""Characters read of one address."""
_STOP = """
    www www2 www3 com net org edu gov mil int biz co ac cn hk tw uk us eu de fr jp kr ru ca au io
    http https ftp htm html shtml xhtml mht php php3 asp aspx jsp jspx cgi cfm dll pl do action xml rss
    index default main welcome content contents page pages list view show detail article articles
    item id node static
"""
STOP_TOKENS: Final = frozenset(_STOP.split())
"""Tokens that say how a site is made, not what it is about."""
# Inside the pieces between "/" and ".": "-" and "_" part words, and so does everything that is not a letter.
_PIECE = re.compile(r"[^/.?&=#;,:@!$'()*+~%|\s\"<>\[\]{}\\^`]+")
_WORD = re.compile(r"[^\W_]+")


def pieces(url: str) -> Iterator[tuple[str, Place]]:
    """What stands between the separators of an address, in lower case, with its place.

    Percent codes are undone, so Chinese words in a path count.
    """
    path, _, query = lowered(url).partition("?")
    host, _, path = path.partition("/")
    folders, _, file = path.rpartition("/")
    yield from ((piece, "host") for piece in _PIECE.findall(host.rpartition("@")[2].partition(":")[0]))
    yield from ((piece, "folder") for piece in _PIECE.findall(folders))
    yield from ((piece, "file") for piece in _PIECE.findall(file))
    yield from ((piece, "query") for piece in _PIECE.findall(query))


def placed_tokens(url: str) -> list[tuple[str, Place]]:
    """Tokens of an address with their places; stop tokens and plain numbers are left out.

    Example:
        >>> placed_tokens("http://sports.sohu.com/tai_gang_ao/lanqiu.shtml")[:3]
        [('sports', 'host'), ('sohu', 'host'), ('tai', 'folder')]
    """
    found: list[tuple[str, Place]] = []
    for piece, place in pieces(url):
        words = (word for word in _WORD.findall(piece) if word not in STOP_TOKENS and not word.isdigit())
        found.extend((word, place) for word in words)
    return found


def url_tokens(url: str) -> list[str]:
    """Tokens that a topic's spellings are looked for in.

    A piece that "-" or "_" part is also given as a whole, written together: `Tai_Gang_Ao` and `taigangao`
    spell the same word.

    Example:
        >>> url_tokens("http://sports.sohu.com/lanqiu.shtml")
        ['sports', 'sohu', 'lanqiu']
        >>> url_tokens("http://www.xinhua.example/Tai_Gang_Ao/index.htm")
        ['xinhua', 'example', 'tai', 'gang', 'ao', 'taigangao']
    """
    return tokens_in(lowered(url))


def lowered(url: str) -> str:
    """An address as it is searched: without scheme, lower case, percent codes undone."""
    rest = (url[:MAX_URL].partition("://")[2] or url[:MAX_URL]).lower()
    return unquote(rest) if "%" in rest else rest


def tokens_in(rest: str) -> list[str]:
    """`url_tokens` of what `lowered` gave."""
    found: list[str] = []
    for piece in _PIECE.findall(rest):
        if piece in STOP_TOKENS:
            continue
        if "-" not in piece and "_" not in piece:
            found.append(piece)
            continue
        words = _WORD.findall(piece)
        found.extend(word for word in words if word not in STOP_TOKENS)
        if len(words) > 1:
            found.append("".join(words))
    return found
