"""Scope: which part of the web a crawl may enter at all.

Rules are written as people write addresses, without regular expressions, and are matched in
linear time:

- a domain (`example.org`) means that host and all below it;
- a pattern with a slash is the beginning of a URL: `https://example.org/docs/`, `example.org/docs/`
  (either scheme), or `/docs/` (any host). `*` stands for any text, a final `$` for the end;
- a pattern without a slash is a whole host name: `*.example.org`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from honeyguide.errors import TopicError
from honeyguide.web.url import canonical, host_key, parts

DENIED_DOMAIN: Final = "denied-domain"
OUTSIDE_DOMAINS: Final = "outside-domains"
EXCLUDED: Final = "excluded"
NOT_INCLUDED: Final = "not-included"
_CACHED_HOSTS: Final = 65_536


class Glob:
    """A pattern with `*` for any text, matched by looking for its literal pieces from left to right.

    Example:
        >>> Glob("*.example.org", whole=True).matches("www.example.org")
        True
        >>> Glob("/a/*.pdf$").matches("/a/b.pdf?x")
        False
    """

    __slots__ = ("_anchored", "_first", "_pieces")

    def __init__(self, pattern: str, *, whole: bool = False) -> None:
        self._anchored = whole or pattern.endswith("$")
        text = pattern[:-1] if self._anchored and not whole else pattern
        self._first, *pieces = text.split("*")
        self._pieces = tuple(pieces)

    def matches(self, text: str) -> bool:
        """Whether the text begins like the pattern, or is all of it when the pattern is anchored."""
        if not text.startswith(self._first):
            return False
        if not self._pieces:
            return not self._anchored or len(text) == len(self._first)
        position = len(self._first)
        for piece in self._pieces[:-1] if self._anchored else self._pieces:
            position = text.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        last = self._pieces[-1]
        return not self._anchored or (len(text) - len(last) >= position and text.endswith(last))


_ENDINGS = """
avi bmp css csv doc docx epub exe gif gz htm html ico iso jpeg jpg js json mp3 mp4 mpeg odp ods odt ogg pdf
php png ppt pptx rar rtf svg tar tgz tif tiff txt wav webm webp xls xlsx xml zip
"""
_FILES: Final = frozenset(_ENDINGS.split())
"""Endings of file names. `zip` is a domain, too; `*.zip/` means that."""


class _Rule:
    """One include or exclude pattern and the part of a URL it looks at."""

    __slots__ = ("_glob", "_part", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        text = pattern.strip()
        if not text:
            raise TopicError(
                "a scope pattern is empty; write one such as https://example.org/docs/ or remove it"
            )
        if text.startswith("*.") and text[2:].lower() in _FILES:  # who writes this thinks of no host
            text = f"/{text}$"
        if "://" in text:
            self._part = "url"
        elif text.startswith("/"):
            self._part = "path"
        else:
            self._part = "address" if "/" in text else "host"
        self._glob = Glob(text if self._part != "host" else text.lower(), whole=self._part == "host")

    def matches(self, url: str) -> bool:
        """Whether a canonical URL falls under the pattern."""
        if self._part == "url":
            return self._glob.matches(url)
        if self._part == "host":
            return self._glob.matches(parts(url).host)
        start = url.index("/") + 2
        return self._glob.matches(url[start:] if self._part == "address" else url[url.index("/", start) :])


def _domain(text: str) -> str:
    """A domain as the user wrote it, in the form URLs have it."""
    url = canonical(f"http://{text.strip().removeprefix('*.').strip('.')}/")
    if url is None or parts(url).path != "/" or parts(url).query:
        raise TopicError(f"{text!r} is not a domain; write it like example.org")
    return parts(url).host


class Scope:
    """The rules of one crawl. Empty rules let everything in.

    A denied domain or an exclusion always wins over what lets a URL in.

    Example:
        >>> scope = Scope(domains=("example.org",), exclude=("/login",))
        >>> scope.reason("https://www.example.org/owls") is None
        True
        >>> scope.reason("https://www.example.org/login?next=1"), scope.reason("https://example.com/")
        ('excluded: /login', 'outside-domains')
    """

    def __init__(
        self,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        *,
        domains: Iterable[str] = (),
        denied_domains: Iterable[str] = (),
    ) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self.domains = frozenset(map(_domain, domains))
        self.denied_domains = frozenset(map(_domain, denied_domains))
        self._include = tuple(map(_Rule, self.include))
        self._exclude = tuple(map(_Rule, self.exclude))
        self._by_host: dict[str, str] = {}

    def _host_reason(self, host: str) -> str:
        """Why a host is out, or an empty string; asked once for each host."""
        labels = host.split(".") if not host.startswith("[") else [host]
        above = {".".join(labels[start:]) for start in range(len(labels))}
        if self.denied_domains & above:
            return DENIED_DOMAIN
        return OUTSIDE_DOMAINS if self.domains and not self.domains & above else ""

    def reason(self, url: str) -> str | None:
        """Why a canonical URL is out of scope, or None when it is in."""
        if self.domains or self.denied_domains:
            key = host_key(url)
            reason = self._by_host.get(key)
            if reason is None:
                reason = self._host_reason(parts(url).host)
                if len(self._by_host) >= _CACHED_HOSTS:
                    self._by_host.clear()
                self._by_host[key] = reason
            if reason:
                return reason
        for rule in self._exclude:
            if rule.matches(url):
                return f"{EXCLUDED}: {rule.pattern}"
        if self._include and not any(rule.matches(url) for rule in self._include):
            return NOT_INCLUDED
        return None
