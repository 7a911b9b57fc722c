"""A topic that is not the one a collection was crawled for: what differs, and judging by the new one.

A collection keeps the topic it was begun with. Asked to go on with another one, a crawl says what differs
and asks which of the two is meant. With the new one (`take_topic`), examples and all that was learned are set
aside; the next session reads them again, learns from the archived pages, judges each of them again, ranks
their links again and writes one event (`learned`). A note in the state says that this is still to be done,
so a crash or a stop in between costs the work only.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from honeyguide.config.load import check_values, freeze, load
from honeyguide.config.reach import reach
from honeyguide.config.schema import Config
from honeyguide.engine.retraining import JUDGE_AGAIN
from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.layout import Layout
from honeyguide.store.state import State

OnChange = Literal["ask", "keep", "rejudge"]
"""What to do about a changed topic."""
_JUDGING: Final = {
    "topic": ("keywords", "examples", "negatives", "background", "taxonomy", "languages"),
    "crawl": ("recipe",),
}
"""Keys that decide what is on topic and what comes next. Limits, manners and scope may change at any time."""
_WHOLE: Final = ("relevance", "ordering", "discovery")
MOST_SHOWN: Final = 120
WHICH: Final = (
    'Use on_change="keep" to go on with the old topic, or "rejudge" to judge its pages by the new one.'
)


class TopicChange(msgspec.Struct, frozen=True):
    """One key that says something else."""

    key: str
    """As in `topic.toml`: `[topic] keywords`."""
    before: str
    after: str

    def __str__(self) -> str:
        """For people."""
        return f"{self.key}: {_short(self.before)} -> {_short(self.after)}"


def topic_changes(held: Config, asked: Config) -> list[TopicChange]:
    """What differs between the topic of a collection and the one asked for, as far as judging goes.

    Example:
        >>> one = check_values({"topic": {"name": "owls", "keywords": ["owl"]}})
        >>> other = check_values({"topic": {"name": "owls", "keywords": ["owl", "nest"]}})
        >>> [str(change) for change in topic_changes(one, other)]
        ['[topic] keywords: owl -> owl, nest']
    """
    return [
        TopicChange(key, _words(before), _words(after))
        for key, before, after in _compared(held, asked)
        if before != after
    ]


def _compared(held: Config, asked: Config) -> Iterator[tuple[str, Any, Any]]:
    first, second = _plain(held), _plain(asked)
    for table, keys in _JUDGING.items():
        for key in keys:
            yield f"[{table}] {key}", first[table][key], second[table][key]
    for table in _WHOLE:
        before, after = first.get(table), second.get(table)
        if isinstance(before, dict) and isinstance(after, dict):
            for key in sorted({*before, *after}):
                yield f"[{table}] {key}", before.get(key), after.get(key)
        else:
            yield f"[[{table}]]", before or [], after or []


def _plain(config: Config) -> dict[str, Any]:
    """The values as a collection keeps them: file patterns absolute."""
    # Seeds are not compared, and there may be thousands of them.
    bare = config.model_copy(update={"crawl": config.crawl.model_copy(update={"seeds": ()})})
    values: dict[str, Any] = check_values(tomllib.loads(freeze(bare))).model_dump(mode="json")
    return values


def _words(value: Any) -> str:
    if value is None or value in ([], ""):
        return "none"
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    if isinstance(value, dict):
        return " ".join(f"{key}={_words(one)}" for key, one in value.items())
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def settled(folder: Path, asked: Config, on_change: OnChange, *, how: str = "") -> Config:
    """The configuration to crawl an existing collection with.

    Args:
        folder: The collection.
        asked: What the caller asks for.
        on_change: `keep` takes the topic of the collection, with the caller's limits and manners;
            `rejudge` the caller's, which `take_topic` is for.
        how: For the error: how a caller says which one is meant.

    Raises:
        CollectionError: The topic has changed, and `on_change` is `ask`.
    """
    held = load(Layout.open(folder).topic_file)
    changes = topic_changes(held, asked)
    if not changes:
        return asked
    if on_change == "ask" and _pages(folder):
        told = "; ".join(map(str, changes))
        raise CollectionError(f"{folder} was crawled for another topic ({told}). {how or WHICH}")
    return _with_topic_of(held, asked) if on_change == "keep" else asked


def _pages(folder: Path) -> int:
    """Pages fetched so far: without any, nobody minds another topic."""
    file = Layout(folder).state_file
    if not file.is_file():
        return 0
    with State.open(file, read_only=True) as state:
        return state.page_count()


def _with_topic_of(held: Config, asked: Config) -> Config:
    """What is asked for, but judging and ordering as the collection has it."""
    values, old = asked.model_dump(exclude_unset=True), held.model_dump()
    for table, keys in _JUDGING.items():
        values[table] = {**values.get(table, {}), **{key: old[table][key] for key in keys}}
    values |= {table: old[table] for table in _WHOLE}
    return check_values(values)


def take_topic(folder: Path, config: Config, *, even_if_same: bool = False) -> None:
    """Let a collection have another topic; its next session judges all archived pages again.

    Args:
        folder: The collection; no crawl may be running on it.
        config: The new topic.
        even_if_same: Judge them again also where the topic has not changed: what was learned since counts for
            pages that came early.

    Raises:
        CollectionError: A crawl is running, or there is no archive to read pages from.
    """
    layout = Layout.open(folder)
    held = load(layout.topic_file)
    if not (even_if_same or topic_changes(held, config)):
        return
    if _pages(folder) and not (held.storage.archive and config.storage.archive):
        raise CollectionError(
            f"{layout.root} keeps no pages (archive = false), so nothing can be judged again; use --keep, or"
            " begin in another folder"
        )
    with State.open(layout.state_file) as state:
        state.put_setting(JUDGE_AGAIN, True)
        state.put_setting("checkpoint", None)
        state.commit()
        write_topic(layout, config)
        for file in (layout.examples_file, layout.prepared_file):
            file.unlink(missing_ok=True)


def write_topic(layout: Layout, config: Config) -> None:
    """Write the topic file of a collection, which its owner has asked for."""
    with replacing(layout.topic_file) as temporary:
        temporary.write_text(freeze(config), encoding="utf-8")
    Layout.adopt(layout.root, reach=reach(config, root=layout.root))


def settled_over(folders: Sequence[Path], asked: Config, on_change: OnChange) -> Config:
    """The same as `settled` for a crawl of several folders, which all have one topic.

    Raises:
        CollectionError: The topic has changed, and `on_change` is `ask`; or only some have the new one.
    """
    config = asked
    for folder in folders:
        config = settled(folder, config, on_change)
    if on_change == "keep":
        for folder in folders:
            if topic_changes(load(Layout.open(folder).topic_file), config):
                raise CollectionError(
                    f"{folder} has another topic than {folders[0]}: a change of topic was broken off; go on"
                    ' with the new topic file and --rejudge (on_change="rejudge")'
                )
    return config
