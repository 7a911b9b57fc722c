"""The crawl loop and what it keeps: budget, journal, checkpoints, resume.

`Crawler` pops a URL from the frontier, asks a `Visitor` to visit it, and hands what came back to
`Arrival`, which judges, archives, commits and ranks. It knows no algorithm, only the protocols.
"""

from honeyguide.engine.budget import Budget, Tally
from honeyguide.engine.clock import Clock, VirtualClock, WallClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.visit import Visit, Visitor

__all__ = ["Budget", "Clock", "Crawler", "Tally", "VirtualClock", "Visit", "Visitor", "WallClock"]
