"""Digests that decide whether a finished crawl may be used again.

A kept crawl is used only if nothing that could have changed its course has changed: not a line of this
package, not a version of a library it is built on, not the code of any plug-in that is installed or named.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points
from pathlib import Path

from honeyguide.errors import HoneyguideError

PACKAGE = Path(__file__).resolve().parents[2]
GROUPS = ("honeyguide.relevance", "honeyguide.ordering", "honeyguide.discovery", "honeyguide.recipes")
_CODE = (".py", ".toml", ".tsv", ".json", ".so", ".pyd")


def digest_of(*parts: bytes | str) -> str:
    """One digest of several texts; their borders count."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big") + data)
    return whole.hexdigest()


def source_digest(modules: Iterable[str] = ()) -> str:
    """Digest of all code that can decide a crawl's course.

    Args:
        modules: Modules named in an experiment file, such as `my_order` of `my_order:ShortFirst`.
    """
    named = [file_digest(_place(module)) for module in sorted(set(modules))]
    return digest_of(file_digest(PACKAGE), _libraries(), _plug_ins(), *named)


@lru_cache(maxsize=64)
def file_digest(*places: Path) -> str:
    """Digest of files, and of all code and data files below folders. Read once a process."""
    whole: list[str | bytes] = []
    for place in places:
        files = [place] if place.is_file() else sorted(_code_below(place))
        for file in files:
            whole += [str(file.relative_to(place.parent)), file.read_bytes()]
    return digest_of(*whole)


def _code_below(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.suffix in _CODE and "__pycache__" not in path.parts and path.is_file():
            yield path


@lru_cache(maxsize=1)
def _libraries() -> str:
    """Python's version, and that of each library this package asks for."""
    try:
        asked = distribution("honeyguide").requires or []
    except PackageNotFoundError:  # run from a source tree that was never installed
        asked = []
    names = sorted({re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in asked})
    return digest_of(platform.python_version(), *(f"{name} {_version(name)}" for name in names))


def _version(name: str) -> str:
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return "-"


def _plug_ins() -> str:
    """Every installed distribution that registers a part or a recipe, with all its code."""
    found: dict[str, Distribution] = {}
    modules: set[str] = set()
    for group in GROUPS:
        for entry in entry_points(group=group):
            modules.add(entry.module)
            if entry.dist is not None:
                found[entry.dist.name] = entry.dist
    versions = [f"{name} {found[name].version}" for name in sorted(found)]
    return digest_of(*versions, *(file_digest(_place(module)) for module in sorted(modules)))


def _place(module: str) -> Path:
    """The file of a module, or the folder of the package it belongs to."""
    top = module.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        raise HoneyguideError(f"cannot find the module {top!r}; check its name, or install its package")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec.origin is None or not Path(spec.origin).is_file():
        raise HoneyguideError(f"the module {top!r} has no file; name one that has")
    return Path(spec.origin)
