"""The type of pytest's `record_property` fixture; a property called `figure` is printed at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

RecordProperty: TypeAlias = Callable[[str, object], None]
