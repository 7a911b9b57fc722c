"""What a page model is fitted on."""

from __future__ import annotations

import msgspec

from honeyguide.model.context import ContextGraph
from honeyguide.model.document import Document


class Examples(msgspec.Struct, frozen=True):
    """Everything the user gave about the topic, as text. Any part may be empty."""

    keywords: tuple[str, ...] = ()
    positives: tuple[Document, ...] = ()
    negatives: tuple[Document, ...] = ()
    unlabelled: tuple[Document, ...] = ()
    """Background text: reference corpus, unlabelled set U, LSI corpus."""
    taxonomy: tuple[str, ...] = ()
    """Labels from the root to the topic's node."""
    languages: tuple[str, ...] = ("en",)
    context: ContextGraph | None = None
    """How pages that lead to the positives look; gathered by a set-up step before the crawl."""
