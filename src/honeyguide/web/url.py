r"""URL identity: one WHATWG parser, one canonical form, one fingerprint.

Every URL in the crawl goes through `canonical`, so that two spellings of one address are one
frontier row, and so that the host we check is the host we dial: a second parser with other ideas
(`http://evil\@127.0.0.1/`) is how crawlers are tricked into private networks.

The parser is ada. Two bindings of it are installed: `ada_url` passes all http(s) cases of the web
platform tests and `can_ada` is several times faster but older: its host name tables differ, and it does not
encode ^ in paths. So links that cannot depend on that (plain ASCII, no punycode, no ^) take
`can_ada`; all others, and everything it refuses, take `ada_url`. The tests hold both paths to the
same answers.

What `canonical` does beyond the standard: drops fragment, user name and password, session ids and
tracking parameters (the lists below), an empty query, and normalises percent-encoding without
changing meaning. Path case, query order and trailing slashes are kept: servers tell them apart.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import ada_url
import can_ada
import msgspec
import xxhash

from honeyguide.compiled import compiled

WEB: Final = ("http://", "https://")
"""How every canonical URL begins."""

MAX_LENGTH: Final = 65_536
"""Longer texts are not addresses (usually inline data) and are refused unread."""

TRACKING_PREFIXES: Final = ("utm_", "piwik_", "mtm_", "matomo_", "hsa_", "__hs", "_hs")
"""Query parameters that begin like this tell who sent the visitor, never which page: Google
Analytics, Matomo, HubSpot."""

TRACKING_PARAMETERS: Final = (
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "_ga", "_gl"),  # Google
    *("fbclid", "fb_action_ids", "fb_action_types", "fb_source", "fb_ref", "igshid", "igsh"),  # Meta
    *("pk_campaign", "pk_keyword", "pk_kwd", "pk_source", "pk_medium", "pk_content", "pk_cid"),  # Matomo
    *("msclkid", "twclid", "ttclid", "li_fat_id", "yclid", "ysclid", "_openstat"),
    *("mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "wickedid"),
    *("__s", "s_cid", "ml_subscriber", "ml_subscriber_hash", "rb_clickid", "zanpid"),
)
"""Query parameters of the same kind by full name (any letter case)."""

SESSION_PARAMETERS: Final = (
    "jsessionid",
    "phpsessid",
    "sessionid",
    "session_id",
    "sessid",
    "cfid",
    "cftoken",
)
"""Query parameters that always hold a session id. `aspsessionid*` belongs to them as a prefix."""

SESSION_LOOKALIKES: Final = ("sid", "session", "oscsid", "zenid", "osadminid", "xtcsid")
"""Names that hold a session id on some sites and a story number on others: dropped only when the
value has 16 or more letters and digits, at least one of each kind."""

_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|aspsessionid\w*)=[^/;]*", re.IGNORECASE)
_DROPPED_PARAMETER = re.compile(
    r"(?:^|&)(?:"
    rf"(?:{'|'.join((*TRACKING_PREFIXES, 'aspsessionid'))})[^=&]*"
    rf"|(?:{'|'.join(TRACKING_PARAMETERS + SESSION_PARAMETERS)})(?=[=&]|$)"
    rf"|(?:{'|'.join(SESSION_LOOKALIKES)})=(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{{16,}}(?=&|$)"
    r")[^&]*",
    re.IGNORECASE,
)
_SEGMENT = r"[A-Za-z0-9_~-][A-Za-z0-9_~.-]*"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PORT = r"(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})"
_HOST = rf"(?:(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+|{_OCTET}(?:\.{_OCTET}){{3}})"
_PLAIN = re.compile(
    rf"(?:((?:http://{_HOST}(?!:80/)|https://{_HOST}(?!:443/))(?::{_PORT})?)?(/)|((?:\.\./)*)(?!/))"
    rf"((?:{_SEGMENT}/)*(?:{_SEGMENT})?)(\?[A-Za-z0-9_~.=&+/,:;@!$()*-]*)?(?:#.*)?",
    re.ASCII | re.DOTALL,
)
"""References that already are as the standard writes them: most links of most pages. Of those with parameters
some have to go."""
_ENCODED = re.compile("%[0-9A-Fa-f]{2}|%[0-9A-Fa-f]?(?:%[0-9A-Fa-f]{2})+")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class UrlParts(msgspec.Struct, frozen=True):
    """The pieces of a canonical URL."""

    scheme: str
    host: str
    """Lower case; an IPv6 address keeps its brackets."""
    port: int
    """The scheme's own port when the URL names none."""
    path: str
    query: str
    """Without the question mark."""
    origin: str
    """`scheme://host[:port]`."""
    authority: str
    """`host[:port]`, the port only when it is not the scheme's own."""


@lru_cache(maxsize=64)
def _fast_base(base: str) -> tuple[Any, str] | None:
    """The base parsed by `can_ada` and its host, or None where `ada_url` must decide."""
    if not base.isascii() or "%" in base.partition("//")[2].partition("/")[0] or "xn--" in base.lower():
        return None
    try:
        parsed = can_ada.parse(base)
    except ValueError:
        return None
    return parsed, parsed.hostname


# A binding that still has objects at the end of the process complains on the user's terminal.
atexit.register(_fast_base.cache_clear)


@lru_cache(maxsize=64)
def _plain_base(base: str) -> tuple[str, str] | None:
    """Origin and directory of a base that is canonical itself, for references that need no parser."""
    if _fast_base(base) is None or not base.startswith(WEB) or _href(base, None, None) != base:
        return None
    if _tidy(base) != base:
        return None
    path = base.partition("?")[0]
    slash = path.index("/", path.index("/") + 2)
    return path[:slash], path[: path.rindex("/") + 1]


def _directory(plain_base: tuple[str, str], up: int) -> str:
    """The directory of a base, or one so many levels above it."""
    origin, directory = plain_base
    for _ in range(up):
        directory = (
            directory[: directory.rindex("/", 0, -1) + 1] if len(directory) > len(origin) + 1 else directory
        )
    return directory


def _slow_href(text: str, base: str | None) -> str | None:
    """WHATWG parse by `ada_url`."""
    try:
        href: str = ada_url.URL(text, base).href
    except UnicodeEncodeError:
        # Half a surrogate pair cannot be encoded; the standard reads it as U+FFFD.
        if base is not None:
            base = base.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return _slow_href(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), base)
    except ValueError:
        return None
    return href


def _href(text: str, base: str | None, fast_base: tuple[Any, str] | None) -> str | None:
    """WHATWG parse by the quickest binding that is certain to be right."""
    if not text.isascii() or (base is not None and fast_base is None):
        return _slow_href(text, base)
    try:
        parsed = can_ada.parse(text) if fast_base is None else fast_base[0] + text
    except ValueError:
        return _slow_href(text, base)
    host: str = parsed.hostname
    # Host names in punycode, or hidden behind percent signs, depend on the binding's tables.
    if (fast_base is None or host != fast_base[1]) and ("xn--" in host or "%" in text):
        return _slow_href(text, base)
    href: str = parsed.href
    # The standard came to encode ^ in paths after the older binding was made.
    return _slow_href(text, base) if "^" in href else href


def parse_href(text: str, base: str | None = None) -> str | None:
    """The href a browser gives `text` on a page at `base`, or None when it is not a URL.

    Any scheme; nothing is dropped or normalised beyond the standard.

    Example:
        >>> parse_href("../b?q#f", "http://EXAMPLE.org/a/c")
        'http://example.org/b?q#f'
    """
    href = _href(text, base, None if base is None else _fast_base(base))
    # The quick path is held to the reference for web addresses only.
    return href if href is None or href.startswith(WEB) else _slow_href(text, base)


def _decode_safely(match: re.Match[str]) -> str:
    """A percent triplet: the character itself when unreserved, else in upper case.

    Triplets right after a stray percent sign are not decoded: `%%34%31` would become `%41`, which
    means something else.
    """
    text = match[0]
    if len(text) > 3:
        stray = len(text) % 3
        return text[:stray] + text[stray:].upper()
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


def _tidy(href: str, *, again: bool = True) -> str | None:
    """The canonical form of an http(s) href."""
    if "#" in href:
        href = href[: href.index("#")]
    start = href.index("/") + 2
    slash = href.index("/", start)
    head = href[:slash]
    if "@" in head:
        head = head[:start] + head[head.rindex("@") + 1 :]
    rest = href[slash:]
    if "%" in rest:
        rest = _ENCODED.sub(_decode_safely, rest)
    path, _, query = rest.partition("?")
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
        if again and "/." in path:
            # Without its session id a segment may turn out to be a dot segment.
            whole = f"{head}{path}?{query}" if query else head + path
            href = _href(whole, None, None) or whole
            return _tidy(href, again=False)
    if query:
        dropped = _DROPPED_PARAMETER.sub("", query)
        query = dropped if len(dropped) == len(query) else dropped.removeprefix("&")
    result = f"{head}{path}?{query}" if query else head + path
    return result if len(result) <= MAX_LENGTH else None


def canonical(text: str, base: str | None = None) -> str | None:
    """The one spelling of an http(s) address, or None for anything else.

    Args:
        text: An absolute URL, or a reference as it stands in a page.
        base: The address of that page (or what its `base` element says).

    Example:
        >>> canonical("HTTP://Example.ORG:80/%7euser/?utm_source=x&id=2#top")
        'http://example.org/~user/?id=2'
        >>> canonical("page;jsessionid=1A?", "https://example.org/a/")
        'https://example.org/a/page'
        >>> canonical("javascript:alert(1)") is None
        True
    """
    return canonical_many((text,), base)[0]


def canonical_many(
    hrefs: Iterable[str], base: str | None = None, *, ignored: re.Pattern[str] | None = None
) -> list[str | None]:
    """`canonical` of each reference of one page, in order; the base is parsed once.

    Args:
        hrefs: References as they stand in the page.
        base: The page's base.
        ignored: References that begin like this are None. No pattern may fit one that needs no parser.
    """
    fast_base = None if base is None else _fast_base(base)
    plain_base = None if base is None else _plain_base(base)
    texts = list(hrefs)
    found: list[str | None] = [None] * len(texts)
    if plain_base is not None:
        found, untidy = plain_urls(texts, *plain_base)
        for place in untidy:
            found[place] = _tidy(found[place] or "")
    for place, url in enumerate(found):
        if url is None and len(text := texts[place]) <= MAX_LENGTH and not (ignored and ignored.match(text)):
            href = _href(text, base, fast_base)
            if href is not None and href.startswith(WEB):
                found[place] = _tidy(href)
    return found


@compiled
def plain_urls(references: list[str], origin: str, directory: str) -> tuple[list[str | None], list[int]]:
    """URLs of references that need no parser, None for the others; and which of them have parameters.

    Args:
        references: As they stand in a page.
        origin: Of the page's base.
        directory: The base up to its last slash.

    Example:
        >>> plain_urls(["b?c=1", "../x#y", "Ä"], "https://a.example", "https://a.example/d/")
        (['https://a.example/d/b?c=1', 'https://a.example/x', None], [0])
    """
    found: list[str | None] = []
    untidy: list[int] = []
    for text in references:
        plain = _PLAIN.fullmatch(text) if len(text) < 1_000 else None
        host, root, up, path, query = plain.groups() if plain else (None,) * 5
        if not root and not path:
            found.append(None)
            continue
        start = f"{host or origin}/" if root else _directory((origin, directory), len(up or "") // 3)
        found.append(f"{start}{path}{query or ''}")
        if query:
            untidy.append(len(found) - 1)
    return found, untidy


def url_id(url: str) -> int:
    """Signed 64-bit fingerprint (XXH3) of a canonical URL.

    With 10 million URLs the chance that any two collide is below 3 in a million.

    Example:
        >>> url_id("https://example.org/")
        -8202114674208552119
    """
    number: int = xxhash.xxh3_64_intdigest(url.encode())
    return number - (1 << 64) if number >= 1 << 63 else number


def url_ids(urls: Iterable[str]) -> list[int]:
    """`url_id` of each: quicker, where there are many.

    Example:
        >>> url_ids(["https://example.org/"]) == [url_id("https://example.org/")]
        True
    """
    digest = xxhash.xxh3_64_intdigest
    return [(number := digest(url.encode())) - (number >> 63 << 64) for url in urls]


def host_key(url: str) -> str:
    """`host[:port]` of a canonical URL, the port only when it is not the scheme's own.

    Example:
        >>> host_key("https://example.org:8443/a")
        'example.org:8443'
    """
    start = url.index("/") + 2
    return url[start : url.index("/", start)]


@lru_cache(maxsize=4096)
def _split_authority(scheme: str, authority: str) -> tuple[str, int]:
    """Host and port of an authority. Cached: a crawl sees few hosts and many pages."""
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        return authority, 443 if scheme == "https" else 80
    return host, int(port)


def origin_of(url: str) -> str:
    """Scheme and authority of a canonical URL.

    Example:
        >>> origin_of("https://example.org/a?b=1")
        'https://example.org'
    """
    return url[: url.index("/", 8)]


def parts(url: str) -> UrlParts:
    """The pieces of a canonical URL (of any other text the answer is undefined).

    Example:
        >>> parts("https://example.org/a?b=1").origin
        'https://example.org'
    """
    scheme, _, rest = url.partition("://")
    authority, slash, rest = rest.partition("/")
    path, _, query = rest.partition("?")
    host, port = _split_authority(scheme, authority)
    return UrlParts(
        scheme=scheme,
        host=host,
        port=port,
        path=slash + path,
        query=query,
        origin=f"{scheme}://{authority}",
        authority=authority,
    )
