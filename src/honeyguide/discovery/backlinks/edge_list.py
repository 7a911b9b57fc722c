"""An edge list as backlink service: a published web graph, of pages or of hosts."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.discovery.backlinks.base import LocalService, Parents
from honeyguide.discovery.backlinks.edge_files import Batch, as_numbers, read_numbers, read_pairs
from honeyguide.discovery.backlinks.keyed_file import KeyedFile, KeyedWriter
from honeyguide.errors import TopicError
from honeyguide.web import canonical, host_key, url_id

_canonical = lru_cache(maxsize=1 << 16)(canonical)
"""Lists are mostly sorted by source, and some targets are in every tenth line."""
_Kind = TypeVar("_Kind")
Level: TypeAlias = Literal["page", "host"]
_FORMAT: Final = 2
_MARK: Final = "edges.json"


class _Made(msgspec.Struct, frozen=True):
    """What an index was made from."""

    format: int
    level: str
    files: tuple[tuple[str, int, int], ...]
    """Name, size and time of change."""
    options: tuple[str, ...]


class EdgeList(LocalService):
    """Edges `source, target` from a Parquet, CSV or TSV file (also `.gz`), indexed on disk by target.

    The index is built on first use, streaming: memory holds a batch of 200,000 edges and one partition,
    whatever the size of the file; it takes about as much disk as the file. It is used again until the
    file changes.

    With `vertices` the edges are numbers, and that file has a number and a name a line, as the web graphs
    of Common Crawl have. On level `host` names are hosts, and a page's parents are the home pages of hosts
    that link to its host; `reversed_hosts` says that they are written as `org.example.www`.

    Args:
        path: The edges.
        level: `page` or `host`.
        vertices: Numbers and names, where edges are numbers.
        reversed_hosts: Whether hosts are written from the top level domain down.
        columns: Names of the columns of source and target, where the file has a heading.
        index: Folder for the index; by default beside the file.
    """

    def __init__(
        self,
        path: str,
        *,
        level: Level = "page",
        vertices: str = "",
        reversed_hosts: bool = False,
        columns: tuple[str, str] = ("source", "target"),
        index: str = "",
    ) -> None:
        self._path = Path(path)
        self._vertices = Path(vertices) if vertices else None
        for file in (self._path, self._vertices):
            if file is not None and not file.is_file():
                raise TopicError(f"edge list {file}: no such file; correct its path")
        self._host = level == "host"
        self._reversed = reversed_hosts
        self._columns = columns
        self._folder = Path(index) if index else self._path.with_name(f"{self._path.name}.index")
        self._ready = asyncio.Lock()
        self._open = False
        self._problem = ""
        self._stopped = Event()

    async def parents(self, url: str, limit: int) -> Parents:
        """Pages (or home pages of hosts) that link to the URL."""
        async with self._ready:
            if not self._open and not self._problem:
                try:
                    await asyncio.to_thread(self.build)
                    self._open = True
                except (TopicError, OSError) as error:
                    self._problem = str(error)  # a large file is not read again for each question
                except asyncio.CancelledError:
                    self._stopped.set()
                    raise
        if self._problem:
            return Parents(note=self._problem, failed=True)
        try:
            return Parents(tuple(self.lookup(url, limit)))
        except OSError as error:
            return Parents(note=f"index {self._folder}: {error}", failed=True)

    def lookup(self, url: str, limit: int) -> list[str]:
        """The same, of an index that is built."""
        key = self._key(host_key(url) if self._host else url)
        if self._vertices is None:
            names = KeyedFile(self._folder / "edges").get(key, limit)
        else:
            numbers = KeyedFile(self._folder / "numbers").get(key, 1)
            number = int.from_bytes(numbers[0], "little", signed=True) if numbers else 0
            sources = KeyedFile(self._folder / "edges").get(number, limit) if numbers else []
            by_number = KeyedFile(self._folder / "names")
            numbered = (int.from_bytes(source, "little", signed=True) for source in sources)
            names = [name for source in numbered for name in by_number.get(source, 1)]
        texts = [name.decode("utf-8", "replace") for name in names]
        return [f"https://{text}/" for text in texts] if self._host else texts

    def build(self) -> bool:
        """Make the index unless it is there and fits the files. Whether it was made."""
        made = self._made()
        mark = self._folder / _MARK
        try:
            if mark.is_file() and msgspec.json.decode(mark.read_bytes(), type=_Made) == made:
                return False
        except msgspec.MsgspecError:
            pass  # half a file: rebuild it
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{self._folder.name}.", dir=self._folder.parent))
        try:
            self._write(temporary)
            (temporary / _MARK).write_bytes(msgspec.json.encode(made))
            if self._folder.exists():
                shutil.rmtree(self._folder)
            temporary.rename(self._folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return True

    def _write(self, folder: Path) -> None:
        edges = KeyedWriter(folder / "edges")
        if self._vertices is None:
            for sources, targets in self._named(self._going_on(read_pairs(self._path, self._columns))):
                edges.add(self._keys(targets), [source.encode() for source in sources])
            edges.finish()
            return
        names, numbers = KeyedWriter(folder / "names"), KeyedWriter(folder / "numbers")
        for identities, texts in self._going_on(read_pairs(self._vertices, ("id", "name"))):
            rows = [
                (i, name) for i, text in zip(identities, texts, strict=True) if (name := self._name(text))
            ]
            ids = as_numbers([i for i, _ in rows], self._vertices)
            names.add(ids, [name.encode() for _, name in rows])
            numbers.add(self._keys([name for _, name in rows]), ids)
        for linking, linked in self._going_on(read_numbers(self._path, self._columns)):
            edges.add(linked, linking)
        for writer in (edges, names, numbers):
            writer.finish()

    def _going_on(self, batches: Iterator[_Kind]) -> Iterator[_Kind]:
        """Batches of a file, until the crawl is stopped: large files take minutes."""
        for batch in batches:
            if self._stopped.is_set():
                raise TopicError(
                    f"edge list {self._path}: its index is not finished; crawl again to build it"
                )
            yield batch

    def _named(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches with names as the crawl spells them; edges with a name that is none are left out."""
        for sources, targets in batches:
            pairs = [
                (source, target)
                for first, second in zip(sources, targets, strict=True)
                if (source := self._name(first)) and (target := self._name(second)) and source != target
            ]
            yield [source for source, _ in pairs], [target for _, target in pairs]

    def _name(self, text: str) -> str:
        if not self._host:
            return _canonical(text) or ""
        host = text.strip().lower().rstrip(".")
        return ".".join(reversed(host.split("."))) if self._reversed else host

    def _key(self, name: str) -> int:
        return url_id(f"https://{name}/" if self._host else name)

    def _keys(self, names: Sequence[str]) -> NDArray[np.int64]:
        return np.fromiter(map(self._key, names), np.int64, len(names))

    def _made(self) -> _Made:
        files = [file for file in (self._path, self._vertices) if file is not None]
        facts = tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
        level = "host" if self._host else "page"
        return _Made(_FORMAT, level, facts, (*self._columns, str(self._reversed)))
