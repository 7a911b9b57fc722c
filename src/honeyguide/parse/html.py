"""A fetched document to a `Page`."""

from __future__ import annotations

from typing import Any, Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from honeyguide.model import Block, Outcome, Page
from honeyguide.native import native
from honeyguide.parse.alternates import LANGUAGE_WORDS, declared_languages, titled, with_languages
from honeyguide.parse.base import BlockOptions, ParseFailure, ParseJob
from honeyguide.parse.blocks import long_contexts, page_blocks
from honeyguide.parse.consent import CONSENT_WORDS, hide_consent
from honeyguide.parse.links import links_of, refresh_target, resolve
from honeyguide.parse.main_links import in_main_text
from honeyguide.parse.notes import FoundLink, Notes, Tree
from honeyguide.parse.page import AGENT, MAX_TEXT, fold, make_page
from honeyguide.parse.pdf import parse_pdf
from honeyguide.parse.prescan import MAX_BYTES, prescan, refusal_of
from honeyguide.parse.search import has_any
from honeyguide.parse.shell import shell_sign
from honeyguide.parse.walk import MAX_ANCHOR, MAX_CONTEXT, walk_page
from honeyguide.web.charset import decode_html
from honeyguide.web.url import canonical

HTML_TYPES: Final = frozenset(("", "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
TEXT_TYPES: Final = frozenset(("text/plain", "text/markdown"))
PDF_TYPES: Final = frozenset(("application/pdf", "application/x-pdf"))

_OPTIONS: Final = LexborDocumentOptions.WO_EVENTS.value
"""Without mutation events 40,000 options cost 5 ms instead of 12 s."""
_LOOKED_FOR: Final = (*CONSENT_WORDS, *LANGUAGE_WORDS)
"""All in one search: few pages have any of them."""


def parse_page(job: ParseJob, *, scan: bool = True) -> Page | ParseFailure:
    """Parse one document: HTML, XHTML, plain text or (with the extra) PDF.

    Never raises on what a server sends: a document that cannot be read is a `ParseFailure`. The time and
    memory that a hostile document may take are bounded by `prescan` and by the worker process.

    Args:
        job: The document.
        scan: Whether to look for bombs first. Off only where the worker's limits are tested.

    Example:
        >>> page = parse_page(ParseJob("https://example.org/", b"<title>Owls</title>Hoo <a href=b>hoo</a>"))
        >>> page.title, page.text, page.links[0].url
        ('Owls', 'Hoo hoo', 'https://example.org/b')
    """
    kind = job.content_type.partition(";")[0].strip().lower()
    try:
        if kind in HTML_TYPES:
            return _parse_html(job, kind or "text/html", scan=scan)
        if kind in TEXT_TYPES:
            return _parse_text(job, kind)
        if kind in PDF_TYPES:
            return parse_pdf(job)
    except MemoryError:
        return ParseFailure(Outcome.PARSE_FAILED, "the document needs more memory than a parse may have")
    except Exception as error:  # whatever a document triggers must not end the crawl
        return ParseFailure(Outcome.PARSE_FAILED, f"{type(error).__name__}: {error}"[:300])
    return ParseFailure(Outcome.NOT_A_PAGE, f"content type {kind[:100]!r}")


def _parse_html(job: ParseJob, kind: str, *, scan: bool) -> Page | ParseFailure:
    if refusal := refusal_of(job.body):
        return ParseFailure(Outcome.NOT_A_PAGE, refusal)
    text, charset = decode_html(job.body[:MAX_BYTES], job.content_type)
    body = text.encode("utf-8", "replace")
    repaired = False
    if scan:
        scanned = prescan(body)
        if scanned.refusal:
            return ParseFailure(Outcome.NOT_A_PAGE, scanned.refusal)
        body, repaired = scanned.body, bool(scanned.repairs)
    marked = has_any(body, _LOOKED_FOR)
    languages: dict[str, str] = {}
    notes = None if marked or repaired else read_tidy_page(text, blocks=bool(job.blocks))
    if notes is None:
        parser = LexborHTMLParser(body, options=_OPTIONS, scripting=True)
        if marked:
            hide_consent(parser, body)
        notes = read_page(parser, blocks=bool(job.blocks))
        if marked and (languages := declared_languages(parser, body)):
            notes = notes._replace(links=titled(notes.links, languages, fold(notes.title)[:MAX_ANCHOR]))
    facts = _Facts(notes)
    base = (canonical(notes.base, job.url) if notes.base else None) or job.url
    main = in_main_text(notes.links, notes.main_text)
    blocks: tuple[Block, ...] = ()
    if notes.tree is None:
        links = links_of(notes.links, base, page=job.url, main=main)
    else:
        found = resolve(notes.links, base, page=job.url, main=main)
        cut = job.blocks if isinstance(job.blocks, BlockOptions) else BlockOptions()
        blocks, first = page_blocks(notes.tree, targets=found.targets, alpha=cut.alpha, block_tags=cut.tags)
        if cut.context > MAX_CONTEXT:
            found.lengthen(long_contexts(notes.tree, found.targets, limit=cut.context))
        links = found.links(first)
    return make_page(
        job,
        notes.text[:MAX_TEXT],
        content_type=kind,
        title=_title(notes),
        main_text=notes.main_text if job.main_text else "",
        description=facts.description,
        lang=notes.language or facts.language,
        charset=charset,
        canonical=(canonical(notes.canonical, base) or "") if notes.canonical else "",
        robots=facts.robots,
        headings=tuple(notes.headings),
        links=with_languages(links, languages, base) if languages else links,
        blocks=blocks,
        shell=shell_sign(body, notes.text, len(notes.links)),
    )


def _title(notes: Notes) -> str:
    """What a page calls itself: its title, or its first heading where it has none that says anything."""
    return notes.title if notes.title.strip() else next(filter(str.strip, notes.headings), "")


def read_page(parser: LexborHTMLParser, *, blocks: bool = False) -> Notes:
    """The notes of a page, by the compiled reader where it was built.

    Args:
        parser: The page's tree.
        blocks: Whether to record the tree for the content blocks.
    """
    if native is None:
        return walk_page(parser, blocks=blocks)
    root = parser.root
    # The tree written out again is quicker to read than 2,000 nodes are to visit one by one.
    notes = _notes(native.scan_page((root.html or "") if root is not None else "", blocks))
    # With MathML or `plaintext` in it, what is text and what is markup cannot be told from the writing.
    return walk_page(parser, blocks=blocks) if notes is None else notes


def read_tidy_page(text: str, *, blocks: bool = False) -> Notes | None:
    """The notes of a page whose tags are all in order, for which no tree has to be built; None for others.

    Args:
        text: The document.
        blocks: Whether to record the tree for the content blocks.

    Example:
        >>> read_tidy_page("<p>Owls at night") is None
        True
    """
    written = native.tidied(text) if native is not None else None
    if written is None or native is None:
        return None
    return _notes(native.scan_page(written, blocks))


def _notes(found: tuple[Any, ...] | None) -> Notes | None:
    if found is None:
        return None
    notes = Notes._make(found)
    return notes._replace(tree=Tree._make(notes.tree)) if notes.tree is not None else notes


class _Facts:
    """What the meta elements say. A refresh to another address becomes one of the links."""

    def __init__(self, notes: Notes) -> None:
        self.description = ""
        self.language = ""
        self.robots: list[str] = []
        social = ""
        for said, header, content in notes.metas:
            name, equivalent = said.strip().lower(), header.strip().lower()
            if name in ("robots", AGENT):
                self.robots.append(content[:1000])
            elif name in ("description", "dc.description"):
                self.description = self.description or content
            elif name == "og:description":
                social = social or content
            elif equivalent == "content-language":
                self.language = self.language or content[:64].partition(",")[0]
            elif equivalent == "refresh" and (target := refresh_target(content)):
                notes.links.append(FoundLink("refresh", target, path="head/meta"))
        self.description = self.description or social


def _parse_text(job: ParseJob, kind: str) -> Page | ParseFailure:
    if refusal := refusal_of(job.body):
        return ParseFailure(Outcome.NOT_A_PAGE, refusal)
    text, charset = decode_html(job.body[:MAX_BYTES], job.content_type)
    title = next((line.strip() for line in text[:4096].splitlines() if line.strip()), "")
    folded = fold(text)[:MAX_TEXT]
    return make_page(
        job,
        folded,
        content_type=kind,
        title=title,
        main_text=folded if job.main_text else "",
        charset=charset,
    )
