"""A host gets another owner: its URLs are handed over when a shard is started and finds other owners.

Rendezvous hashing moves only the hosts that a new shard wins, or those of a shard that leaves. For these, in
one transaction with the outbox:

- What waits goes to the new owner with its priority and memo, and is `ELSEWHERE` here.
- So does what a rule dropped before any request: another link may bring it back to life.
- What was asked for stays here with its outcome and its page; the new owner is told not to ask again. What
  an earlier owner has is passed on likewise: that one may have left.
- The host's record goes first: when it may be asked, its delays, its failures.
- Links that wait for a shard that leaves go to the new owners.

Until all of it has arrived the new owner asks nobody (`Standing.moving`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from honeyguide.engine.arrival import Arrival
from honeyguide.engine.neighbours import OWNERS, Neighbours
from honeyguide.frontier import Found, Frontier
from honeyguide.model import Host, Outcome
from honeyguide.store.checked import numbers_from_text
from honeyguide.store.outbox import HOST, held_by, is_held
from honeyguide.store.state import State
from honeyguide.web import host_key, url_id

_URLS: Final = (
    "SELECT row, url, host, status, depth, redirects, parent, source, anchor, context, factors, memo, reason"
    " FROM url WHERE status != ? OR reason LIKE 'shard % has it'"
)


def hand_over(neighbours: Neighbours, state: State, frontier: Frontier, arrival: Arrival) -> int:
    """Write what belongs to others by now to the outbox; the number of URLs. The caller commits."""
    before, names = state.setting(OWNERS), list(neighbours.names)
    if before == names:
        return 0
    state.put_setting(OWNERS, names)
    if not isinstance(before, list):
        return 0
    arrival.take_over(neighbours.readdress(state), neighbours.me)
    frontier.flush()
    for host in frontier.hosts():
        if not neighbours.is_mine(host.name):
            neighbours.leave(_host_record(host), "")
    count = 0
    for found in state.connection.execute(_URLS, (int(Outcome.ELSEWHERE),)).fetchall():
        count += _hand_over_url(neighbours, state, frontier, found)
    if neighbours.leaving:
        neighbours.moving()
    return count


def _host_record(host: Host) -> Found:
    """A host as a traveller."""
    memo = {
        name: float(value)
        for name, value in msgspec.structs.asdict(host).items()
        if isinstance(value, int | float) and name != "row"
    }
    url = f"http://{host.name}/"
    return Found(
        url=url, id=url_id(url), host=host.name, domain=host.domain, priority=0.0, source=HOST, memo=memo,
        anchor=host.ip,
    )  # fmt: skip


def _hand_over_url(
    neighbours: Neighbours, state: State, frontier: Frontier, found: tuple[object, ...]
) -> bool:
    row, url, asked, status, *others = found
    assert isinstance(row, int)
    host = host_key(str(url))
    if neighbours.is_mine(host):
        return False
    depth, redirects, parent, source, anchor, context, factors, memo, reason = others
    outcome = Outcome(int(str(status)))
    held = outcome is Outcome.ELSEWHERE and is_held(str(reason))
    if outcome is Outcome.ELSEWHERE and not held:
        return False
    stays = outcome is not Outcome.WAITING and asked and not held
    neighbours.leave(
        Found(
            url=str(url),
            id=url_id(str(url)),
            host=host,
            domain="",
            priority=frontier.priority_of(row),
            depth=int(str(depth)),
            redirects=int(str(redirects)),
            source=str(source),
            anchor=str(anchor),
            context=str(context),
            factors=numbers_from_text(str(factors)),
            memo=numbers_from_text(str(memo)),
            outcome=Outcome.ELSEWHERE if stays else outcome,
            reason=held_by(neighbours.me) if stays else str(reason),
        ),
        state.url_text(int(str(parent))),
        handed=True,
    )
    if outcome is Outcome.WAITING:
        frontier.finish(row, Outcome.ELSEWHERE, "")
    elif not stays and not held:
        frontier.change_outcome(row, Outcome.ELSEWHERE)
    return True
