"""A recorded web as a server answers it, for `lab serve` and for crawls over real HTTP."""

from __future__ import annotations

from honeyguide.lab.webs.recorded.web import Recorded
from honeyguide.lab.webs.served import Served
from honeyguide.web import canonical

_KEPT = frozenset({"content-type", "content-encoding", "content-language", "x-robots-tag", "last-modified"})
"""Headers that belong to the page; the rest belonged to a connection that is long closed."""
_MISSING = Served(404, (("Content-Type", "text/plain"),), b"not recorded\n")


class RecordedSite:
    """Answers with the archived bytes; an alias of a page is redirected to it (`Servable`)."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._archive = recorded.archive

    def get(self, url: str) -> Served:
        """The recorded answer, 301 for another address of a recorded page, else 404."""
        address = canonical(url)
        if address is None:
            return _MISSING
        record = self._archive.records.get(address)
        if record is None or (record.is_page and address not in self._recorded):
            target = self._recorded.resolve(address)
            return Served(301, (("Location", target),)) if target else _MISSING
        response = self._archive.answers.read(record)
        headers = tuple((name, value) for name, value in response.headers if name.lower() in _KEPT)
        if record.location:
            headers += (("Location", record.location),)
        return Served(record.status, headers, response.payload)
