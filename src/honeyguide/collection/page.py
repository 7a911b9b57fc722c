"""One page of a collection: what is known of it, its text, its Markdown, its links, its archived copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from honeyguide.collection.guarded import utc
from honeyguide.collection.moments import moment
from honeyguide.collection.story import Story, tell_row
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding
from honeyguide.model import Page
from honeyguide.store.records import PageRecord

if TYPE_CHECKING:
    from honeyguide.collection.collection import Collection
    from honeyguide.engine.reread import Reader

MOST_BODY = 8 << 20


class Version(msgspec.Struct, frozen=True):
    """An archived copy of a page."""

    fetched_at: str
    """UTC, ISO 8601."""
    status: int
    content_type: str
    bytes: int
    digest: str
    file: str
    offset: int
    until: str = ""
    """When the next one took its place; empty for the newest."""
    title: str = ""
    score: float = 0.0
    on_topic: bool = False


class PageLink(msgspec.Struct, frozen=True):
    """A link of a page and what became of its target."""

    url: str
    anchor: str
    """Text of the link by which the crawl took the target in; empty when that was another page's."""
    outcome: str
    """`waiting`, `fetched`, or how it ended."""
    score: float | None
    on_topic: bool | None


class CollectedPage:
    """A fetched page. Made by `Collection.page`; valid while the collection is open."""

    def __init__(self, collection: Collection, record: PageRecord) -> None:
        self._collection = collection
        self.record = record

    def __repr__(self) -> str:
        """Address, title and score."""
        return f"<CollectedPage {self.url} {self.title!r} score={self.score:.2f}>"

    @property
    def url(self) -> str:
        """Canonical address."""
        return self.record.url

    @property
    def title(self) -> str:
        """Title, as the page gives it."""
        return self.record.title

    @property
    def score(self) -> float:
        """The page model's score in 0..1."""
        return self.record.score

    @property
    def on_topic(self) -> bool:
        """The page model's verdict."""
        return self.record.on_topic

    @property
    def language(self) -> str:
        """ISO 639-1 code, or empty."""
        return self.record.language

    @property
    def fetched_at(self) -> str:
        """UTC, ISO 8601."""
        return utc(self.record.at).isoformat(timespec="seconds")

    def text(self) -> str:
        """The text without boilerplate: of the index where it is there, else out of the archive.

        Raises:
            CollectionError: Neither holds it.
        """
        layout = self._collection.layout
        if layout is not None and layout.index_file.is_file():
            with self._collection.index() as index:
                row, at = self.record.row, self.record.at
                held = index.past_text(row, at) if index.dated(row) not in (None, at) else index.text(row)
                if held:
                    return held
        parsed = self.parsed()
        return parsed.main_text or parsed.text

    def markdown(self) -> str:
        """The main part as Markdown; empty when the page has none.

        Raises:
            CollectionError: The archive does not hold the page.
            MissingExtra: `honeyguide[markdown]` is not installed.
        """
        body, content_type = self.body()
        return self._collection.markdown_maker.make(body, url=self.url, content_type=content_type)

    def body(self) -> tuple[bytes, str]:
        """The archived body, decompressed, and its Content-Type; of a rendered page, what it became.

        Raises:
            CollectionError: The archive does not hold the page, or the copy is damaged.
        """
        try:
            body, content_type, _ = self._reader().document(self.record)
        except BadEncoding as error:
            raise CollectionError(f"{self.url}: the archived copy cannot be decoded ({error})") from error
        return body, content_type

    def parsed(self) -> Page:
        """The page parsed again, as the crawl saw it.

        Raises:
            CollectionError: The archive does not hold the page, or it no longer parses.
        """
        try:
            page = self._reader().page(self.record)
        except BadEncoding as error:
            raise CollectionError(f"{self.url}: the archived copy cannot be decoded ({error})") from error
        if page is None:
            raise CollectionError(
                f"{self.url}: the archived copy can no longer be parsed; look at its source"
            )
        return page

    def why(self) -> Story:
        """How the crawl came here and what it made of the page."""
        return tell_row(self._collection.state, self.record.row)

    def links(self) -> list[PageLink]:
        """Its links, in the order of the page."""
        state = self._collection.state
        found = []
        for row in state.links_of(self.record.row).tolist():
            url = state.url_by_row(row)
            if url is None:
                continue
            page = state.page_by_row(row)
            found.append(
                PageLink(
                    url=url.url,
                    anchor=url.anchor if url.parent == self.record.row else "",
                    outcome=url.status.name.lower(),
                    score=page.score if page else None,
                    on_topic=page.on_topic if page else None,
                )
            )
        return found

    def versions(self) -> list[Version]:
        """The archived copies that differ, oldest first: one of a page that never changed."""
        held = [(old, until) for old, until in self._collection.state.history.versions_of(self.record.row)]
        return [
            Version(
                fetched_at=utc(record.at).isoformat(timespec="seconds"),
                status=record.status,
                content_type=record.content_type,
                bytes=record.bytes,
                digest=record.digest,
                file=record.file,
                offset=record.offset,
                until=utc(until).isoformat(timespec="seconds") if until else "",
                title=record.title,
                score=record.score,
                on_topic=record.on_topic,
            )
            for record, until in (*held, (self.record, 0.0))
            if record.file
        ]

    def as_of(self, date: str | float) -> CollectedPage:
        """The page as it was on a day, or at a moment.

        Raises:
            CollectionError: It was not in the collection then.
        """
        then = moment(date, end=True)
        history = self._collection.state.history
        newest = self._collection.state.page_by_row(self.record.row) or self.record
        for record in (newest, *(old for old, _ in reversed(history.versions_of(self.record.row)))):
            if record.at <= then:
                return CollectedPage(self._collection, record)
        raise CollectionError(f"{self.url} was first fetched {self.versions()[0].fetched_at}, after {date}")

    def gone(self) -> str:
        """Since when it is gone (UTC, ISO 8601); empty when it is there as far as the crawl knows."""
        found = self._collection.state.history.gone().get(self.record.row)
        return utc(found[0]).isoformat(timespec="seconds") if found else ""

    def _reader(self) -> Reader:
        from honeyguide.engine.reread import Reader  # with it come parser and engine, which few readers need

        layout = self._collection.layout
        if layout is None or not self.record.file:
            raise CollectionError(
                f"{self.url}: not in the archive; crawl into a folder, with an archive, to keep pages"
            )
        return Reader(self._collection.state, layout.archive_folder, blocks=False, max_bytes=MOST_BODY)
