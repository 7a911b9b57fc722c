"""The title of a PDF document.

Documents name a title, but many name the file they were made from, or nothing. Then it is what stands in the
largest letters on the first page, as Beel et al. found to work for most papers, or else the first line.

References:
    J. Beel, B. Gipp, A. Shaker, N. Friedrich, "SciPlore Xtract: extracting titles from scientific PDF
    documents by analyzing style information (font size)", ECDL 2010.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from honeyguide.parse.page import fold

SHORTEST: Final = 4
"""Characters of a title: page numbers and initials are shorter."""
LONGEST: Final = 250
MOST_RUNS: Final = 2_000
"""Pieces of text looked at on the first page."""
SAME: Final = 0.05
"""Share by which the sizes of one heading's letters may differ."""

_FILE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation|presentation\d*|slide \d+|untitled.*|"
    r"no title|title|document\d*|dokument\d*|\(?anonymous\)?|unknown|none|null|print|layout \d+|page \d+|"
    r"<.*>|[a-z]:\\.*|/.*)\b.{0,3}$|"
    r"^microsoft (?:word|powerpoint|excel) - |"
    r"\.(?:docx?|pptx?|xlsx?|odt|odp|rtf|tex|dvi|ps|pdf|indd|qxd|qxp|pmd|p65|fm|eps|txt|html?|wpd|cdr|pub)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


class Run(NamedTuple):
    """A piece of text on the first page."""

    text: str
    size: float
    """Height of its letters."""


def is_title(text: str) -> bool:
    """Whether a document's own title tells anything.

    Example:
        >>> is_title("Owls of Europe"), is_title("Microsoft Word - owls_v3.doc"), is_title("untitled")
        (True, False, False)
    """
    folded = fold(text[: 4 * LONGEST])
    return (
        SHORTEST <= len(folded) <= 2 * LONGEST
        and not _FILE.search(folded)
        and _WORD.search(folded) is not None
        and (" " in folded or not re.search(r"[_\d]", folded))
    )


def pdf_title(named: Sequence[str], runs: Sequence[Run], text: str) -> str:
    """The title of a document; empty when nothing looks like one.

    Args:
        named: Titles that the document gives itself.
        runs: Pieces of the first page, in their order.
        text: Of the first page.

    Example:
        >>> pdf_title(["scan0001.pdf"], [Run("12 May", 9.0), Run("Owls of", 20.0), Run("Europe", 20.0)], "")
        'Owls of Europe'
    """
    for own in named:
        if is_title(own):
            return fold(own[: 4 * LONGEST])
    return _largest(runs[:MOST_RUNS]) or _first_line(text)


def _largest(runs: Sequence[Run]) -> str:
    """What stands in the largest letters; the next smaller ones where those are no title."""
    told = [run for run in runs if run.text.strip() and run.size > 0.0]
    sizes = sorted({run.size for run in told}, reverse=True)
    if not sizes or sizes[0] < sizes[-1] * (1 + 2 * SAME):
        return ""
    for size in sizes[:3]:
        pieces: list[str] = []
        for run in told:
            if abs(run.size - size) <= SAME * size:
                pieces.append(run.text)
            elif pieces:
                break  # a title is one heading, not all in its size
        found = fold(" ".join(pieces))
        if SHORTEST < len(found) <= LONGEST and len(_WORD.findall(found)) >= 2:
            return found
    return ""


def _first_line(text: str) -> str:
    for line in text[:4096].splitlines():
        folded = fold(line)
        if len(_WORD.findall(folded)) >= 2:
            return folded[:LONGEST]
    return ""
