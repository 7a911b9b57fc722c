"""Digests as archives write them."""

from __future__ import annotations

import hashlib
from typing import Final

from honeyguide.compiled import compiled

_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@compiled
def base32(digest: bytes) -> str:
    """Base32 of five bytes, or of a multiple of that. The standard library's takes longer than the digest.

    Example:
        >>> base32(b"owls!")
        'N53WY4ZB'
    """
    bits = int.from_bytes(digest)
    return "".join([_ALPHABET[(bits >> shift) & 31] for shift in range(8 * len(digest) - 5, -1, -5)])


def sha1_digest(*parts: bytes) -> str:
    """`sha1:` plus base32 of the parts put together, the form WARC digests are written in.

    Example:
        >>> sha1_digest(b"")
        'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    digest = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    return "sha1:" + base32(digest.digest())
