"""From link elements to links: canonical targets, anchors, contexts, each target once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from honeyguide.model import Link
from honeyguide.parse.elements import FEED_TYPES, PAGE_TYPES
from honeyguide.parse.folding import first_part, fold, last_part
from honeyguide.parse.walk import FoundLink
from honeyguide.web.url import canonical_many, url_id

MAX_LINKS: Final = 2_000
"""Targets kept per page."""
MAX_CONTEXT: Final = 300
"""Characters of context around one anchor."""
MAX_ANCHOR: Final = 300
MAX_PATH_LENGTH: Final = 500
MAX_JOINED: Final = 1_000
"""Characters of all anchors, and of all contexts, of a target that is linked several times."""

NOT_PAGES: Final = frozenset(
    (
        *("jpg", "jpeg", "png", "gif", "bmp", "ico", "svg", "webp", "avif", "tif", "tiff", "psd", "eps"),
        *("css", "js", "mjs", "map", "json", "woff", "woff2", "ttf", "otf", "eot", "swf"),
        *("zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar", "iso", "dmg", "exe", "msi"),
        *("deb", "rpm", "apk", "bin", "img", "z", "hqx", "sit"),
        *(
            "mp3",
            "mp4",
            "m4a",
            "m4v",
            "avi",
            "mov",
            "mpg",
            "mpeg",
            "mkv",
            "webm",
            "ogg",
            "ogv",
            "oga",
            "flac",
        ),
        *("wav", "wma", "wmv", "aac", "mid", "midi", "ram", "rm", "au", "aif", "aiff", "flv"),
        *("doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "ps", "dvi", "tex", "bib"),
        *("epub", "mobi", "csv", "tsv", "dat", "sav", "class", "o", "so", "dll", "torrent", "ics", "vcf"),
    )
)
"""Suffixes of files that are no pages. PDF is not among them: it is text when the extra is there."""

_IGNORED = re.compile(r"\s*(?:#|javascript:|mailto:|tel:|data:|about:|blob:|sms:|ftp:|file:)", re.IGNORECASE)
_FEED_NAME = re.compile(
    r"/(?:[^/?]*\.(?:rss|atom)|(?:rss|atom|feed|feeds|index)\.(?:xml|rdf))$", re.IGNORECASE
)
_SITEMAP_NAME = re.compile(r"/sitemap[^/?]*\.xml(?:\.gz)?$", re.IGNORECASE)
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?\s*([^\"']*)", re.IGNORECASE)


class FoundTargets(msgspec.Struct, frozen=True):
    """The links of a page, and where each link element leads."""

    links: tuple[Link, ...]
    targets: tuple[tuple[int, int], ...]
    """(node of the recorded tree, index into `links`) of each link element, in document order."""


def refresh_target(content: str) -> str:
    """The address in the content of `<meta http-equiv=refresh>`; empty when it only reloads.

    Example:
        >>> refresh_target("0; URL='/next'")
        '/next'
        >>> refresh_target("30")
        ''
    """
    match = _REFRESH.match(content[:4096])
    return match[1].strip() if match else ""


def is_page_address(url: str) -> bool:
    """Whether a canonical URL may be a page, judged by its suffix.

    A last segment with a colon is a wiki's page about a file, not the file.

    Example:
        >>> is_page_address("https://example.org/a.JPG?w=3")
        False
        >>> is_page_address("https://example.org/wiki/File:A.jpg")
        True
    """
    path = url.partition("?")[0]
    name = path[path.rfind("/") + 1 :]
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix) > 7 or path.count("/") < 3:
        return True
    return suffix.lower() not in NOT_PAGES or ":" in stem or "%3A" in stem


def resolve(found: Sequence[FoundLink], base: str, *, page: str) -> FoundTargets:
    """Canonical links of a page, each target once, at most `MAX_LINKS`.

    Args:
        found: Link elements in document order.
        base: Base address for relative references.
        page: The page's own address: links to it are left out.
    """
    wanted: list[tuple[int, FoundLink, str]] = []
    for position, link in enumerate(found):
        attributes = link.attributes
        href = attributes.get("href") or attributes.get("src") or ""
        if not _IGNORED.match(href):
            wanted.append((position, link, href))
    urls = canonical_many([href for _, _, href in wanted], base)
    joined: dict[str, _Joined] = {}
    targets: list[tuple[int, int]] = []
    for (position, link, _), url in zip(wanted, urls, strict=True):
        if url is None or url == page:
            continue
        entry = joined.get(url)
        if entry is None:
            kind = _kind(link, url)
            if not kind or len(joined) >= MAX_LINKS:
                continue
            entry = joined[url] = _Joined(len(joined), kind, position, link)
        else:
            entry.join(link)
        targets.append((link.node, entry.index))
    links = tuple([entry.link(url) for url, entry in joined.items()])
    return FoundTargets(links, tuple(targets))


def _kind(link: FoundLink, url: str) -> str:
    """The kind of a link; empty when it is not to be followed."""
    kind = link.kind
    if kind == "link":
        return _relation_kind(link.attributes)
    if kind == "refresh":
        return kind
    if not is_page_address(url):
        return "sitemap" if _SITEMAP_NAME.search(url) else ""
    if url.endswith((".rss", ".atom", ".xml", ".rdf")):
        if _SITEMAP_NAME.search(url):
            return "sitemap"
        if _FEED_NAME.search(url):
            return "feed"
    return kind


def _relation_kind(attributes: dict[str, str | None]) -> str:
    relations = (attributes.get("rel") or "").lower().split()
    media = (attributes.get("type") or "").partition(";")[0].strip().lower()
    if "sitemap" in relations:
        return "sitemap"
    if "alternate" in relations and media in FEED_TYPES:
        return "feed"
    return "link" if media in PAGE_TYPES and "stylesheet" not in relations else ""


class _Joined:
    """All link elements of a page with the same target."""

    __slots__ = ("anchor", "context", "first", "index", "kind", "nofollow", "position")

    def __init__(self, index: int, kind: str, position: int, first: FoundLink) -> None:
        self.index = index
        self.kind = kind
        self.position = position
        self.first = first
        self.anchor, self.context = _texts(first)
        self.nofollow = _is_nofollow(first)

    def join(self, link: FoundLink) -> None:
        """Add what a further link element says. A target is followed when one link lets us."""
        self.nofollow = self.nofollow and _is_nofollow(link)
        if len(self.anchor) >= MAX_JOINED and len(self.context) >= MAX_JOINED:
            return
        anchor, context = _texts(link)
        if anchor and anchor not in self.anchor:
            self.anchor = f"{self.anchor} {anchor}".strip()[:MAX_JOINED]
        if context and context not in self.context:
            self.context = f"{self.context} {context}".strip()[:MAX_JOINED]

    def link(self, url: str) -> Link:
        first = self.first
        return Link(
            url=url,
            id=url_id(url),
            anchor=self.anchor,
            context=self.context,
            kind=self.kind,
            position=self.position,
            tag_path="/".join(first.path)[-MAX_PATH_LENGTH:],
            nofollow=self.nofollow,
        )


def _is_nofollow(link: FoundLink) -> bool:
    relation = link.attributes.get("rel")
    return relation is not None and "nofollow" in relation.lower().split()


def _texts(link: FoundLink) -> tuple[str, str]:
    """Anchor text and link context: the text below the parent element, around the anchor.

    Up to half of the room is for what stands before the anchor, the rest for what follows.
    """
    pieces, start, end = link.pieces, link.start, link.end
    anchor = first_part(pieces, start, end, limit=MAX_ANCHOR) if end > start else ""
    context = anchor
    room = MAX_CONTEXT - len(anchor)
    if link.parent_start < start and room > 1:
        before = last_part(pieces, link.parent_start, start, limit=room // 2)
        if before:
            room -= len(before)
            context = f"{before} {anchor}" if anchor else before
    if link.parent_end > end and room > 0:
        after = first_part(pieces, end, link.parent_end, limit=room)
        if after:
            context = f"{context} {after}" if context else after
    if not anchor:
        attributes = link.attributes
        anchor = fold((link.alt or attributes.get("alt") or attributes.get("title") or "")[:MAX_ANCHOR])
    return anchor, context or anchor
