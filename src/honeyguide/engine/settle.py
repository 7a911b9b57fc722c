"""What an answer, or its absence, means for the host that was asked."""

from __future__ import annotations

from honeyguide.engine.web import Visit
from honeyguide.fetch.politeness import PolitenessPolicy, after_failure, after_response, may_retry
from honeyguide.model import Host, Outcome

NO_SUCH_HOST = frozenset({Outcome.DNS, Outcome.CONNECTION, Outcome.TLS})


def settle(host: Host, visit: Visit, policy: PolitenessPolicy, *, tries: int, now: float) -> bool:
    """Bring a host's record up to date after a visit. True: the URL may be asked for once more."""
    host.ip = visit.ip or host.ip
    if visit.crawl_delay is not None:
        host.crawl_delay = visit.crawl_delay
    retry = False
    if visit.failed:
        retry = may_retry(visit.outcome, tries + 1, policy) and not (
            # A host that never answered is most likely a wrong name: its other URLs get their turn.
            visit.outcome in NO_SUCH_HOST and host.requests == host.failures
        )
    host.requests += visit.requests
    # A robots.txt that cannot be read is a failure of the host, whatever it answered.
    closed = visit.failed and visit.outcome is Outcome.WAITING
    if visit.requests and (closed or not visit.status):
        outcome = Outcome.SERVER_ERROR if closed else visit.outcome
        after_failure(host, policy, now=now, outcome=outcome)
    elif visit.requests:
        after_response(
            host,
            policy,
            now=now,
            seconds=visit.seconds,
            status=visit.status,
            retry_after=visit.retry_after,
        )
    if visit.not_before is not None:
        host.ready_at = max(host.ready_at, visit.not_before)
    return retry
