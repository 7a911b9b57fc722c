"""The rule of the GP hybrid crawler: a page that the classifier rejects is dropped with its links."""

from __future__ import annotations

from typing import Final

from honeyguide.model import Page, Verdict

REJECTED: Final = "on a page that was judged off topic"
"""The reason that `honeyguide why` shows for a dropped link."""


def is_rejected(page: Page, verdict: Verdict) -> bool:
    """Whether the links of a page are dropped.

    The user's own seeds are always followed: a start page may be a mere list of links.
    """
    return not verdict.on_topic and not (page.via is not None and page.via.source == "seed")
