"""A collection as its readers see it: numbers, pages, stories of URLs, search, exports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import closing, contextmanager, nullcontext
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.changes import Change, find_changes
from honeyguide.collection.directory_entries import Entry, page_entries
from honeyguide.collection.duplicate_groups import DuplicateGroup, best_of_each, duplicate_groups
from honeyguide.collection.exports.datasheet import topic_languages, topic_name, topic_recipe
from honeyguide.collection.exports.left_out import Trouble, log_trouble
from honeyguide.collection.exports.page_rows import page_rows
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.frames import to_arrow, to_pandas, to_polars
from honeyguide.collection.guarded import utc
from honeyguide.collection.moments import moment
from honeyguide.collection.page import CollectedPage
from honeyguide.collection.shown import collection_html, collection_text, status_html
from honeyguide.collection.story import Story, tell
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome
from honeyguide.store.checked import reading
from honeyguide.store.index import FullText, Hit
from honeyguide.store.layout import Layout
from honeyguide.store.lock import holder
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Reviews, read_reviews
from honeyguide.store.shards import is_sharded
from honeyguide.store.state import State
from honeyguide.web.url import canonical, url_id

if TYPE_CHECKING:
    from honeyguide.collection.directory import Directory
    from honeyguide.collection.link_analysis import LinkAnalysis
    from honeyguide.collection.markdown import MarkdownMaker


BROKEN_OFF: Final = "it was broken off: killed, or no room on the disk"
"""Why a session ended that wrote no end."""


class Status(msgspec.Struct, frozen=True):
    """Where a crawl stands."""

    pages: int
    relevant: int
    harvest: float
    known: int
    waiting: int
    outcomes: dict[str, int]
    hosts: int
    requests: int
    bytes: int
    seconds: float
    sessions: int
    running: bool
    reason: str
    """Why the last session ended; empty while one runs."""

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        return status_html(self)


class Collection:
    """Reads a collection, also while a crawl writes it.

    Example:
        >>> Collection.open("no/such/folder")
        Traceback (most recent call last):
        ...
        honeyguide.errors.CollectionError: ...
    """

    def __init__(self, state: State, layout: Layout | None) -> None:
        self.state = state
        self.layout = layout
        self._name = ""
        self._maker: MarkdownMaker | None = None

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a folder that `honeyguide crawl` wrote, for reading; of shards, as they are by now."""
        layout = Layout.open(Path(folder))
        if is_sharded(layout.root):
            from honeyguide.collection.merging import bring_up_to_date  # needed by few

            bring_up_to_date(layout.root)
        return cls(State.open(layout.state_file, read_only=True), layout)

    @classmethod
    def of(cls, state: State | None, *, name: str = "") -> Self:
        """The result of a crawl that was kept in memory, with the name of its topic."""
        if state is None:
            raise CollectionError("the crawl has not run yet; run it first")
        collection = cls(state, None)
        collection._name = name
        return collection

    def close(self) -> None:
        """Let go of the files."""
        if self._maker is not None:
            self._maker.close()
            self._maker = None
        self.state.close()

    def __enter__(self) -> Self:
        """The collection itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Topic, folder and figures."""
        return collection_text(self)

    def _repr_html_(self) -> str:
        """Topic, figures and the newest relevant pages, for notebooks."""
        return collection_html(self)

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._name or topic_name(self.layout.topic_file if self.layout else None)

    @property
    def recipe(self) -> str:
        """The recipe that the topic file names; empty when it names none."""
        return topic_recipe(self.layout.topic_file if self.layout else None)

    def status(self) -> Status:
        """The numbers of the crawl."""
        counts = self.state.counts()
        waiting = counts.pop(Outcome.WAITING, 0)
        tally = self.state.setting("tally")
        spent = tally if isinstance(tally, dict) else {}
        sessions = self.state.sessions()
        open_end = bool(sessions) and sessions[-1].stop is None
        # A crawl that was killed, or had no room left, could not write its end.
        running = open_end and (self.layout is None or holder(self.layout.lock_file) > 0)
        reason = sessions[-1].reason if sessions else ""
        with reading("figures"):
            pages = int(spent.get("pages", 0))
            relevant = int(spent.get("relevant", 0))
            return Status(
                pages=pages,
                relevant=relevant,
                harvest=relevant / pages if pages else 0.0,
                known=waiting + sum(counts.values()),
                waiting=waiting,
                outcomes={outcome.name.lower(): count for outcome, count in sorted(counts.items()) if count},
                hosts=len(self.state.hosts()),
                requests=int(spent.get("requests", 0)),
                bytes=int(spent.get("bytes", 0)),
                seconds=float(spent.get("seconds", 0.0)),
                sessions=len(sessions),
                running=running,
                reason=BROKEN_OFF if open_end and not running else reason,
            )

    def pages(
        self, *, relevant: bool | None = True, as_of: str | float | None = None
    ) -> Iterator[PageRecord]:
        """Pages in the order they were fetched; None for all, True for those on topic.

        Args:
            relevant: Which verdict.
            as_of: As they were on this day, or at this moment, without those that were gone.
        """
        if as_of is None:
            return self.state.pages(on_topic=relevant)
        return self.state.pages_as_of(moment(as_of, end=True), on_topic=relevant)

    def verdicts(self) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """On topic or not, and score, of each page in order of fetching."""
        found = [(page.on_topic, page.score) for page in self.state.pages()]
        return (
            np.array([on_topic for on_topic, _ in found], dtype=np.bool_),
            np.array([score for _, score in found], dtype=np.float64),
        )

    def page(self, url: str) -> CollectedPage:
        """A fetched page by its address, in any spelling: text, Markdown, links, story.

        Raises:
            CollectionError: The crawl never met it, or did not fetch it.
        """
        story_url = canonical(url)
        row = self.state.row_of(url_id(story_url)) if story_url else 0
        record = self.state.page_by_row(row) if row else None
        if record is None:
            story = tell(self.state, url)  # says what is wrong with an address that is not known
            reason = f": {story.reason}" if story.reason else ""
            raise CollectionError(f"{story.url} was not fetched ({story.outcome}{reason}); see `why`")
        return CollectedPage(self, record)

    def text(self, url: str = "") -> str | Iterator[tuple[str, str]]:
        """The text of one page, or without an address every relevant page's: pairs of URL and text."""
        return self.page(url).text() if url else self._texts()

    def why(self, url: str) -> Story:
        """The story of one URL."""
        return tell(self.state, url)

    def search(
        self,
        words: str,
        limit: int = 10,
        offset: int = 0,
        *,
        host: str = "",
        language: str = "",
        unique: bool = False,
        as_of: str | float | None = None,
    ) -> list[Hit]:
        """Full-text search over the relevant pages.

        Args:
            words: What to look for.
            limit: At most this many.
            offset: Skip this many.
            host: Only pages of this host.
            language: Only pages in this language.
            unique: Leave out pages that repeat, or nearly repeat, a better result.
            as_of: As the pages were on this day, or at this moment, without those that were gone by then.
                By default all pages are searched in their newest version, also those that are gone.
        """
        with self.index() as index:
            if as_of is None:
                if not unique:
                    return self._mark_gone(index.search(words, limit, offset, host=host, language=language))
                hits = best_of_each(self.state, _in_turn(index, words, 2 * limit, host, language))
                return self._mark_gone(list(islice(hits, offset, offset + limit)))
            then = moment(as_of, end=True)
            gone = self.state.history.gone(as_of=then)
            found = index.search_as_of(words, then, host=host, language=language)
            there = [hit for hit in found if hit.row not in gone]
            return (list(best_of_each(self.state, there)) if unique else there)[offset : offset + limit]

    def _mark_gone(self, hits: list[Hit]) -> list[Hit]:
        since = self.state.history.gone()
        return [
            msgspec.structs.replace(hit, gone=utc(since[hit.row][0]).isoformat(timespec="seconds"))
            if hit.row in since
            else hit
            for hit in hits
        ]

    def gone(self, *, as_of: str | float | None = None) -> dict[str, tuple[str, str]]:
        """Addresses of pages that are gone, with since when (UTC, ISO 8601) and why.

        Args:
            as_of: Those that were gone on this day, or at this moment.
        """
        then = None if as_of is None else moment(as_of, end=True)
        found = self.state.history.gone(as_of=then)
        return {
            self.state.url_text(row): (utc(at).isoformat(timespec="seconds"), reason)
            for row, (at, reason) in found.items()
        }

    def changes(
        self,
        since: str | float,
        *,
        until: str | float | None = None,
        relevant: bool = True,
        diffs: bool = True,
        rows: Set[int] | None = None,
    ) -> list[Change]:
        """What has become of the pages since a moment: new, changed, newly on topic, gone; newest first.

        Args:
            since: A day (`2026-11-01`), a time, or how long ago (`7d`).
            until: Up to here; None for now.
            relevant: Only pages that are on topic, or were.
            diffs: With what changed in the texts.
            rows: Only these pages; None for all.
        """
        end = None if until is None else moment(until, end=True)
        return find_changes(self, moment(since), until=end, relevant=relevant, diffs=diffs, rows=rows)

    def export(
        self,
        path: Path | str,
        *,
        format: str = "jsonl",  # noqa: A002 - the option's name
        relevant: bool = True,
        text: bool = False,
        clock: Callable[[], float] = time.time,
        progress: Progress = silent,
        as_of: str | float | None = None,
        language: str = "",
        unique: bool = False,
        trouble: Trouble = log_trouble,
    ) -> int:
        """Write the collection to a file; returns how many pages it holds.

        Args:
            path: Replaced when everything was written, else left as it was.
            format: A name in `honeyguide.collection.exports.formats.FORMATS`: `jsonl`, `csv`, `parquet`,
                `markdown` (a folder), `markdown-jsonl`, `warc`, `wacz`, `gexf`, `opml`, `datasheet`
                (Markdown) or `datasheet-html`.
            relevant: Only pages on topic. Pages that asked not to be indexed are never exported.
            text: With the pages' texts (tables and WACZ).
            clock: Epoch seconds, for the dates that some formats carry.
            progress: Called with the number of pages done and the number in all.
            as_of: The pages as they were on this day, or at this moment. Archives hold every answer up to
                then.
            language: Only pages in this language, such as `en`.
            unique: Leave out pages that repeat, or nearly repeat, another page of the export.
            trouble: Called with the address of each page whose record in the archive is damaged, and why.
                Archives leave it out, Markdown has its facts only. By default each is a line of the log.

        Raises:
            CollectionError: With what to do about it.
        """
        from honeyguide.collection.exports.formats import ExportSource, write_export  # needed by few

        source = ExportSource(
            self.state,
            self.layout,
            relevant=relevant,
            text=text,
            at=clock(),
            progress=progress,
            as_of=None if as_of is None else moment(as_of, end=True),
            language=language,
            unique=unique,
            trouble=trouble,
        )
        return write_export(source, Path(path), format)

    def kept_back(self, *, relevant: bool = True) -> int:
        """How many pages an export leaves out because they asked not to be indexed."""
        return Selection(self.state, relevant=relevant, reviews=self._reviews()).kept_back

    def rows(self, *, relevant: bool | None = True, text: bool = False) -> Iterator[dict[str, object]]:
        """Pages on topic (None: all) as plain rows with the columns of `tables.PAGE_COLUMNS`."""
        with self.index() if text else nullcontext() as index:
            yield from page_rows(
                Selection(self.state, relevant=bool(relevant), reviews=self._reviews()),
                index.text if index is not None else None,
            )

    def to_arrow(self, *, relevant: bool | None = True, text: bool = False) -> Any:
        """The pages as a `pyarrow.Table`, with real timestamps (extra `tables`)."""
        return to_arrow(self.rows(relevant=relevant, text=text), text=text)

    def to_pandas(self, *, relevant: bool | None = True, text: bool = False) -> Any:
        """The pages as a `pandas.DataFrame` (extra `notebook`)."""
        return to_pandas(self.rows(relevant=relevant, text=text), text=text)

    def to_polars(self, *, relevant: bool | None = True, text: bool = False) -> Any:
        """The pages as a `polars.DataFrame` (extra `notebook`)."""
        return to_polars(self.rows(relevant=relevant, text=text), text=text)

    def plot(self) -> Any:
        """Harvest, scores and hosts as a matplotlib figure (extra `plots`); a notebook shows it."""
        import_module("honeyguide.plots")  # says which extra is missing
        from honeyguide.collection.figure import collection_figure  # matplotlib takes a second to load

        return collection_figure(self)

    def links(self, *, limit: int = 1_000, relevant: bool = True, within_hosts: bool = False) -> LinkAnalysis:
        """The best hubs and authorities (HITS) of the collection's graph."""
        # scipy takes longer to load than `honeyguide status` to answer, and most readers need none of it.
        from honeyguide.collection.link_analysis import analyse_links

        return analyse_links(self.state, limit=limit, relevant=relevant, within_hosts=within_hosts)

    def duplicate_groups(self, *, relevant: bool = True) -> list[DuplicateGroup]:
        """Groups of pages with equal bytes or nearly equal texts, largest first."""
        return duplicate_groups(self.state, relevant=relevant)

    def directory(self, *, subjects: int = 0, seed: int = 0, progress: Progress = silent) -> Directory:
        """The relevant pages by subject and by host; `subjects` is how many, 0 for a number that suits.

        Raises:
            CollectionError: There are no relevant pages, or no index.
        """
        from honeyguide.collection.directory import build_directory, require_pages  # loads scipy, as above

        with self.index() as index:
            made = build_directory(
                self.state,
                index.text,
                reviews=self._reviews(),
                languages=topic_languages(self.layout.topic_file if self.layout else None),
                subjects=subjects,
                seed=seed,
                progress=progress,
            )
        return require_pages(made)

    def entries(self, rows: Iterable[int], *, snippets: bool = True) -> list[Entry]:
        """What a directory shows of pages, with the beginning of their texts where there is an index."""
        if not snippets or self.layout is None or not self.layout.index_file.is_file():
            return page_entries(self.state, rows)
        with self.index() as index:
            return page_entries(self.state, rows, index.text)

    def _reviews(self) -> Reviews | None:
        return read_reviews(self.layout.root) if self.layout else None

    def _texts(self) -> Iterator[tuple[str, str]]:
        with self.index() as index:
            for page in Selection(self.state, relevant=True, reviews=self._reviews()).pages():
                if text := index.text(page.row):
                    yield page.url, text

    @property
    def markdown_maker(self) -> MarkdownMaker:
        """What turns pages into Markdown; one process for all pages until the collection is closed."""
        if self._maker is None:
            from honeyguide.collection.markdown import MarkdownMaker  # with it comes the parser

            self._maker = MarkdownMaker()
        return self._maker

    @contextmanager
    def index(self) -> Iterator[FullText]:
        """The full-text index, open for the block.

        Raises:
            CollectionError: The crawl was kept in memory.
        """
        if self.layout is None:
            raise CollectionError("a crawl kept in memory has no index; give it a folder with out=")
        with closing(FullText.open(self.layout.index_file, read_only=True)) as index:
            yield index


def _in_turn(index: FullText, words: str, most: int, host: str, language: str) -> Iterator[Hit]:
    """All hits, read so many at once."""
    start = 0
    while hits := index.search(words, most, start, host=host, language=language):
        yield from hits
        start += len(hits)
