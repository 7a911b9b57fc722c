"""Building a topic by looking: what a page model learns from it, and what it thinks of any page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from honeyguide.collection.reasons import reasons
from honeyguide.config.environment import PREFIX, with_environment
from honeyguide.config.load import check_values
from honeyguide.config.schema import DEFAULT_RECIPE, VERSION, Config
from honeyguide.engine.visit import Visit
from honeyguide.errors import HoneyguideError, TopicError
from honeyguide.job.assemble import a_few_visits
from honeyguide.job.examples import fetch_documents, read_examples
from honeyguide.job.parts import build_parts, check_config, with_own_parts
from honeyguide.model import Document, Examples, Page, Topic
from honeyguide.relevance.base import PageModel
from honeyguide.topic.file import TopicFile
from honeyguide.topic.pinyin import is_chinese
from honeyguide.topic.taxonomy import in_both_languages
from honeyguide.topic.template import render
from honeyguide.topic.tokens import layered
from honeyguide.topic.tokens_home import personal_table_file
from honeyguide.web.url import canonical

MOST_KEYWORDS = 200
MOST_ADDRESSES = 50
MOST_TERMS = 40
MOST_STARTS = 5
"""Pages to begin with that are fetched for a look."""
MOST_LINKS = 300
MOST_KEPT = 200
"""Fetched pages that are kept for the next look."""
_ASKING = tuple(f"{PREFIX}{table}_" for table in ("IDENTITY", "POLITENESS", "LIMITS", "NETWORK"))
"""Variables that say who asks and how, not what a topic is."""
_FROM_FILES = ("examples", "negatives", "background")


class Judged(msgspec.Struct, frozen=True):
    """What the model thinks of one page."""

    url: str
    title: str
    score: float
    on_topic: bool
    terms: tuple[tuple[str, float], ...]
    """Words of the page behind the verdict, with their shares."""
    wanted: bool | None = None
    """Whether the topic gives it as on topic or off; None for any other page."""
    sentence: str = ""
    """What on it weighed most."""


class Inspection(msgspec.Struct, frozen=True):
    """What a topic would do."""

    name: str
    recipe: str
    model: str
    terms: tuple[tuple[str, float], ...]
    """What the model goes by, strongest first, as shares."""
    examples: tuple[Judged, ...]
    missed: tuple[tuple[str, str], ...]
    """Addresses that gave no page, and why."""
    tested: Judged | None = None
    around: tuple[Judged, ...] = ()
    """Pages to begin with and pages that they link to."""


class Looked(msgspec.Struct):
    """Pages fetched for a look and where they link to, kept for the next look."""

    documents: dict[str, Document] = {}
    links: dict[str, tuple[tuple[str, str], ...]] = {}
    """Addresses and link texts by the page they are on."""


def parted(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    r"""Pasted text as keywords and addresses: one a line, or several with commas between.

    Example:
        >>> parted("barn owl, owl\nhttps://example.org/owls")
        (('barn owl', 'owl'), ('https://example.org/owls',))
    """
    keywords: dict[str, None] = {}
    addresses: dict[str, None] = {}
    for line in text.splitlines():
        rest = re.sub(r"https?://\S+", lambda found: addresses.setdefault(found[0].rstrip(",;")) or "", line)
        for word in re.split(r"[,;\t]", rest):
            if folded := " ".join(word.split())[:100]:
                keywords.setdefault(folded)
    return tuple(keywords)[:MOST_KEYWORDS], tuple(addresses)[:MOST_ADDRESSES]


def topic_text(
    name: str,
    pasted: str,
    *,
    seeds: str = "",
    negatives: str = "",
    taxonomy: str = "",
    recipe: str = "",
    max_pages: int = 1000,
) -> str:
    """A topic file from what a person pasted.

    Args:
        name: What the topic is called.
        pasted: Words, and addresses of pages on topic.
        seeds: Addresses to begin with; the example pages when empty.
        negatives: Addresses of pages that are off topic.
        taxonomy: Path in a subject tree, in English or Chinese; names that the built-in table of topics knows
            in both languages are completed. A topic of nothing else is crawled by `fcmrps`.
        recipe: Name of a recipe; the default one when empty.
        max_pages: Budget.

    Raises:
        TopicError: Something in it makes no topic.
    """
    keywords, examples = parted(pasted)
    _, off_topic = parted(negatives)
    starts = parted(seeds)[1] or examples
    if not name.strip():
        raise TopicError("the topic has no name; write what it is about")
    path = in_both_languages(taxonomy, layered((), personal=personal_table_file()))
    if not keywords and not examples and not path:
        raise TopicError("no words and no addresses were given; paste some")
    if path and not keywords and not examples:
        recipe = recipe if recipe.startswith("fcmrps") else "fcmrps"
    languages = ("en", "zh") if is_chinese(path) else ("en",)
    topic = Topic(name.strip(), keywords, starts, examples, off_topic, taxonomy=path, languages=languages)
    text = render(topic, recipe=recipe or DEFAULT_RECIPE, max_pages=max_pages, version=VERSION)
    checked_topic(text)
    return text


def checked_topic(text: str) -> Config:
    """The configuration that a text stands for; it may name web addresses, no files of this machine.

    Raises:
        TopicError: One line that says what is wrong.
    """
    config = check_values(TopicFile(Path("topic.toml"), text).values)
    check_config(config)
    for key in _FROM_FILES:
        for item in getattr(config.topic, key):
            if canonical(item) is None:
                raise TopicError(f"{key}: {item!r} is not a valid URL; files need a topic file of your own")
    return config


async def inspect_topic(
    text: str,
    *,
    test: str = "",
    kept: Looked | None = None,
    around: int = 0,
    environment: Mapping[str, str] | None = None,
) -> Inspection:
    """Fetch the examples, fit the page model, and see what it makes of them.

    Args:
        text: A topic file.
        test: Address of a page to judge, or a text.
        kept: Pages fetched before, so that no site is asked twice for a look; new ones are added.
        around: Also judge the pages to begin with and so many that the pages so far link to.
        environment: Variables that say who asks and how (`HONEYGUIDE_IDENTITY_USER_AGENT`,
            `HONEYGUIDE_POLITENESS_DELAY`, …), as a crawl obeys them; None for none.

    Raises:
        TopicError: The topic cannot be used; one line.
    """
    config = checked_topic(text)
    asking = {name: value for name, value in (environment or {}).items() if name.startswith(_ASKING)}
    config = with_environment(config, asking)
    looked = kept if kept is not None else Looked()
    known = looked.documents
    read = read_examples(config.as_topic(), Path(), read_file=_no_files, corpora=False)
    named = read.to_fetch
    asked = canonical(test.strip()) if test.strip().startswith(("http://", "https://")) else None
    starts = [url for seed in config.crawl.seeds if (url := canonical(seed))] if around else []
    given = [*named.positives, *named.negatives, *named.unlabelled]
    wanted = dict.fromkeys([*given, *starts[:MOST_STARTS], *([asked] if asked else [])])
    missed = [*await _fetched(config, [url for url in wanted if url not in known], looked)]
    examples = read.complete(known.get)
    recipe = check_config(config)
    model = build_parts(with_own_parts(recipe, discovery=()), examples, seed=config.crawl.random_seed).model
    tested = None
    if asked and asked in known:
        tested = _judged(model, known[asked], None)
    elif test.strip() and not asked:
        tested = _judged(model, Document(test.strip(), "", "the text"), None)
    shown = [_judged(model, known[url], True) for url in named.positives if url in known]
    shown += [_judged(model, known[url], False) for url in named.negatives if url in known]
    near: list[str] = []
    if around:
        near = [url for url in starts if url in known and url not in given]
        linked = _linked(model, looked, wanted, around)
        missed += await _fetched(config, [url for url in linked if url not in known], looked)
        near += [url for url in linked if url in known]
    return Inspection(
        name=config.topic.name,
        recipe=recipe.name,
        model=recipe.relevance.name,
        terms=_terms(model, examples),
        examples=tuple(shown),
        missed=tuple(missed),
        tested=tested,
        around=tuple(_judged(model, known[url], None) for url in near),
    )


def _linked(model: PageModel, looked: Looked, pages: Iterable[str], most: int) -> list[str]:
    """Addresses that pages link to: those seen before, then by turns the likeliest and any."""
    links: dict[str, str] = {}
    taken = set(pages)
    for page in taken:
        links |= {url: text for url, text in looked.links.get(page, ()) if url not in taken}
    chosen = [url for url in links if url in looked.documents][:most]
    rest = [url for url in links if url not in looked.documents]
    if len(chosen) < most and rest:
        scores = model.judge_texts([links[url] for url in rest])
        best = sorted(range(len(rest)), key=lambda place: -scores[place])
        spread = range(0, len(rest), max(1, len(rest) // most))
        turns = [place for pair in zip(best, spread, strict=False) for place in pair]
        chosen += [rest[place] for place in dict.fromkeys(turns)][: most - len(chosen)]
    return chosen


async def _fetched(config: Config, urls: Sequence[str], looked: Looked) -> tuple[tuple[str, str], ...]:
    """Fetch pages as a crawl would (robots.txt, delays, limits); the addresses that gave none, and why."""
    if not urls:
        return ()

    def remember(visit: Visit) -> None:
        if visit.page is not None:
            links = [(link.url, link.anchor) for link in visit.page.links if link.kind == "a"]
            looked.links[visit.page.url] = tuple(links[:MOST_LINKS])

    async with a_few_visits(config) as (visitor, clock):
        found = await fetch_documents(
            visitor, urls[:MOST_ADDRESSES], clock, delay=config.politeness.delay, remember=remember
        )
    for held in (looked.documents, looked.links):
        while held and len(held) + len(found.documents) > MOST_KEPT:
            held.pop(next(iter(held)))
    looked.documents.update(found.documents)
    return found.missed


def _no_files(path: Path) -> Document:
    raise HoneyguideError(f"{path}: files are not read here; give web addresses")


def _judged(model: PageModel, document: Document, wanted: bool | None) -> Judged:
    page = Page(document.url, 0, document.title, document.text, document.text, document.language)
    verdict = model.judge(page)
    why = reasons(document.text, verdict.terms, most=1)
    said = [" ".join(document.text[one.start : one.end].split()) for one in why.sentences]
    return Judged(
        document.url,
        document.title,
        verdict.score,
        verdict.on_topic,
        why.words,
        wanted,
        said[0] if said else "",
    )


def _terms(model: PageModel, examples: Examples) -> tuple[tuple[str, float], ...]:
    """What speaks for the topic in the examples and in the keywords, as shares of all that does."""
    texts = [Document(" . ".join(examples.keywords))] if examples.keywords else []
    total: dict[str, float] = {}
    for document in (*texts, *examples.positives):
        for term, share in _judged(model, document, None).terms:
            total[term] = total.get(term, 0.0) + share
    whole = sum(total.values()) or 1.0
    best = sorted(total.items(), key=lambda item: (-item[1], item[0]))[:MOST_TERMS]
    return tuple((term, share / whole) for term, share in best)
