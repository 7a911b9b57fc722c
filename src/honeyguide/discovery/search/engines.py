"""Search engines as a topic file describes them: `engines = [{kind = "searxng", url = "..."}, "ddgs"]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec

from honeyguide.discovery.http import Http
from honeyguide.discovery.search.base import SearchEngine
from honeyguide.discovery.search.collection_engine import CollectionEngine, RecordedEngine, Searchable
from honeyguide.discovery.search.ddgs_engine import Ddgs
from honeyguide.discovery.search.http_engine import HttpEngine
from honeyguide.discovery.search.searxng import Searxng
from honeyguide.errors import TopicError

_Rate: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=1000)]
KINDS = "collection, ddgs, http, searxng, web"


class Within(msgspec.Struct, frozen=True):
    """What a crawl can offer an engine."""

    http: Http | None = None
    web: Searchable | None = None


class _Table(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True, kw_only=True):
    def make(self, within: Within) -> SearchEngine:
        raise AssertionError("every kind makes its own engine")


class SearxngTable(_Table, frozen=True, tag="searxng"):
    """A SearXNG instance."""

    url: str
    engines: tuple[str, ...] = ()
    language: str = ""
    rate: _Rate = 0.5

    def make(self, within: Within) -> SearchEngine:
        """The engine."""
        return Searxng(_http(within), **msgspec.structs.asdict(self))


class HttpTable(_Table, frozen=True, tag="http"):
    """Any engine with answers in JSON."""

    template: str
    path: str
    name: str = "http"
    key_env: str = ""
    key_header: str = ""
    rate: _Rate = 1.0

    def make(self, within: Within) -> SearchEngine:
        """The engine."""
        return HttpEngine(_http(within), **msgspec.structs.asdict(self))


class DdgsTable(_Table, frozen=True, tag="ddgs"):
    """The library `ddgs`."""

    backend: str = "auto"
    region: str = "us-en"
    rate: _Rate = 0.2
    timeout: Annotated[float, msgspec.Meta(gt=0, le=60)] = 10.0

    def make(self, within: Within) -> SearchEngine:
        """The engine."""
        return Ddgs(**msgspec.structs.asdict(self))


class CollectionTable(_Table, frozen=True, tag="collection"):
    """The full-text index of a collection."""

    path: str

    def make(self, within: Within) -> SearchEngine:
        """The engine."""
        return CollectionEngine(path=self.path)


class WebTable(_Table, frozen=True, tag="web"):
    """The full-text index of the lab's recorded web."""

    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10

    def make(self, within: Within) -> SearchEngine:
        """The engine."""
        if within.web is None:
            raise TopicError("engine 'web' is there in the lab only; choose another kind")
        return RecordedEngine(within.web, most=self.most)


Table: TypeAlias = SearxngTable | HttpTable | DdgsTable | CollectionTable | WebTable


def make_engines(tables: Sequence[str | Mapping[str, object]], within: Within) -> tuple[SearchEngine, ...]:
    """The engines that tables describe; without any, the lab's web where there is one.

    A plain word stands for a table with just that kind.

    Raises:
        TopicError: Unknown kind or key, a wrong value, a missing environment variable.
    """
    if not tables:
        return (WebTable().make(within),) if within.web is not None else ()
    made = [_make(table, within) for table in tables]
    names: dict[str, int] = {}
    for engine in made:
        names[engine.name] = names.get(engine.name, 0) + 1
        if names[engine.name] > 1:
            engine.name = f"{engine.name}-{names[engine.name]}"
    return tuple(made)


def _make(table: str | Mapping[str, object], within: Within) -> SearchEngine:
    values: Mapping[str, object] = {"kind": table} if isinstance(table, str) else table
    if "kind" not in values:
        raise TopicError(f"a search engine names no kind; choose kind from: {KINDS}")
    try:
        described: _Table = msgspec.convert(values, Table)
    except msgspec.ValidationError as error:
        raise TopicError(f"search engine {str(values['kind'])[:40]!r}: {error}; kinds are: {KINDS}") from None
    return described.make(within)


def _http(within: Within) -> Http:
    if within.http is None:
        raise TopicError("this crawl cannot ask engines over HTTP; choose another kind of engine")
    return within.http
