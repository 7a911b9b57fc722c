"""Beginning a crawl from the portal: the topic file is written, then `honeyguide crawl` runs beside it."""

from __future__ import annotations

import sqlite3
import time

from honeyguide.errors import HoneyguideError
from honeyguide.job.topic_builder import checked_topic
from honeyguide.store.atomic import replacing
from honeyguide.ui.portal import Portal
from honeyguide.ui.shelf import Shelf

BEGINS_WITHIN = 60.0
"""Seconds a reader waits for the collection to come into being."""


def begin_crawl(shelf: Shelf, name: str, text: str) -> Portal:
    """Start a crawl in a folder of its own.

    Raises:
        HoneyguideError: The topic cannot be used, the name is taken, or the crawl did not start.
    """
    checked_topic(text)
    portal = shelf.create(name)
    try:
        launch(portal, text)
    except HoneyguideError:
        if not portal.exists:
            shelf.drop(name)
        raise
    return portal


def launch(portal: Portal, text: str) -> None:
    """Write the topic file beside the collection's folder and crawl it.

    Raises:
        HoneyguideError: The crawl did not start.
    """
    file = portal.folder.resolve().with_name(f"{portal.folder.resolve().name}.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    # Whoever has the token has just written it, or has read it in the form.
    portal.launcher.start(["crawl", str(file), "--trust", "--out", str(portal.folder.resolve()), "--quiet"])
    until = time.monotonic() + BEGINS_WITHIN
    while not begun(portal) and portal.launcher.running and time.monotonic() < until:
        time.sleep(0.1)
    if portal.launcher.problem:
        raise HoneyguideError(f"the crawl did not start: {portal.launcher.problem}")


def rejudge(portal: Portal, text: str) -> None:
    """Let a collection have another topic: its pages are judged again, and the crawl continues.

    Raises:
        HoneyguideError: The topic cannot be used, or a crawl is running.
    """
    checked_topic(text)
    if portal.watch.standing().running:
        raise HoneyguideError("the crawl is running; stop it first, then change its topic")
    file = portal.folder.resolve().with_name(f"{portal.folder.resolve().name}-changed.toml")
    with replacing(file) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    words = ["crawl", str(file), "--rejudge", "--trust", "--out", str(portal.folder.resolve()), "--quiet"]
    portal.launcher.start(words)


def begun(portal: Portal) -> bool:
    """Whether the crawl's state can be read: its file is there a moment earlier."""
    try:
        return portal.exists and portal.watch.standing().session > 0
    except (HoneyguideError, sqlite3.Error):
        return False
