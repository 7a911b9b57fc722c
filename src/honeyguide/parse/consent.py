"""Cookie banners: text that is on every page of a site and says nothing about any.

An element is one when it is named like one (its id or class, as consent tools and their imitators write them)
or is a dialog, speaks of cookies or consent, and is the smaller part of its page. It is then marked `hidden`,
as its site would once the reader has answered: its text does not count, its links do. Pages in which neither
word occurs pay one search.
"""

from __future__ import annotations

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from honeyguide.parse.search import has_any

MOST: Final = 20_000
"""Characters of the longest banner: lists of partners are long."""
SHARE: Final = 0.5
"""A banner holds less than this part of its page's text, where the page has text of its own."""
OWN_TEXT: Final = 200
"""Characters beside a banner from which on a page has text of its own."""
_LOOKED_AT: Final = 200
"""Candidates looked at on one page."""

CONSENT_WORDS: Final = (b"ookie", b"OOKIE", b"onsent", b"ONSENT", b"gdpr", b"GDPR")
"""Looking for plain words is far quicker than ignoring case."""
_ABOUT = re.compile(
    r"cookie|consent|privacy|gdpr|datenschutz|einwillig|confidentialit|privacidad|riservatezza", re.IGNORECASE
)
_TOOLS: Final = (
    "onetrust|ot-sdk|cookiebot|cybotcookie|didomi|usercentrics|uc-banner|quantcast|qc-cmp|truste-|trustarc|"
    "osano-cm|iubenda-cs|klaro|cookieyes|cky-|cc-window|cc-banner|cmplz|borlabs|termly|sp_message|"
    "fc-consent|evidon|tarteaucitron|orejime|axeptio"
)
_THING = r"cookie|consent|gdpr|ccpa|cmp"
_ROLE = (
    r"banner|notice|bar|pop-?up|modal|overlay|dialog|message|wall|layer|container|wrapper|box|alert|law|info|"
    r"consent|policy|prompt|panel|disclaimer|warning|bot|manager|settings|preferences"
)
_NAMED = re.compile(
    rf"(?:^|[\s_-])(?:{_TOOLS})|(?:{_THING})s?[\w-]{{0,12}}?[_-]?(?:{_ROLE})|(?:{_ROLE})[_-]?(?:{_THING})",
    re.IGNORECASE,
)
_CANDIDATES: Final = (
    "[id*=cookie i],[class*=cookie i],[id*=consent i],[class*=consent i],[id*=gdpr i],[class*=gdpr i],"
    "[id*=onetrust i],[id*=didomi i],[id*=usercentrics i],[id*=sp_message i],[class*=cmplz i],"
    "[class*=osano i],[class*=cc-window i],[class*=qc-cmp i],[id*=truste i],[class*=iubenda i],"
    "[role=dialog],[role=alertdialog],[aria-modal=true],dialog"
)
_NEVER: Final = frozenset({"html", "body", "main", "article", "head"})


def hide_consent(parser: LexborHTMLParser, body: bytes) -> int:
    """Mark the cookie banners of a page as hidden; how many.

    Args:
        parser: The page's tree, which is changed.
        body: Its bytes, to see whether there can be any.

    Example:
        >>> page = b'<div class="cookie-banner">We use cookies.</div><p>' + b"Owls hunt at night. " * 20
        >>> tree = LexborHTMLParser(page)
        >>> hide_consent(tree, page), tree.css_first(".cookie-banner").attributes["hidden"]
        (1, '')
    """
    if not has_any(body, CONSENT_WORDS):
        return 0
    found = [node for node in parser.css(_CANDIDATES)[:_LOOKED_AT] if _is_banner(node)]
    if not found:
        return 0
    whole = len(_text(parser.body)) if parser.body is not None else 0
    hidden = 0
    for node in found:
        length = len(_text(node))
        if length <= MOST and (length <= whole * SHARE or whole - length >= OWN_TEXT):
            node.attrs["hidden"] = ""
            hidden += 1
    return hidden


def _is_banner(node: LexborNode) -> bool:
    attributes = node.attributes
    if node.tag in _NEVER:
        return False
    named = f"{attributes.get('id') or ''} {attributes.get('class') or ''}"[:500]
    dialog = (
        node.tag == "dialog"
        or attributes.get("role") in ("dialog", "alertdialog")
        or attributes.get("aria-modal") == "true"
    )
    if not dialog and not _NAMED.search(named):
        return False
    return _ABOUT.search(_text(node)[:3000]) is not None


def _text(node: LexborNode) -> str:
    return " ".join(node.text(deep=True, separator=" ", strip=True).split())
