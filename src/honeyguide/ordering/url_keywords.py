"""URL keywords: a link is worth what its address says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder

SHORTEST_PART: Final = 4
"""Shorter topic words must be a whole token of the URL: "art" is not in "start"."""
_TOKEN = re.compile(r"[^\W_]+")


class UrlKeywords(LocalOrder):
    """The best share of a topic keyword's words that the URL holds.

    A word of four letters or more is held when it occurs anywhere in the URL, a shorter one when it is a
    token of it. `machine learning` and `/intro/machinelearning.html` give 1, `/machines/` gives 0.5.
    Percent codes are undone first, so words in any script count.

    Args:
        topic_terms: The topic's keywords.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/owl-nests", 2)]
        >>> UrlKeywords(["snowy owl", "eagle"]).rank(page, Verdict(0.0, False), links)[0].priority
        0.5

    References:
        Junghoo Cho, Hector Garcia-Molina, Lawrence Page, "Efficient crawling through URL ordering",
        WWW 1998 (topic words in the URL).
    """

    def __init__(self, topic_terms: Sequence[str]) -> None:
        keywords = (tuple(dict.fromkeys(_TOKEN.findall(each.lower()))) for each in topic_terms)
        self._keywords = tuple(frozenset(each) for each in dict.fromkeys(keywords) if each)
        self._words = tuple(frozenset().union(*self._keywords))

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The keyword share, by link."""
        ranked = []
        for index, link in enumerate(links):
            share = self.share(link.url)
            ranked.append(Scored(index, share, factors={"url": share}))
        return ranked

    def share(self, url: str) -> float:
        """The best share of a keyword that an address holds, 0..1."""
        text = url.partition("://")[2].lower()
        if "%" in text:
            text = unquote(text)
        found = {word for word in self._words if word in text}
        if not found:
            return 0.0
        short = {word for word in found if len(word) < SHORTEST_PART}
        if short:
            found -= short.difference(_TOKEN.findall(text))
        return max(len(found & keyword) / len(keyword) for keyword in self._keywords)
