"""Why a crawl has no page at all, for whoever began it."""

from __future__ import annotations

from contextlib import suppress

from honeyguide.collection.story import tell
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome
from honeyguide.store.state import State

_ADVICE = {
    Outcome.ROBOTS: "its owner wants no crawler there: name other seeds, or ask for permission",
    Outcome.REDIRECTED: "it goes in circles, as where a cookie is wanted (none is ever sent): name others",
    Outcome.NOINDEX: "its owner wants it in no collection: name other seeds",
    Outcome.EGRESS: "then run the same command again",
}
_REFUSALS = frozenset({"HTTP 401", "HTTP 403"})


def no_page(state: State, seeds: tuple[str, ...]) -> str:
    """What became of the first seed, and what can be done about it."""
    for seed in seeds:
        story = tell(state, seed)
        met = [story.url]
        with suppress(CollectionError):  # redirects to what is no address are not known
            while story.outcome == "redirected" and (target := story.reason.rpartition(" to ")[2]) not in met:
                met.append(target)
                story = tell(state, target)
        outcome = Outcome[story.outcome.upper()]
        what = outcome.phrase
        # Some reasons are the outcome in other words: once is enough.
        reason = story.reason.removeprefix("robots.txt: ")
        reason = "" if reason.lower() in what.lower() else f" ({story.reason})"
        led = f" leads to {story.url}" if len(met) > 1 else ""
        advice = _ADVICE.get(outcome, "check the address and the network, then run the same command again")
        if story.reason in _REFUSALS:
            advice = "it does not want us: name other seeds, or ask its owner"
        return f"no page was fetched; seed {seed}{led}: {what}{reason}; {advice}"
    return "no page was fetched and there are no seeds; add addresses to 'seeds' in [crawl]"
