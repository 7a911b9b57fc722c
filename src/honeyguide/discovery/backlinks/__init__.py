"""Which pages link to this one? One service a file; `base.py` has the protocol, `source.py` the source."""

from __future__ import annotations

from honeyguide.discovery.backlinks.base import BacklinkService, Parents
from honeyguide.discovery.backlinks.source import Backlinks

__all__ = ["BacklinkService", "Backlinks", "Parents"]
