"""The hosts of a generated web: names, sizes, sections, topics and how they behave.

Everything that is known of a host fits in one small record, so 20,000 hosts of a web of 10 million
pages take a few megabytes; pages themselves are never listed.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.generated.spec import WebSpec
from honeyguide.lab.webs.generated.vocabulary import Vocabulary, invented_word

RESERVED = ("archive", "calendar", "catalogue", "go", "guide", "maze", "private")
"""Folders with a meaning of their own, which no section may be called."""
TRAPS = ("calendar", "session", "facets", "path", "maze")


@dataclass(slots=True)
class Site:
    """One host. Page numbers: 0 is the home page, then the sections, then the articles."""

    index: int
    name: str
    key: int
    topic: int
    size: int
    role: str = ""
    """Empty, `tunnelled`, `slow`, `failing`, `redirecting`, `closed`, `mirror` or a trap's name."""
    slugs: tuple[str, ...] = ()
    topics: tuple[int, ...] = ()
    """The topic of each section."""
    source: int = -1
    """For mirrors: the host they copy."""
    exact: bool = False
    mirror: int = -1
    """The host that copies this one."""
    tunnel: int = 0
    """Steps of the tunnel that leads here."""
    bridge: int = -1
    """The host that the tunnel's pages are on."""
    guides: tuple[int, ...] = ()
    """Tunnels on this host, by the host they lead to."""
    partners: tuple[int, ...] = ()
    disguised: bool = False
    """For session-id traps: whether the parameter has a name that no URL rule can know."""
    gzip: bool = False
    canonical: bool = False
    crawl_delay: bool = False
    locked: int = -1
    """A section that robots.txt disallows."""
    by_topic: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def sections(self) -> int:
        """Number of sections."""
        return len(self.slugs)

    @property
    def articles(self) -> int:
        """Number of articles."""
        return self.size - 1 - len(self.slugs)

    def section_size(self, section: int) -> int:
        """Number of articles of a section; articles take turns among the sections."""
        count = len(self.slugs)
        return (self.articles - section + count - 1) // count


class TopicIndex:
    """Where the articles of one topic are: picks one by arithmetic."""

    __slots__ = ("sites", "sums", "total")

    def __init__(self, topic: int, sites: list[Site]) -> None:
        self.sites = [site for site in sites if topic in site.by_topic]
        counts = (sum(map(site.section_size, site.by_topic[topic])) for site in self.sites)
        self.sums = list(accumulate(counts))
        self.total = self.sums[-1] if self.sums else 0

    def pick(self, draw: int) -> Site:
        """A host, as likely as it has articles on the topic."""
        return self.sites[bisect_right(self.sums, draw % self.total)]


class Sites:
    """All hosts of a web, and where each topic lives."""

    def __init__(self, spec: WebSpec, vocabularies: tuple[Vocabulary, ...]) -> None:
        self.spec = spec
        self.vocabularies = vocabularies
        draws = Draws(fingerprint(spec.seed, 21))
        mirrors = round(spec.mirrors * spec.hosts)
        self.all: list[Site] = []
        names: set[str] = set()
        for index, (size, topic) in enumerate(self._sizes_and_topics(draws, spec.hosts - mirrors)):
            self.all.append(self._site(index, size, topic, names=names))
        self._give_roles(draws)
        for _ in range(mirrors):
            self._add_mirror(draws, names)
        self.by_name = {site.name: site for site in self.all}
        linkable = [s for s in self.all if s.role not in ("mirror", "tunnelled", "closed")]
        self.linkable = linkable
        self.indexes = [TopicIndex(topic, linkable) for topic in range(len(vocabularies))]
        self.tunnelled: list[list[Site]] = [[] for _ in vocabularies]
        for site in self.all:
            site.partners = tuple(linkable[draws.below(len(linkable))].index for _ in range(4))
            if site.role == "tunnelled":
                self.tunnelled[site.topic].append(site)

    def _sizes_and_topics(self, draws: Draws, count: int) -> list[tuple[int, int]]:
        """Power-law sizes; topics are dealt in rounds down the ranks, so each gets large and small hosts."""
        spec = self.spec
        weights = [(rank + 1) ** -spec.size_exponent for rank in range(count)]
        scale = (spec.pages - 10 * count) / sum(weights)
        sizes = [10 + int(weight * scale) for weight in weights]
        sizes[0] += spec.pages - sum(sizes)
        themes = len(self.vocabularies) - spec.topics
        topics: list[int] = []
        hand: list[int] = []
        owed = 0.0
        for _ in range(count):
            owed += spec.background
            if owed >= 1.0:
                owed -= 1.0
                topics.append(spec.topics + draws.below(themes))
                continue
            hand = hand or draws.shuffled(spec.topics)
            topics.append(hand.pop())
        return [(sizes[rank], topics[rank]) for rank in draws.shuffled(count)]

    def _name(self, draws: Draws, topic: int, names: set[str]) -> str:
        while True:
            word = invented_word(draws)
            titles = self.vocabularies[topic].titles
            name = f"{titles[draws.below(8)]}-{word}" if draws.chance(0.4) else word
            name = ("www." if draws.chance(0.3) else "") + name + ".example"
            if name not in names:
                names.add(name)
                return name

    def _site(self, index: int, size: int, topic: int, *, names: set[str]) -> Site:
        key = fingerprint(self.spec.seed, 31, index)
        draws = Draws(key)
        name = self._name(draws, topic, names)
        count = min(3 + size // 25, 4 + draws.below(5), (size - 1) // 3)
        others = len(self.vocabularies)
        topics = [topic, *(topic if draws.chance(0.6) else draws.below(others) for _ in range(1, count))]
        slugs: list[str] = []
        for section_topic in topics:
            slug = self.vocabularies[section_topic].titles[draws.below(24)]
            slugs.append(slug if slug not in slugs and slug not in RESERVED else f"{slug}-{len(slugs)}")
        site = Site(index, name, key, topic, size, slugs=tuple(slugs), topics=tuple(topics))
        site.gzip = draws.chance(self.spec.gzip)
        site.canonical = draws.chance(0.4)
        site.crawl_delay = draws.chance(self.spec.crawl_delay)
        site.locked = count - 1 if count > 3 and draws.chance(0.1) else -1
        for section, section_topic in enumerate(topics):
            if section != site.locked:
                site.by_topic[section_topic] = (*site.by_topic.get(section_topic, ()), section)
        return site

    def _give_roles(self, draws: Draws) -> None:
        spec = self.spec
        order = draws.shuffled(len(self.all))
        # Broken hosts are small ones: a broken giant would decide the whole experiment.
        median = sorted(site.size for site in self.all)[len(self.all) // 2]
        quotas = [(role, round(getattr(spec, role) * spec.hosts)) for role in ("failing", "closed", "slow")]
        quotas += [
            ("redirecting", round(spec.redirecting * spec.hosts)),
            ("trap", round(spec.traps * spec.hosts)),
        ]
        quotas.append(("tunnelled", round(spec.tunnels * spec.hosts)))
        for role, quota in quotas:
            fit = [i for i in order if not self.all[i].role and self._fits(self.all[i], role, median)][:quota]
            for number, index in enumerate(fit):
                site = self.all[index]
                site.role = TRAPS[number % len(TRAPS)] if role == "trap" else role
                site.disguised = number // len(TRAPS) % 2 == 1
        plain = [site for site in self.all if not site.role and site.topic >= spec.topics] or [
            self.all[order[-1]]
        ]
        for site in self.all:
            if site.role == "tunnelled":
                bridge = plain[draws.below(len(plain))]
                site.tunnel, site.bridge = 1 + draws.below(3), bridge.index
                bridge.guides = (*bridge.guides, site.index)

    def _fits(self, site: Site, role: str, median: int) -> bool:
        if role in ("failing", "closed"):
            return site.size <= median
        return role != "tunnelled" or site.topic < self.spec.topics

    def _add_mirror(self, draws: Draws, names: set[str]) -> None:
        plain = [site for site in self.all if not site.role and site.mirror < 0]
        if not plain:
            return
        source = plain[draws.below(len(plain))]
        index = len(self.all)
        copy = Site(index, self._name(draws, source.topic, names), source.key, source.topic, source.size)
        copy.role, copy.source, copy.exact = "mirror", source.index, draws.chance(0.5)
        copy.slugs, copy.topics, copy.locked = source.slugs, source.topics, source.locked
        copy.canonical, copy.gzip = source.canonical, source.gzip
        source.mirror = index
        self.all.append(copy)
