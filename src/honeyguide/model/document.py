"""A text with a title."""

from __future__ import annotations

import msgspec


class Document(msgspec.Struct, frozen=True):
    """A text with a title: an example page, a background document, a search result."""

    text: str
    title: str = ""
    url: str = ""
    label: str = ""
    language: str = ""
