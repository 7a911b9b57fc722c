"""One crawl among several: links to hosts of other shards leave through an outbox, theirs come in.

A shard is an ordinary crawl that owns some hosts. This file is what the crawl's own thread does about the
others; `cluster/` carries the batches. The two meet in a `Mailbox`, which any thread may use.

Leaving. A link to another shard's host is written to the outbox in the transaction of the page it was found
on. The URL gets a row here, with the outcome `ELSEWHERE`, so that a page's links stay whole; its own outcome
is the owner's business, also where a rule drops it. Numbered batches wait as settings of the state
(`outbox:TO:NUMBER`) until the receiver says that it holds them for good.

Coming in. Batches are taken in the order of their numbers, each once: the number of the last one is
committed together with its links (`inbox:FROM`). A sender that was restored from a snapshot begins a new run
of numbers.

What a link carries: URL, the page it was found on with its score, priority, depth, redirects, how it was
found, anchor, context, the order's factors and memo, and the outcome if a rule dropped it. Orders that rank a
link once do so at the sender. An order that goes on learning about what waits (`RevisingOrder`) ranks it at
the receiver, where the outcomes of that host are, by its place on the page, and by what the sender knows of
the page, and of the link by the rest of the page (`of_page`, `of_link`).
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Final

import msgspec

from honeyguide.failpoint import failpoint
from honeyguide.frontier import Found
from honeyguide.model import Link
from honeyguide.store.outbox import DROPPED, OUTBOX, Traveller
from honeyguide.store.state import State, sound
from honeyguide.web import host_key

BATCH: Final = 500
"""Links in one batch, at most."""
AT_ONCE: Final = 32
"""Batches in one call, at most: most are much smaller, one a commit."""
ANCHOR: Final = 500
CONTEXT: Final = 200
TAG_PATH: Final = 200
"""Characters of a link's text, of what is around it, and of its place on its page that travel."""
INBOX: Final = "inbox:"
SENT: Final = "outbox_numbers"
"""Setting with the run of numbers, and the last number for each receiver."""
MOVING: Final = "moving"
"""Setting with the last batch for each receiver that hands hosts over."""
OWNERS: Final = "owners"
"""Setting with the names of all shards, as this one knew them last."""


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Links from one shard to another."""

    sender: str
    run: str
    number: int
    links: list[Traveller]


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """How far the batches of one sender are in."""

    run: str = ""
    number: int = 0


class Sent(msgspec.Struct):
    """Numbers of a sender."""

    run: str = ""
    last: dict[str, int] = {}


class Standing(msgspec.Struct, frozen=True):
    """Where a shard stands, for those who deal the budget out and say when all is done."""

    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    requests: int = 0
    seconds: float = 0.0
    since_relevant: int = 0
    waiting: int = 0
    in_flight: int = 0
    known: int = 0
    spent: int = 0
    """What counts towards its limit: pages, or visits of a recrawl."""
    limit: int = 0
    """Pages (or visits) it may have in all; never less than it has and asks for."""
    idle: bool = False
    """Nothing waits or is under way, nothing has come in that is not committed, and nothing is to be sent."""
    moves: int = 0
    """Grows whenever something happens: two equal numbers with idleness before and after mean rest."""
    best: list[float] = []
    """Priorities of the best URLs that could be asked for soon, best first."""
    ready: int = 0
    """How many URLs could be asked for soon; no more of each host than it can give."""
    last: str = ""
    paused: bool = False
    open: bool = False
    """Whether the crawl has said so itself: it has read its folder, and told others what is theirs."""
    moving: list[str] = []
    """Shards that hosts are being handed over to."""


class Mailbox:
    """Where the crawl's thread and the others meet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in: deque[Batch] = deque()
        self._received: dict[str, Mark] = {}
        """Last batch of each sender that is here or was taken in."""
        self._committed: dict[str, Mark] = {}
        self._held: dict[str, Mark] = {}
        """Last batch of each sender that will never be lost."""
        self._out: dict[str, deque[Batch]] = {}
        self._acknowledged: dict[str, int] = {}
        self._limit: int | None = None
        self._told: list[int] = []
        """Limits since the crawl last said where it stands."""
        self._heard = 0
        """How many of them the crawl has seen."""
        self._standing = Standing()
        self._stood = threading.Event()
        self.asked = True
        """Whether somebody wants to know where the crawl stands, its best URLs among it."""
        self.slots = 0
        """Requests that the shard may have under way; 0 for as many as its settings say."""
        self.run = ""
        """Of the numbers of what is sent from here."""
        self.wake: Callable[[], None] = lambda: None
        """Makes the crawl look; safe from any thread."""
        self.said: Callable[[], None] = lambda: None
        """Makes the postman look; safe from any thread."""

    # Called by the others

    def wake_up(self) -> None:
        """Make the crawl look, whichever it is by now."""
        self.wake()

    def deliver(self, sender: str, run: str, batches: Iterable[Batch]) -> tuple[int, int]:
        """Take batches in; the numbers of the last one that is here, and of the last one held for good."""
        with self._lock:
            mark = self._received.get(sender, Mark())
            if mark.run != run:
                mark = Mark(run)
            for batch in batches:
                if batch.number == mark.number + 1:  # a gap is sent again from its beginning
                    self._in.append(batch)
                    mark = Mark(run, batch.number)
            self._received[sender] = mark
            held = self._held.get(sender, Mark())
            answer = mark.number, held.number if held.run == run else 0
            news = bool(self._in)
        if news:
            self.wake()
        return answer

    def to_send(self, to: str, after: int) -> list[Batch]:
        """Committed batches for a shard beyond a number, oldest first, a few at a time."""
        with self._lock:
            return [batch for batch in self._out.get(to, ()) if batch.number > after][:AT_ONCE]

    def withdraw(self, to: str) -> list[Batch]:
        """Send a shard nothing any more; what it was to get. Only before anything is sent."""
        with self._lock:
            return list(self._out.pop(to, ()))

    def waiting_for(self) -> list[str]:
        """Shards that have not acknowledged everything."""
        with self._lock:
            return [to for to, batches in self._out.items() if batches]

    def acknowledge(self, to: str, number: int) -> None:
        """A shard holds our batches up to this number for good."""
        with self._lock:
            batches = self._out.get(to)
            if not batches or batches[0].number > number:
                return
            while batches and batches[0].number <= number:
                batches.popleft()
            self._acknowledged[to] = number
        self.wake()

    def hold(self, marks: dict[str, Mark]) -> None:
        """Batches that will never be lost by now."""
        with self._lock:
            self._held = marks

    def allow(self, pages: int, slots: int = 0) -> Standing:
        """Set how many pages the shard may have in all, and requests under way; where it stands.

        Until the crawl has said where it stands under a limit it may still be spending an earlier one, so the
        highest of them is the one to reckon with.
        """
        with self._lock:
            changed = (self._limit, self.slots) != (pages, slots)
            self._limit, self.slots = pages, slots
            self._told.append(pages)
        if changed:
            self.wake()
        return self._reckoned()

    def _reckoned(self) -> Standing:
        with self._lock:
            limit = max([self._standing.limit, *self._told])
            return msgspec.structs.replace(self._standing, limit=limit)

    def look(self, seconds: float) -> Standing:
        """Have the crawl say where it stands now, and wait for that, at most this long."""
        self._stood.clear()
        self.asked = True
        self.wake()
        self._stood.wait(seconds)
        return self._reckoned()

    # Called by the crawl's thread

    def begin(self, run: str, marks: dict[str, Mark], batches: Iterable[tuple[str, Batch]]) -> None:
        """What the state says when a crawl is taken up."""
        with self._lock:
            self.run = run
            self._received = dict(marks)
            self._in.clear()
            self._out.clear()
            for to, batch in batches:
                self._out.setdefault(to, deque()).append(batch)
        self.said()

    def mark(self, marks: dict[str, Mark], *, held: bool) -> None:
        """How far the batches of others are in, as of the last commit.

        Args:
            marks: By sender.
            held: Whether a commit is enough.
        """
        with self._lock:
            self._committed = marks
            if held:
                self._held = marks

    @property
    def unheld(self) -> bool:
        """Whether batches are committed that may still be lost with this machine."""
        with self._lock:
            return self._committed != self._held

    def take(self) -> list[Batch]:
        """What came in."""
        with self._lock:
            found = list(self._in)
            self._in.clear()
            return found

    def committed(self, batches: Iterable[tuple[str, Batch]]) -> None:
        """Batches that may go."""
        with self._lock:
            for to, batch in batches:
                self._out.setdefault(to, deque()).append(batch)
        self.said()

    def acknowledged(self) -> dict[str, int]:
        """Up to where shards hold our batches, since the last call."""
        with self._lock:
            found, self._acknowledged = self._acknowledged, {}
            return found

    @property
    def limit(self) -> int | None:
        """Pages the shard may have in all; None until somebody said."""
        with self._lock:
            self._heard = len(self._told)
            return self._limit

    @property
    def at_rest(self) -> bool:
        """Nothing is to be taken in, and nothing to be sent."""
        with self._lock:
            return not self._in and not any(self._out.values()) and not self._acknowledged

    @property
    def standing(self) -> Standing:
        """Where the crawl stands."""
        return self._standing

    def stand(self, standing: Standing) -> None:
        """Say where the crawl stands, by the limit it has asked for last."""
        with self._lock:
            self._standing = standing
            del self._told[: self._heard]
            self._heard = 0
        if not self.asked:
            self._stood.set()


class Neighbours:
    """The other shards, as the crawl's thread sees them.

    Args:
        me: Name of this shard.
        names: Of all shards that own hosts; one that hands all of its hosts over is not among them.
        owner: Name of the shard that owns a `host[:port]`.
        mailbox: Where batches come and go.
        asks_sources: Whether this shard asks the discovery sources: one does, for all.
        safe: Whether a commit is enough to tell senders that their batches are held. Otherwise somebody else
            says so (`Mailbox.hold`), when a snapshot has them.
    """

    def __init__(
        self,
        me: str,
        names: Sequence[str],
        owner: Callable[[str], str],
        mailbox: Mailbox,
        *,
        asks_sources: bool = True,
        safe: bool = True,
    ) -> None:
        self.me = me
        self.names = tuple(names)
        self.owner = owner
        self.mailbox = mailbox
        self.asks_sources = asks_sources
        self._leaving: dict[str, list[Traveller]] = {}
        self._written: list[tuple[str, Batch]] = []
        self._sent = Sent()
        self._moving: dict[str, int] = {}
        self._moves = False
        self._safe = safe
        self._marks: dict[str, Mark] = {}
        self.moves = 0

    def open(self, state: State) -> None:
        """Take up what earlier sessions left in the outbox."""
        self._sent = msgspec.convert(state.setting(SENT) or {}, Sent)
        self._moving = msgspec.convert(state.setting(MOVING) or {}, dict[str, int])
        if not self._sent.run:
            self._sent.run = new_run()
            state.put_setting(SENT, msgspec.to_builtins(self._sent))
            state.commit()
        batches = []
        for key, value in state.settings(OUTBOX):
            _, to, number = key.split(":")
            links = msgspec.convert(value, list[Traveller])
            batches.append((to, Batch(self.me, self._sent.run, int(number), links)))
        self._marks = read_marks(state)
        self.mailbox.begin(self._sent.run, self._marks, batches)
        self.mailbox.mark(dict(self._marks), held=self._safe)

    @property
    def leaving(self) -> bool:
        """Whether links wait for the next commit."""
        return bool(self._leaving)

    @property
    def owns_hosts(self) -> bool:
        """Whether any host is this shard's."""
        return self.me in self.names

    def is_mine(self, host: str) -> bool:
        """Whether a `host[:port]` is this shard's."""
        return self.owner(host) == self.me

    def away(self, page: str, links: Sequence[Link]) -> list[int]:
        """Places of the links that lead to other shards' hosts.

        Args:
            page: URL of the page that has them.
            links: The links; most lead to the page's own host, which is asked about once.
        """
        host = host_key(page)
        near = page[: page.index("/") + 2 + len(host) + 1] if self.is_mine(host) else " "
        owner, me = self.owner, self.me
        return [
            place
            for place, link in enumerate(links)
            if not (url := link.url).startswith(near) and owner(host_key(url)) != me
        ]

    def entered(self, batch: Batch, state: State) -> None:
        """A batch is in the open transaction."""
        self._marks[batch.sender] = Mark(batch.run, batch.number)
        state.put_setting(f"{INBOX}{batch.sender}", [batch.run, batch.number])
        failpoint("inbox.entered")
        self.moves += 1

    def leave(self, found: Found, parent: str, *, handed: bool = False) -> None:
        """Write a URL that comes from no page's links to the outbox, with the next commit.

        Args:
            found: The URL.
            parent: URL of the page it was found on.
            handed: Whether the URL's host was this shard's until now.
        """
        traveller = Traveller(
            url=sound(found.url),
            parent=sound(parent),
            priority=sendable(found.priority),
            depth=found.depth,
            redirects=found.redirects,
            source=found.source,
            anchor=sound(found.anchor[:ANCHOR]),
            context=sound(found.context[:CONTEXT]),
            factors=finite(found.factors),
            memo=finite(found.memo),
            outcome=int(found.outcome),
            reason=sound(found.reason),
            handed=handed,
        )
        self.send(traveller, found.host)

    def send(self, link: Traveller, host: str) -> None:
        """Write a link to the outbox, with the next commit.

        Args:
            link: What travels.
            host: Of its URL.
        """
        self._leaving.setdefault(self.owner(host), []).append(link)

    def readdress(self, state: State) -> list[Traveller]:
        """Send what was meant for shards that own no hosts any more to the new owners; what is this one's.

        Such a shard may have it already. It says so, and entering it twice does no harm.
        """
        mine: list[Traveller] = []
        former = sorted(set(self.mailbox.waiting_for()) - set(self.names))
        for to in former:
            for batch in self.mailbox.withdraw(to):
                for link in batch.links:
                    if self.is_mine(host := host_key(link.url)):
                        mine.append(link)
                    else:
                        self.send(link, host)
            state.remove_settings(f"{OUTBOX}{to}:", f"{OUTBOX}{to}:~")
        if former or self._moving.keys() - set(self.names):
            self._moving = {to: number for to, number in self._moving.items() if to in self.names}
            state.put_setting(MOVING, self._moving)
        return mine

    def write(self, state: State) -> None:
        """Put what leaves into the open transaction, and take out what has arrived."""
        for to, number in self.mailbox.acknowledged().items():
            state.remove_settings(f"{OUTBOX}{to}:", f"{OUTBOX}{to}:{number:012}")
            self.moves += 1
            if number >= self._moving.get(to, number + 1):
                del self._moving[to]
                state.put_setting(MOVING, self._moving)
            failpoint("outbox.cleared")
        if not self._leaving:
            return
        for to, links in self._leaving.items():
            for start in range(0, len(links), BATCH):
                number = self._sent.last.get(to, 0) + 1
                self._sent.last[to] = number
                batch = Batch(self.me, self._sent.run, number, links[start : start + BATCH])
                state.put_setting(f"{OUTBOX}{to}:{number:012}", batch.links)
                self._written.append((to, batch))
        state.put_setting(SENT, msgspec.to_builtins(self._sent))
        if self._moves:
            self._moves = False
            self._moving |= {to: self._sent.last[to] for to in self._leaving}
            state.put_setting(MOVING, self._moving)
            failpoint("handover.written")
        failpoint("outbox.written")
        self._leaving.clear()
        self.moves += 1

    def moving(self) -> None:
        """What leaves with the next commit hands hosts over."""
        self._moves = True

    @property
    def moving_to(self) -> list[str]:
        """Shards that have not got yet all that is handed over to them."""
        return sorted(self._moving)

    def committed(self) -> None:
        """The transaction is committed: its batches may go."""
        self.mailbox.mark(dict(self._marks), held=self._safe)
        if self._written:
            failpoint("outbox.committed")
            self.mailbox.committed(self._written)
            self._written = []


def read_marks(state: State) -> dict[str, Mark]:
    """How far the batches of each sender are in."""
    return {key.removeprefix(INBOX): msgspec.convert(value, Mark) for key, value in state.settings(INBOX)}


def new_run() -> str:
    """A name for a run of numbers that no other has."""
    return secrets.token_hex(6)


def begin_new_run(state: State) -> None:
    """After a restore: what the outbox holds may have been sent already, and other things since."""
    sent = Sent(new_run())
    held = [(key, msgspec.convert(value, list[Traveller])) for key, value in state.settings(OUTBOX)]
    for key, links in held:
        to = key.split(":")[1]
        state.remove_settings(key, key)
        sent.last[to] = sent.last.get(to, 0) + 1
        state.put_setting(f"{OUTBOX}{to}:{sent.last[to]:012}", links)
    state.put_setting(SENT, msgspec.to_builtins(sent))
    moving = msgspec.convert(state.setting(MOVING) or {}, dict[str, int])
    state.put_setting(MOVING, {to: sent.last[to] for to in moving if to in sent.last})
    state.commit()


def sendable(priority: float) -> float:
    """A priority that JSON can hold."""
    return min(max(priority, DROPPED), -DROPPED)


def finite(values: dict[str, float]) -> dict[str, float]:
    """Numbers that JSON can hold."""
    return values and {name: float(value) for name, value in values.items() if isfinite(value)}
