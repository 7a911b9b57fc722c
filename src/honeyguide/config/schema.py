"""What `topic.toml` may say: every table, key, bound and default.

Unknown keys, wrong types and impossible values are refused by pydantic; `config.load` turns its
findings into one line with the file, the line number and the nearest valid name.
"""

from __future__ import annotations

import ipaddress
import re
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, StrictStr

from honeyguide.config.units import Size, Span
from honeyguide.fetch.options import MAX_BODY
from honeyguide.fetch.proxy import DIRECT, ENVIRONMENT, ProxyTrouble, parse_proxy
from honeyguide.model import Topic
from honeyguide.topic.file import TopicFile
from honeyguide.web.url import canonical

VERSION = version("honeyguide")
UNLIMITED = "unlimited"
"""TOML has no word for None; this one takes a limit away."""
DEFAULT_RECIPE = "scout"
NO_CONTACT = f"honeyguide/{VERSION} (focused crawler; its operator gave no contact)"
"""Says who asks and hides nothing; sites may well refuse it, which is why `crawl` and `doctor` warn."""


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty; write some text or remove it")
    if not value.isprintable():
        raise ValueError("must not hold control characters or line breaks; write plain text")
    return value


def _limit(value: object) -> object:
    return None if value == UNLIMITED else value


def _follow(value: object) -> object:
    if not isinstance(value, bool) and value != "relevant":
        raise ValueError("must be true or false (without quotes), or 'relevant'")
    return value


def _web_address(value: str) -> str:
    if canonical(value) is None:
        shown = value if len(value) < 80 else value[:77] + "..."
        hint = f"write https://{shown}" if re.match(r"[\w-]+\.[\w.-]+(/|$)", value) else "write https://..."
        raise ValueError(f"{shown!r} is not a valid URL; {hint}")
    return value


def _domain(value: str) -> str:
    if canonical(f"http://{value}/") is None or re.search(r"[/?#@\s]", value):
        raise ValueError(f"{value!r} is not a domain; leave out scheme and path, such as 'example.org'")
    return value.lower()


_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz
ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik
io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml
mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd
se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve
vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_CODES.split())
"""Codes of ISO 639-1."""


def _language(value: str) -> str:
    if value not in LANGUAGES:
        raise ValueError(f"{value!r} is not a language code of ISO 639-1; write two letters, such as 'en'")
    return value


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a network; write it as '127.0.0.0/8' or '::1/128'") from None


def _endpoint(value: str) -> str:
    host, colon, port = value.rpartition(":")
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        colon = ""
    if not colon or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{value!r} is not an address with a port; write it as '127.0.0.1:8080'")
    return value


def _proxy(value: str) -> str:
    if value in (ENVIRONMENT, DIRECT):
        return value
    try:
        proxy = parse_proxy(value, "proxy in [network]")
    except ProxyTrouble as trouble:
        raise ValueError(str(trouble).partition(": ")[2]) from None
    if proxy.authorisation:
        raise ValueError(
            "must not hold a password, since collections keep their topic file; set HTTP_PROXY and"
            f" HTTPS_PROXY to http://USER:PASSWORD@{proxy.host}:{proxy.port} and leave 'proxy' out"
        )
    return value


def _user_agent(value: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise ValueError("must be plain ASCII on one line; write it as 'name/1.0 (+https://...; you@...)'")
    if not re.match(r"[A-Za-z_-]+(/| |$)", value):
        raise ValueError("must begin with a name of letters, '-' or '_', such as 'honeyguide/0.1 (...)'")
    return value


Text = Annotated[StrictStr, AfterValidator(_text), Field(max_length=10_000)]
Texts = Annotated[tuple[Text, ...], Field(strict=False)]
Addresses = Annotated[tuple[Annotated[StrictStr, AfterValidator(_web_address)], ...], Field(strict=False)]
Domains = Annotated[tuple[Annotated[StrictStr, AfterValidator(_domain)], ...], Field(strict=False)]
Languages = Annotated[
    tuple[Annotated[StrictStr, AfterValidator(_language)], ...], Field(strict=False, min_length=1)
]
Networks = Annotated[tuple[Annotated[StrictStr, AfterValidator(_network)], ...], Field(strict=False)]
_Optional = BeforeValidator(_limit)
Follow = Annotated[bool | Literal["relevant"], BeforeValidator(_follow)]
MaxCount = Annotated[Annotated[int, Field(ge=1, le=10**12)] | None, _Optional]
MaxDepth = Annotated[Annotated[int, Field(ge=0, le=10**6)] | None, _Optional]
MaxSize = Annotated[Size | None, _Optional]
MaxSpan = Annotated[Annotated[Span, Field(gt=0)] | None, _Optional]


class Table(BaseModel):
    """One table of the file: frozen, strict, without unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class OpenTable(BaseModel):
    """A table whose further keys are options of the part it names; `config.build` checks those."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, use_attribute_docstrings=True)

    @property
    def options(self) -> dict[str, object]:
        """The keys that belong to the part."""
        return dict(self.__pydantic_extra__ or {})


class TopicTable(Table):
    """`[topic]`: what is looked for."""

    name: Text
    """What the collection is called."""
    keywords: Texts = ()
    """Words and phrases that pages on the topic hold."""
    examples: Texts = ()
    """Addresses or file patterns of pages on topic."""
    negatives: Texts = ()
    """Addresses or file patterns of pages off topic."""
    background: Texts = ()
    """File patterns of unlabelled text."""
    taxonomy: Annotated[StrictStr, Field(max_length=1000)] = ""
    """Path in a subject tree, such as `Sports/Basketball`."""
    languages: Languages = ("en",)
    """Two-letter codes of the languages that count."""
    description: Annotated[StrictStr, Field(max_length=100_000)] = ""
    """For people; not used by the crawl."""


class CrawlTable(Table):
    """`[crawl]`: where to begin, by which recipe, and when to stop."""

    seeds: Addresses = ()
    """Addresses to begin with; without any, the crawl begins at the examples that are addresses."""
    recipe: Text = DEFAULT_RECIPE
    """Named choice of page model, link order and sources."""
    max_pages: MaxCount = 1000
    """Pages to download."""
    max_relevant: MaxCount = None
    """Stop when this many pages on topic are found."""
    max_bytes: MaxSize = None
    """Bytes to download."""
    max_seconds: MaxSpan = None
    """Time to spend, all sessions together."""
    stop_after_irrelevant: MaxCount = None
    """Stop when none of the last N pages was on topic."""
    max_pages_per_domain: MaxCount = 500
    """Pages of one registered domain."""
    max_depth: MaxDepth = None
    """Links from a seed."""
    trap_zones: bool = True
    """Close parts of sites that show signs of a trap: copies, mazes, combined filters, endless calendars; and
    those where request after request finds no page."""
    trap_pages: Annotated[int, Field(ge=2, le=10**6)] = 8
    """Pages that must show a sign before their part of the site is closed; three times as many requests
    without a page, where there never was one."""
    trap_sample: Annotated[int, Field(ge=0, le=10**9)] = 100
    """One address in so many of a closed part is fetched all the same, and may open it again; 0: none."""
    follow_sitemaps: Follow = "relevant"
    """Read sitemaps that robots.txt or pages name; `relevant`: of hosts that proved relevant, a few each."""
    follow_feeds: Follow = "relevant"
    """Read RSS and Atom feeds that pages name; `relevant` as above."""
    keep_fresh: bool = False
    """Never end: visit the pages of the collection again, beside new ones, as often as they change."""
    fresh_every: Annotated[Span, Field(gt=0)] = 7 * 86400.0
    """Time between two visits of a page, on average over the pages that are worth one."""
    fresh_share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """Share of the visits that goes to known pages, where new ones wait as well."""
    fresh_policy: Literal["gain", "uniform", "proportional"] = "gain"
    """How visits are shared among known pages: by what they win, equally, or by how often pages change."""
    random_seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Equal seeds give equal crawls of equal webs."""
    concurrency: Annotated[int, Field(ge=1, le=4096)] = 32
    """Requests under way at once, each to another host."""
    parse_workers: Annotated[int, Field(ge=1, le=256)] | None = None
    """Parsing processes; by default one less than there are cores."""


class ScopeTable(Table):
    """`[scope]`: which addresses may be asked at all."""

    allow_domains: Domains = ()
    """Only these domains and what is below them; empty: all."""
    deny_domains: Domains = ()
    """Never these domains, nor what is below them."""
    include: Texts = ()
    """Only addresses that match one of these patterns; empty: all."""
    exclude: Texts = ()
    """Patterns of addresses to leave out."""


class RelevanceTable(OpenTable):
    """`[relevance]`: the page model, and its options as further keys."""

    model: Text | None = None
    """Name of the page model; by default the recipe's."""


class OrderingTable(OpenTable):
    """`[ordering]`: the link order, and its options as further keys."""

    order: Text | None = None
    """Name of the link order; by default the recipe's."""


class DiscoveryTable(OpenTable):
    """`[[discovery]]`: one source of further addresses, and its options as further keys."""

    source: Text
    """Name of the source."""


class IdentityTable(Table):
    """`[identity]`: who asks."""

    user_agent: Annotated[StrictStr, AfterValidator(_user_agent), Field(max_length=256)] = NO_CONTACT
    """Sent with every request; name an address where you can be reached."""

    @property
    def product(self) -> str:
        """The name robots.txt rules are looked up by."""
        match = re.match("[A-Za-z_-]+", self.user_agent)
        return match[0].lower() if match else "honeyguide"

    @property
    def has_contact(self) -> bool:
        """Whether a site owner could reach the operator."""
        return bool(re.search(r"https?://|[^\s@]@[^\s@]", self.user_agent))


class PolitenessTable(Table):
    """`[politeness]`: how gently hosts are asked. One request at a time per host, always."""

    delay: Annotated[Span, Field(le=3600)] = 1.0
    """Least seconds between two requests to one host; robots.txt may ask for more."""
    max_delay: Annotated[Span, Field(le=86400)] = 60.0
    """Most seconds that slow answers can ask for."""
    max_crawl_delay: Annotated[Span, Field(le=86400)] = 300.0
    """Most seconds that a Crawl-delay in robots.txt can ask for."""
    ip_delay: Annotated[Span, Field(le=3600)] = 0.5
    """Least seconds between two requests to one IP address."""
    ip_at_once: Annotated[int, Field(ge=1, le=100)] = 4
    """Requests to one IP address at a time, on different hosts."""
    slow_factor: Annotated[float, Field(ge=0, le=100)] = 2.0
    """Wait this many times as long as the last answer took."""
    max_retries: Annotated[int, Field(ge=0, le=20)] = 2
    """Further tries after a failed request."""
    backoff: Annotated[Span, Field(le=86400)] = 10.0
    """Seconds to leave a failing host alone; doubles with each further failure."""
    max_backoff: Annotated[Span, Field(le=86400)] = 3600.0
    """Most seconds of that."""
    give_up_after: Annotated[int, Field(ge=1, le=1000)] = 5
    """Failures in a row after which a host is left alone."""
    robots_max_age: Annotated[Span, Field(ge=60, le=86400)] = 86400.0
    """Seconds that a robots.txt is trusted; 24 hours at most (RFC 9309)."""


class LimitsTable(Table):
    """`[limits]`: what one server, page or address can cost."""

    max_body: Annotated[Size, Field(ge=1024, le=2**31)] = MAX_BODY
    """Decoded bytes of one page."""
    deadline: Annotated[Span, Field(gt=0, le=3600)] = 30.0
    """Seconds for one request, from name lookup to the last byte."""
    connect_timeout: Annotated[Span, Field(gt=0, le=600)] = 10.0
    """Seconds to reach one address."""
    max_redirects: Annotated[int, Field(ge=0, le=50)] = 10
    """Redirects in a row."""
    max_url_length: Annotated[int, Field(ge=64, le=65536)] = 2000
    """Characters of an address."""
    max_path_segments: Annotated[int, Field(ge=1, le=1000)] = 20
    """Folders in an address; more is taken for a trap."""
    max_repeated_segments: Annotated[int, Field(ge=1, le=100)] = 2
    """How often one folder name may occur in an address."""
    parse_deadline: Annotated[Span, Field(gt=0, le=600)] = 5.0
    """Seconds to parse one page before its process is replaced."""
    parse_memory: Annotated[Size, Field(ge=64 * 2**20)] = 1024 * 2**20
    """Bytes one parsing process may take."""


class FetchTable(Table):
    """`[fetch]`: pages that need a browser (extra `browser`), and what a page may take in one."""

    render: Literal["never", "auto", "always"] = "auto"
    """`auto`: shells of applications, where the extra is installed; `always`: every page."""
    browsers: Annotated[int, Field(ge=1, le=64)] | None = None
    """Browsers at once, each with its own memory; by default as many as cores, 4 at most."""
    render_seconds: Annotated[Span, Field(ge=1, le=300)] = 10.0
    """Seconds after which a page is read, whatever it still does."""
    render_requests: Annotated[int, Field(ge=0, le=10_000)] = 100
    """Requests that one page may make."""
    render_bytes: Annotated[Size, Field(ge=1024, le=2**31)] = 16 * 2**20
    """Bytes that the answers to them may hold together."""
    render_memory: Annotated[Size, Field(ge=256 * 2**20)] = 1024 * 2**20
    """Bytes that one browser may take."""
    scrolls: Annotated[int, Field(ge=0, le=1000)] = 5
    """How often a page that grows is scrolled to its end."""


class NetworkTable(Table):
    """`[network]`: the way out, and exceptions to the rule that only public addresses are asked."""

    proxy: Annotated[StrictStr, AfterValidator(_proxy), Field(max_length=1000)] = ENVIRONMENT
    """HTTP proxy to ask through, such as `http://proxy.example:3128`; `environment`: as HTTP_PROXY,
    HTTPS_PROXY and NO_PROXY say; `none`: none."""

    allow_net: Networks = ()
    """Private networks that may be asked, such as `127.0.0.0/8` for tests."""
    connect_to: dict[Text, Annotated[StrictStr, AfterValidator(_endpoint)]] = {}
    """Host (or `*`) to the address and port that answers for it; for tests and mirrors."""


class StorageTable(Table):
    """`[storage]`: what is kept, and how carefully."""

    archive: bool = True
    """Keep everything as WARC."""
    index: bool = True
    """Keep a full-text index of the pages on topic."""
    frontier_in_memory: Annotated[int, Field(ge=100, le=10**9)] = 5_000
    """Records of addresses held back in memory before they are written."""
    sync: Literal["normal", "full"] = "normal"
    """`normal` survives a killed process; `full` also a power cut."""


class Config(Table):
    """A whole `topic.toml`."""

    topic: TopicTable
    crawl: CrawlTable = CrawlTable()
    scope: ScopeTable = ScopeTable()
    relevance: RelevanceTable = RelevanceTable()
    ordering: OrderingTable = OrderingTable()
    discovery: Annotated[tuple[DiscoveryTable, ...], Field(strict=False)] = ()
    identity: IdentityTable = IdentityTable()
    politeness: PolitenessTable = PolitenessTable()
    limits: LimitsTable = LimitsTable()
    fetch: FetchTable = FetchTable()
    network: NetworkTable = NetworkTable()
    storage: StorageTable = StorageTable()
    versions: dict[str, str] = {}
    """Written into the copy that a collection keeps; ignored when read."""

    _file: TopicFile | None = PrivateAttr(default=None)
    _changed: frozenset[tuple[str, str]] = PrivateAttr(default=frozenset())
    """Tables and keys that no longer say what the file says."""

    @property
    def base(self) -> Path:
        """Folder that relative file patterns start from: that of the topic file."""
        return (self._file.path.parent if self._file is not None else Path()).absolute()

    def as_topic(self) -> Topic:
        """The topic as the crawl's parts see it; without seeds, a crawl begins at the example pages."""
        examples = tuple(
            one for one in self.topic.examples if one.lower().startswith(("http://", "https://"))
        )
        return Topic(seeds=self.crawl.seeds or examples, **self.topic.model_dump())
