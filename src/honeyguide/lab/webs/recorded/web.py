"""A recorded web: pages, labels and links, read from disk, without network and without surprises."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self
from weakref import WeakValueDictionary

import msgspec

from honeyguide.lab.webs.recorded.aliases import Aliases
from honeyguide.lab.webs.recorded.catalogue import Answers, Record, WebCatalogue, digest_of, read_catalogue
from honeyguide.lab.webs.recorded.home import Sources, WebError, cache_folder, find_web
from honeyguide.lab.webs.recorded.pages import (
    PageStore,
    Progress,
    open_pages,
    parser_version,
    resolved,
    whole_folder,
)
from honeyguide.lab.webs.recorded.seal import Seal
from honeyguide.model import Document, Page, UrlId
from honeyguide.parse.base import BlockOptions, Blocks, ParseFailure
from honeyguide.web import canonical, url_id

_CATALOGUE = "catalogue.msgpack"
_UNUSED_DAYS = 7
_SEALS: WeakValueDictionary[str, Seal] = WeakValueDictionary()
"""One seal a recording and process: opening a web again does not get around it."""


class Recorded:
    """A recorded web, or the part of one. Use `open_web` to get it.

    Everything about page contents (`page`, `links`, `graph`, `text_documents`) is closed to all but the
    replay itself while one runs, except for pages that it has fetched: see `seal`.
    """

    def __init__(self, archive: Archive, urls: Iterable[str]) -> None:
        self.archive = archive
        self.name = archive.sources.name
        self.digest = archive.digest
        """SHA-256 of the sources."""
        self.urls: tuple[str, ...] = tuple(urls)
        """Canonical URLs of the pages, in the order of recording."""
        catalogue = archive.catalogue
        self.labels: dict[str, tuple[str, ...]] = {
            url: catalogue.labels[url] for url in self.urls if url in catalogue.labels
        }
        self.sites: dict[str, str] = {url: catalogue.sites[url] for url in self.urls}

    def __contains__(self, url: str) -> bool:
        """Whether a canonical URL is one of its pages."""
        return url in self.sites

    def __len__(self) -> int:
        """Number of pages."""
        return len(self.urls)

    def resolve(self, url: str) -> str | None:
        """The recorded page that an address means (aliases joined), or None."""
        text = canonical(url)
        found = self.archive.aliases.resolve(text) if text else None
        return found if found in self.sites else None

    def page(self, url: UrlId | str, *, blocks: Blocks = False) -> Page | None:
        """A parsed page by fingerprint or canonical URL; None when it is not there or does not parse.

        Raises:
            LookAhead: A replay runs that has not fetched the page.
        """
        number = url_id(url) if isinstance(url, str) else url
        self.archive.seal.check(number)
        page = self.archive.store(blocks=blocks).page(number)
        return page if page is not None and page.url in self.sites else None

    def links(self, url: str) -> tuple[str, ...]:
        """Pages of this web that a page links to, in document order."""
        self.archive.seal.check(url_id(url))
        store = self.archive.store()
        index = store.index
        place = store.place(url_id(url))
        if place is None or url not in self.sites:
            return ()
        return tuple(target for i in index.links[place] if (target := index.urls[i]) in self.sites)

    def graph(self) -> dict[str, tuple[str, ...]]:
        """Followable links among the pages, for reachability and the oracle."""
        self.archive.seal.check(None)
        return self.link_table()

    def link_table(self) -> dict[str, tuple[str, ...]]:
        """The same past the seal, for the lab's own services; no recipe is given a `Recorded`."""
        index = self.archive.store().index
        return {
            url: tuple(target for i in found if (target := index.urls[i]) in self.sites)
            for url, found in zip(index.urls, index.links, strict=True)
            if url in self.sites
        }

    def subset(self, *, site: str | None = None, urls: Iterable[str] | None = None) -> Self:
        """The part of one site, or of some URLs.

        Raises:
            WebError: Nothing is left.
        """
        wanted = set(self.urls if urls is None else urls)
        kept = [url for url in self.urls if url in wanted and (site is None or self.sites[url] == site)]
        if not kept:
            names = ", ".join(sorted(set(self.sites.values()))[:8])
            raise WebError(f"no page of site {site!r} in {self.name}; its sites are {names}")
        return type(self)(self.archive, kept)

    def labelled(self, *prefixes: str) -> tuple[str, ...]:
        """Pages with a label that is one of these or lies below it (`Science` has `Science/Biology`).

        Example: `labelled("Science/Biology")`, `labelled("course")`.
        """
        return tuple(
            url for url in self.urls if any(under(one, prefixes) for one in self.labels.get(url, ()))
        )

    def text_documents(
        self,
        urls: Iterable[str] | None = None,
        *,
        label: str | None = None,
        not_label: str | None = None,
        limit: int | None = None,
        seed: int = 0,
    ) -> tuple[Document, ...]:
        """Pages as texts with their first label, for training and unlabelled sets.

        Args:
            urls: Which pages; by default all.
            label: Only pages with this label or one below it.
            not_label: No page with this label or one below it.
            limit: A sample of so many, drawn with `seed`, in the order of recording.
            seed: For the sample.
        """
        chosen = [url for url in (self.urls if urls is None else urls) if url in self.sites]
        if label is not None:
            chosen = [url for url in chosen if any(under(one, (label,)) for one in self.labels.get(url, ()))]
        if not_label is not None:
            banned = set(self.labelled(not_label))
            chosen = [url for url in chosen if url not in banned]
        if limit is not None and limit < len(chosen):
            drawn = set(random.Random(seed).sample(range(len(chosen)), limit))  # noqa: S311 - a sample
            chosen = [url for place, url in enumerate(chosen) if place in drawn]
        pages = ((url, self.page(url)) for url in chosen)
        return tuple(
            as_document(page, self.labels.get(url, ("",))[0]) for url, page in pages if page is not None
        )

    def prepare(self, *, blocks: Blocks = False) -> Self:
        """Make sure that the parsed pages are on disk; do this before replays in several processes."""
        self.archive.store(blocks=blocks)
        return self


class Archive:
    """The files behind a recorded web and all of its parts."""

    def __init__(self, sources: Sources, *, cache: Path | None = None, progress: Progress | None) -> None:
        self.sources = sources
        self.digest = digest_of(sources)
        self._cache = (cache or cache_folder()) / f"{sources.name}-{self.digest[:16]}-{parser_version()[:16]}"
        self._progress = progress
        self.catalogue = self._read_catalogue()
        self.answers = Answers(sources.archives, self.catalogue.twins)
        self.records: dict[str, Record] = {record.url: record for record in self.catalogue.records}
        self.aliases = Aliases(
            self.catalogue.sites,
            mounts=sources.mounts,
            redirects={url: record.location for url, record in self.records.items() if record.location},
        )
        self._stores: dict[Blocks, PageStore] = {}
        self.seal = _SEALS.setdefault(self.digest, Seal())

    @property
    def cache(self) -> Path:
        """Folder for everything that can be rebuilt."""
        return self._cache

    def store(self, *, blocks: Blocks = False) -> PageStore:
        """Parsed pages; built on first use."""
        if blocks not in self._stores:
            self._forget_older()
            self._stores[blocks] = open_pages(
                self._cache / _folder_name(blocks),
                self.catalogue,
                self.answers,
                aliases=self.aliases,
                blocks=blocks,
                progress=self._progress,
            )
        return self._stores[blocks]

    def parse(self, url: str, *, blocks: Blocks = False) -> Page | ParseFailure:
        """A page parsed now, past the cache."""
        parsed = self.answers.parse(self.records[url], blocks=blocks)
        return resolved(parsed, self.aliases) if isinstance(parsed, Page) else parsed

    def _forget_older(self) -> None:
        """Remove what other versions of the parser made of the same recording, once nobody uses it."""
        if self._cache.is_dir():
            os.utime(self._cache)
        newest = time.time() - _UNUSED_DAYS * 86_400
        for path in self._cache.parent.glob(f"{self._cache.name[:-16]}*"):
            with suppress(OSError):  # another process may be removing it
                if path != self._cache and path.stat().st_mtime < newest:
                    shutil.rmtree(path, ignore_errors=True)

    def _read_catalogue(self) -> WebCatalogue:
        path = self._cache / "catalogue" / _CATALOGUE
        if path.is_file():
            try:
                return msgspec.msgpack.decode(path.read_bytes(), type=WebCatalogue)
            except msgspec.MsgspecError as error:
                raise WebError(f"{path}: {error}; delete the file, and it is rebuilt") from error
        catalogue = read_catalogue(self.sources)
        with whole_folder(path.parent) as folder:
            (folder / _CATALOGUE).write_bytes(msgspec.msgpack.encode(catalogue))
        return catalogue


def open_web(
    name: str | Path,
    *,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Recorded:
    """Open a recorded web by name, folder or WARC file.

    Args:
        name: `webkb`, the name of an imported web, its folder, or a WARC file (with `NAME.labels.tsv`).
        cache: Folder for parsed pages, instead of the one in the data home.
        progress: Told how many pages are parsed, of how many, when the cache is built.

    Raises:
        WebError: There is none, or it cannot be read.
    """
    archive = Archive(find_web(name), cache=cache, progress=progress)
    urls = [record.url for record in archive.catalogue.records if record.is_page]
    if not urls:
        raise WebError(f"{name}: no page in the archive; is it a recording of pages?")
    return Recorded(archive, urls)


def under(label: str, prefixes: Iterable[str]) -> bool:
    """Whether a label is one of the prefixes or lies below one in a tree of labels.

    Example:
        >>> under("Science/Biology", ["Science"]), under("Sciences", ["Science"])
        (True, False)
    """
    return any(label == one or label.startswith(one + "/") for one in prefixes)


def as_document(page: Page, label: str = "") -> Document:
    """A page as text."""
    return Document(page.content, page.title, page.url, label, page.language)


def _folder_name(blocks: Blocks) -> str:
    """Where pages cut in this way are kept."""
    if not blocks:
        return "plain"
    cut = blocks if isinstance(blocks, BlockOptions) else BlockOptions()
    if cut == BlockOptions():
        return "blocks"
    return f"blocks-{cut.alpha:g}-{cut.tags}-{cut.context}"
