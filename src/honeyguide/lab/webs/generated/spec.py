"""What a generated web is made of, and what is true of each of its pages."""

from __future__ import annotations

import msgspec

from honeyguide.errors import HoneyguideError


class WebSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole description of a generated web: two equal specs are the same web, byte for byte.

    Shares of hosts are of all hosts and exclude each other; their sum must stay below 0.9.
    """

    seed: int = 1
    hosts: int = 120
    pages: int = 8_000
    """Pages of ordinary hosts: homes, sections and articles. Traps, tunnels and mirrors come on top."""
    topics: int = 8
    """The first ten have written words; further ones are invented."""
    background: float = 0.4
    """Share of hosts about everyday themes, which are on no topic."""
    words_per_page: int = 380
    links_per_page: int = 20
    """Content links of an article; menus, footers and lists of the section come on top."""
    locality: float = 0.65
    """Share of content links that stay on the topic of their block."""
    wander: float = 0.08
    """Share of articles that are about another theme than their section."""
    multi_topic: float = 0.3
    """Share of an article's minor blocks that are about something else."""
    size_exponent: float = 0.8
    """Host of rank r has a share of pages like r ** -size_exponent."""
    hubs: float = 0.03
    """Share of articles that are lists of links on their topic."""
    tunnels: float = 0.12
    """Share of hosts that only paths of one to three off-topic pages lead to."""
    traps: float = 0.08
    slow: float = 0.04
    slow_seconds: float = 0.5
    failing: float = 0.04
    redirecting: float = 0.06
    mirrors: float = 0.05
    closed: float = 0.02
    """Share of hosts whose robots.txt refuses everything."""
    crawl_delay: float = 0.05
    """Share of hosts (any kind) with a Crawl-delay."""
    crawl_delay_seconds: float = 0.25
    noindex: float = 0.015
    nofollow: float = 0.015
    dead_links: float = 0.02
    gzip: float = 0.3
    """Share of hosts that send their pages in gzip."""

    def checked(self) -> WebSpec:
        """The spec itself, or one clear error."""
        roles = self.tunnels + self.traps + self.slow + self.failing + self.redirecting + self.mirrors
        if self.hosts < 10 or self.topics < 1 or self.pages < 12 * self.hosts:
            raise HoneyguideError(
                f"a generated web of {self.hosts} hosts, {self.pages} pages and {self.topics} topics is too "
                "small: give at least 10 hosts, 1 topic and 12 pages a host"
            )
        if roles + self.closed >= 0.9:
            raise HoneyguideError("the shares of special hosts add up to 0.9 or more: lower some of them")
        return self


class PageTruth(msgspec.Struct, frozen=True):
    """What is true of a URL, whatever a page model thinks of it."""

    kind: str
    """`home`, `section`, `article`, `hub`, `tunnel`, `about`, `trap`, `private`, `redirect`, `failing`,
    `file` (robots.txt, sitemap.xml) or `missing`."""
    topic: str = ""
    """Main topic or background theme; empty where there is none (also for traps that babble)."""
    shares: dict[str, float] = {}
    """Share of the page's content for each topic or theme."""
    original: str = ""
    """For mirrors, session-id copies and print versions: the URL that this page is a copy of."""
    allowed: bool = True
    """Whether robots.txt lets it be fetched."""
    indexable: bool = True

    def on_topic(self, topic: str) -> bool:
        """Whether at least half of the page's content is about the topic."""
        return self.shares.get(topic, 0.0) >= 0.5


DEMO = WebSpec()
"""The web of `honeyguide demo`: 120 hosts, 8,000 pages, 8 topics, every misbehaviour of this package."""

BENCHMARK = WebSpec(words_per_page=3_200, links_per_page=60, pages=20_000, hosts=200, slow=0.0, failing=0.0)
"""Pages of 20-60 KB with 50-100 links and well-behaved hosts, for throughput."""

TEN_MILLION = WebSpec(hosts=20_000, pages=10_000_000, topics=40)
"""The same web at 10 million pages."""
