"""A page as clean Markdown: headings, lists, tables, links and code kept, boilerplate left out.

The extractor is trafilatura (Barbaresi, ACL 2021: "Trafilatura: A Web Scraping Library and Command-Line
Tool for Text Discovery and Extraction"), set to favour recall; `benchmarks/clean_text.py` compares it with
others. On pages without `<article>` or `<main>` it keeps paragraphs but loses their headings, so those are
put back here.

Time is not bounded by the size of a page (60,000 table cells take ten seconds): for pages from the web go
through `honeyguide.collection.markdown.MarkdownMaker`, which runs this in a process that can be killed.
"""

from __future__ import annotations

import re
from typing import Any, Final

from honeyguide.errors import MissingExtra
from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import HTML_TYPES, parse_page
from honeyguide.parse.prescan import MAX_BYTES, prescan, refusal_of
from honeyguide.web.charset import decode_html
from honeyguide.web.url import parse_href

EXTRA: Final = "markdown"
LOOK: Final = 40
"""Characters by which a paragraph is recognised when its heading is put back."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_MARKS = re.compile(r"([\\`*_\[\]<>])")
_START_MARKS = re.compile(r"^(\s*)([#>+-]|\d+[.)])", re.MULTILINE)
_SPACE = re.compile(r"\s+")


def to_markdown(body: bytes, *, url: str, content_type: str = "text/html") -> str:
    """The main part of a document as Markdown; empty when there is none.

    Args:
        body: As served, after decompression.
        url: Of the page: relative links are resolved against it.
        content_type: The Content-Type header. Plain text and PDF give paragraphs of plain text.

    Raises:
        MissingExtra: trafilatura is not installed.

    Example:
        >>> made = to_markdown(b"<h1>Owls</h1><p>Barn owls <b>hunt</b> at night.</p>", url="https://example.org/")
        >>> print(made)
        # Owls
        <BLANKLINE>
        Barn owls **hunt** at night.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind not in HTML_TYPES:
        return _plain(ParseJob(url, body, content_type))
    if refusal_of(body):
        return ""
    text, _ = decode_html(body[:MAX_BYTES], content_type)
    scanned = prescan(text.encode("utf-8", "replace"))
    if scanned.refusal:
        return ""
    return _from_html(scanned.body, url) or _plain(ParseJob(url, body, content_type))


def _from_html(body: bytes, url: str) -> str:
    try:
        import trafilatura
    except ImportError:
        raise MissingExtra("clean text", EXTRA) from None
    tree = trafilatura.load_html(body.decode("utf-8", "replace"))
    if tree is None:
        return ""
    _absolute_links(tree, url)
    _plain_lists(tree)
    headings = _headings(tree)
    made = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        favor_recall=True,
        include_links=True,
        include_tables=True,
        include_formatting=True,
        include_comments=False,
    )
    return with_headings(made or "", headings).strip()


def _absolute_links(tree: Any, url: str) -> None:
    """Resolve links against the page, or its `<base>`: trafilatura takes the host's root for it."""
    bases = tree.xpath("//base[@href]/@href")
    base = (parse_href(bases[0], url) if bases else None) or url
    for anchor in tree.xpath("//a[@href]"):
        target = parse_href(anchor.get("href"), base)
        if target:
            anchor.set("href", target)


def _plain_lists(tree: Any) -> None:
    """Bring the items of a list that is all there is in an item up to that item's place.

    Indented under nothing they would be code in Markdown. Anchors that only name a place go first:
    trafilatura takes the lists they stand in for menus.
    """
    for anchor in tree.xpath("//a[not(@href) and not(*) and not(normalize-space())]"):
        anchor.drop_tag()
    for item in reversed(tree.xpath("//li[ul or ol]")):
        outer = item.getparent()
        if outer is None or outer.tag not in ("ul", "ol") or (item.text or "").strip():
            continue
        children = list(item)
        lists = [each for each in children if each.tag in ("ul", "ol")]
        if any((each.tail or "").strip() for each in children):
            continue
        if any(each not in lists and (each.tag == "img" or len(each) or each.text) for each in children):
            continue
        inner = [each for each in lists if (each.text or "").strip() or any(li.tag != "li" for li in each)]
        if inner:
            continue
        place = outer.index(item)
        for number, each in enumerate([li for found in lists for li in found]):
            outer.insert(place + number, each)
        outer.remove(item)


def _headings(tree: Any) -> list[tuple[int, str, str]]:
    """Level and text of each heading, and how the text after it begins."""
    found = []
    for element in tree.iter(*_HEADINGS):
        text = _folded(element.text_content())
        # What follows up to a few hundred characters: siblings, or those of the parent (a heading in a box).
        after, box = "", element
        for _ in range(2):
            for sibling in box.itersiblings():
                if isinstance(sibling.tag, str):
                    after = _folded(sibling.text_content()[:2_000])
                if after:
                    break
            if after or box.getparent() is None:
                break
            box = box.getparent()
        if text and after:
            found.append((int(element.tag[1]), text, after[:LOOK]))
    return found


def with_headings(markdown: str, headings: list[tuple[int, str, str]]) -> str:
    """Put headings back that an extractor dropped, before the block that followed them.

    Example:
        >>> print(with_headings("It hunts at night.", [(2, "Food", "It hunts"), (2, "Menu", "Home")]))
        ## Food
        <BLANKLINE>
        It hunts at night.
    """
    blocks = markdown.split("\n\n") if markdown else []
    starts = [_folded(_bare(block)) for block in blocks]
    held = {start.lower() for start in starts}
    held |= {_folded(_bare(block.splitlines()[0])).lower() for block in blocks if block.strip()}
    place = 0
    for level, text, after in headings:
        if text.lower() in held:
            continue
        look = after.lower()
        found = next(
            (
                at
                for at in range(place, len(blocks))
                if starts[at] and (starts[at].lower().startswith(look) or look.startswith(starts[at].lower()))
            ),
            None,
        )
        if found is None:
            continue
        blocks.insert(found, "#" * level + " " + _MARKS.sub(r"\\\1", text))
        starts.insert(found, _folded(text))
        place = found + 1
    return "\n\n".join(blocks)


def _bare(block: str) -> str:
    """A block without Markdown's marks, as far as comparing its beginning needs."""
    text = re.sub(r"\]\([^)]*\)", "", block)
    return re.sub(r"^[\s#>|*+-]+|[*_`\[\]|\\]", " ", text)


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _plain(job: ParseJob) -> str:
    """Text that is not HTML, or HTML without a main part, as Markdown that shows it as it is."""
    parsed = parse_page(job)
    if not isinstance(parsed, Page):
        return ""
    text = _MARKS.sub(r"\\\1", parsed.main_text or parsed.text)
    return _START_MARKS.sub(r"\1\\\2", text).strip()
