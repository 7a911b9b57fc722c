"""How a collection and its figures look in a notebook and at a prompt. Texts from the web are escaped."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from honeyguide.collection.guarded import utc

if TYPE_CHECKING:
    from honeyguide.collection.collection import Collection, Status

NEWEST = 5
"""Pages shown of a collection."""


def status_facts(status: Status) -> dict[str, str]:
    """The figures as people read them."""
    return {
        "pages": f"{status.pages:,}",
        "on topic": f"{status.relevant:,} ({status.harvest:.1%})",
        "waiting": f"{status.waiting:,} of {status.known:,} known addresses",
        "hosts": f"{status.hosts:,}",
        "requests": f"{status.requests:,}",
        "time": f"{status.seconds:,.1f} s in {status.sessions} session{'s' if status.sessions != 1 else ''}",
        "state": "running" if status.running else f"stopped: {status.reason}" if status.reason else "stopped",
    }


def facts_html(facts: dict[str, str]) -> str:
    """Names and values as a table."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts.items()
    )
    return f"<table>{rows}</table>"


def status_html(status: Status) -> str:
    """A status in a notebook."""
    return facts_html(status_facts(status))


def collection_text(collection: Collection) -> str:
    """A collection at a prompt."""
    status = collection.status()
    place = str(collection.layout.root) if collection.layout else "in memory"
    return (
        f"<Collection {collection.name or 'without a name'!r} ({place}):"
        f" {status.pages:,} pages, {status.relevant:,} on topic>"
    )


def collection_html(collection: Collection) -> str:
    """A collection in a notebook: its figures and the relevant pages fetched last."""
    place = str(collection.layout.root) if collection.layout else "in memory"
    head = f"<b>{html.escape(collection.name or 'Collection')}</b> <code>{html.escape(place)}</code>"
    rows = []
    found = collection.state.connection.execute(
        "SELECT url.url, title, score, at FROM page JOIN url ON url.row = page.row"
        " WHERE on_topic ORDER BY number DESC LIMIT ?",
        (NEWEST,),
    )
    for url, title, score, at in found:
        shown = html.escape(title or url)
        if url.startswith(("http://", "https://")):
            shown = f"<a href='{html.escape(url, quote=True)}' rel='noreferrer'>{shown}</a>"
        rows.append(
            f"<tr><td>{score:.2f}</td><td>{utc(at):%Y-%m-%d %H:%M}</td>"
            f"<td style='text-align:left'>{shown}</td></tr>"
        )
    listed = f"<table><tr><th>score</th><th>fetched</th><th>newest on topic</th></tr>{''.join(rows)}</table>"
    return head + status_html(collection.status()) + (listed if rows else "")
