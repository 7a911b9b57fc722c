"""From link elements to links: canonical targets, anchors, contexts, each target once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from honeyguide.compiled import compiled
from honeyguide.model import Link
from honeyguide.parse.elements import FEED_TYPES, PAGE_TYPES
from honeyguide.parse.notes import FoundLink
from honeyguide.web.url import canonical_many, url_id, url_ids

MAX_LINKS: Final = 2_000
"""Targets kept per page."""
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
"""Suffixes of files that are not pages. PDF is not among them: it is text when the extra is there."""

_Fields: TypeAlias = tuple[str, str, str, str, int, str, bool, bool, int]
_IGNORED = re.compile(r"\s*(?:#|javascript:|mailto:|tel:|data:|about:|blob:|sms:|ftp:|file:)", re.IGNORECASE)
_FEED_NAME = re.compile(
    r"/(?:[^/?]*\.(?:rss|atom)|(?:rss|atom|feed|feeds|index)\.(?:xml|rdf))$", re.IGNORECASE
)
_SITEMAP_NAME = re.compile(r"/sitemap[^/?]*\.xml(?:\.gz)?$", re.IGNORECASE)
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?\s*([^\"']*)", re.IGNORECASE)


class FoundTargets:
    """The targets of a page, and where each link element leads."""

    def __init__(self, joined: list[_Joined], targets: list[tuple[int, int]]) -> None:
        self._joined = joined
        self.targets = targets
        """(node of the recorded tree, index into the links) of each link element, in document order."""

    def lengthen(self, contexts: Mapping[int, str]) -> None:
        """Put longer contexts in place of those that were cut, by index of the link."""
        for index, context in contexts.items():
            joined = self._joined[index]
            if len(context) > len(joined.context):
                joined.context = context

    def links(self, blocks: Mapping[int, int]) -> tuple[Link, ...]:
        """The page's links.

        Args:
            blocks: The content block of each link; those that are missing have none.
        """
        return tuple([joined.link(blocks.get(i, -1)) for i, joined in enumerate(self._joined)])


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


def resolve(
    found: Sequence[FoundLink], base: str, *, page: str, main: Sequence[bool] | None = None
) -> FoundTargets:
    """Canonical links of a page, each target once, at most `MAX_LINKS`.

    Args:
        found: Link elements in document order.
        base: Base address for relative references.
        page: The page's own address: links to it are left out.
        main: Whether each element is in the main text; None where that is not known.
    """
    urls = canonical_many([link[1] for link in found], base, ignored=_IGNORED)
    return FoundTargets(*_put_together(found, urls, main, (page, _kind, _no_follow, MAX_LINKS)))


def links_of(
    found: list[FoundLink], base: str, *, page: str, main: list[bool] | None = None
) -> tuple[Link, ...]:
    """The same as the page's links, for those who need no blocks.

    Args:
        found: As for `resolve`.
        base: As for `resolve`.
        page: As for `resolve`.
        main: As for `resolve`.
    """
    urls = canonical_many([link[1] for link in found], base, ignored=_IGNORED)
    targets = joined(found, urls, main, (page, _kind, _no_follow, MAX_LINKS, MAX_JOINED))
    return tuple(
        [
            Link(url, number, anchor, context, kind, -1, position, path, nofollow, own, "", group)
            for number, (url, anchor, context, kind, position, path, nofollow, own, group) in zip(
                url_ids([target[0] for target in targets]), targets, strict=True
            )
        ]
    )


@compiled
def joined(
    found: list[FoundLink],
    urls: list[str | None],
    main: list[bool] | None,
    rules: tuple[str, Callable[[str, str, str, str], str], Callable[[str], bool], int, int],
) -> list[_Fields]:
    """The targets of a page, each once, with what its link elements say.

    Args:
        found: Link elements in document order.
        urls: Their targets.
        main: Whether each is in the main text; None where that is not known.
        rules: The page's own address, kind of a link, whether a relation says `nofollow`, the most links, and
            the most characters of an anchor that is put together.
    """
    entries, _ = _put_together(found, urls, main, rules[:4])  # of the last rule `_Joined` knows
    return [
        (
            *(each.url, each.anchor, each.context, each.kind),
            *(each.position, each.path, each.nofollow, each.main, each.group),
        )
        for each in entries
    ]


def _put_together(
    found: Sequence[FoundLink],
    urls: Sequence[str | None],
    main: Sequence[bool] | None,
    rules: tuple[str, Callable[[str, str, str, str], str], Callable[[str], bool], int],
) -> tuple[list[_Joined], list[tuple[int, int]]]:
    """Each target once, and node and target of each link element."""
    page, kind_of, no_follow, most = rules
    entries: dict[str, _Joined] = {}
    targets: list[tuple[int, int]] = []
    for position, (link, url) in enumerate(zip(found, urls, strict=True)):
        if url is None or url == page:
            continue
        element, _, relation, media, anchor, context, path, node, group = link
        entry = entries.get(url)
        nofollow = no_follow(relation)
        if entry is None:
            kind = kind_of(element, url, relation, media)
            if not kind or len(entries) >= most:
                continue
            entry = entries[url] = _Joined(len(entries), url, kind, position, path)
            entry.anchor, entry.context, entry.nofollow = anchor, context, nofollow
            entry.main = main is None or main[position]
            entry.group = group
        else:
            entry.join(anchor, context, nofollow=nofollow)
            entry.main = entry.main or main is None or main[position]
        targets.append((node, entry.index))
    return list(entries.values()), targets


def _no_follow(relation: str) -> bool:
    return bool(relation) and "nofollow" in relation.lower().split()


def _kind(kind: str, url: str, relation: str, media: str) -> str:
    """The kind of a link; empty when it is not to be followed."""
    if kind == "link":
        return _relation_kind(relation, media)
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


def _relation_kind(relation: str, media: str) -> str:
    relations = relation.lower().split()
    media = media.partition(";")[0].strip().lower()
    if "sitemap" in relations:
        return "sitemap"
    if "alternate" in relations and media in FEED_TYPES:
        return "feed"
    return "link" if media in PAGE_TYPES and "stylesheet" not in relations else ""


class _Joined:
    """All link elements of a page with the same target."""

    __slots__ = ("anchor", "context", "group", "index", "kind", "main", "nofollow", "path", "position", "url")

    anchor: str
    context: str
    group: int
    main: bool
    nofollow: bool

    def __init__(self, index: int, url: str, kind: str, position: int, path: str) -> None:
        self.index = index
        self.url = url
        self.kind = kind
        self.position = position
        self.path = path

    def join(self, anchor: str, context: str, *, nofollow: bool) -> None:
        """Add what a further link element says. A target is followed when one link lets us."""
        self.nofollow = self.nofollow and nofollow
        if anchor and len(self.anchor) < MAX_JOINED and anchor not in self.anchor:
            self.anchor = f"{self.anchor} {anchor}".strip()[:MAX_JOINED]
        if context and len(self.context) < MAX_JOINED and context not in self.context:
            self.context = f"{self.context} {context}".strip()[:MAX_JOINED]

    def link(self, block: int) -> Link:
        return Link(
            self.url,
            url_id(self.url),
            self.anchor,
            self.context,
            self.kind,
            block,
            self.position,
            self.path,
            self.nofollow,
            self.main,
            group=self.group,
        )
