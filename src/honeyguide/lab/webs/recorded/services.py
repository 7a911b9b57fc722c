"""What a recipe may ask of the outside world during a replay: backlinks, a search engine, plain text.

Each is given or not, and says how much it knows, as the experiment states it. None of them gives the
content of a page that the crawl has not fetched, beyond what a search engine shows of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from honeyguide.lab.webs.recorded.pages import whole_folder
from honeyguide.lab.webs.recorded.seal import LookAhead
from honeyguide.lab.webs.recorded.visits import RecordedVisits
from honeyguide.lab.webs.recorded.web import Archive, Recorded
from honeyguide.model import Document, Page, UrlId
from honeyguide.store.index import FullText
from honeyguide.web import url_id

_SEARCH = "search.sqlite"


class LabServices:
    """The service `web` of a replay.

    Args:
        recorded: The web that the services know.
        visits: The replay; without it no page can be read at all.
        coverage: Share of the linking pages that the backlink service knows.
        unlabelled: Texts that the experiment gives, or a function that makes them on first use.
        seed: Decides which linking pages are known.
    """

    def __init__(
        self,
        recorded: Recorded,
        visits: RecordedVisits | None = None,
        *,
        coverage: float = 1.0,
        unlabelled: Iterable[Document] | Callable[[], Iterable[Document]] = (),
        seed: int = 0,
    ) -> None:
        self._recorded = recorded
        self._urls = frozenset(recorded.urls)
        self._resolve = recorded.resolve
        self._coverage = coverage
        self._seed = seed
        given = unlabelled() if callable(unlabelled) else unlabelled
        self._unlabelled = tuple(given)
        self._fetched: frozenset[UrlId] | set[UrlId] = visits.fetched if visits else frozenset()
        self._read = visits.page if visits else None
        self._index: FullText | None = None
        self._back: dict[str, list[str]] | None = None

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        """Pages that link to a URL, in the order of recording.

        A page is known to the service or it is not, whatever it links to, as with a real index.

        Args:
            url: The target.
            coverage: Share of the pages that are known, instead of the service's own.
            limit: At most so many.
        """
        if self._back is None:
            self._back = _backlinks(self._recorded)
        target = self._resolve(url)
        share = self._coverage if coverage is None else coverage
        found = [one for one in self._back.get(target or "", ()) if self._known(one, share)]
        return tuple(found[:limit])

    def search(self, query: str, limit: int = 10) -> tuple[Document, ...]:
        """The best matches of a query: address, title and a snippet as text, as a search engine shows."""
        if self._index is None:
            self._index = _open_index(self._recorded.archive)
        found: list[Document] = []
        step = max(50, limit)
        for offset in range(0, 1_000, step):
            hits = self._index.search(query, step, offset, forms=False, markers=("", ""))
            found += [
                Document(hit.snippet, hit.title, hit.url, "", hit.language)
                for hit in hits
                if hit.url in self._urls
            ]
            if len(found) >= limit or len(hits) < step:
                break
        return tuple(found[:limit])

    def unlabelled(self) -> tuple[Document, ...]:
        """The texts that the experiment gives."""
        return self._unlabelled

    def page(self, url: UrlId | str) -> Page | None:
        """A page that the crawl has fetched. LookAhead for any other."""
        from_replay = self._read
        if from_replay is None:
            raise LookAhead("no replay runs, so no page can be read; give the services its visits")
        number = url_id(url) if isinstance(url, str) else url
        if number not in self._fetched:
            raise LookAhead(f"{url} was not fetched yet; use only what the crawl hands to the recipe")
        return from_replay(number)

    def _known(self, url: str, share: float) -> bool:
        if share >= 1.0:
            return True
        draw = hashlib.blake2b(f"{self._seed} {url}".encode(), digest_size=8).digest()
        return int.from_bytes(draw, "big") < share * 2**64


def services(
    recorded: Recorded, visits: RecordedVisits | None = None, **options: object
) -> dict[str, object]:
    """The services of a replay by name, as `build_parts` takes them.

    Args:
        recorded: The web (the part of it) that they know.
        visits: The replay.
        options: As for `LabServices`.
    """
    return {"web": LabServices(recorded, visits, **options)}  # type: ignore[arg-type]


def _backlinks(recorded: Recorded) -> dict[str, list[str]]:
    back: dict[str, list[str]] = {}
    for source, targets in recorded.link_table().items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return back


def _open_index(archive: Archive) -> FullText:
    """The full-text index of a recording, built once."""
    folder: Path = archive.cache / "search"
    if not (folder / _SEARCH).is_file():
        store = archive.store()
        with whole_folder(folder) as temporary:
            index = FullText.open(temporary / _SEARCH)
            for row, url in enumerate(store.index.urls, 1):
                page = store.page(url_id(url))
                if page is not None:
                    text = page.content
                    index.add(row, url, title=page.title, text=text, language=page.language)
            index.commit()
            index.close()
    return FullText.open(folder / _SEARCH, read_only=True)
