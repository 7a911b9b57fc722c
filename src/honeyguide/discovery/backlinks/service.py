"""Backlink services as a topic file describes them: `service = {kind = "...", ...}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec

from honeyguide.discovery.backlinks.base import BacklinkService
from honeyguide.discovery.backlinks.crawl_links import CrawlLinks
from honeyguide.discovery.backlinks.edge_list import EdgeList, Level
from honeyguide.discovery.backlinks.journal import JournalAnswers
from honeyguide.discovery.backlinks.json_service import JsonService
from honeyguide.discovery.backlinks.mediawiki import MediaWiki
from honeyguide.discovery.backlinks.recorded_links import KnowsLinks, RecordedLinks
from honeyguide.discovery.http import Http
from honeyguide.errors import TopicError
from honeyguide.store.state import State

_Rate: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1000)]


class Within(msgspec.Struct, frozen=True):
    """What a crawl can offer a service."""

    http: Http | None = None
    state: State | None = None
    web: KnowsLinks | None = None


class _Table(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True, kw_only=True):
    def make(self, within: Within) -> BacklinkService:
        raise AssertionError("every kind makes its own service")


class CrawlTable(_Table, frozen=True, tag="crawl"):
    """The crawl's own links, or those of an earlier collection."""

    path: str = ""

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        return CrawlLinks(within.state, self.path)


class JournalTable(_Table, frozen=True, tag="journal"):
    """What another crawl was answered."""

    path: str

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        return JournalAnswers(self.path)


class WebTable(_Table, frozen=True, tag="web"):
    """The recorded web of the lab."""

    coverage: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        if within.web is None:
            raise TopicError("service 'web' is there in the lab only; choose another kind")
        return RecordedLinks(within.web, self.coverage)


class EdgeListTable(_Table, frozen=True, tag="edge-list"):
    """Edges in a file."""

    path: str
    level: Level = "page"
    vertices: str = ""
    reversed_hosts: bool = False
    columns: tuple[str, str] = ("source", "target")
    index: str = ""

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        options = {name: getattr(self, name) for name in self.__struct_fields__ if name != "path"}
        return EdgeList(str(Path(self.path).expanduser()), **options)


class MediaWikiTable(_Table, frozen=True, tag="mediawiki"):
    """A wiki."""

    api: str
    articles: str = ""
    namespace: int = 0
    rate: _Rate = 1.0

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        return MediaWiki(_http(within), **msgspec.structs.asdict(self))


class HttpTable(_Table, frozen=True, tag="http"):
    """Any HTTP service with answers in JSON."""

    template: str
    path: str
    key_env: str = ""
    key_header: str = ""
    rate: _Rate = 1.0

    def make(self, within: Within) -> BacklinkService:
        """The service."""
        return JsonService(_http(within), **msgspec.structs.asdict(self))


Table: TypeAlias = CrawlTable | JournalTable | WebTable | EdgeListTable | MediaWikiTable | HttpTable


def make_service(table: Mapping[str, object] | None, within: Within) -> BacklinkService:
    """The service that a table describes; without one the lab's web, or else the crawl's own links.

    Raises:
        TopicError: Unknown kind or key, a wrong value, a file that is not there.
    """
    if table is None:
        return WebTable().make(within) if within.web is not None else CrawlTable().make(within)
    if "kind" not in table:
        kinds = "crawl, edge-list, http, journal, mediawiki, web"
        raise TopicError(f"option 'service' names no kind; choose kind from: {kinds}")
    try:
        described: _Table = msgspec.convert(table, Table)
    except msgspec.ValidationError as error:
        raise TopicError(f"option 'service': {error}; correct it") from None
    return described.make(within)


def _http(within: Within) -> Http:
    if within.http is None:
        raise TopicError("this crawl cannot ask services over HTTP; choose another kind of service")
    return within.http
