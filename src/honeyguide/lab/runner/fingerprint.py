"""Digests that decide whether a finished crawl may be used again.

A kept crawl is used only if nothing that could have changed its course has changed: not a line of this
package, not a version of a library it is built on, not the code of any plug-in that is installed or named.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import platform
import re
from collections.abc import Collection, Iterable, Iterator
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


def source_digest(modules: Collection[str] = ()) -> str:
    """Digest of all code that can decide a crawl's course.

    Args:
        modules: Modules named in an experiment file, such as `my_order` of `my_order:ShortFirst`.
    """
    named = file_digest(*_code_of(sorted(set(modules)))) if modules else ""
    return digest_of(file_digest(PACKAGE), _libraries(), _plug_ins(), named)


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
    return digest_of(*versions, file_digest(*_code_of(sorted(modules), broken_too=True)))


def _code_of(modules: Iterable[str], *, broken_too: bool = False) -> list[Path]:
    """Files and package folders of modules, with all that they import from beside themselves.

    Args:
        modules: Names of modules.
        broken_too: Leave out what cannot be found: a plug-in that is not in use may be broken.
    """
    found: dict[Path, None] = {}
    waiting = list(modules)
    while waiting:
        try:
            place = _place(waiting.pop())
        except HoneyguideError:
            if broken_too:
                continue
            raise
        if place in found:
            continue
        found[place] = None
        if place.parent.name in ("site-packages", "dist-packages"):
            continue  # what lies beside it belongs to other distributions
        files = [place] if place.is_file() else sorted(place.rglob("*.py"))
        beside = {one.stem if one.is_file() else one.name for one in place.parent.iterdir()}
        # Of Honeyguide itself everything is counted already.
        waiting += sorted(({name for file in files for name in _imports(file)} & beside) - {PACKAGE.name})
    return list(found)


def _imports(file: Path) -> set[str]:
    """First names of all modules that a file imports."""
    if file.suffix != ".py":
        return set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _place(module: str) -> Path:
    """The file of a module, or the folder of the package it belongs to."""
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # `__main__` has no file of its own to find
        spec = None
    if spec is None:
        raise HoneyguideError(f"cannot find the module {top!r}; check its name, or install its package")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    if spec.origin is None or not Path(spec.origin).is_file():
        raise HoneyguideError(f"the module {top!r} has no file; name one that has")
    return Path(spec.origin)
