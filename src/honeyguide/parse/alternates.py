"""Which languages a page says that its links are in: `hreflang`.

`<link rel="alternate" hreflang="de" href="...">` names the same page in German. Such a link has no text, so
it is given the page's own title: what it leads to is about the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from selectolax.lexbor import LexborHTMLParser

from honeyguide.model import Link
from honeyguide.parse.notes import FoundLink
from honeyguide.parse.search import has_any
from honeyguide.web.url import canonical_many

MOST: Final = 1_000
"""Elements looked at on one page."""
LANGUAGE_WORDS: Final = (b"hreflang", b"HREFLANG")
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9-]+)?", re.IGNORECASE)


def declared_languages(parser: LexborHTMLParser, body: bytes) -> dict[str, str]:
    """Language of each link that names one, by the address as it is written.

    Args:
        parser: The page's tree.
        body: Its bytes, to see whether there can be any.

    Example:
        >>> page = b'<link rel=alternate hreflang=de-AT href=/de><a hreflang=x-default href=/>all</a>'
        >>> declared_languages(LexborHTMLParser(page), page)
        {'/de': 'de'}
    """
    if not has_any(body, LANGUAGE_WORDS):
        return {}
    found: dict[str, str] = {}
    for node in parser.css("link[hreflang][href],a[hreflang][href]")[:MOST]:
        said = _LANGUAGE.fullmatch((node.attributes.get("hreflang") or "").strip())
        if said:
            found.setdefault(node.attributes.get("href") or "", said[1].lower())
    return found


def titled(links: Sequence[FoundLink], languages: dict[str, str], title: str) -> list[FoundLink]:
    """The links, those to a page's own alternates with its title for a text.

    Args:
        links: Of the page. The reader in C gives plain tuples.
        languages: What `declared_languages` found.
        title: Of the page.
    """
    made = []
    for plain in links:
        link = FoundLink(*plain)
        own = link.kind == "link" and link.href in languages and not link.anchor
        made.append(link._replace(anchor=title, context=title) if own else link)
    return made


def with_languages(links: tuple[Link, ...], languages: dict[str, str], base: str) -> tuple[Link, ...]:
    """The links with the languages that the page gives for them.

    Args:
        links: Of the page.
        languages: What `declared_languages` found.
        base: Base address for relative references.
    """
    targets = zip(canonical_many(list(languages), base), languages.values(), strict=True)
    told = {url: language for url, language in targets if url is not None}
    return tuple(
        [
            msgspec.structs.replace(link, language=told[link.url]) if link.url in told else link
            for link in links
        ]
    )
