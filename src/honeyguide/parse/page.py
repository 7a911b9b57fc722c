"""What every kind of document shares on its way to a `Page`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from honeyguide.model import Block, Link, Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.language import language_of
from honeyguide.text.simhash import simhash
from honeyguide.web.digest import sha1_digest
from honeyguide.web.meta_robots import directives
from honeyguide.web.url import url_id

BREAK: Final = "\n"
"""Ends a line of text. Folded text has no other use of this character."""


_INVISIBLE: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff]+")
"""Soft hyphens, zero-width spaces, word joiners and byte order marks say where a word may be parted: nobody
sees them, and with them in it no keyword and no search finds a word. Control characters mean nothing in a
text, and could steer the terminal that a table of titles is shown in. (Joiners of Persian and Indian scripts,
and marks of direction, say something.)"""


def fold(text: str) -> str:
    r"""The text with every run of white space as one space, none at the ends, and nothing invisible in it.

    Example:
        >>> fold("  a\n\tb "), fold("Wald\u00adkauz")
        ('a b', 'Waldkauz')
    """
    return " ".join(visible(text).split())


def visible(text: str) -> str:
    r"""The text without soft hyphens, control characters and others that nobody sees.

    Example:
        >>> visible("ow\u200bl")
        'owl'
    """
    return text if text.isascii() and text.isprintable() else _INVISIBLE.sub("", text)


def folded_piece(text: str, last: str) -> str:
    r"""A text as it follows on `last`: white space folded, never two in a row, nothing invisible.

    Args:
        text: What comes next in the page.
        last: The character before it.

    Example:
        >>> folded_piece("\n a\tb ", BREAK), folded_piece(" c", "b")
        ('a b ', ' c')
    """
    # Looking for single characters is far cheaper than splitting into words, and usually enough.
    if text.isascii() and text.isprintable() and "  " not in text:
        return text[1:] if text[0] == " " and last in " \n" else text
    text = visible(text)
    words = " ".join(text.split())
    left = " " if text[:1].isspace() and last not in " \n" else ""
    return f"{left}{words} " if words and text[-1:].isspace() else left + words


def first_part(text: str, start: int, stop: int, *, limit: int) -> str:
    """The text from `start` to `stop`, at most `limit` characters, whole words where possible.

    Reads no more than it needs, so that asking for each of a thousand links of one huge paragraph
    stays linear.

    Example:
        >>> first_part("one two three", 0, 13, limit=8)
        'one two'
    """
    part = text[start : min(stop, start + limit + 4)].strip(" \n").replace("\n", " ")
    return part if len(part) <= limit else part[: limit + 1].rpartition(" ")[0] or part[:limit]


def last_part(text: str, start: int, stop: int, *, limit: int) -> str:
    """Like `first_part`, but the end of the range.

    Example:
        >>> last_part("one two three", 0, 13, limit=9)
        'two three'
    """
    part = text[max(start, stop - limit - 4) : stop].strip(" \n").replace("\n", " ")
    return part if len(part) <= limit else part[-limit - 1 :].partition(" ")[2] or part[-limit:]


AGENT: Final = "honeyguide"
"""Product name that robots directives may address."""
MAX_TEXT: Final = 2_000_000
"""Characters of text kept per page."""
SIMHASH_SAMPLE: Final = 10_000
"""Characters of the main text that the near-duplicate fingerprint is made of."""
MAX_TITLE: Final = 500
MAX_DESCRIPTION: Final = 1_000


def make_page(
    job: ParseJob,
    text: str,
    *,
    content_type: str,
    title: str = "",
    main_text: str = "",
    description: str = "",
    lang: str = "",
    charset: str = "",
    canonical: str = "",
    robots: Sequence[str] = (),
    headings: tuple[str, ...] = (),
    links: tuple[Link, ...] = (),
    blocks: tuple[Block, ...] = (),
    shell: str = "",
) -> Page:
    """A page with everything that follows from its text and body filled in.

    Args:
        job: The document.
        text: Visible text, folded.
        content_type: Media type without parameters.
        title: Raw title.
        main_text: Text without boilerplate.
        description: Raw description.
        lang: What the page says of its language.
        charset: Encoding the body was read in.
        canonical: Canonical URL the page names; dropped when it is its own.
        robots: Values of robots meta elements.
        headings: Texts of the headings.
        links: Links, each target once.
        blocks: Content blocks.
        shell: What makes it the shell of an application.
    """
    noindex = nofollow = False
    if robots or job.robots_tags:
        found = directives([*robots, *job.robots_tags], AGENT)
        noindex, nofollow = found.noindex, found.nofollow
    return Page(
        url=job.url,
        id=url_id(job.url),
        title=fold(title[: 2 * MAX_TITLE])[:MAX_TITLE],
        text=text[:MAX_TEXT],
        main_text=main_text[:MAX_TEXT],
        language=language_of(main_text or text, hint=lang),
        links=links,
        blocks=blocks,
        canonical=canonical if canonical != job.url else "",
        description=fold(description[: 2 * MAX_DESCRIPTION])[:MAX_DESCRIPTION],
        headings=headings,
        noindex=noindex,
        nofollow=nofollow,
        charset=charset,
        content_type=content_type,
        bytes=len(job.body),
        digest=job.digest or sha1_digest(job.body),
        simhash=simhash((main_text or text)[:SIMHASH_SAMPLE]),
        shell=shell,
    )
