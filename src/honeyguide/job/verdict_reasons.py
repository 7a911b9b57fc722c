"""Why a page was judged as it was, in words: what speaks for it, in which sentence, and what against."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from honeyguide.collection.reasons import reasons
from honeyguide.config.load import load
from honeyguide.config.schema import Config
from honeyguide.errors import HoneyguideError
from honeyguide.job.examples import kept_examples
from honeyguide.job.inspect_page import page_of_collection
from honeyguide.job.parts import build_parts, chosen
from honeyguide.model import Examples
from honeyguide.relevance.base import OpposingPageModel, PageModel
from honeyguide.relevance.reviewed import ReviewedModel
from honeyguide.store.layout import Layout
from honeyguide.store.models import read_saved
from honeyguide.store.state import State
from honeyguide.text.tokens import Analyser

MOST_SENTENCES: Final = 2


class VerdictReasons(msgspec.Struct, frozen=True):
    """What a verdict goes back to."""

    for_it: tuple[tuple[str, float], ...] = ()
    """Words of the page, with their shares of the score."""
    sentences: tuple[str, ...] = ()
    """Those that hold most of it."""
    against: tuple[str, ...] = ()
    """Words of the page that pages off topic have rather; the strongest first."""
    missing: tuple[str, ...] = ()
    """Keywords of the topic that the page does not have."""


def verdict_reasons(
    folder: Path, url: str, terms: tuple[tuple[str, float], ...], *, model: PageModel | None = None
) -> VerdictReasons:
    """The reasons for a page's verdict, from its archived text and the model as of its last checkpoint.

    Args:
        folder: The collection.
        url: Address of a fetched page.
        terms: What the verdict named.
        model: The collection's page model where it is loaded.
    """
    layout = Layout.open(folder)
    config = load(layout.topic_file)
    page = page_of_collection(folder, url, False)
    if page is None:
        return VerdictReasons(terms)
    analyser = Analyser(config.topic.languages)
    text = f"{page.title}.\n{page.content}"
    found = reasons(text, terms, analyser=analyser, most=MOST_SENTENCES)
    said = set(analyser.terms(text))
    missing = tuple(word for word in config.topic.keywords if not said.issuperset(analyser.terms(word)))
    judge = _bare(model) if model is not None else _model(layout, config)
    opposed = judge.against(page) if isinstance(judge, OpposingPageModel) else ()
    against = tuple(word for word, _ in reasons(text, opposed, analyser=analyser).words)
    sentences = tuple(" ".join(text[one.start : one.end].split()) for one in found.sentences)
    return VerdictReasons(found.words, sentences, against, missing)


def _model(layout: Layout, config: Config) -> PageModel | None:
    """The page model as of the last checkpoint; None before the first."""
    with State.open(layout.state_file, read_only=True) as state:
        pages = state.setting("checkpoint")
    try:
        parts = build_parts(chosen(config), kept_examples(layout) or Examples(), fit=False, reviews=True)
        model = parts.model.load(read_saved(layout.models_folder, f"model-{pages}"))
    except HoneyguideError:
        return None  # What speaks for the page is told all the same.
    return _bare(model)


def _bare(model: PageModel) -> PageModel:
    """The model without what reviews taught it."""
    return model.inner if isinstance(model, ReviewedModel) else model
