"""Crawler traps told by the URL alone, and hosts that stopped paying.

Each rule names the trap it is for and how it spares good pages; together they are meant to lose
fewer than one good page in a thousand. All are plain text work on one URL: no rule needs to see
the page, and none takes more than linear time.

| reason | trap | why good pages pass |
| --- | --- | --- |
| `too-long` | links that grow with every click | 2,000 characters is what browsers and servers agree on |
| `too-deep` | endless chains of links | 200 links from a seed is beyond any reading path |
| `too-many-segments` | relative links that nest for ever | 20 folders |
| `repeating-segments` | `/a/b/a/b/a/b/`, a broken relative link | three times; short names and numbers five |
| `too-many-parameters` | facets that combine | 16 parameters |
| `repeating-parameters` | a link that appends itself | the same name and value three times |
| `re-encoded` | a URL that quotes itself again and again | percent signs encoded three times over |
| `session` | an id per visitor that `canonical` does not know | 24 or more characters under a telling name |
| `calendar-future`, `calendar-past`, `calendar-day` | a page for each day of all time | see `_calendar` |
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import msgspec

from honeyguide.compiled import compiled
from honeyguide.model import Host

TOO_LONG: Final = "too-long"
TOO_DEEP: Final = "too-deep"
TOO_MANY_SEGMENTS: Final = "too-many-segments"
REPEATING_SEGMENTS: Final = "repeating-segments"
TOO_MANY_PARAMETERS: Final = "too-many-parameters"
REPEATING_PARAMETERS: Final = "repeating-parameters"
RE_ENCODED: Final = "re-encoded"
SESSION: Final = "session"
CALENDAR_FUTURE: Final = "calendar-future"
CALENDAR_PAST: Final = "calendar-past"
CALENDAR_DAY: Final = "calendar-day"

_CALENDAR_WORD = re.compile(
    r"(?<![a-z])(?:calendars?|kalender|calendario|calendrier|events?|agenda|ical|eventdisplay|tribe)(?![a-z])",
    re.IGNORECASE,
)
_YEAR_MONTH = re.compile(r"(?<![0-9])([12][0-9]{3})[-/](?:0?[1-9]|1[0-2])(?:[-/][0-3]?[0-9])?(?![0-9])")
_YEAR_PARAMETER = re.compile(r"[?&](?:y|yr|year|jahr|annee|ano)=([12][0-9]{3})(?=&|$)", re.IGNORECASE)
_MONTH_PARAMETER = re.compile(r"[?&](?:m|mo|month|monat|mois|mes|week)=[0-9]{1,2}(?=&|$)", re.IGNORECASE)
_DAY_IN_QUERY = re.compile(
    r"[?&](?:(?:d|day|tag|jour|dia)=[0-3]?[0-9]|[a-z_-]*date=[12][0-9]{3}-?[01][0-9]-?[0-3][0-9])(?=&|$)",
    re.IGNORECASE,
)
_ODD = re.compile(r"[?(]|%252525|(?<![0-9])[12][0-9]{3}[-/]")
_GLANCE: Final = 64
"""Segments that are told apart at a glance."""
_COOKIELESS = re.compile(r"/\([A-Za-z]\([0-9a-z]{20,}\)\)/", re.IGNORECASE)
_SESSION_NAMES: Final = frozenset(("sid", "token", "nonce", "_wpnonce", "csrf", "csrf_token", "csrftoken"))
_SESSION_VALUE = re.compile(r"[0-9a-z_-]{24,}", re.IGNORECASE)


class TrapLimits(msgspec.Struct, frozen=True):
    """Where the rules draw their lines."""

    max_length: int = 2000
    max_depth: int = 200
    max_segments: int = 20
    max_repeats: int = 3
    """A path segment this often is a loop; numbers and names of one or two characters: two more."""
    max_parameters: int = 16
    now_year: int = 0
    """The year of the crawl's clock; 0 turns the calendar rules off."""
    years_ahead: int = 2
    years_back: int = 30


def _repeats(path: str, limit: int) -> bool:
    """Whether path segments go round in circles."""
    segments = [segment for segment in path.split("/") if segment]
    if len(set(segments)) == len(segments):
        return False
    for segment, count in Counter(segments).items():
        allowed = limit + 2 if len(segment) <= 2 or segment.isdigit() else limit
        if count >= allowed:
            return True
    # Three folders that come twice in a row: a relative link that should have begun with a slash.
    for length in range(3, len(segments) // 2 + 1):
        for start in range(len(segments) - 2 * length + 1):
            middle = start + length
            if segments[start:middle] == segments[middle : middle + length]:
                return True
    return False


def _calendar(url: str, limits: TrapLimits) -> str | None:
    """Calendars without end.

    A year and a month more than `years_ahead` in the future is a calendar wherever it stands
    (a year alone, as in `/vision-2050/`, is not). Years long past and single days are pages
    of newspaper archives too, so these need a word such as `calendar` or `events` in the URL.
    """
    if "?" not in url and not _YEAR_MONTH.search(url):
        return None
    years = [int(match[1]) for match in _YEAR_MONTH.finditer(url)]
    if "?" in url and _MONTH_PARAMETER.search(url):
        years.extend(int(match[1]) for match in _YEAR_PARAMETER.finditer(url))
    if years and max(years) > limits.now_year + limits.years_ahead:
        return CALENDAR_FUTURE
    past = bool(years) and min(years) < limits.now_year - limits.years_back
    day = "?" in url and _DAY_IN_QUERY.search(url) is not None
    if not (past or day) or not _CALENDAR_WORD.search(url):
        return None
    return CALENDAR_PAST if past else CALENDAR_DAY


def _path_reason(path: str, limits: TrapLimits) -> str | None:
    """Paths that nest or go round."""
    segments = path.count("/")
    if segments > limits.max_segments:
        return TOO_MANY_SEGMENTS
    # Too short to go round: most paths.
    if segments >= min(limits.max_repeats, 6) and _repeats(path, limits.max_repeats):
        return REPEATING_SEGMENTS
    return SESSION if "(" in path and _COOKIELESS.search(path) else None


def _holds_session(parameter: str) -> bool:
    """Whether a query parameter looks like the id of a visit."""
    name, equals, value = parameter.partition("=")
    if not equals or len(value) < 24:
        return False
    name = name.lower()
    telling = name in _SESSION_NAMES or "session" in name or "sessid" in name
    return telling and _SESSION_VALUE.fullmatch(value) is not None


def _query_reason(query: str, limits: TrapLimits) -> str | None:
    """Queries that combine or append without end."""
    parameters = query.split("&")
    if len(parameters) > limits.max_parameters:
        return TOO_MANY_PARAMETERS
    if len(parameters) >= limits.max_repeats:
        most = Counter(parameter for parameter in parameters if parameter).most_common(1)
        if most and most[0][1] >= limits.max_repeats:
            return REPEATING_PARAMETERS
    return SESSION if any(map(_holds_session, parameters)) else None


@compiled
def plain(url: str, longest: int, most: int) -> bool:
    """Whether an address is so plain that no rule can say anything of it: at a glance, as most are.

    Args:
        url: A canonical URL.
        longest: Characters that it may have.
        most: Slashes that its path may have.
    """
    start = url.find("/", 8)
    if start < 0 or not url.isascii() or len(url) > longest:
        return False
    rest = url[start:]
    segments = [segment for segment in rest.split("/") if segment]
    if rest.count("/") > most or len(set(segments)) < len(segments) or len(segments) > _GLANCE:
        return False
    return _ODD.search(rest) is None


def trap_reason(url: str, depth: int, limits: TrapLimits) -> str | None:
    """Why a canonical URL looks like a trap, or None.

    Args:
        url: A canonical URL.
        depth: Links followed from the seed to it.
        limits: The lines to draw.

    Example:
        >>> trap_reason("https://example.org/a/img/a/img/a/img/", 3, TrapLimits())
        'repeating-segments'
        >>> trap_reason("https://example.org/news/2024/05/01/owls", 3, TrapLimits(now_year=2024)) is None
        True
    """
    if len(url) > limits.max_length:
        return TOO_LONG
    if depth > limits.max_depth:
        return TOO_DEEP
    if plain(url, limits.max_length, limits.max_segments):
        return None
    rest = url[url.index("/", 8) :]
    path, _, query = rest.partition("?")
    reason = _path_reason(path, limits) or (_query_reason(query, limits) if query else None)
    if reason is None and "%252525" in rest:
        reason = RE_ENCODED
    return reason or (_calendar(rest, limits) if limits.now_year else None)


def falling_marginal(
    host: Host,
    harvest: float,
    *,
    minimum_pages: int = 100,
    near_zero: float = 0.02,
    share: float = 0.2,
) -> bool:
    """Whether a host has stopped giving relevant pages while the crawl as a whole still finds some.

    This catches what no URL shows: mazes of generated text, spam networks, and large sites off
    the topic. A host is only demoted relative to the crawl, so a crawl that finds nothing yet
    demotes nobody.

    Args:
        host: The host's record.
        harvest: Mean relevance of the crawl's recent pages, in 0..1.
        minimum_pages: Pages a host may use up before it is judged.
        near_zero: Recent relevance above this is good enough in any crawl.
        share: Recent relevance must also be below this share of `harvest`.

    Example:
        >>> falling_marginal(Host(row=1, name="maze.example", fetched=150, recent=0.001), 0.3)
        True
    """
    if host.fetched < minimum_pages or host.recent < 0:
        return False
    return host.recent <= near_zero and host.recent < share * harvest
