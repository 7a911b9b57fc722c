"""When a host may be asked again.

Pure functions on a host's record: no clock, no sleeping. The frontier reads `ready_at` and `given_up`; the
engine calls `after` (or `after_response` / `after_failure`) when an exchange has ended. One request at a
time per host is the frontier's doing; here is only the time between them.

The delay follows the host's own speed, as in Mercator: a slow host is asked less often.

References:
    Heydon, Najork: Mercator: A scalable, extensible web crawler. World Wide Web 2, 1999.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from email.utils import parsedate_to_datetime

import msgspec

from honeyguide.fetch.base import Failure, Response
from honeyguide.model import Host, Outcome

MAX_RETRY_AFTER = 24 * 3600.0
"""A longer Retry-After is cut to a day."""

_BUSY = frozenset({429, 502, 503, 504})
"""The host, not the page, is in trouble. A plain 500 is most often one broken page."""
_HOST_FAILURES = frozenset(
    {Outcome.TIMEOUT, Outcome.DNS, Outcome.CONNECTION, Outcome.TLS, Outcome.BAD_HTTP, Outcome.SERVER_ERROR}
)


class PolitenessPolicy(msgspec.Struct, frozen=True):
    """How considerate a crawl is. Delays can be lengthened at will; a host is never asked in parallel."""

    min_delay: float = 1.0
    """Seconds between the end of an answer and the next request, at least."""
    max_delay: float = 60.0
    """Upper bound of the adaptive delay (not of Crawl-delay, Retry-After and back-off)."""
    factor: float = 2.0
    """The adaptive delay is this many times the host's response time."""
    max_crawl_delay: float = 300.0
    """A larger Crawl-delay is honoured up to this many seconds."""
    ip_delay: float = 0.5
    """Seconds between two requests to one address, whatever the host names."""
    ip_at_once: int = 4
    """Requests to one address at a time."""
    backoff_base: float = 10.0
    """Wait after the first failure; doubles with each further one."""
    backoff_limit: float = 3600.0
    give_up_after: int = 5
    """Failures in a row until the host is given up."""
    retries: int = 2
    """Further tries of one URL after a failure that may pass."""


def delay_of(host: Host, policy: PolitenessPolicy) -> float:
    """Seconds between requests that now apply to a host."""
    asked = min(host.crawl_delay, policy.max_crawl_delay)
    return max(policy.min_delay, min(host.delay, policy.max_delay), asked)


def backoff(failures: int, policy: PolitenessPolicy) -> float:
    """Seconds to wait after so many failures in a row.

    Example:
        >>> [backoff(n, PolitenessPolicy()) for n in (1, 2, 3, 30)]
        [10.0, 20.0, 40.0, 3600.0]
    """
    return min(policy.backoff_limit, policy.backoff_base * 2.0 ** min(failures - 1, 30))


def may_retry(outcome: Outcome, tries: int, policy: PolitenessPolicy) -> bool:
    """Whether a URL that ended so after `tries` requests is worth another one."""
    return outcome in _HOST_FAILURES and outcome is not Outcome.BAD_HTTP and tries <= policy.retries


def after_response(
    host: Host,
    policy: PolitenessPolicy,
    *,
    now: float,
    seconds: float,
    status: int,
    retry_after: float | None = None,
) -> None:
    """Note an answer that took `seconds` and ended at `now`.

    429, 502, 503 and 504 count as failures of the host: it is left alone for as long as it asks, or for a
    growing time when it does not say. A Retry-After is honoured with any status.
    """
    target = min(policy.factor * max(0.0, seconds), policy.max_delay)
    # Slow down at once, speed up by halves: one quick page among slow ones proves little.
    host.delay = max(target, (host.delay + target) / 2)
    wait = delay_of(host, policy)
    if status in _BUSY:
        _count_failure(host, policy)
        wait = max(wait, backoff(host.failures, policy) if retry_after is None else retry_after)
    else:
        host.failures = 0
        wait = max(wait, retry_after or 0.0)
    host.ready_at = max(host.ready_at, now + wait)


def after_failure(host: Host, policy: PolitenessPolicy, *, now: float, outcome: Outcome) -> None:
    """Note a request without a usable answer that ended at `now`.

    Failures of the host double the wait and count towards giving up. A page that was too large or badly
    encoded is the page's fault; an address refused by the egress guard was never asked.
    """
    if outcome is Outcome.EGRESS:
        return
    wait = delay_of(host, policy)
    if outcome in _HOST_FAILURES:
        _count_failure(host, policy)
        wait = max(wait, backoff(host.failures, policy))
    else:
        host.failures = 0
    host.ready_at = max(host.ready_at, now + wait)


def after(host: Host, policy: PolitenessPolicy, *, now: float, result: Response | Failure) -> None:
    """Note the end of an exchange, whatever it was. A body cut off by the deadline counts as a time-out."""
    if result.ip:
        host.ip = result.ip
    if isinstance(result, Failure):
        after_failure(host, policy, now=now, outcome=result.outcome)
    elif result.truncated == "time":
        after_failure(host, policy, now=now, outcome=Outcome.TIMEOUT)
    else:
        asked = parse_retry_after(result.header("Retry-After"), now)
        after_response(host, policy, now=now, seconds=result.seconds, status=result.status, retry_after=asked)


def _count_failure(host: Host, policy: PolitenessPolicy) -> None:
    host.failures += 1
    if host.failures >= policy.give_up_after:
        host.given_up = True


def parse_retry_after(value: str, now: float) -> float | None:
    """Seconds to wait, from a Retry-After header in seconds or as an HTTP date; None when it says nothing.

    Args:
        value: The header's value.
        now: Seconds since the epoch, to count a date from.

    Example:
        >>> parse_retry_after("120", now=0.0), parse_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=20.0)
        (120.0, 40.0)
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return MAX_RETRY_AFTER if len(text) > 6 else min(float(text), MAX_RETRY_AFTER)
    if not text or len(text) > 64:
        return None
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = date.timestamp() - now
    except (ValueError, OverflowError, IndexError):
        return None
    return min(max(0.0, seconds), MAX_RETRY_AFTER)


class IpGate:
    """Spacing per address: many small hosts often live on one machine.

    Memory is bounded: addresses that are idle and ready are forgotten when there are many.
    """

    def __init__(self, policy: PolitenessPolicy, *, size: int = 50_000) -> None:
        self._policy = policy
        self._size = size
        self._ready: dict[str, float] = {}
        self._active: Counter[str] = Counter()
        self._asking: dict[str, str] = {}

    def ready_at(self, ip: str) -> float:
        """When the address may be asked again; infinity while as many as allowed are under way."""
        if not ip:
            return 0.0
        if self._active[ip] >= self._policy.ip_at_once:
            return float("inf")
        return self._ready.get(ip, 0.0)

    def took(self, who: str, ip: str, now: float) -> None:
        """A request to the address begins; `who` (a host has one at a time) will say when it has ended."""
        self.gave_back(who)
        if not ip:
            return
        self._asking[who] = ip
        self._active[ip] += 1
        self._ready[ip] = now + self._policy.ip_delay
        if len(self._ready) > self._size:
            self._ready = {key: at for key, at in self._ready.items() if at > now or key in self._active}

    def gave_back(self, who: str) -> None:
        """Its request has ended; does nothing when there is none."""
        ip = self._asking.pop(who, "")
        if ip:
            self._active[ip] -= 1
            if not self._active[ip]:
                del self._active[ip]
