"""Changes as an Atom feed, for feed readers.

References:
    RFC 4287, The Atom Syndication Format, 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from honeyguide.collection.changes import MEANINGS, Change
from honeyguide.collection.exports.xml_text import attribute, content
from honeyguide.collection.guarded import utc

MOST_ENTRIES: Final = 200
_SAFE = "!#$%&'()*+,/:;=?@[]~-._"


def change_feed(changes: Sequence[Change], *, title: str, at: float, address: str = "") -> str:
    """The newest changes as a feed.

    Args:
        changes: Newest first.
        title: Of the collection.
        at: Epoch seconds of the feed, used where there is no change.
        address: Where the feed itself is to be had; empty when it is a file.

    Example:
        >>> print(change_feed([], title="owls", at=0.0).splitlines()[2])
        <title>owls: changes</title>
    """
    newest = changes[0].seconds if changes else at
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{content(title)}: changes</title>",
        f"<id>{_name(title)}</id>",
        f"<updated>{_date(newest)}</updated>",
        "<author><name>Honeyguide</name></author>",
    ]
    if address:
        lines.append(f'<link rel="self" href={attribute(address)}/>')
    for change in changes[:MOST_ENTRIES]:
        lines += _entry(change)
    lines.append("</feed>")
    return "\n".join(lines) + "\n"


def _entry(change: Change) -> list[str]:
    meaning = MEANINGS[change.kind]
    told = [f"{meaning}. Score {change.score:.2f}."]
    if change.reason:
        told.append(f"Reason: {change.reason}.")
    told += [f"{each.sign} {each.text}" for each in change.difference]
    return [
        "<entry>",
        f"<title>{meaning}: {content(change.title or change.url)}</title>",
        f"<id>{_name(f'{change.kind} {change.url} {change.seconds!r}')}</id>",
        f"<updated>{_date(change.seconds)}</updated>",
        f"<link href={attribute(quote(change.url, safe=_SAFE))}/>",
        f'<category term="{change.kind}"/>',
        f'<content type="text">{content(chr(10).join(told), limit=40_000)}</content>',
        "</entry>",
    ]


def _name(text: str) -> str:
    """An identifier that the same thing always has."""
    return f"urn:sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()[:40]}"


def _date(at: float) -> str:
    return utc(at).strftime("%Y-%m-%dT%H:%M:%SZ")
