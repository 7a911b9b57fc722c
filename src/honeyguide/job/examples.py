"""Before the crawl: what is known about the topic becomes text that a page model can be fitted on.

Files are read, example pages fetched as politely as a crawl would, and sources that gather something first do
so (`discovery.base.Preparing`). All of it happens once and is kept with the collection: a resumed crawl asks
nothing again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from honeyguide.discovery.base import Answer, Preparing, Recalling, Source, suggest_data
from honeyguide.engine.clock import Clock
from honeyguide.engine.committer import keep_robots
from honeyguide.engine.visit import Visit, Visitor
from honeyguide.errors import TopicError
from honeyguide.fetch.decode import BadEncoding, codings, decode
from honeyguide.fetch.options import MAX_BODY
from honeyguide.frontier import Waiting
from honeyguide.job.assemble import Equipment
from honeyguide.job.parts import preparing_sources
from honeyguide.model import Document, Event, Examples, Outcome, Page, Topic
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.store.archive_reader import ArchivedResponse, iterate
from honeyguide.store.atomic import replacing
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.plain import read_plain
from honeyguide.store.shards import require_whole
from honeyguide.store.state import State
from honeyguide.topic.patterns import MAX_FILES, find_files, is_archive, is_url, labels
from honeyguide.web import canonical, host_key, url_id

MOST_KEPT = 4 << 30
"""Bytes of a file with examples; background text can be long."""
MOST_STEPS = 12
"""Requests for one example at most: robots.txt, redirects with their own robots.txt, the page."""
_MEDIA_TYPES = {".pdf": "application/pdf", ".txt": "text/plain", ".md": "text/plain"}


class Prepared(msgspec.Struct, frozen=True):
    """What is ready before the page model is fitted."""

    examples: Examples
    sources: Mapping[int, Source]
    """Sources that are made already, by their position in the recipe."""
    events: tuple[Event, ...] = ()
    """What the sources wrote to the journal."""
    missed: tuple[tuple[str, str], ...] = ()
    """Example addresses that gave no page, and why."""

    def __repr__(self) -> str:
        """Short: asyncio writes out the results of finished tasks, and these hold megabytes of text."""
        return f"Prepared({len(self.sources)} sources, {len(self.events)} events)"


async def prepare(equipment: Equipment) -> Prepared:
    """The examples of a crawl's topic, with what its sources gather before it begins.

    Raises:
        TopicError: The topic's examples cannot be read, or none could be fetched and there are no keywords.
    """
    layout, given = equipment.layout, equipment.given.examples
    missed: tuple[tuple[str, str], ...] = ()
    examples = given or _kept(layout.examples_file if layout else None)
    if examples is None:
        examples, missed = await _topic_examples(equipment)
        _keep(layout.examples_file if layout else None, examples)
    config, state = equipment.config, equipment.stores.state
    seed = config.crawl.random_seed
    sources: dict[int, Source]
    sources = preparing_sources(equipment.recipe, examples, seed=seed, services=equipment.given.services)
    setup = Preparation(
        config.as_topic(),
        examples,
        state=state,
        visitor=equipment.visitor,
        clock=equipment.clock,
        seed=seed,
        delay=config.politeness.delay,
        at_once=config.crawl.concurrency,
    )
    setup.recall(sources.values())
    kept = layout.prepared_file if layout else None
    earlier = _kept(kept)
    if earlier is not None:
        return Prepared(earlier, sources, missed=missed)
    gathered = await setup.run(sources.values())
    if gathered is not examples:
        _keep(kept, gathered)
    return Prepared(gathered, sources, tuple(setup.events), missed)


def kept_examples(layout: Layout) -> Examples | None:
    """What the page model of a collection was fitted on; None before its crawl began."""
    return _kept(layout.prepared_file) or _kept(layout.examples_file)


def _kept(file: Path | None) -> Examples | None:
    """What was kept earlier; None when there is nothing, or nothing whole: then it is gathered again."""
    if file is None or not file.exists():
        return None
    try:
        return msgspec.json.decode(read_plain(file, MOST_KEPT), type=Examples)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _keep(file: Path | None, examples: Examples) -> None:
    if file is not None:
        with replacing(file) as temporary:
            temporary.write_bytes(msgspec.json.encode(examples))


async def _topic_examples(equipment: Equipment) -> tuple[Examples, tuple[tuple[str, str], ...]]:
    """What the topic gives as text, and the addresses that gave no page."""
    config = equipment.config
    read = read_examples(config.as_topic(), config.base)
    urls = read.to_fetch
    if not urls:
        return read.examples, ()
    fetched = await fetch_documents(
        equipment.visitor,
        [*urls.positives, *urls.negatives, *urls.unlabelled],
        equipment.clock,
        delay=config.politeness.delay,
        remember=lambda visit: keep_robots(equipment.stores.state, visit),
    )
    examples = read.complete(fetched.documents.get)
    if urls.positives and not examples.positives and not examples.keywords:
        raise TopicError(f"no example page could be fetched ({told_missed(fetched.missed)}); name others")
    return examples, fetched.missed


def told_missed(missed: Sequence[tuple[str, str]], most: int = 5) -> str:
    """Example addresses that gave no page, each with the reason, for people.

    Example:
        >>> told_missed([("https://a.example/", "HTTP 404"), ("https://b.example/", "timeout")])
        'https://a.example/: HTTP 404; https://b.example/: timeout'
    """
    told = [f"{url}: {reason}" for url, reason in missed[:most]]
    if len(missed) > most:
        told.append(f"and {len(missed) - most} more")
    return "; ".join(told)


class ExampleUrls(msgspec.Struct, frozen=True):
    """Addresses among the examples, to be fetched before the crawl."""

    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is to be fetched."""
        return bool(self.positives or self.negatives or self.unlabelled)


class ExamplesRead(msgspec.Struct, frozen=True):
    """What could be read from files, and what is still to be fetched."""

    examples: Examples
    to_fetch: ExampleUrls = ExampleUrls()

    def complete(self, fetched: Callable[[str], Document | None]) -> Examples:
        """The examples with the fetched pages joined in; a page that gave nothing is left out.

        Args:
            fetched: Gives the document of an address, or None when it could not be had.
        """

        def joined(read: tuple[Document, ...], urls: tuple[str, ...]) -> tuple[Document, ...]:
            return read + tuple(document for url in urls if (document := fetched(url)) is not None)

        return msgspec.structs.replace(
            self.examples,
            positives=joined(self.examples.positives, self.to_fetch.positives),
            negatives=joined(self.examples.negatives, self.to_fetch.negatives),
            unlabelled=joined(self.examples.unlabelled, self.to_fetch.unlabelled),
        )


def read_examples(
    topic: Topic,
    base: Path,
    *,
    read_file: Callable[[Path], Document] | None = None,
    corpora: bool = True,
) -> ExamplesRead:
    """Read the example files of a topic; addresses are left to be fetched.

    Args:
        topic: Whose examples, negatives and background to read.
        base: Folder that relative patterns start from.
        read_file: Reads one file instead of `read_document`.
        corpora: Whether `background` may name folders, collections and WARC files.

    Raises:
        TopicError: A pattern matches no file, names a folder or too many files, or only files without text.
    """
    reader = read_file or read_document

    def urls(patterns: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(is_url, patterns)))

    def read(patterns: Sequence[str], key: str) -> tuple[Document, ...]:
        return _documents(patterns, base=base, key=f"'{key}' in [topic]", read_file=reader)

    paths = {one: base / Path(one).expanduser() for one in topic.background if corpora and not is_url(one)}
    many = {one: path for one, path in paths.items() if path.is_dir() or is_archive(path)}
    single = tuple(one for one in topic.background if one not in many)
    return ExamplesRead(
        examples=Examples(
            keywords=topic.keywords,
            positives=read(topic.examples, "examples"),
            negatives=read(topic.negatives, "negatives"),
            unlabelled=(
                *read(single, "background"),
                *(one for path in many.values() for one in read_corpus(path)),
            ),
            taxonomy=labels(topic.taxonomy),
            languages=topic.languages,
        ),
        to_fetch=ExampleUrls(
            positives=urls(topic.examples), negatives=urls(topic.negatives), unlabelled=urls(topic.background)
        ),
    )


def _documents(
    patterns: Sequence[str], *, base: Path, key: str, read_file: Callable[[Path], Document]
) -> tuple[Document, ...]:
    paths: Iterable[Path] = dict.fromkeys(
        path
        for pattern in patterns
        if not is_url(pattern)
        for path in find_files(pattern, base=base, key=key)
    )
    documents = tuple(read_file(path) for path in paths)
    if documents and not any(document.text.strip() for document in documents):
        raise TopicError(f"{key}: none of its {len(documents)} files holds any text; name pages with text")
    return documents


def read_document(path: Path) -> Document:
    """A local HTML, text or PDF file as an example."""
    kind = _MEDIA_TYPES.get(path.suffix.lower(), "text/html")
    parsed = parse_page(ParseJob("http://localhost/", path.read_bytes(), kind))
    if not isinstance(parsed, Page):
        raise TopicError(f"{path}: {parsed.detail}; name another file")
    return Document(text=parsed.content, title=parsed.title, language=parsed.language)


def read_corpus(path: Path) -> Iterator[Document]:
    """The texts of a folder of files, of a collection's archive, or of a WARC file.

    Pages that do not parse are left out: a corpus is many, and one bad page does no harm.
    """
    if path.is_file():
        yield from _archived(path)
        return
    require_whole(path)
    folder = Layout.open(path).archive_folder if is_collection(path) else path
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if len(files) > MAX_FILES:
        raise TopicError(f"{path} holds more than {MAX_FILES} files; name a smaller folder")
    for file in files:
        if is_archive(file):
            yield from _archived(file)
        else:
            try:
                yield read_document(file)
            except TopicError:
                continue


def _archived(path: Path) -> Iterator[Document]:
    for answer in iterate(path, torn_ok=True):
        if answer.status == 200 and answer.payload:
            page = _archived_page(answer)
            if page is not None:
                yield Document(page.content, page.title, answer.url, language=page.language)


def _archived_page(answer: ArchivedResponse) -> Page | None:
    try:
        body, _ = decode(answer.payload, codings(answer.encoding), MAX_BODY)
    except BadEncoding:
        return None
    parsed = parse_page(ParseJob(answer.url, body, answer.header("content-type")))
    return parsed if isinstance(parsed, Page) else None


class FetchedDocuments(msgspec.Struct, frozen=True):
    """What became of addresses that were fetched for their text."""

    documents: dict[str, Document]
    """By the URL that was asked for."""
    missed: tuple[tuple[str, str], ...]
    """URL and reason of each example that gave no page."""


async def fetch_documents(
    visitor: Visitor,
    urls: Sequence[str],
    clock: Clock,
    *,
    delay: float,
    last: dict[str, float] | None = None,
    remember: Callable[[Visit], None] | None = None,
) -> FetchedDocuments:
    """Fetch each URL once, one after the other, with the politeness of a crawl.

    Args:
        visitor: Where pages come from.
        urls: What to fetch.
        clock: The crawl's.
        delay: Seconds between two requests to one host.
        last: When each host was asked last, for callers that fetch more than once.
        remember: Given every answer, so that a robots.txt that was read here need not be asked for again.
    """
    documents: dict[str, Document] = {}
    missed: list[tuple[str, str]] = []
    last = {} if last is None else last
    for text in dict.fromkeys(urls):
        url = canonical(text)
        if url is None:
            missed.append((text, "not a valid URL"))
            continue
        outcome = await _follow(visitor, url, clock, delay, last=last, remember=remember)
        if isinstance(outcome, Page):
            documents[text] = as_document(outcome)
        else:
            missed.append((text, outcome))
    return FetchedDocuments(documents, tuple(missed))


def as_document(page: Page) -> Document:
    """A page as an example: its main text where there is one."""
    return Document(text=page.content, title=page.title, url=page.url, language=page.language)


async def fetch_page(visitor: Visitor, url: str, clock: Clock) -> Page | str:
    """One page past robots.txt and redirects, or the reason why there is none."""
    address = canonical(url)
    if address is None:
        return "not a valid URL"
    return await _follow(visitor, address, clock, 0.0, last={}, remember=None)


async def _follow(
    visitor: Visitor,
    url: str,
    clock: Clock,
    delay: float,
    *,
    last: dict[str, float],
    remember: Callable[[Visit], None] | None,
) -> Page | str:
    for _ in range(MOST_STEPS):
        host = host_key(url)
        await clock.sleep(max(0.0, last.get(host, 0.0) + delay - clock.now()))
        visit = await visitor.visit(_waiting(url, host))
        last[host] = clock.now()
        if remember is not None:
            remember(visit)
        if visit.page is not None:
            return visit.page
        if visit.outcome is Outcome.REDIRECTED:
            url = visit.redirect
        elif visit.outcome is not Outcome.WAITING or visit.not_before is not None:
            return _reason(visit)
    return "too many redirects"


def _reason(visit: Visit) -> str:
    return visit.detail or visit.outcome.name.lower()


def _waiting(url: str, host: str) -> Waiting:
    return Waiting(row=0, url=url, id=url_id(url), host=host, priority=0.0, source="example")


class Preparation:
    """Implements `discovery.base.SetUp`: reads pages politely and writes the journal.

    Args:
        topic: What is looked for.
        examples: What the user gave.
        state: Where the journal is.
        visitor: Where pages come from.
        clock: The crawl's.
        seed: The crawl's random seed.
        delay: Seconds between two requests to one host.
        at_once: Hosts asked at the same time.
    """

    def __init__(
        self,
        topic: Topic,
        examples: Examples,
        *,
        state: State,
        visitor: Visitor,
        clock: Clock,
        seed: int = 0,
        delay: float = 1.0,
        at_once: int = 8,
    ) -> None:
        self.topic = topic
        self.examples = examples
        self.seed = seed
        self.events: list[Event] = []
        """What was written to the journal."""
        self._state = state
        self._visitor = visitor
        self._clock = clock
        self._delay = delay
        self._slots = asyncio.Semaphore(1 if clock.virtual else at_once)
        self._last: dict[str, float] = {}

    async def run(self, sources: Iterable[Source]) -> Examples:
        """Let each source that prepares do so, in order; the examples with all they gathered."""
        for source in sources:
            if isinstance(source, Preparing):
                self.examples = await source.prepare(self)
        self._state.commit()
        return self.examples

    def recall(self, sources: Iterable[Source]) -> None:
        """Remind sources of their earlier answers."""
        for source in sources:
            if isinstance(source, Recalling):
                source.recall(self._state.events(kind="suggest"))

    async def read(self, urls: Sequence[str]) -> dict[str, Document]:
        """Fetch pages for their text: one request at a time a host, several hosts at once."""
        hosts: dict[str, list[str]] = {}
        for text in dict.fromkeys(urls):
            url = canonical(text)
            hosts.setdefault(host_key(url) if url else "", []).append(text)
        found = await asyncio.gather(*(self._read_host(own) for own in hosts.values()))
        documents = {url: document for one in found for url, document in one.documents.items()}
        return {url: documents[url] for url in urls if url in documents}

    async def _read_host(self, urls: Sequence[str]) -> FetchedDocuments:
        async with self._slots:
            return await fetch_documents(
                self._visitor,
                urls,
                self._clock,
                delay=self._delay,
                last=self._last,
                remember=lambda visit: keep_robots(self._state, visit),
            )

    def record(self, source: str, url: str, answer: Answer) -> None:
        """Keep an answer about `url` in the journal, as the crawl itself does."""
        self._event("suggest", url, suggest_data(source, answer, new=0))
        if answer.failed:
            self._event("warning", url, {"source": source, "note": answer.note})

    def learned(self, source: str, facts: dict[str, object]) -> None:
        """Note in the journal what the set-up came to."""
        self._event("learned", "", {"source": source, **facts})

    def now(self) -> float:
        """Time on the crawl's clock."""
        return self._clock.now()

    def _event(self, kind: str, url: str, data: dict[str, object]) -> None:
        self.events.append(self._state.append_event(kind, url, data, at=self._clock.now()))
