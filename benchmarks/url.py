"""CPU time per URL of the canonical form, beside the bare parsers it rests on."""

from __future__ import annotations

import time
from collections.abc import Callable

import ada_url
import can_ada

from honeyguide.web.url import canonical, canonical_many, host_key, parts, url_id

BASE = "https://en.example.org/wiki/Honeyguide?action=view"
LINKS = [
    *(f"/wiki/Page_{number}" for number in range(40)),
    *(
        f"https://www.example{number}.com/articles/2024/some-title-{number}?id={number}"
        for number in range(20)
    ),
    *(f"../about/{number}.html#section" for number in range(10)),
    *(f"/search?q=bird%20{number}&utm_source=x&page=2" for number in range(6)),
    *("/wiki/Vögel", "mailto:a@example.org", "#top", "javascript:void(0)"),
]


def microseconds(work: Callable[[], object], *, rounds: int, units: int) -> float:
    """Least CPU time of five runs, per unit."""
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(rounds):
            work()
        best = min(best, time.process_time() - start)
    return best / rounds / units * 1e6


def main() -> None:
    base = can_ada.parse(BASE)
    known = [url for url in canonical_many(LINKS, BASE) if url]
    table: list[tuple[str, Callable[[], object], int]] = [
        (
            "ada_url.URL(link, base).href",
            lambda: [ada_url.URL(link, BASE).href for link in LINKS],
            len(LINKS),
        ),
        ("can_ada base + link", lambda: [(base + link).href for link in LINKS], len(LINKS)),
        ("canonical(link, base)", lambda: [canonical(link, BASE) for link in LINKS], len(LINKS)),
        ("canonical_many(links, base)", lambda: canonical_many(LINKS, BASE), len(LINKS)),
        ("url_id(url)", lambda: [url_id(url) for url in known], len(known)),
        ("host_key(url)", lambda: [host_key(url) for url in known], len(known)),
        ("parts(url)", lambda: [parts(url) for url in known], len(known)),
    ]
    for name, work, units in table:
        print(f"{name:32} {microseconds(work, rounds=100, units=units):8.2f} µs")


if __name__ == "__main__":
    main()
