"""Crawler traps: endless spaces of pages that are a function of their address alone.

Five kinds, one for each trap host in turn: a calendar without end, links with a new session id at every
step (see `web`), a catalogue of combined filters, paths that repeat themselves, and a maze of babble
that looks on topic. No trap page is ever on topic.
"""

from __future__ import annotations

from honeyguide.lab.webs.generated.address import Place
from honeyguide.lab.webs.generated.draws import Draws, fingerprint, text_fingerprint
from honeyguide.lab.webs.generated.plan import Item, Plan, PlannedBlock
from honeyguide.lab.webs.generated.sites import Site

_FACETS = {
    "colour": ("red", "green", "blue", "black"),
    "size": ("small", "medium", "large"),
    "sort": ("price", "name", "newest"),
    "brand": ("arlo", "benning", "corvell", "dunmore"),
}


def entrance(site: Site) -> Item | None:
    """The menu entry that leads into the host's trap, if it has one."""
    return {
        "calendar": Item("/calendar/2024/01/", "Calendar"),
        "facets": Item("/catalogue/?page=1", "Catalogue"),
        "path": Item("/archive/", "Archive"),
        "maze": Item("/maze/0.html", "All pages"),
    }.get(site.role)


def session(site: Site, place: Place) -> str:
    """The session id that this page's menu hands on: another one for every page and every session."""
    key = text_fingerprint(site.key, place.path + "?" + place.query)
    return f"{key:016x}"


def trap(place: Place) -> Plan:
    """The trap page at this address."""
    site = place.site
    key = text_fingerprint(site.key, place.path + "?" + place.query)
    if site.role == "calendar":
        title, items = _calendar(place.path)
    elif site.role == "facets":
        title, items = _facets(place.query)
    elif site.role == "path":
        names = ("old", "years", "files")
        title, items = "Archive", [Item(place.path.rstrip("/") + f"/{name}/", name) for name in names]
    else:
        draws = Draws(key)
        items = [Item(f"/maze/{fingerprint(key, way):012x}.html", _anchor(draws)) for way in range(10)]
        return Plan("More to read", site.topic, key, [PlannedBlock(site.topic, "Read on", 20, items)])
    return Plan(title, site.topic, key, [PlannedBlock(site.topic, title, 1, items, listed=True)])


def _anchor(draws: Draws) -> str:
    return ("go on", "and more", "the next one", "related pages")[draws.below(4)]


def _calendar(path: str) -> tuple[str, list[Item]]:
    parts = [part for part in path.split("/") if part.isascii() and part.isdigit() and len(part) < 7]
    year, month = (int(parts[0]), int(parts[1])) if len(parts) > 1 else (2024, 1)
    months = year * 12 + month - 1
    items = []
    for label, step in (("Previous month", -1), ("Next month", 1), ("Next year", 12)):
        later = max(12, months + step)
        items.append(Item(f"/calendar/{later // 12}/{later % 12 + 1:02d}/", label))
    items += [Item(f"/calendar/{year}/{month:02d}/{day:02d}/", str(day)) for day in range(1, 29, 3)]
    return f"Calendar {year}/{month:02d}", items


def _facets(query: str) -> tuple[str, list[Item]]:
    chosen = dict(part.split("=", 1) for part in query.split("&") if part.count("=") == 1)
    page = int(chosen["page"]) if chosen.get("page", "").isdecimal() and len(chosen["page"]) < 7 else 1
    kept = {name: value for name, value in chosen.items() if value in _FACETS.get(name, ())}
    items = [Item(_filtered(kept, page + 1), "Next page")]
    for name, values in _FACETS.items():
        items += [Item(_filtered({**kept, name: value}, 1), value) for value in values]
    return "Catalogue", items


def _filtered(kept: dict[str, str], page: int) -> str:
    # Filters keep the order in which they were chosen: the same list under many addresses.
    return "/catalogue/?" + "&".join([*(f"{k}={v}" for k, v in kept.items()), f"page={page}"])
