"""A datasheet: what a collection holds, how it came to be, and what it cannot be used for.

The questions follow "Datasheets for datasets" as far as a crawl can answer them by itself: motivation is the
topic file, composition and collection process are counted from the state.

References:
    Timnit Gebru et al., "Datasheets for datasets", Communications of the ACM 64(12), 2021.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.collection.duplicate_groups import duplicate_groups
from honeyguide.collection.exports.licences import Licences, licences
from honeyguide.collection.exports.review_facts import review_facts
from honeyguide.collection.exports.robots_facts import robots_facts
from honeyguide.collection.exports.sections import Block, Code, Datasheet, Paragraph, Rows, Section
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.guarded import host_of, utc
from honeyguide.collection.own_parts import own_parts
from honeyguide.config.recipes import find_recipe
from honeyguide.errors import TopicError
from honeyguide.model import Outcome
from honeyguide.store.plain import reading
from honeyguide.store.reviews import Reviews
from honeyguide.store.state import State

_MAX_TOPIC_BYTES = 4 << 20
_TOP = 25
_LIMITS = (
    "Where nobody reviewed a page, relevance is the verdict of a model; pages near the threshold may be on"
    " either side of it.",
    "A focused crawl finds what can be reached by links from its seeds within its budget. Pages that no"
    " fetched page links to, pages behind forms, log-ins or scripts, and addresses that robots.txt closes"
    " are missing.",
    "Pages are copies of one moment. They belong to their authors; that a page could be fetched gives no"
    " right to publish it. Licences above are what pages claim.",
    "Languages are guessed from the text. Pages may hold personal data, as the web does.",
    "Near duplicates are pages whose 64-bit fingerprints of text differ in at most three bits; short pages"
    " may be taken for duplicates wrongly.",
)


def datasheet(
    state: State,
    *,
    topic_file: Path | None = None,
    archive: Path | None = None,
    reviews: Reviews | None = None,
    software: str = "",
    at: float = 0.0,
    sample: int = 1_000,
    progress: Progress = silent,
) -> Datasheet:
    """Gather everything a reader of the collection should know.

    Args:
        state: Of the collection.
        topic_file: What was asked.
        archive: For the licences that pages name; None to leave them out.
        reviews: What people said.
        software: Name and version that writes this.
        at: Epoch seconds of the writing.
        sample: Pages read for their licences.
        progress: Told about the pages read.
    """
    asked = _asked(topic_file)
    topic = _table(asked, "topic")
    name = str(topic.get("name", "")) or "a crawl"
    selection = Selection(state, reviews=reviews)
    found = licences(selection, archive, sample=sample, progress=progress) if archive else None
    return Datasheet(
        title=f"Datasheet of the collection “{name}”",
        sections=(
            Section("What was asked", _question(topic, _table(asked, "crawl"))),
            Section("When and how", _process(state, asked, software, at)),
            Section("What it holds", _composition(state, selection, archive)),
            Section("Reviews", _reviews(state, reviews)),
            Section("What became of the addresses", _outcomes(state)),
            Section("Robots", _robots(state)),
            Section("Licences", _licences(found)),
            Section("Duplicates", _duplicates(state)),
            Section("Limits", tuple(Paragraph(text) for text in _LIMITS)),
            Section("How to cite it", _citation(name, state, selection)),
            Section("Every option", _options(topic_file)),
        ),
    )


def topic_name(topic_file: Path | None) -> str:
    """The name of the topic that was asked for; empty when it is not kept."""
    return str(_table(_asked(topic_file), "topic").get("name", ""))


def topic_recipe(topic_file: Path | None) -> str:
    """The recipe that was asked for; empty when none is named."""
    return str(_table(_asked(topic_file), "crawl").get("recipe", ""))


def topic_languages(topic_file: Path | None) -> tuple[str, ...]:
    """The languages that were asked for; English when none are named."""
    named = _table(_asked(topic_file), "topic").get("languages")
    return tuple(str(each) for each in named) if isinstance(named, list) and named else ("en",)


def _asked(topic_file: Path | None) -> dict[str, Any]:
    try:
        return tomllib.loads(_text_of(topic_file))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _text_of(topic_file: Path | None) -> str:
    if topic_file is None or not topic_file.is_file():
        return ""
    with reading(topic_file) as file:
        return file.read(_MAX_TOPIC_BYTES).decode("utf-8", "replace")


def _table(asked: dict[str, Any], name: str) -> dict[str, Any]:
    value = asked.get(name)
    return value if isinstance(value, dict) else {}


def _facts(pairs: dict[str, object]) -> Rows:
    return Rows(("", ""), tuple((name, _said(value)) for name, value in pairs.items()))


def _said(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4g}"
        case list() | tuple():
            shown = ", ".join(str(item) for item in value[:_TOP])
            return f"{shown}, … ({len(value):,} in all)" if len(value) > _TOP else shown or "none"
    return str(value)


def _moment(at: float | None) -> str:
    return "" if at is None else utc(at).strftime("%Y-%m-%d %H:%M:%S UTC")


def _question(topic: dict[str, Any], crawl: dict[str, Any]) -> tuple[Block, ...]:
    return (
        _facts(
            {
                "topic": topic.get("name", "unknown"),
                "description": topic.get("description", "") or "none",
                "keywords": topic.get("keywords", []),
                "example pages": topic.get("examples", []),
                "counter-examples": topic.get("negatives", []),
                "languages": topic.get("languages", []),
                "taxonomy": topic.get("taxonomy", "") or "none",
                "seeds": crawl.get("seeds", []),
            }
        ),
    )


def _process(state: State, asked: dict[str, Any], software: str, at: float) -> tuple[Block, ...]:
    crawl = _table(asked, "crawl")
    sessions = state.sessions()
    rows = tuple(
        (
            str(one.number),
            _moment(one.start),
            _moment(one.stop) or "running or broken off",
            one.reason,
            one.version,
        )
        for one in sessions[-_TOP:]
    )
    tally = state.setting("tally")
    spent = tally if isinstance(tally, dict) else {}
    return (
        _facts(
            {
                "recipe": crawl.get("recipe", "unknown"),
                **_parts(state, asked),
                "random seed": str(crawl.get("random_seed", "")),
                "budget of pages, in the topic file": crawl.get("max_pages", "none"),
                "user agent": _table(asked, "identity").get("user_agent", ""),
                "requests": int(spent.get("requests", 0)),
                "bytes received": int(spent.get("bytes", 0)),
                "seconds crawling": round(float(spent.get("seconds", 0.0)), 1),
                "versions": ", ".join(f"{key} {value}" for key, value in _table(asked, "versions").items()),
                "datasheet written": f"{_moment(at)} by {software}" if software else _moment(at),
            }
        ),
        Rows(("session", "begun", "ended", "because", "version"), rows),
    )


def _parts(state: State, asked: dict[str, Any]) -> dict[str, object]:
    """Page model and link order: the user's own, else the topic file's, else those of the recipe."""
    try:
        recipe = find_recipe(str(_table(asked, "crawl").get("recipe", "")))
    except TopicError:
        return {}
    own = own_parts(state)
    model = own.get("relevance") or _table(asked, "relevance").get("model") or recipe.relevance.name
    order = own.get("ordering") or _table(asked, "ordering").get("order") or recipe.ordering.name
    return {"page model": model, "link order": order}


def _citation(name: str, state: State, selection: Selection) -> tuple[Block, ...]:
    """One sentence, and the same for BibTeX; who made the collection only its maker knows."""
    sessions = state.sessions()
    if not sessions:
        return (Paragraph("Nothing was crawled yet."),)
    days = [
        utc(at).strftime("%Y-%m-%d") for one in sessions for at in (one.start, one.stop) if at is not None
    ]
    first, last = min(days), max(days)
    span = f"on {first}" if first == last else f"from {first} to {last}"
    size = f"{selection.total:,} web page{'s' * (selection.total != 1)}"
    made = f"collected {span} with honeyguide {sessions[-1].version}"
    plain = "".join(letter for letter in name if letter.isprintable() and letter not in "{}\\%$#&~^_")
    key = "-".join("".join(letter if letter.isalnum() else " " for letter in plain.lower()).split())
    entry = (
        f"@misc{{{key or 'collection'}-{last[:4]},\n"
        "  author = {YOUR NAME},\n"
        f"  title = {{{plain}: {size}}},\n"
        f"  year = {{{last[:4]}}},\n"
        f"  note = {{{made}}}\n"
        "}\n"
    )
    return Paragraph(f"YOUR NAME: {name}. {size}, {made}."), Code(entry)


def _composition(state: State, selection: Selection, archive: Path | None) -> tuple[Block, ...]:
    rows, on_topic, scores = state.verdicts()
    languages: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    first = last = None
    size = 0
    for page in selection.pages():
        languages[page.language or "unknown"] += 1
        kinds[page.content_type or "unknown"] += 1
        hosts[host_of(page.url)] += 1
        first = page.at if first is None else first
        last = page.at
        size += page.bytes
    relevant = int(on_topic.sum())
    facts: dict[str, object] = {
        "pages fetched": len(rows),
        "relevant pages, by the model": relevant,
        "pages in exports": f"{selection.total:,} (reviews count, pages marked noindex are left out)",
        "harvest rate": relevant / len(rows) if len(rows) else 0.0,
        "bytes of the relevant pages": size,
        "first and last of them": f"{_moment(first)} to {_moment(last)}" if first is not None else "none",
        "hosts with relevant pages": len(hosts),
    }
    if len(rows):
        quartiles = np.quantile(scores, (0.0, 0.25, 0.5, 0.75, 1.0))
        facts["scores, all pages: least, quartiles, largest"] = ", ".join(
            f"{value:.3f}" for value in quartiles
        )
    if archive is not None:
        files = sorted(archive.glob("*.warc.gz"))
        size = sum(file.stat().st_size for file in files)
        facts["archive"] = f"{len(files):,} WARC file{'s' * (len(files) != 1)}, {size:,} bytes"
    return (
        _facts(facts),
        _counted(("language", "relevant pages"), languages),
        _counted(("media type", "relevant pages"), kinds),
        _counted(("host", "relevant pages"), hosts),
    )


def _counted(head: tuple[str, str], counts: Counter[str]) -> Rows:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, f"{count:,}") for name, count in ranked[:_TOP]]
    if len(ranked) > _TOP:
        rest = ranked[_TOP:]
        rows.append((f"{len(rest):,} others", f"{sum(count for _, count in rest):,}"))
    return Rows(head, tuple(rows))


def _reviews(state: State, reviews: Reviews | None) -> tuple[Block, ...]:
    if reviews is None or not len(reviews):
        return (
            Paragraph("Nobody has reviewed pages of this collection: relevance is the model's word alone."),
        )
    facts = review_facts(state, reviews)
    pairs: dict[str, object] = {
        "pages accepted": facts.accepted,
        "pages rejected": facts.rejected,
        "hosts accepted or rejected as a whole": facts.hosts,
    }
    if facts.precision is not None:
        found = facts.precision.corrected
        pairs["precision of the model's verdicts, estimated"] = (
            f"{found.share:.1%} (95 %: {found.low:.1%} to {found.high:.1%}; {found.reviews:,} reviews)"
        )
    return (
        _facts(pairs),
        Paragraph("Exports follow the reviewer's word, not the model's."),
    )


def _outcomes(state: State) -> tuple[Block, ...]:
    counts = state.counts()
    rows = [(outcome.label, f"{count:,}") for outcome, count in sorted(counts.items()) if count]
    waiting = counts.get(Outcome.WAITING, 0)
    return (
        Paragraph(f"{sum(counts.values()):,} addresses are known; {waiting:,} of them were never asked for."),
        Rows(("outcome", "addresses"), tuple(rows)),
    )


def _robots(state: State) -> tuple[Block, ...]:
    facts = robots_facts(state)
    return (
        _facts(
            {
                "sites whose robots.txt was asked for": facts.asked,
                "sites that have one": facts.present,
                "sites that close something to somebody": facts.with_rules,
                "sites that close themselves to this crawler": facts.closed,
                "sites that ask for a delay": facts.delayed,
                "longest delay asked for, in seconds": facts.longest_delay,
                "addresses left out because of robots.txt": facts.left_out,
                "pages that asked not to be indexed": facts.noindex,
                "addresses left out because of nofollow": facts.nofollow,
            }
        ),
    )


def _licences(found: Licences | None) -> tuple[Block, ...]:
    if found is None:
        return (Paragraph("Not looked for: there is no archive to read."),)
    said = (
        f"{found.naming:,} of {found.looked_at:,} relevant pages looked at name a licence (rel=license"
        " links and headers, Dublin Core rights)."
    )
    rows = tuple((name, f"{count:,}") for name, count in found.seen)
    return (Paragraph(said), Rows(("licence", "pages"), rows)) if rows else (Paragraph(said),)


def _duplicates(state: State) -> tuple[Block, ...]:
    repeats = state.duplicates()
    groups = duplicate_groups(state)
    return (
        _facts(
            {
                "pages with the bytes of an earlier one": sum(1 for _, equal, _ in repeats if equal),
                "pages with nearly the text of an earlier one": sum(
                    1 for _, equal, _ in repeats if not equal
                ),
                "groups with a relevant page": len(groups),
                "pages in the largest group": groups[0].size if groups else 0,
            }
        ),
    )


def _options(topic_file: Path | None) -> tuple[Block, ...]:
    text = _text_of(topic_file)
    if not text:
        return (Paragraph("The topic file is not kept with this collection."),)
    return (Paragraph("The topic file as it ran, every default written out:"), Code(text))
