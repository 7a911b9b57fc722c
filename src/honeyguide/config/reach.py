"""What a topic file reaches beyond its own folder and the public web.

A topic file is data, and people pass them on. Some of what it may say touches the machine it runs on: files
outside its folder, private networks, Python classes. `honeyguide crawl` asks once before it does any of that.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from honeyguide.config.schema import Config
from honeyguide.fetch.proxy import DIRECT, ENVIRONMENT

_LOOKED_AT = 10_000


def reach(config: Config, *, root: Path | None = None) -> list[str]:
    """Each thing in words, in the order of the file; empty for a file that keeps to itself.

    Args:
        config: What the file says.
        root: The folder that it is about to be copied to (`config.load.freeze`); by default its own.
    """
    return list(dict.fromkeys(_reach(config, (root or config.base).absolute())))


def _reach(config: Config, root: Path) -> Iterator[str]:
    for key in ("examples", "negatives", "background"):
        for pattern in getattr(config.topic, key):
            path = config.base / Path(pattern).expanduser()
            if not _is_url(pattern) and (outside := _outside(path, root)):
                yield f"reads {outside} ('{key}' in [topic])"
    named = [("[relevance]", config.relevance.model), ("[ordering]", config.ordering.order)]
    named += [("[[discovery]]", table.source) for table in config.discovery]
    for table, name in named:
        if name and ":" in name:
            yield f"runs the Python class {name} ({table})"
    options = [("[relevance]", config.relevance.options), ("[ordering]", config.ordering.options)]
    options += [("[[discovery]]", table.options) for table in config.discovery]
    for table, values in options:
        for text in _texts(values):
            if (
                "/" in text
                and not _is_url(text)
                and (outside := _outside(root / Path(text).expanduser(), root))
            ):
                yield f"reads {outside} ({table})"
    if config.network.proxy not in (ENVIRONMENT, DIRECT):
        yield f"asks all hosts through {config.network.proxy} (proxy in [network])"
    for network in config.network.allow_net:
        yield f"asks hosts in {network} (allow_net in [network])"
    for host, target in config.network.connect_to.items():
        yield f"asks {target} for {host} (connect_to in [network])"


def _is_url(text: str) -> bool:
    return text.lower().startswith(("http://", "https://"))


def _outside(path: Path, root: Path) -> str:
    """The first file that a pattern names outside of a folder, links followed; empty when there is none."""
    inside = root.resolve()
    if not glob.has_magic(str(path)):
        return "" if path.resolve().is_relative_to(inside) else str(path)
    if not Path(*_fixed_parts(path)).resolve().is_relative_to(inside):
        return str(path)
    for name in islice(glob.iglob(str(path), recursive=True), _LOOKED_AT):  # noqa: PTH207 - absolute pattern
        if not Path(name).resolve().is_relative_to(inside):
            return name
    return ""


def _fixed_parts(path: Path) -> Iterator[str]:
    for part in path.parts:
        if glob.has_magic(part):
            return
        yield part


def _texts(values: Mapping[str, object]) -> Iterator[str]:
    for value in values.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value)
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, str))
