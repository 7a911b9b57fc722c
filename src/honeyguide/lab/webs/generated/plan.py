"""What stands on a page, before it becomes HTML: blocks of text with their links.

Both the HTML and the fast list of out-links are made from the same plan, so they cannot differ.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from honeyguide.lab.webs.generated.address import Addresses, Article, Place
from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.generated.sites import Site, Sites

LISTED = 12
"""Articles that a section's page lists; article k leads on to articles 12 + 3k, + 1 and + 2."""
_VAGUE = ("read more", "here", "this page", "details", "continue", "next one")


class Item(NamedTuple):
    """A link as the page writes it: same-host links start with a slash."""

    href: str
    anchor: str
    nofollow: bool = False


class PlannedBlock(NamedTuple):
    """A content block: text of one topic, and links."""

    topic: int
    heading: str
    sentences: int
    items: list[Item]
    listed: bool = False


class Plan(msgspec.Struct):
    """A page to be written."""

    title: str
    topic: int
    key: int
    blocks: list[PlannedBlock]
    related: list[Item] = []
    extra: str = ""
    """A paragraph in front of the blocks, for pages with words of their own."""
    noindex: bool = False
    nofollow: bool = False
    canonical: str = ""


class Planner:
    """Plans homes, sections, articles, hubs and tunnel pages."""

    def __init__(self, sites: Sites, addresses: Addresses) -> None:
        self._sites = sites
        self._spec = sites.spec
        self._addresses = addresses
        self._vocabularies = sites.vocabularies

    def block_topics(self, article: Article) -> list[int]:
        """The topic of each block; at least three in five are about the article's own."""
        count = 3 + (article.key >> 52 & 15) % 3
        topics = [article.topic] * count
        roll = fingerprint(article.key, 5)
        for place in (1, 3):
            if place + 1 < count and (roll & 0xFF) < self._spec.multi_topic * 256:
                topics[place] = (roll >> 8 & 0xFF) % len(self._vocabularies)
            roll >>= 16
        return topics

    def is_hub(self, article: Article) -> bool:
        """Whether the article is a list of links."""
        return (article.key >> 44 & 0xFF) < self._spec.hubs * 256

    def noindex(self, article: Article) -> bool:
        """Whether the article asks not to be kept."""
        return (article.key >> 28 & 0xFF) < self._spec.noindex * 256

    def home(self, site: Site) -> Plan:
        """The home page: one block a section."""
        draws = Draws(fingerprint(site.key, 1))
        blocks = []
        for section, (slug, topic) in enumerate(zip(site.slugs, site.topics, strict=True)):
            items = [Item(f"/{slug}/", slug.replace("-", " "))]
            newest = range(min(4, site.section_size(section)))
            items += [self._item(site, site, k * site.sections + section) for k in newest]
            blocks.append(PlannedBlock(topic, slug.replace("-", " "), 3, items, listed=True))
        if site.guides:
            theme = self._vocabularies[site.topic]
            items = [self._tunnel_item(site, self._sites.all[index]) for index in site.guides]
            blocks.append(PlannedBlock(site.topic, f"{theme.titles[3]} directory", 2, items, listed=True))
        title = f"{site.name.split('.')[-2]}: {self._vocabularies[site.topic].name}"
        blocks.append(self._content(draws, site, site.topic, 4, sentences=2))
        return Plan(title, site.topic, site.key, blocks)

    def section(self, site: Site, section: int) -> Plan:
        """A section's page: its first articles with a teaser each."""
        topic, slug = site.topics[section], site.slugs[section]
        draws = Draws(fingerprint(site.key, 2, section))
        first = range(min(LISTED, site.section_size(section)))
        items = [self._item(site, site, k * site.sections + section) for k in first]
        name = self._vocabularies[topic].titles[section]
        blocks = [
            PlannedBlock(topic, f"All about {slug}", 4, []),
            PlannedBlock(topic, f"{slug} pages", 0, items, listed=True),
        ]
        blocks.append(self._content(draws, site, topic, 4, sentences=3))
        key = fingerprint(site.key, 3, section)
        return Plan(f"{slug.replace('-', ' ')} and {name}", topic, key, blocks)

    def article(self, site: Site, article: Article) -> Plan:
        """An article, or a hub where the article is one."""
        spec, draws = self._spec, Draws(fingerprint(article.key, 7))
        words = spec.words_per_page * (50 + draws.below(110)) // 100
        links = spec.links_per_page * (60 + draws.below(80)) // 100
        if self.is_hub(article):
            blocks = self._hub_blocks(draws, site, article, links + 8)
        else:
            topics = self.block_topics(article)
            sentences, share = words // (17 * len(topics)) + 1, links // len(topics) + 1
            blocks = [self._content(draws, site, topic, share, sentences=sentences) for topic in topics]
        plan = Plan(article.title, article.topic, article.key, blocks, self._related(site, article))
        plan.noindex = self.noindex(article)
        plan.nofollow = (article.key >> 36 & 0xFF) < spec.nofollow * 256
        if site.canonical:
            plan.canonical = f"http://{site.name}{article.path}"
            plan.related.append(Item(article.path + "?print=1", "Print version"))
        return plan

    def tunnel(self, place: Place) -> Plan:
        """A page that is off topic itself but leads, in one to three steps, to a topic's hidden host."""
        target, step, site = self._sites.all[place.number], place.step, place.site
        words = self._vocabularies[target.topic].gateway[3 * step - 3 : 3 * step]
        draws = Draws(fingerprint(target.key, 4, step))
        if step > 1:
            following = self._addresses.guide(target, step - 1)
            items = [Item(following, f"{words[1]} {words[2]} register")]
        else:
            items = [Item(f"http://{target.name}/", f"{words[1]} members")]
            items += [Item(f"http://{target.name}/{slug}/", f"{words[2]} list") for slug in target.slugs[:2]]
        blocks = [self._content(draws, site, site.topic, 3, sentences=5) for _ in range(2)]
        blocks.insert(1, PlannedBlock(site.topic, f"{words[0]} directory", 2, items, listed=True))
        extra = " ".join(
            f"The {words[draws.below(3)]} office keeps the {words[draws.below(3)]} register."
            for _ in range(6)
        )
        title = f"{words[0]} and {words[1]} directory"
        return Plan(title, site.topic, fingerprint(target.key, 6, step), blocks, extra=extra)

    def about(self, site: Site) -> Plan:
        """Who makes this site: a page of no interest."""
        draws = Draws(fingerprint(site.key, 8))
        theme = self._spec.topics + draws.below(len(self._vocabularies) - self._spec.topics)
        return Plan("About us", theme, fingerprint(site.key, 9), [PlannedBlock(theme, "Who we are", 6, [])])

    def _hub_blocks(self, draws: Draws, site: Site, article: Article, links: int) -> list[PlannedBlock]:
        half = links // 2
        blocks = [self._content(draws, site, article.topic, half, sentences=0, listed=True) for _ in range(2)]
        hidden = self._sites.tunnelled[article.topic]
        if hidden:
            blocks[1].items.append(self._tunnel_item(site, hidden[draws.below(len(hidden))]))
        return [PlannedBlock(article.topic, "Links we like", 4, []), *blocks]

    def _content(
        self, draws: Draws, site: Site, topic: int, links: int, *, sentences: int, listed: bool = False
    ) -> PlannedBlock:
        titles = self._vocabularies[topic].titles
        heading = f"{titles[draws.below(64)]} and {titles[draws.below(64)]}"
        items = [self._outgoing(draws, site, topic) for _ in range(links)]
        return PlannedBlock(topic, heading, sentences, items, listed or draws.chance(0.3))

    def _outgoing(self, draws: Draws, site: Site, topic: int) -> Item:
        spec, sites, draw = self._spec, self._sites, draws.next
        roll = draw()
        if (roll & 0xFFFF) >= spec.locality * 65536:
            topic = draw() % len(self._vocabularies)
        share = (roll >> 16) / 65536.0
        if share < spec.dead_links:
            host = sites.linkable[draw() % len(sites.linkable)]
            return Item(f"http://{host.name}/gone/{draw() % 10000}.html", _VAGUE[draw() % len(_VAGUE)])
        hidden = sites.tunnelled[topic]
        if hidden and share > 0.97:
            return self._tunnel_item(site, hidden[draw() % len(hidden)])
        index = sites.indexes[topic]
        if topic in site.by_topic and (share < 0.4 or not index.total):
            target = site
        elif index.total:
            target = index.pick(draw())
        else:
            target = sites.linkable[draw() % len(sites.linkable)]
        sections = target.by_topic.get(topic) or (0,)
        value = draw()
        section = sections[value % len(sections)]
        # The product of two uniform numbers favours early articles, which gives uneven in-degrees.
        rank = ((value * draw() >> 32) * target.section_size(section)) >> 32
        return self._item(site, target, rank * len(target.slugs) + section, roll=roll)

    def _item(self, site: Site, target: Site, number: int, *, roll: int = -1) -> Item:
        article = self._addresses.article(target, number)
        path, anchor, nofollow = article.path, article.title, False
        if roll >= 0:
            style = roll & 127
            if style < 18:
                anchor = _VAGUE[style % len(_VAGUE)]
            nofollow = style == 127
        if target is site:
            return Item(path, anchor, nofollow)
        if target.role == "redirecting" and number & 1:
            path = f"/go/{number}"
        name = target.name
        if target.mirror >= 0 and roll & 0x300 == 0:
            name = self._sites.all[target.mirror].name
        return Item(f"http://{name}{path}", anchor, nofollow)

    def _tunnel_item(self, site: Site, target: Site) -> Item:
        words = self._vocabularies[target.topic].gateway
        path = self._addresses.guide(target, target.tunnel)
        bridge = self._sites.all[target.bridge]
        href = path if bridge is site else f"http://{bridge.name}{path}"
        return Item(href, f"{words[3 * target.tunnel - 3]} directory")

    def _related(self, site: Site, article: Article) -> list[Item]:
        """The next articles of the section: together they make the whole section reachable."""
        count, section = site.sections, article.section
        rank = article.number // count
        ranks = [rank - 1, rank + 1, *range(LISTED + 3 * rank, LISTED + 3 * rank + 3)]
        size = site.section_size(section)
        return [self._item(site, site, k * count + section) for k in ranks if 0 <= k < size]
