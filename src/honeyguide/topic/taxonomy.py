"""Subject trees: nodes with names in one or two languages, descriptions and links.

A tree may be huge (the ODP dumps are gigabytes), so files are read as streams of small items, and
what is kept is only what was asked for.
"""

from __future__ import annotations

import difflib
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import msgspec

from honeyguide.errors import TopicError
from honeyguide.topic.pinyin import is_chinese
from honeyguide.topic.tokens import TokenTable

MAX_DESCRIPTION: Final = 1_000_000
"""Characters kept of a subtree's descriptions."""
MAX_LINKS: Final = 1_000
"""Links kept of one node."""
SUGGESTED: Final = 5


class TreeTopic(msgspec.Struct, frozen=True):
    """A node as a file tells it."""

    path: str
    """Labels from the root down, parted by `/`."""
    title: str = ""
    description: str = ""
    chinese: str = ""
    """Path of the same topic in Chinese, or its Chinese name alone."""
    line: int = 0


class Listed(msgspec.Struct, frozen=True):
    """A page listed under a node."""

    path: str
    url: str
    title: str = ""
    description: str = ""


Item: TypeAlias = TreeTopic | Listed
Read: TypeAlias = Callable[[], Iterable[Item]]
"""Starts reading a tree from its beginning."""


class Child(msgspec.Struct, frozen=True):
    """A line of `honeyguide topic browse`."""

    label: str
    chinese: str
    topics: int
    """Nodes below."""
    pages: int
    """Pages listed at it or below."""


class Node(msgspec.Struct, frozen=True):
    """A chosen node with what a topic file needs."""

    path: tuple[str, ...]
    chinese: tuple[str, ...]
    """Chinese label of each level, empty where none is known."""
    description: str
    """The node's own."""
    urls: tuple[str, ...]
    """Pages listed at the node itself."""
    subtree: str
    """All descriptions, titles and link texts at and below the node: Desc, to judge results by."""

    def taxonomy(self, languages: Iterable[str] = ("en", "zh")) -> str:
        """The path as `[topic] taxonomy` takes it, `|` between a label's names."""
        wanted = tuple(languages)
        return "/".join(
            "|".join(_names(label, chinese, wanted)) or label
            for label, chinese in zip(self.path, self.chinese, strict=True)
        )


def _names(label: str, chinese: str, languages: tuple[str, ...]) -> list[str]:
    english = [] if is_chinese(label) else [label]
    found = [label] if is_chinese(label) else [chinese] if chinese else []
    chosen = (english if "en" in languages else []) + (found if "zh" in languages else [])
    return [name.replace("|", " ").replace("/", " ") for name in chosen]


def in_both_languages(path: str, table: TokenTable) -> str:
    """A path as `[topic] taxonomy` takes it, each label with its name in the other language, if known.

    Several nodes are parted by ` + `. A label that has a `|` says its names itself.

    Args:
        path: Labels from the root down, parted by `/`, in English, Chinese or both.
        table: Names of topics.

    Example:
        >>> from honeyguide.topic.tokens import built_in_table
        >>> in_both_languages("体育/Basketball", built_in_table())
        'Sports|体育/Basketball|篮球'
    """
    nodes = (
        "/".join(_both(" ".join(label.split()), table) for label in node.split("/") if label.strip())
        for node in path.split(" + ")
    )
    return " + ".join(node for node in nodes if node)


def _both(label: str, table: TokenTable) -> str:
    entry = table.find(label) if "|" not in label else None
    if entry is None:
        return label
    english = entry.topic if is_chinese(label) else label
    chinese = label if is_chinese(label) else next(iter(entry.chinese), "")
    return f"{english}|{chinese}" if chinese else english


def own_path(read: Read, path: str, *, table: TokenTable | None = None) -> str:
    """A path with Chinese labels in the tree's own spelling; one without them as it is.

    Each label is found by the tree's own name, by the Chinese name that the tree has for the node, or by that
    of the token table. The tree is read once a level.

    Args:
        read: The tree.
        path: Labels parted by `/`, in either language or both.
        table: Chinese names of labels that the tree knows in English only.

    Raises:
        TopicError: There is no such path; the nearest ones are offered.
    """
    wanted = _parts(path)
    if not any(map(is_chinese, wanted)):
        return path
    found = [""]
    for level, label in enumerate(wanted, 1):
        name = label.lower()
        fitting: dict[str, None] = {}
        for item in read():
            parts = _parts(item.path)
            if len(parts) < level or "/".join(parts[: level - 1]) not in found:
                continue
            names = {parts[level - 1].lower()}
            if isinstance(item, TreeTopic) and item.chinese and len(parts) == level:
                names.add(last(item.chinese).lower())
            entry = table.find(parts[level - 1]) if table is not None else None
            if entry is not None:
                names.update(each.lower() for each in entry.chinese)
            if name in names:
                fitting.setdefault("/".join(parts[:level]))
        if not fitting:
            raise unknown(read, path)
        found = list(fitting)
    return found[0]


def children(read: Read, path: str, *, table: TokenTable | None = None) -> list[Child]:
    """The nodes directly below a path (the top ones for an empty path), in the order of the file.

    Args:
        read: The tree.
        path: Labels parted by `/`, in English or Chinese.
        table: As for `own_path`.

    Raises:
        TopicError: There is no such path; the nearest ones are offered.
    """
    wanted = normal(own_path(read, path, table=table))
    above = f"{wanted}/" if wanted else ""
    below: dict[str, set[str]] = {}
    pages: Counter[str] = Counter()
    chinese: dict[str, str] = {}
    exists = not wanted
    for item in read():
        own = normal(item.path)
        exists = exists or own == wanted or own.startswith(above)
        if not own or own == wanted or not own.startswith(above):
            continue
        label, _, deeper = _spelling(item.path, above).partition("/")
        topics = below.setdefault(label, set())
        if deeper:  # a path names all nodes on the way to it
            parts = normal(deeper).split("/")
            topics.update("/".join(parts[:count]) for count in range(1, len(parts) + 1))
        if isinstance(item, Listed):
            pages[label] += 1
        elif not deeper and item.chinese:
            chinese[label] = last(item.chinese)
    if not exists:
        raise unknown(read, path)
    return [Child(label, chinese.get(label, ""), len(below[label]), pages[label]) for label in below]


def find(read: Read, path: str, *, table: TokenTable) -> Node:
    """A node by its path.

    Args:
        read: The tree.
        path: Labels parted by `/`, in English or Chinese; letter case and `_` for blanks do not matter.
        table: Gives Chinese names of labels that the tree knows in English only.

    Raises:
        TopicError: There is no such path; the nearest ones are offered.
    """
    wanted = normal(own_path(read, path, table=table))
    if not wanted:
        raise TopicError("name a path such as 'Sports/Basketball'; `honeyguide topic browse` shows them")
    below = f"{wanted}/"
    names: dict[str, TreeTopic] = {}
    spelled, description, size = "", "", 0
    urls: dict[str, None] = {}
    subtree: list[str] = []
    for item in read():
        own = normal(item.path)
        inside = own == wanted or own.startswith(below)
        if isinstance(item, TreeTopic) and below.startswith(f"{own}/"):
            names.setdefault(own, item)
        if not inside:
            continue
        depth = wanted.count("/") + 1
        spelled = spelled or "/".join(_parts(item.path)[:depth])
        if own == wanted and isinstance(item, Listed) and len(urls) < MAX_LINKS:
            urls.setdefault(item.url)
        elif own == wanted and isinstance(item, TreeTopic):
            description = description or item.description
        texts = [text for text in (item.title, item.description) if text]
        if size < MAX_DESCRIPTION:
            subtree += texts
            size += sum(map(len, texts))
    if not spelled:
        raise unknown(read, path)
    labels = tuple(spelled.split("/"))
    levels = ["/".join(normal(label) for label in labels[:count]) for count in range(1, len(labels) + 1)]
    chinese = _chinese_labels(labels, [names.get(level) for level in levels], table)
    return Node(labels, chinese, description, tuple(urls), "\n".join(subtree))


def _chinese_labels(
    labels: tuple[str, ...], nodes: list[TreeTopic | None], table: TokenTable
) -> tuple[str, ...]:
    """Chinese names level by level: the tree's own, the node's Chinese path from its end, or the table's."""
    from_end: list[str] = []
    if nodes[-1] is not None and "/" in nodes[-1].chinese:
        parts = [part for part in _parts(nodes[-1].chinese) if is_chinese(part)]
        from_end = parts if len(parts) == len(labels) else []
    found = []
    for place, (label, node) in enumerate(zip(labels, nodes, strict=True)):
        own = last(node.chinese) if node is not None and node.chinese else ""
        entry = table.find(label)
        known = entry.chinese[0] if entry is not None and entry.chinese else ""
        found.append(own or (from_end[place] if from_end else "") or known)
    return tuple(found)


def unknown(read: Read, path: str) -> TopicError:
    """A refusal that offers the paths that are most like the one asked for."""
    close = nearest_paths(read, path)
    if not close:
        return TopicError(f"the taxonomy has no topic {path!r}, it is empty; check the file")
    offered = ", ".join(repr(one) for one in close)
    return TopicError(f"the taxonomy has no topic {path!r}; the nearest are {offered}; choose one of them")


def nearest_paths(read: Read, path: str, *, count: int = SUGGESTED) -> list[str]:
    """The paths most like the one given: by the whole path and by its last label."""
    wanted = normal(path)
    end = wanted.rpartition("/")[2]
    whole, tail = difflib.SequenceMatcher(b=wanted), difflib.SequenceMatcher(b=end)

    def likeness(one: str) -> float:
        own = normal(one)
        whole.set_seq1(own)
        tail.set_seq1(own.rpartition("/")[2])
        # The cheap upper bounds spare the comparison for nearly all nodes of a large tree.
        if tail.real_quick_ratio() < 0.5 and whole.real_quick_ratio() < 0.5:
            return 0.0
        if tail.quick_ratio() < 0.5 and whole.quick_ratio() < 0.5:
            return 0.0
        return max(tail.ratio(), whole.ratio()) - 0.001 * abs(own.count("/") - wanted.count("/"))

    scored = ((likeness(one), one) for one in _nodes(read()))
    best = heapq.nsmallest(count, scored, key=lambda pair: (-pair[0], pair[1]))
    return [one for score, one in best if score > 0.4] or [one for _, one in best]


def _nodes(items: Iterable[Item]) -> Iterator[str]:
    """Every node that a tree names, once."""
    seen: set[str] = set()
    for item in items:
        parts = _parts(item.path)
        for count in range(len(parts), 0, -1):
            path = "/".join(parts[:count])
            if path in seen:
                break
            seen.add(path)
            yield path


def normal(path: str) -> str:
    """A path as it is compared: lower case, `_` as blanks, without ODP's `Top`.

    Example:
        >>> normal("Top/Real_Estate/ Houses/")
        'real estate/houses'
    """
    return "/".join(_parts(path)).lower()


def last(path: str) -> str:
    """The last label of a path."""
    parts = _parts(path)
    return parts[-1] if parts else ""


def _parts(path: str) -> list[str]:
    parts = [" ".join(part.replace("_", " ").split()) for part in path.split("/")]
    kept = [part for part in parts if part]
    return kept[1:] if kept and kept[0].lower() == "top" else kept


def _spelling(path: str, above: str) -> str:
    """What stands below `above` in a path, as the file spells it."""
    return "/".join(_parts(path)[above.count("/") :])
