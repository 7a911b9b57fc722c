"""CPU time of parsing a 1.37 MB robots.txt, of compiling it for one agent, and of one question."""

from __future__ import annotations

import time

from jwm.robotstxt.googlebot import RobotsMatcher

from honeyguide.web.robots import Robots

SIZE = 1_370_000


def large_file() -> bytes:
    """A file of many sections, some with wildcards, cut to the size of the largest seen in the wild."""
    lines = ["User-agent: *"]
    length = 0
    number = 0
    while length < SIZE:
        tail = ("/", "/*.pdf$", "*sort=", "/print/")[number % 4]
        lines.append(f"Disallow: /catalogue/section-{number}{tail}")
        length += len(lines[-1]) + 1
        number += 1
    return "\n".join(lines).encode()[:SIZE]


def milliseconds(start: float) -> float:
    return (time.process_time() - start) * 1e3


def main() -> None:
    body = large_file()
    text = body.decode()
    url = "https://example.org/catalogue/section-4321/x/y.pdf?sort=1"
    parse = compiled = asked = float("inf")
    for _ in range(5):
        start = time.process_time()
        robots = Robots.parse(body)
        parse = min(parse, milliseconds(start))
        start = time.process_time()
        robots.allowed("honeyguide", url)
        compiled = min(compiled, milliseconds(start))
        start = time.process_time()
        for _ in range(1000):
            robots.allowed("honeyguide", url)
        asked = min(asked, milliseconds(start))
    start = time.process_time()
    RobotsMatcher().OneAgentAllowedByRobots(text, "honeyguide", url)
    google = milliseconds(start)
    print(f"parse {len(body):,} bytes               {parse:8.1f} ms")
    print(f"compile for one agent (once)        {compiled:8.1f} ms")
    print(f"one question                        {asked:8.2f} µs")
    print(f"one question, parsing anew in C++   {google * 1e3:8.0f} µs")


if __name__ == "__main__":
    main()
