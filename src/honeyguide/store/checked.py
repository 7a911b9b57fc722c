"""Rows of the state as records, checked as they are read.

SQLite puts up with any value in any column, a disk with any bit, and a collection may come from a stranger.
A text in place of a number would fail much later, somewhere in the crawl, as a fault of the program. So what
is read is looked at here, and what nobody can have written is an error that names the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.model import Event, Host, Outcome
from honeyguide.store.records import PageRecord, Session, UrlRecord

_IMPOSSIBLE = (
    TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RecursionError,
    msgspec.MsgspecError,
)  # fmt: skip
"""What comes of values that nobody wrote."""
_HOST = tuple[int, str, str, str, float, float, float, int, int, int, int, float, int, float]
_URL = tuple[int, int, str, int, int, float, int, int, int, int, str, str, str, str, str, str]
_PAGE = tuple[
    int, int, float, int, str, str, str, float, int, str, str, str,
    int, int, int, int, int, int, str, int, int, str, int,
]  # fmt: skip
_SESSION = tuple[int, float, float | None, str, str]
_EVENT = tuple[int, float, str, str, str]
_UNSIGNED = (1 << 64) - 1
_decode_terms = msgspec.json.Decoder(tuple[tuple[str, float], ...]).decode
_decode_data = msgspec.json.Decoder(dict[str, object]).decode
_decode_numbers = msgspec.json.Decoder(dict[str, float | None]).decode


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Values that cannot be what was written are a CollectionError.

    Args:
        what: What is read, in the plural.
    """
    try:
        yield
    except _IMPOSSIBLE as error:
        raise CollectionError(
            f"state.sqlite: its {what} are damaged ({error}); restore it from a copy"
        ) from error


_NEVER_ASKED = msgspec.structs.astuple(Host(0, ""))[4:13]


def host_records(rows: Sequence[Sequence[object]], domains: dict[str, str]) -> list[tuple[Host, float]]:
    """Rows of table `host`: the hosts, and their penalties.

    There may be half a million, nearly all of them never asked: what they have in common they share.

    Args:
        rows: The rows.
        domains: Domains of earlier rows, by themselves; gets those of these.
    """
    made: Callable[..., Host] = Host
    found: list[tuple[Host, float]] = []
    for values in msgspec.convert(rows, list[_HOST]):
        row, name, domain, ip = values[:4]
        domain = domains.setdefault(domain, domain)
        if values[4:13] == _NEVER_ASKED:
            found.append((made(row, name, domain, ip), values[13]))
        else:
            found.append((made(row, name, domain, *values[3:12], bool(values[12])), values[13]))
    return found


def url_record(row: Sequence[object]) -> UrlRecord:
    """A row of table `url`."""
    values = msgspec.convert(row, _URL)
    factors, memo = numbers_from_text(values[13]), numbers_from_text(values[14])
    made: Callable[..., UrlRecord] = UrlRecord
    return made(*values[:4], Outcome(values[4]), *values[5:13], factors, memo, values[15])


def page_record(row: Sequence[object]) -> PageRecord:
    """A row of table `page` without its links, with address and fingerprint of its URL behind."""
    values = msgspec.convert(row, _PAGE)
    made: Callable[..., PageRecord] = PageRecord
    return made(
        *values[:8],
        bool(values[8]),
        _decode_terms(values[9]) if values[9] else (),
        numbers_from_text(values[10]),
        values[11],
        values[12] & _UNSIGNED,
        *values[13:],
    )


def session_record(row: Sequence[object]) -> Session:
    """A row of table `session`."""
    return Session(*msgspec.convert(row, _SESSION))


def event_record(row: Sequence[object]) -> Event:
    """A row of table `journal`."""
    number, at, kind, url, data = msgspec.convert(row, _EVENT)
    return Event(number=number, at=at, kind=kind, url=url, data=_decode_data(data))


def web_address(text: object) -> str:
    """A URL that a crawl may have found."""
    if not isinstance(text, str) or not text.startswith(("http://", "https://")):
        raise ValueError(f"not an address: {str(text)[:40]!r}")
    return text


def numbers_from_text(text: str) -> dict[str, float]:
    """A small dict of numbers from its JSON; those JSON cannot say (infinities, NaN) are left out."""
    if not text:
        return {}
    return {name: value for name, value in _decode_numbers(text).items() if value is not None}
