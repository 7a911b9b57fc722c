"""The frontier, told as the biography of a URL.

**Birth.** A page has been parsed and its links ranked. The engine hands the fingerprints and priorities
of the lot to `Frontier.offer`, and makes a `Found` of those that it is asked for. A fingerprint is
looked up in the map of all URLs ever seen (`seen.py`). A stranger gets the next row number, which it
keeps for life; rows count from 1 in order of discovery. If the engine already knows that it must not be
fetched (scope, traps, depth), it is written down with that outcome and that is all.

**Waiting.** Otherwise it joins the heap of its host (`queues.py`, on the pairing heaps of
`pairing_heap.py`). Whenever another page links to it, its priorities are combined, and the link that made
it better becomes its reason to be fetched. A global order may move it with `reprioritise`. Only what the
choice needs is in memory: fingerprint, host, status, priority and three links of the heap, about 40 bytes
a URL. Its text, anchor and factors go to the state (`pending.py`) and are read again when it is chosen.

**Hosts.** A host with waiting URLs is either timed (it was asked a moment ago, or must be left alone for a
while) or ready. The ready ones are themselves a heap, ordered by their best URL. Those whose address must be
left alone, since another of its hosts was asked, are parked (`parking.py`) until their turn comes.

**Chosen.** `Frontier.pop` takes the best URL of the best ready host. The host is busy now: nothing else is
asked of it until `release`. The URL is in flight, and the state still says that it waits, so that a crash
costs nothing but the request.

**End.** `finish` gives it one outcome of `honeyguide.model.Outcome`. `put_back` lets it wait
again, after a failure that may pass or when robots.txt has to be read first. Its host may be given up or
its domain may have had its share, and it ends with all its neighbours (`drop_host`). At every moment
known = waiting + in flight + the sum over outcomes.

**Again.** A page may be visited again, days later (`honeyguide.revisit`). `lend` hands it out when its host
may be asked, past the queues; its outcome stays what it was until the answer is there, and changes only if
the page is gone, or back (`change_outcome`).

**Afterlife.** Its row stays in the state, so that no link brings it in a second time and `honeyguide why`
can tell this story. A frontier built on the state of an earlier run is that run's frontier.
"""

from honeyguide.frontier.frontier import Frontier
from honeyguide.frontier.records import Again, Found, Offers, Waiting

__all__ = ["Again", "Found", "Frontier", "Offers", "Waiting"]
