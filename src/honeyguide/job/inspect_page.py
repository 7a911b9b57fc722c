"""One page as a crawl's parts see it: its blocks, their scores, what becomes of its links."""

from __future__ import annotations

from pathlib import Path

from honeyguide.config.load import check_values, load
from honeyguide.config.schema import Config
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.reread import Reader
from honeyguide.errors import CollectionError, HoneyguideError, TopicError
from honeyguide.fetch.options import MAX_BODY
from honeyguide.job.assemble import a_few_visits
from honeyguide.job.examples import fetch_page, kept_examples, read_examples
from honeyguide.job.parts import Parts, blocks_of, build_parts, chosen
from honeyguide.model import Examples, Page
from honeyguide.parse.base import Blocks, ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.store.layout import Layout
from honeyguide.store.state import State
from honeyguide.web import canonical, url_id


def parts_of_collection(folder: Path) -> Parts:
    """Page model and order of a collection, as of its last checkpoint."""
    layout = Layout.open(folder)
    recipe = chosen(load(layout.topic_file))
    parts = build_parts(recipe, kept_examples(layout) or Examples(), fit=False, reviews=True)
    with State.open(layout.state_file, read_only=True) as state:
        if not Checkpoints(state, layout.models_folder, parts.model, parts.order).restore():
            raise CollectionError(f"{folder} has no saved model yet; let the crawl go on, or stop it cleanly")
    return parts


def page_of_collection(folder: Path, url: str, blocks: Blocks) -> Page | None:
    """An archived page, parsed again; None when the collection does not hold it."""
    layout = Layout.open(folder)
    address = canonical(url)
    with State.open(layout.state_file, read_only=True) as state:
        record = state.page_by_row(state.row_of(url_id(address))) if address else None
        if record is None or not record.file:
            return None
        return Reader(state, layout.archive_folder, blocks=blocks, max_bytes=MAX_BODY).page(record)


def parts_of_topic(file: Path) -> Parts:
    """Page model and order of a topic file, fitted on what it gives as words and files."""
    config = load(file)
    read = read_examples(config.as_topic(), config.base)
    try:
        return build_parts(chosen(config), read.examples)
    except TopicError as error:
        if read.to_fetch:
            raise TopicError(
                f"{error} (its examples are addresses: crawl it, then use --collection)"
            ) from None
        raise


def page_of_file(path: Path, blocks: Blocks) -> Page:
    """A local HTML file as a page."""
    try:
        body = path.read_bytes()
    except OSError as error:
        raise HoneyguideError(
            f"{path}: {error.strerror}; name a file, or an address with https://"
        ) from error
    parsed = parse_page(ParseJob("http://localhost/", body, blocks=blocks))
    if not isinstance(parsed, Page):
        raise HoneyguideError(f"{path}: {parsed.detail}; name another file")
    return parsed


async def page_of_web(url: str, blocks: Blocks, config: Config | None = None) -> Page:
    """A page fetched now, as a crawl would: robots.txt, redirects, limits."""
    config = config or check_values(
        {"topic": {"name": "one page", "keywords": ["page"]}, "crawl": {"seeds": [url]}}
    )
    async with a_few_visits(config, blocks) as (visitor, clock):
        answer = await fetch_page(visitor, url, clock)
    if isinstance(answer, str):
        raise HoneyguideError(f"{url}: {answer}; check the address")
    return answer


def blocks_asked(parts: Parts | None, blocks: Blocks) -> Blocks:
    """How to cut the page: as asked for, else as the order does."""
    if blocks is not True or parts is None:
        return blocks
    return blocks_of(parts.order) or True


__all__ = [
    "blocks_asked",
    "page_of_collection",
    "page_of_file",
    "page_of_web",
    "parts_of_collection",
    "parts_of_topic",
]
