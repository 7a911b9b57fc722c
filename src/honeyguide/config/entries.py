"""Entry points of installed packages, and advice about names that are not among them."""

from __future__ import annotations

from importlib.metadata import EntryPoint

from honeyguide.errors import TopicError
from honeyguide.topic.file import nearest


def load_entry(entry: EntryPoint) -> object:
    """What an entry point names. Raises `TopicError` when it cannot be imported."""
    try:
        return entry.load()
    except Exception as error:  # a plug-in may fail in any way while it is imported
        raise TopicError(
            f"cannot import {entry.name!r} ({entry.value}): {type(error).__name__}: {error}; "
            "repair or uninstall the package that registers it"
        ) from error


def advice(name: str, known: tuple[str, ...]) -> str:
    """The nearest of the known names, and the whole list of them."""
    close = nearest(name, known)
    listed = f"choose from: {', '.join(known)}"
    return f"{close} ({listed})" if close.startswith("did you mean") else close
