"""Whether a document has any of a few words: asked of every page, before anybody looks closer."""

from __future__ import annotations

from honeyguide.compiled import compiled


@compiled
def has_any(body: bytes, words: tuple[bytes, ...]) -> bool:
    """Whether any of the words is in a document. In C all are looked for at once.

    Args:
        body: The document.
        words: At most 16, of three bytes or more.

    Example:
        >>> has_any(b"We use cookies.", (b"ookie", b"OOKIE")), has_any(b"Owls", (b"ookie",))
        (True, False)
    """
    return any(word in body for word in words)
