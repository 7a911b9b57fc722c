"""Pictures: curves of crawls, content blocks of a page, layers of a context graph."""

from __future__ import annotations

from importlib.util import find_spec

from honeyguide.errors import MissingExtra

if find_spec("matplotlib") is None:
    raise MissingExtra("drawing pictures", "plots")
