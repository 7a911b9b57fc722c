"""FCMRPS: page content, anchor text, URL and link type together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias

import msgspec

from honeyguide.errors import TopicError
from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.ordering.depth_rule import MEMO, USED_UP, child_depth
from honeyguide.ordering.link_type import LINK_TYPES, LinkSource, LinkType, Site
from honeyguide.ordering.url_tokens import ALPHA, UrlMatch, UrlTokens, spelled
from honeyguide.store.models import Saved
from honeyguide.topic.file import nearest
from honeyguide.topic.taxonomy_vector import NOTHING, Match, TopicVector, labels_of
from honeyguide.topic.tokens import KINDS, Spellings, layered
from honeyguide.topic.tokens_home import personal_table_file

GAMMA: Final[Mapping[LinkType, tuple[float, float]]] = {
    "downward": (0.4, 0.2),
    "sibling": (0.2, 0.1),
    "crosswise": (0.1, 0.1),
    "outward": (0.2, 0.01),
    "upward": (0.2, 0.0),
}
"""By link type: R_LT where the link's text speaks for the topic, and where it is silent."""
_KINDS: Final = {kind: f"{kind} link" for kind in LINK_TYPES}
BEHIND: Final = 2.0
"""Scores are at most 1: a link less this is behind all others."""
SHOWN: Final = 3
"""Terms of the page that `why` repeats at each of its links."""
EQUAL: Final = (0.25, 0.25, 0.25, 0.25)


def anchor_relevance(vector: TopicVector, anchor: str, context: str) -> Match:
    """R_AT: cosine of the anchor text where it is positive, else that of the anchor's context."""
    found = vector.match(anchor)
    return found if found.score > 0.0 else vector.match(context)


def link_type_relevance(gamma: tuple[float, float], *, content: float, anchor: float) -> float:
    """R_LT: gamma_1 when page and link text are relevant, gamma_2 when only the page is, else 0.

    Example:
        >>> link_type_relevance((0.4, 0.2), content=0.3, anchor=0.0)
        0.2
    """
    if content <= 0.0:
        return 0.0
    return gamma[0] if anchor > 0.0 else gamma[1]


def combined(weights: Sequence[float], scores: Sequence[float]) -> float:
    """RS: the weighted sum of the four scores.

    Example:
        >>> combined((0.25, 0.25, 0.25, 0.25), (0.5, 1.0, 1.0, 0.5))
        0.75
    """
    w1, w2, w3, w4 = weights
    content, anchor, url, by_type = scores
    return w1 * content + w2 * anchor + w3 * url + w4 * by_type


Parents: TypeAlias = Literal["all", "relevant"]
UsedUp: TypeAlias = Literal["drop", "last"]


class Fcmrps(LocalOrder):
    """`RS = w1 * R_PC + w2 * R_AT + w3 * R_url + w4 * R_LT`, with Shark-Search's depth rule.

    R_PC is the page's score; R_AT the cosine of anchor text (or context) with the topic's labels; R_url
    what the tokens of the address say; R_LT a constant by link type. A relevant page gives its children
    depth D, any other its own depth less one; at 0 the link is dropped. What is relevant is the page
    model's threshold (0.1 in the paper).

    The factors of each link, which `honeyguide why` prints, hold the four scores and the terms and tokens
    that matched.

    Args:
        taxonomy: Labels from the root to the topic; `|` parts names in several languages, ` + ` several
            nodes that make one topic: the best of them counts.
        keywords: Serve as labels of equal weight where there is no path.
        languages: For stop words and stemmer.
        weights: w1 to w4. FCMRPS13 is (1/2, 0, 1/2, 0), FCMRPS124 (1/3, 1/3, 0, 1/3).
        depth: D, generations that survive without a relevant page.
        used_up: What becomes of the links of a page whose depth is used up: `drop` as published. With `last`
            those whose own text or address speaks for the topic stay where they are, and the rest goes behind
            all others: no direction dies.
        alpha: Strength of full English, abbreviation, full Pinyin and Pinyin initials in addresses.
        whole_up_to: Spellings of up to so many letters must be whole tokens; 0 is the paper's rule.
        gamma: By link type, R_LT with and without a relevant link text, where it differs from the paper.
        predict_from: `relevant` takes content, anchor and link type into account on relevant pages only,
            as the paper defines them; links of other pages then go by their addresses alone. `all` does not
            ask whether the page is relevant.
        site: Whether sites are told apart by `host` or by registered `domain`.
        tables: Files of further tokens (`honeyguide topic map-token --table`).
        personal_table: Also use the table that `honeyguide topic map-token` writes by default.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> order = Fcmrps(["Sports", "Basketball"], [], ["en"], personal_table=False)
        >>> page = Page(url="http://sports.sohu.com/", id=1)
        >>> links = [Link("http://sports.sohu.com/lanqiu.shtml", 2, "more", "")]
        >>> order.rank(page, Verdict(0.4, True), links)[0].priority
        0.375

    References:
        Zhumin Chen, Jun Ma, Jingsheng Lei, Bo Yuan, Li Lian, Ling Song, "A cross-language focused
        crawling algorithm based on multiple relevance prediction strategies", Computers & Mathematics
        with Applications 57, 2009.
    """

    def __init__(
        self,
        taxonomy: Sequence[str],
        keywords: Sequence[str],
        languages: Sequence[str],
        *,
        weights: Sequence[float] = EQUAL,
        depth: int = 3,
        used_up: UsedUp = "drop",
        alpha: Sequence[float] = ALPHA,
        whole_up_to: int = 0,
        gamma: Mapping[str, Sequence[float]] | None = None,
        predict_from: Parents = "all",
        site: Site = "host",
        tables: Sequence[str] = (),
        personal_table: bool = True,
    ) -> None:
        self._weights = _four("weights", weights)
        self._depth = depth
        self._last = used_up == "last"
        if depth < 1:
            raise TopicError("option 'depth' must be 1 or more; 3 is the usual depth")
        self._alpha = _four("alpha", alpha)
        self._whole_up_to = whole_up_to
        self._gamma = _gammas(gamma or {})
        self._site: Site = site
        self._predict_from: Parents = predict_from
        self._labels = labels_of(taxonomy, keywords)
        self._vector = TopicVector(self._labels, languages)
        table = layered(
            (Path(name).expanduser() for name in tables),
            personal=personal_table_file() if personal_table else None,
        )
        self._take(spelled(self._labels, table))

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The weighted sum of the four scores, by link."""
        left = child_depth(page, verdict.on_topic, depth=self._depth)
        position = LinkSource(page.url, site=self._site)
        matched: dict[tuple[str, str], Match] = {}
        contexts: dict[str, Match] = {}
        memo = {MEMO: float(left)} if left or self._last else {}
        drop = "" if left or self._last else USED_UP
        page_terms = {f"page term {term}": share for term, share in verdict.terms[:SHOWN]}
        ranked = []
        for index, link in enumerate(links):
            key = (link.anchor, link.context)
            if (words := matched.get(key)) is None:
                words = matched[key] = self._anchor(link, contexts)
            url = self._url.match(link.url)
            kind = position.link_type(link.url)
            by_type = link_type_relevance(self._gamma[kind], content=verdict.score, anchor=words.score)
            scores = (verdict.score, words.score, url.score, by_type)
            if self._predict_from == "relevant" and not verdict.on_topic:
                scores = (0.0, 0.0, url.score, 0.0)
            factors = _factors(scores, words, url, kind) | page_terms
            back = 0.0 if left or words.score or url.score else BEHIND
            ranked.append(Scored(index, combined(self._weights, scores) - back, drop, factors, memo))
        return ranked

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """Which spellings of which label the address holds."""
        found = self._url.match(url)
        tokens = {one.spelling: f"{one.kind} of {self._name(one.label)}" for one in found.matches}
        return {"R_url": found.score, "tokens": tokens}

    def save(self) -> Saved:
        """The spellings, so that a resumed crawl does not depend on tables that changed meanwhile."""
        return Saved(values={"spellings": msgspec.to_builtins(self._url.spellings)})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        kept = msgspec.convert(saved.values.get("spellings", []), tuple[Spellings, ...])
        if len(kept) != len(self._labels.names):
            raise TopicError("the saved crawl has another taxonomy path; restore it in the topic file")
        self._take(kept)
        return self

    def _take(self, spellings: tuple[Spellings, ...]) -> None:
        weights = self._labels.weights
        self._url = UrlTokens(
            spellings,
            weights,
            alpha=self._alpha,
            starts=self._labels.starts,
            whole_up_to=self._whole_up_to,
        )

    def _anchor(self, link: Link, contexts: dict[str, Match]) -> Match:
        """R_AT; links of one paragraph share their context, which is compared once."""
        found = self._vector.match(link.anchor) if link.anchor else NOTHING
        if found.score > 0.0 or not link.context:
            return found
        if link.context not in contexts:
            contexts[link.context] = self._vector.match(link.context)
        return contexts[link.context]

    def _name(self, label: int) -> str:
        return self._labels.names[label][0]


def _factors(scores: Sequence[float], words: Match, url: UrlMatch, kind: LinkType) -> dict[str, float]:
    """The four scores, and what they come from."""
    content, anchor, address, by_type = scores
    factors = {"R_PC": content, "R_AT": anchor, "R_url": address, "R_LT": by_type, _KINDS[kind]: by_type}
    for term, share in words.terms:
        factors[f"link term {term}"] = share
    for one in url.matches:
        factors[f"token {one.spelling} ({one.kind})"] = one.strength
    return factors


def _four(name: str, values: Sequence[float]) -> tuple[float, ...]:
    if len(values) != len(KINDS) or any(not 0.0 <= value <= 1.0 for value in values) or not any(values):
        raise TopicError(
            f"option '{name}' must be four numbers from 0 to 1, not {list(values)}; see the docs"
        )
    return tuple(float(value) for value in values)


def _gammas(given: Mapping[str, Sequence[float]]) -> dict[LinkType, tuple[float, float]]:
    merged = dict(GAMMA)
    for name, values in given.items():
        if name not in LINK_TYPES:
            raise TopicError(f"option 'gamma': unknown link type {name!r}; {nearest(name, LINK_TYPES)}")
        if len(values) != 2 or any(not 0.0 <= value <= 1.0 for value in values):
            raise TopicError(f"option 'gamma': {name} must be two numbers from 0 to 1; write [0.2, 0.1]")
        merged[name] = (float(values[0]), float(values[1]))
    return merged
