"""R_url of FCMRPS: what the words in an address say about a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from honeyguide.topic.taxonomy_vector import Labels
from honeyguide.topic.tokens import KINDS, Kind, Spellings, TokenTable
from honeyguide.topic.tokens_of_url import lowered, tokens_in

ALPHA: Final = (1.0, 0.5, 1.0, 0.2)
"""Strength of a match by kind of spelling: first letters and abbreviations err more often."""


class TokenMatch(msgspec.Struct, frozen=True):
    """A label found in an address."""

    label: int
    """0 for the root's label."""
    spelling: str
    kind: Kind
    strength: float


class UrlMatch(msgspec.Struct, frozen=True):
    """R_url with what matched."""

    score: float
    matches: tuple[TokenMatch, ...] = ()


NO_MATCH: Final = UrlMatch(0.0)


def spelled(labels: Labels, table: TokenTable) -> tuple[Spellings, ...]:
    """The spellings of each label, from the root down."""
    return tuple(table.spell(names) for names in labels.names)


class UrlTokens:
    """`R_url = sum_i (i/D) * max_q b_iq / sum_i (i/D)`.

    b_iq is alpha_q when spelling q of label i occurs in some token of the address. Letter case does not
    count.

    Args:
        spellings: Of each label, from the root down.
        weights: Of each label: i/D.
        alpha: Strength of full English, abbreviated English, full Pinyin and Pinyin initials.
        starts: Where the labels of each node begin, for a topic of several; the best node counts.
        whole_up_to: Spellings of up to so many letters must be a whole token ("sh" is not in "shop");
            0 looks for all of them inside tokens, as the paper does.

    Example:
        >>> from honeyguide.topic.taxonomy_vector import labels_of
        >>> from honeyguide.topic.tokens import built_in_table
        >>> labels = labels_of(["Sports", "Basketball"])
        >>> url = UrlTokens(spelled(labels, built_in_table()), labels.weights)
        >>> url.match("http://sports.sohu.com/lanqiu.shtml").score
        1.0
    """

    def __init__(
        self,
        spellings: Sequence[Spellings],
        weights: Sequence[float],
        *,
        alpha: Sequence[float] = ALPHA,
        starts: Sequence[int] = (0,),
        whole_up_to: int = 0,
    ) -> None:
        self.spellings = tuple(spellings)
        self._weights = tuple(weights)
        ends = (*starts[1:], len(self._weights))
        self._node_of = tuple(
            node for node, (a, b) in enumerate(zip(starts, ends, strict=True)) for _ in range(a, b)
        )
        self._totals = tuple(sum(self._weights[a:b]) for a, b in zip(starts, ends, strict=True))
        self._whole_up_to = whole_up_to
        strength = dict(zip(KINDS, alpha, strict=True))
        self._wanted = tuple(_by_strength(each, strength) for each in spellings)
        every = {token for wanted in self._wanted for token, _, _ in wanted}
        self._every = tuple(
            sorted(one for one in every if not any(one != two and two in one for two in every))
        )

    def match(self, url: str) -> UrlMatch:
        """R_url of an address, and the spellings found."""
        rest = lowered(url)
        # A spelling inside a token is inside the address without "-" and "_", too: most end here.
        joined = rest.replace("-", "").replace("_", "")
        if not any(spelling in joined for spelling in self._every):
            return NO_MATCH
        tokens = tokens_in(rest)
        whole, joined = frozenset(tokens), "\n".join(tokens)
        found = []
        sums = [0.0] * len(self._totals)
        for label, wanted in enumerate(self._wanted):
            for token, kind, strength in wanted:
                if token in whole if len(token) <= self._whole_up_to else token in joined:
                    found.append(TokenMatch(label, token, kind, strength))
                    sums[self._node_of[label]] += self._weights[label] * strength
                    break
        if not found:
            return NO_MATCH
        best = max(one / total for one, total in zip(sums, self._totals, strict=True))
        return UrlMatch(best, tuple(found))


def _by_strength(each: Spellings, strength: dict[Kind, float]) -> tuple[tuple[str, Kind, float], ...]:
    """Spellings of one label, the strongest first, so that the first match is the maximum."""
    found = [(token, kind, strength[kind]) for token, kind in each.all().items() if strength[kind] > 0.0]
    found.sort(key=lambda one: -one[2])
    return tuple(found)
