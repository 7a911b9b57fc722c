"""Any document that a crawl reads, by its kind: pages, sitemaps and feeds, robots.txt.

All come from strangers and can be made to take long, so all are read where pages are parsed.
"""

from __future__ import annotations

from honeyguide.model import Outcome, Page
from honeyguide.parse.base import PackedPage, ParseFailure, ParseJob, Reading
from honeyguide.parse.html import parse_page
from honeyguide.store.packed import pack_answer
from honeyguide.web.robots import Robots
from honeyguide.web.sitemap import epoch_of, parse_sitemap


def read(job: ParseJob, *, scan: bool = True) -> Page | PackedPage | Reading | ParseFailure:
    """Read one document.

    Args:
        job: The document.
        scan: As for `parse_page`.

    Example:
        >>> read(ParseJob("http://a.org/sitemap.txt", b"http://a.org/x", what="listing")).urls
        ('http://a.org/x',)
    """
    if job.what == "page":
        page = parse_page(job, scan=scan)
        if not job.head or isinstance(page, ParseFailure):
            return page
        ready = pack_answer(job.head, job.body)
        return page if ready is None else PackedPage(page, ready)
    try:
        if job.what == "robots":
            packed = Robots.parse(job.body, job.agent).pack(job.agent)
            return Reading(job.url, rules=packed, kept=Robots.trimmed(job.body, job.agent))
        named = parse_sitemap(job.body, job.url)
        return Reading(
            job.url,
            urls=tuple(entry.url for entry in named.urls),
            dates=tuple(epoch_of(entry.lastmod) for entry in named.urls),
            indexes=tuple(named.indexes),
        )
    except MemoryError:
        return ParseFailure(Outcome.PARSE_FAILED, "the document needs more memory than a parse may have")
    except Exception as error:  # whatever a document triggers must not end the crawl
        return ParseFailure(Outcome.PARSE_FAILED, f"{type(error).__name__}: {error}"[:300])
