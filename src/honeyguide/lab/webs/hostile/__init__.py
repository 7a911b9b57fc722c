"""A server that misbehaves in every way a crawler has to survive, one named case a host.

`http://CASE.localhost:PORT/` is the case's page; robots.txt and sitemaps belong to it where the case is
about them. Everything runs on one port of 127.0.0.1, TLS included. It tests other crawlers as well:
`honeyguide lab hostile --port 8099`.
"""

# Importing a module of cases enters them into `CASES`.
from honeyguide.lab.webs.hostile import bombs, framing, pages, redirects, robots, sitemaps, timing, tls
from honeyguide.lab.webs.hostile.case import CASES, Case
from honeyguide.lab.webs.hostile.server import HostileServer

__all__ = [
    "CASES", "Case", "HostileServer",
    "bombs", "framing", "pages", "redirects", "robots", "sitemaps", "timing", "tls",
]  # fmt: skip
