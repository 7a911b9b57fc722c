"""Digests as archives write them."""

from __future__ import annotations

import hashlib
from typing import Final

_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS: Final = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_SHIFTS: Final = tuple(range(150, -1, -10))


def sha1_digest(*parts: bytes) -> str:
    """`sha1:` plus base32 of the parts put together, the form WARC digests are written in.

    Example:
        >>> sha1_digest(b"")
        'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    digest = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    bits = int.from_bytes(digest.digest())
    # The standard library's base32 takes four times as long, and there are five of these a page.
    return "sha1:" + "".join([_PAIRS[(bits >> shift) & 1023] for shift in _SHIFTS])
