"""The crawl loop and what it keeps: budget, journal, checkpoints, resume.

`Crawler` (`crawler.py`) pops a URL from the frontier, asks a `Visitor` to visit it, and hands what came back
to `Arrival`, which judges, archives, commits and ranks. It knows no algorithm, only the protocols.

Nothing is imported here: who only reads a collection needs some of these files, and not the crawl itself.
"""
