"""Parsed pages on disk: one file of msgpack, mapped into memory, and an index beside it.

Parsing is most of the work of a replay, so it is done once per recording and parser. Links are kept
as the crawl will see them: resolved to the recorded address that they stand for.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import msgspec

from honeyguide.engine.admission import FOLLOWED_KINDS
from honeyguide.lab.webs.recorded.aliases import Aliases
from honeyguide.lab.webs.recorded.catalogue import Answers, WebCatalogue
from honeyguide.lab.webs.recorded.home import WebError
from honeyguide.lab.webs.recorded.terms import TermStore, TermWriter
from honeyguide.model import Block, Link, Page, UrlId
from honeyguide.parse.base import Blocks, ParseFailure
from honeyguide.web import url_id

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many pages are parsed, and how many there are."""

PAGES = "pages.bin"
INDEX = "pages.idx"

_PARSER_FILES = ("parse", "web", "text", "native", "model/page.py")
_CODE = (".py", ".c", ".h")
_OWN_FILES = ("aliases.py", "catalogue.py", "pages.py", "terms.py")


class PageIndex(msgspec.Struct, frozen=True):
    """Where each page is in the file, and which recorded pages it links to."""

    urls: tuple[str, ...]
    """Of pages that could be parsed, in the order of recording."""
    offsets: tuple[int, ...]
    """One more than pages: the last is the end."""
    links: tuple[tuple[int, ...], ...]
    """Recorded pages that a crawl can follow a link to, as indices into `urls`."""
    failures: dict[str, ParseFailure]


class PageStore:
    """Parsed pages by URL fingerprint."""

    def __init__(self, folder: Path) -> None:
        try:
            self.index = msgspec.msgpack.decode((folder / INDEX).read_bytes(), type=PageIndex)
            self._terms = TermStore(folder)
            with (folder / PAGES).open("rb") as file:
                self._data: mmap.mmap | bytes = b""
                if self.index.urls:
                    self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            raise WebError(f"{folder}: {error}; delete the folder, and it is rebuilt") from error
        self._view = memoryview(self._data)
        self._places = {url_id(url): place for place, url in enumerate(self.index.urls)}
        self._decoder = msgspec.msgpack.Decoder(Page)

    def place(self, url: UrlId) -> int | None:
        """Index of a page into `index.urls`."""
        return self._places.get(url)

    def page(self, url: UrlId) -> Page | None:
        """The page, or None when there is none of this fingerprint."""
        place = self._places.get(url)
        if place is None:
            return None
        offsets = self.index.offsets
        page = self._decoder.decode(self._view[offsets[place] : offsets[place + 1]])
        self._terms.remember(place, page.content)
        return page


def parser_version() -> str:
    """Fingerprint of everything that decides how a page is parsed: code and libraries."""
    total = hashlib.sha256(f"selectolax {version('selectolax')}".encode())
    root = Path(__file__).resolve().parents[3]
    for name in (*_PARSER_FILES, *(f"lab/webs/recorded/{name}" for name in _OWN_FILES)):
        place = root / name
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        for path in (path for path in files if path.suffix in _CODE):
            total.update(path.read_bytes() if path.is_file() else version("honeyguide").encode())
    return total.hexdigest()


def open_pages(
    folder: Path,
    catalogue: WebCatalogue,
    answers: Answers,
    *,
    aliases: Aliases,
    blocks: Blocks = False,
    progress: Progress | None = None,
) -> PageStore:
    """The store in a folder; it is built first when it is not there."""
    if not (folder / INDEX).is_file():
        with whole_folder(folder) as temporary:
            _build(temporary, catalogue, answers, aliases=aliases, blocks=blocks, progress=progress)
    return PageStore(folder)


class whole_folder:  # noqa: N801 - used as a statement, like a function
    """A temporary folder that takes a name when the block ends well; removed when it does not."""

    def __init__(self, folder: Path, *, replace: bool = False) -> None:
        self._folder = folder
        self._replace = replace
        self._temporary = folder

    def __enter__(self) -> Path:
        """The temporary folder, on the same disk."""
        try:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            name = tempfile.mkdtemp(dir=self._folder.parent, prefix=f".{self._folder.name}.", suffix=".part")
        except OSError as error:
            raise WebError(f"{self._folder.parent}: {error.strerror}; set HONEYGUIDE_HOME") from error
        self._temporary = Path(name)
        return self._temporary

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Rename, unless the block raised. Another process that was first with the same name wins."""
        try:
            if error is None:
                self._temporary.chmod(0o755)
                if self._replace and self._folder.exists():
                    old = self._temporary.with_suffix(".old")
                    self._folder.rename(old)
                    self._temporary.rename(self._folder)
                    shutil.rmtree(old, ignore_errors=True)
                else:
                    self._put_in_place()
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _put_in_place(self) -> None:
        try:
            self._temporary.rename(self._folder)
        except OSError as error:
            if not self._folder.is_dir():
                raise WebError(f"{self._folder}: {error.strerror}; check the folder") from error


def _build(
    folder: Path,
    catalogue: WebCatalogue,
    answers: Answers,
    *,
    aliases: Aliases,
    blocks: Blocks,
    progress: Progress | None,
) -> None:
    urls: list[str] = []
    offsets = [0]
    targets: list[list[str]] = []
    failures: dict[str, ParseFailure] = {}
    encoder = msgspec.msgpack.Encoder()
    terms = TermWriter()
    records = [record for record in catalogue.records if record.is_page]
    with (folder / PAGES).open("wb") as file:
        for number, record in enumerate(records):
            parsed = answers.parse(record, blocks=blocks)
            if isinstance(parsed, ParseFailure):
                failures[record.url] = parsed
                continue
            page = resolved(parsed, aliases)
            offsets.append(offsets[-1] + file.write(encoder.encode(page)))
            terms.add(page.content)
            urls.append(page.url)
            targets.append(followed(page))
            if progress is not None and number % 100 == 99:
                progress(number + 1, len(records))
        file.flush()
        os.fsync(file.fileno())
    terms.write(folder)
    places = {url: place for place, url in enumerate(urls)}
    links = tuple(tuple(places[url] for url in found if url in places) for found in targets)
    index = PageIndex(tuple(urls), tuple(offsets), links, failures)
    (folder / INDEX).write_bytes(msgspec.msgpack.encode(index))


def followed(page: Page) -> list[str]:
    """Targets that the engine's rules let a crawl follow (scope and traps aside)."""
    if page.nofollow:
        return []
    return [
        link.url
        for link in page.links
        if link.kind in FOLLOWED_KINDS and not link.nofollow and link.id != page.id
    ]


def resolved(page: Page, aliases: Aliases) -> Page:
    """A page whose links lead to recorded addresses; it keeps its own, whatever it calls canonical."""
    links = [_aimed(link, aliases.resolve(link.url)) for link in page.links]
    target = aliases.resolve(page.canonical) if page.canonical else None
    canonical = target if target and target != page.url else ""
    return with_links(msgspec.structs.replace(page, canonical=canonical), links)


def with_links(page: Page, links: Iterable[Link | None]) -> Page:
    """A page with one link (or none) in place of each of its links; its blocks follow.

    Links that now lead to one target become one, with the first one's text, as the parser has it.
    """
    kept: list[Link] = []
    first: dict[int, int] = {}
    moved: dict[int, int] = {}
    for old, link in enumerate(links):
        if link is None:
            continue
        if link.id not in first:
            first[link.id] = len(kept)
            kept.append(link)
        elif link.main and not kept[first[link.id]].main:
            kept[first[link.id]] = msgspec.structs.replace(kept[first[link.id]], main=True)
        moved[old] = first[link.id]
    if len(kept) == len(page.links):
        return msgspec.structs.replace(page, links=tuple(kept))
    cut = tuple(
        Block(block.text, tuple(dict.fromkeys(moved[i] for i in block.links if i in moved)), block.tag_path)
        for block in page.blocks
    )
    return msgspec.structs.replace(page, links=tuple(kept), blocks=cut)


def _aimed(link: Link, url: str | None) -> Link:
    if url is None or url == link.url:
        return link
    return msgspec.structs.replace(link, url=url, id=url_id(url))
