"""Text and links of a PDF document, with the `pdf` extra.

PDF is a programming language's worth of attack surface, so there are limits on pages, characters and
time here, and the worker process adds its own deadline and memory limit.
"""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from honeyguide.errors import MissingExtra
from honeyguide.model import Link, Outcome, Page
from honeyguide.parse.base import ParseFailure, ParseJob
from honeyguide.parse.links import MAX_LINKS, is_page_address
from honeyguide.parse.page import MAX_TEXT, fold, make_page
from honeyguide.parse.pdf_title import MOST_RUNS, Run, pdf_title
from honeyguide.web.url import canonical, url_id

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

# A letter, a hyphen at the end of a line, and a letter of the word's rest.
_PARTED = re.compile(r"(?<=[^\W\d_])(?:[-\u2010]|\u00ad) ?\n(?=([^\W\d_]))")
MAX_PAGES: Final = 100
"""Pages of a document that are read."""
MAX_SECONDS: Final = 3.0
"""CPU time after which reading stops with what there is."""


def parse_pdf(job: ParseJob, *, clock: Callable[[], float] = time.process_time) -> Page | ParseFailure:
    """Parse a PDF document.

    Args:
        job: The document.
        clock: CPU seconds; read between pages to keep to `MAX_SECONDS`.
    """
    try:
        import pypdf
    except ImportError:
        return ParseFailure(Outcome.NOT_A_PAGE, str(MissingExtra("reading PDF documents", "pdf")))
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    started = clock()
    texts: list[str] = []
    targets: dict[str, None] = {}
    length = 0
    title = ""
    try:
        document = pypdf.PdfReader(io.BytesIO(job.body), strict=False)
        if document.is_encrypted and not document.decrypt(""):
            return ParseFailure(Outcome.PARSE_FAILED, "the PDF document is encrypted")
        named = _named(document)
        for page in document.pages[:MAX_PAGES]:
            if texts:
                texts.append(page.extract_text() or "")
            else:
                runs: list[Run] = []
                texts.append(page.extract_text(visitor_text=_noting(runs)) or "")
                title = pdf_title(named, runs, texts[0])
            length += len(texts[-1])
            targets.update(dict.fromkeys(_targets(page)))
            if clock() - started > MAX_SECONDS or length > MAX_TEXT:
                break
    except Exception as error:  # pypdf raises almost anything on broken files
        if not texts:
            return ParseFailure(Outcome.PARSE_FAILED, f"PDF: {type(error).__name__}: {error}"[:300])
    text = fold(joined(" ".join(texts)))[:MAX_TEXT]
    return make_page(
        job,
        text,
        content_type="application/pdf",
        title=title,
        main_text=text if job.main_text else "",
        links=_links(list(targets), job.url),
    )


def joined(text: str) -> str:
    r"""The text with words whole again that the ends of lines part; before a capital the hyphen stays.

    Example:
        >>> joined("noctur-\nnal birds of North-\nAfrica, Wald\u00ad\nkauz")
        'nocturnal birds of North-\nAfrica, Waldkauz'
    """
    return _PARTED.sub(lambda parted: "" if parted[1].islower() else parted[0], text)


def _named(document: PdfReader) -> list[str]:
    """Titles that a document gives itself: in its properties, and in its XMP packet."""
    found: list[object] = []
    with suppress(Exception):  # a broken title is none
        found.append(document.metadata.title if document.metadata else None)
    with suppress(Exception):
        found += (document.xmp_metadata.dc_title or {}).values() if document.xmp_metadata else []
    return [str(one) for one in found if isinstance(one, str)]


def _noting(runs: list[Run]) -> Callable[..., None]:
    """What pypdf calls for each piece of text; notes it with the height of its letters."""

    def note(text: str, _: object, matrix: list[float], __: object, size: float) -> None:
        if len(runs) < MOST_RUNS and text.strip():
            height = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5 if len(matrix) > 3 else 1.0
            runs.append(Run(text, round(abs(float(size)) * (height or 1.0), 1)))

    return note


def _targets(page: PageObject) -> list[str]:
    """Addresses of the link annotations of one page."""
    found: list[str] = []
    annotations: Any = page.get("/Annots")
    annotations = annotations.get_object() if annotations is not None else ()
    for reference in list(annotations or ())[:MAX_LINKS]:
        action = reference.get_object().get("/A")
        address = action.get_object().get("/URI") if action is not None else None
        if address is not None:
            found.append(str(address))
    return found


def _links(targets: list[str], page: str) -> tuple[Link, ...]:
    urls = dict.fromkeys(canonical(target, page) for target in targets)
    kept = [url for url in urls if url and url != page and is_page_address(url)][:MAX_LINKS]
    return tuple([Link(url=url, id=url_id(url), position=i, tag_path="a") for i, url in enumerate(kept)])
