"""The web's own rules, as pure functions: no network, no files, no clock.

A link's way through this folder: `url` turns what stands in a page into the one canonical
address; `scope` says whether the user wants that part of the web; `traps` whether it leads
nowhere; `domain` to whom it belongs; `robots` whether its owner lets us in. When the page has
come, `charset` (with `prescan`) turns its bytes into text as a browser would, and `meta_robots`
reads what it asks of robots. `sitemap` reads the lists of pages that sites and feeds offer.

Everything here is given hostile input, never fails on it, and takes linear time.
"""

from honeyguide.web.charset import decode_html
from honeyguide.web.domain import registered_domain, same_site
from honeyguide.web.meta_robots import Directives, directives
from honeyguide.web.robots import Robots
from honeyguide.web.scope import Scope
from honeyguide.web.sitemap import Entry, Sitemap, gunzip_limited, parse_sitemap
from honeyguide.web.traps import TrapLimits, falling_marginal, trap_reason
from honeyguide.web.url import UrlParts, canonical, canonical_many, host_key, parse_href, parts, url_id

__all__ = [
    "Directives",
    "Entry",
    "Robots",
    "Scope",
    "Sitemap",
    "TrapLimits",
    "UrlParts",
    "canonical",
    "canonical_many",
    "decode_html",
    "directives",
    "falling_marginal",
    "gunzip_limited",
    "host_key",
    "parse_href",
    "parse_sitemap",
    "parts",
    "registered_domain",
    "same_site",
    "trap_reason",
    "url_id",
]
