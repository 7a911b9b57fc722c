"""Hosts, their feeds and their pages as OPML 2.0 outlines, for outliners and feed readers."""

from __future__ import annotations

from email.utils import format_datetime
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.exports.xml_text import attribute, content
from honeyguide.collection.guarded import host_of, utc
from honeyguide.model import Outcome
from honeyguide.store.atomic import replacing


def write_opml(
    selection: Selection,
    path: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    progress: Progress = silent,
) -> int:
    """Write one outline a host with its feeds (`type="rss"`) and pages (`type="link"`); how many pages.

    Hosts are in order of their names, pages in order of their scores. Feeds are those the crawl met
    (`follow_feeds` in the topic file), also where no page of their host is selected.
    """
    state = selection.state
    hosts = state.columns().hosts
    names = {host.row: host.name for host, _ in state.hosts()}
    rows, _, scores = state.verdicts()
    score = np.zeros(int(rows.max()) + 1 if len(rows) else 1, np.float32)
    score[rows] = scores
    order = np.lexsort((selection.rows, -score[selection.rows]))
    by_host: dict[str, list[int]] = {}
    for row in selection.rows[order].tolist():
        name = names.get(int(hosts[row])) or host_of(state.url_text(row))
        by_host.setdefault(name, []).append(row)
    feeds = _feeds(selection)
    done = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        _write_head(file, software=software, at=at, title=title)
        for name in sorted(by_host.keys() | feeds.keys()):
            file.write(f"    <outline text={attribute(name)}>\n")
            for url in feeds.get(name, ()):
                file.write(
                    f'      <outline type="rss" text={attribute(url)} title={attribute(url)}'
                    f" xmlUrl={attribute(url)}/>\n"
                )
            for row in by_host.get(name, ()):
                page = state.page_by_row(row)
                assert page is not None
                text = attribute(page.title or page.url, limit=300)
                language = f" language={attribute(page.language)}" if page.language else ""
                file.write(f'      <outline type="link" text={text} url={attribute(page.url)}{language}/>\n')
                done += 1
                if done % 64 == 0:
                    progress(done, selection.total)
            file.write("    </outline>\n")
        file.write("  </body>\n</opml>\n")
    progress(selection.total, selection.total)
    return done


def _write_head(file: TextIOWrapper, *, software: str, at: float, title: str) -> None:
    date = format_datetime(utc(at), usegmt=True)
    file.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n  <head>\n'
        f"    <title>{content(title)}</title>\n    <dateCreated>{date}</dateCreated>\n"
        f"    <ownerName>{content(software)}</ownerName>\n  </head>\n  <body>\n"
    )


def _feeds(selection: Selection) -> dict[str, list[str]]:
    """Addresses of feeds that were read, by host."""
    columns = selection.state.columns()
    found: dict[str, list[str]] = {}
    for row in np.flatnonzero(columns.status[: columns.size + 1] == Outcome.LISTING).tolist():
        record = selection.state.url_by_row(row)
        if record is not None and record.source == "feed":
            found.setdefault(host_of(record.url), []).append(record.url)
    return found
