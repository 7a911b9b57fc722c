"""Whether a page is the shell of an application: little text, and scripts that write the rest.

Three signs, looked for only where a page has little text: a root element of a known framework that is still
empty, a `noscript` that asks for JavaScript, or hardly any text beside scripts. Pages of frames and pages
that only refresh have no text either, and need no browser.
"""

from __future__ import annotations

import re
from typing import Final

LITTLE: Final = 600
"""Characters of text up to which a page with a clear sign is a shell: its menu and footer may be there."""
HARDLY_ANY: Final = 200
"""Characters up to which scripts alone are a sign."""
FEW_LINKS: Final = 5

_SCRIPT = re.compile(rb"<script\b(?![^>]*ld\+json)", re.IGNORECASE)
_ROOTS: Final = (
    rb"root|app|app-root|__next|__nuxt|__layout|___gatsby|svelte|ember-app|main-app|react-root|"
    rb"application|q-app|vue-app|single-spa-application[^\"'\s>]{0,60}"
)
_EMPTY = rb"\s*(?:<!--.{0,500}?-->\s*)?(?:<noscript\b.{0,2000}?</noscript\s*>\s*)?</"
_EMPTY_ROOT = re.compile(
    rb"<(?:div|main|section|body)\b[^>]{0,300}?\bid\s*=\s*[\"']?("
    + _ROOTS
    + rb")[\"']?[^>]{0,300}>"
    + _EMPTY,
    re.IGNORECASE | re.DOTALL,
)
_EMPTY_ELEMENT = re.compile(
    rb"<([a-z][a-z0-9]{0,30}-(?:root|app))\b[^>]{0,300}>" + _EMPTY, re.IGNORECASE | re.DOTALL
)
_NOSCRIPT = re.compile(rb"<noscript\b[^>]{0,100}>(.{0,2000}?)</noscript", re.IGNORECASE | re.DOTALL)
_ASKS = re.compile(rb"java\s?-?script", re.IGNORECASE)
_OTHER = re.compile(rb"<frameset\b|http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
_LOOKED_AT: Final = 1 << 18


def shell_sign(body: bytes, text: str, links: int) -> str:
    """What makes a page the shell of an application; empty for any other page.

    Args:
        body: The page, in an encoding that has ASCII in it.
        text: Its visible text.
        links: How many links it has.

    Example:
        >>> shell_sign(b'<div id="root"></div><script src="app.js"></script>', "", 0)
        'an empty root element (root)'
        >>> shell_sign(b"<p>Owls hunt at night.</p>", "Owls hunt at night.", 0)
        ''
    """
    if len(text) > LITTLE:
        return ""
    page = body[:_LOOKED_AT]
    scripts = len(_SCRIPT.findall(page))
    if not scripts or _OTHER.search(page):
        return ""
    root = _EMPTY_ROOT.search(page) or _EMPTY_ELEMENT.search(page)
    if root is not None:
        return f"an empty root element ({root[1].decode('ascii', 'replace')})"
    if any(_ASKS.search(asked[1]) for asked in _NOSCRIPT.finditer(page)):
        return "it asks for JavaScript"
    if len(text) <= HARDLY_ANY and links < FEW_LINKS:
        return f"{len(text)} characters of text and {scripts} {'script' if scripts == 1 else 'scripts'}"
    return ""
