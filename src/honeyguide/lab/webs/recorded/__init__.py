"""Recorded webs: any WARC with a label table, replayed through the same engine as a live crawl.

The reading order is `home` (where webs are), `labels` and `catalogue` (what one holds), `aliases` (which
page a link means), `pages` (parsed pages on disk), `web` (everything joined), `seal` and `visits` (the
replay), `services` (what a recipe may ask of the outside world).
"""

from honeyguide.lab.webs.recorded.home import WebError
from honeyguide.lab.webs.recorded.seal import LookAhead
from honeyguide.lab.webs.recorded.services import LabServices, services
from honeyguide.lab.webs.recorded.visits import RecordedVisits
from honeyguide.lab.webs.recorded.web import Recorded, open_web

__all__ = [
    "LabServices",
    "LookAhead",
    "Recorded",
    "RecordedVisits",
    "WebError",
    "open_web",
    "services",
]
