"""The one protocol of this folder: is this page on topic?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Document, Examples, Page, UrlId, Verdict
from honeyguide.store.models import Saved


@runtime_checkable
class PageModel(Protocol):
    """Judges pages and shorter texts. `fit` first, then judge; judging changes nothing."""

    def fit(self, examples: Examples) -> Self:
        """Learn the topic. Raises `TopicError` when the examples cannot serve this model."""
        ...

    def judge(self, page: Page) -> Verdict:
        """Score a page in 0..1 with the terms behind it."""
        ...

    def judge_texts(self, texts: Sequence[str]) -> Sequence[float]:
        """Score anchors, link contexts or content blocks in 0..1, all in one call."""
        ...

    def save(self) -> Saved:
        """Everything learned, as arrays and JSON values."""
        ...

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        ...


@runtime_checkable
class OnlinePageModel(PageModel, Protocol):
    """A page model that also learns while the crawl runs."""

    def observe(self, page: Page, verdict: Verdict) -> bool:
        """Take note of a judged page; True when this changed the model (it was retrained)."""
        ...


@runtime_checkable
class RememberingPageModel(OnlinePageModel, Protocol):
    """An online page model that knows today's verdict on earlier pages without seeing them again."""

    def remembered(self) -> Sequence[tuple[UrlId, Verdict]]:
        """Pages it remembers, with their verdicts of today."""
        ...


@runtime_checkable
class TeachablePageModel(PageModel, Protocol):
    """A page model that can be trained again on pages that people accepted or rejected."""

    def teach(self, accepted: Sequence[Document], rejected: Sequence[Document]) -> bool:
        """Train with these beside the examples, instead of any taught before. False: not possible now."""
        ...


@runtime_checkable
class SharingModel(PageModel, Protocol):
    """A page model that can learn from the pages of the same model in other shards."""

    def shared(self, shards: int) -> Saved:
        """What it learned by itself, for so many shards (this one among them)."""
        ...

    def join(self, others: Sequence[Saved]) -> bool:
        """Take what each of the others learned, in place of what was taken before; True if the line moved."""
        ...


@runtime_checkable
class OpposingPageModel(PageModel, Protocol):
    """A page model that can also say what speaks against a page."""

    def against(self, page: Page) -> Sequence[tuple[str, float]]:
        """Terms of the page that pages off topic have rather, with their weights; the strongest first."""
        ...


@runtime_checkable
class LinkWitness(Protocol):
    """Who can say what the links to a page tell of it: an order that joins them, such as `scout`."""

    def evidence_of(self, pages: Sequence[UrlId]) -> NDArray[np.float32]:
        """A row of scores for each page, in which the page itself has no part.

        More of each score is better. A row of no numbers for a page of which nothing is known.
        """
        ...


@runtime_checkable
class ListeningPageModel(PageModel, Protocol):
    """A page model that hears what links say, too."""

    def hear_links(self, witness: LinkWitness) -> None:
        """Ask this one about links from now on."""
        ...


def verdict_on(model: PageModel, page: Page) -> Verdict:
    """A page model's verdict on a page of a crawl: one without any text is never on topic.

    A title alone is what the shell of an application has, the same for all its pages.
    """
    return model.judge(page) if page.content else Verdict(0.0, False)
