"""What can go wrong for a user. Every message ends with what they can do about it."""

from __future__ import annotations


class HoneyguideError(Exception):
    """A problem to be shown as one line. The CLI exits with status 2."""


class TopicError(HoneyguideError):
    """The topic file, its keys or its examples cannot be used."""


class CollectionError(HoneyguideError):
    """A collection cannot be opened, written or trusted."""


EXTRAS = {
    "matplotlib": "plots",
    "pyarrow": "tables",
    "starlette": "ui",
    "uvicorn": "ui",
    "jinja2": "ui",
    "pypdf": "pdf",
    "playwright": "browser",
    "deap": "gp",
    "ddgs": "search",
    "rjieba": "zh",
    "pypinyin": "zh",
    "ray": "cluster",
    "fsspec": "cluster",
}
"""Modules that only some users need, and the extra that brings each."""


class MissingExtra(HoneyguideError):
    """A feature needs an optional part that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an extra; install it with: pip install 'honeyguide[{extra}]'")
        self._made_of = (feature, extra)

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        """Crosses process boundaries: exceptions are made again from their arguments there."""
        return type(self), self._made_of
