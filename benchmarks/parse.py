"""CPU cost of parsing a page, stage by stage: `python benchmarks/parse.py [pages]`.

Generated pages of 30 KB with 80 links and, where the data sets are at hand, pages of Wikipedia for
Schools; beside them what lxml and BeautifulSoup take for tree, text and links, where installed. All of it
with the memory settings that parse workers have (`WORKER_ENVIRONMENT` in `honeyguide/parse/pool.py`), since
that is where pages are parsed.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from selectolax.lexbor import LexborHTMLParser

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page, read_page
from honeyguide.parse.language import language_of
from honeyguide.parse.links import links_of
from honeyguide.parse.notes import Notes
from honeyguide.parse.page import SIMHASH_SAMPLE
from honeyguide.parse.pool import WORKER_ENVIRONMENT, ParsePool
from honeyguide.parse.prescan import prescan
from honeyguide.parse.walk import walk_page
from honeyguide.text.simhash import simhash
from honeyguide.web.charset import decode_html
from honeyguide.web.digest import sha1_digest

WORDS = (
    *(
        "the",
        "of",
        "and",
        "to",
        "in",
        "for",
        "is",
        "on",
        "that",
        "by",
        "this",
        "with",
        "you",
        "it",
        "not",
        "or",
    ),
    *(
        "home",
        "about",
        "page",
        "search",
        "information",
        "time",
        "site",
        "news",
        "contact",
        "business",
        "help",
    ),
    *(
        "view",
        "online",
        "services",
        "price",
        "people",
        "list",
        "state",
        "health",
        "world",
        "products",
        "music",
    ),
    *(
        "university",
        "research",
        "library",
        "school",
        "history",
        "science",
        "owl",
        "bird",
        "river",
        "mountain",
    ),
)


def generated(seed: int, *, size: int = 30_000, links: int = 80) -> bytes:
    """A page with a menu of 25 links, paragraphs with links, and a footer with 15."""
    chance = random.Random(seed)

    def words(count: int) -> str:
        return " ".join(chance.choices(WORDS, k=count))

    def anchor(prefix: str) -> str:
        return f'<a href="{prefix}{chance.randrange(10**6)}" class="link">{words(2)}</a>'

    menu = "".join(f'<li class="menu">{anchor("/section/")}</li>' for _ in range(25))
    footer = "".join(f"<li>{anchor('https://other.example/')}</li>" for _ in range(15))
    head = f'<title>{words(6)}</title><meta name="description" content="{words(15)}"><script>var a;</script>'
    parts: list[str] = []
    left = links - 40
    while sum(map(len, parts)) < size - 5_000:
        parts.append(f"<h2>{words(4)}</h2>" if chance.random() < 0.2 else "")
        sentences = []
        for _ in range(4):
            sentences.append(f"{words(14)} {anchor('/wiki/')}, " if left > 0 else f"{words(16)}. ")
            left -= 1
        parts.append(f"<p>{''.join(sentences)}<b>{words(2)}</b></p>\n")
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}</head><body>'
        f'<nav><ul>{menu}</ul></nav><div id="main"><div><h1>{words(5)}</h1>{"".join(parts)}</div></div>'
        f"<footer><ul>{footer}</ul></footer>"
        "</body></html>"
    ).encode()


def recorded(count: int) -> list[bytes]:
    """Bodies from the schools web, or none."""
    root = Path(os.environ.get("HONEYGUIDE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = root / "webs" / "schools.warc.gz"
    if not path.exists():
        return []
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    bodies: list[bytes] = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
            bodies.append(record.reader.read())
            if len(bodies) == count:
                break
    return bodies


def cost(function: Callable[[bytes], object], bodies: list[bytes]) -> float:
    """µs of CPU a page: the better of three rounds, because the machine has other work."""
    rounds = []
    for _ in range(3):
        started = time.process_time()
        for body in bodies:
            function(body)
        rounds.append((time.process_time() - started) / len(bodies) * 1e6)
    return min(rounds)


def stages() -> dict[str, Callable[[bytes], object]]:
    """What is measured; every stage is given what the stages before it made, prepared beforehand."""
    url = "https://example.org/dir/page.html"
    made: dict[int, tuple[str, LexborHTMLParser, Notes, Page]] = {}

    def prepared(body: bytes) -> tuple[str, LexborHTMLParser, Notes, Page]:
        if id(body) not in made:
            text = decode_html(body, "")[0]
            tree = LexborHTMLParser(text, options=1, scripting=True)
            page = parse_page(ParseJob(url, body))
            assert isinstance(page, Page)
            made[id(body)] = text, tree, read_page(tree), page
        return made[id(body)]

    return {
        "decode": lambda body: decode_html(body, ""),
        "pre-scan": prescan,
        "tree": lambda body: LexborHTMLParser(body, options=1, scripting=True),
        "notes": lambda body: read_page(prepared(body)[1]),
        "notes, in Python": lambda body: walk_page(prepared(body)[1]),
        "links": lambda body: links_of(prepared(body)[2].links, url, page=url),
        "language": lambda body: language_of(prepared(body)[3].main_text),
        "simhash": lambda body: simhash(prepared(body)[3].main_text[:SIMHASH_SAMPLE]),
        "digest": sha1_digest,
        "encode": lambda body: msgspec.msgpack.encode(prepared(body)[3]),
        "parse_page": lambda body: parse_page(ParseJob(url, body)),
        "parse_page with blocks": lambda body: parse_page(ParseJob(url, body, blocks=True)),
        "parse_page without main text": lambda body: parse_page(ParseJob(url, body, main_text=False)),
        **competitors(),
    }


def competitors() -> dict[str, Callable[[bytes], object]]:
    """Other parsers doing part of the work: tree, text, link addresses."""
    found: dict[str, Callable[[bytes], object]] = {}
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse main text"] = lambda body: extract_plain_text(
            body.decode("utf-8", "replace"), main_content=True
        )
    except ImportError:
        pass
    try:
        import lxml.html

        def by_lxml(body: bytes) -> object:
            tree = lxml.html.fromstring(body)
            return tree.text_content(), [link[2] for link in tree.iterlinks()]

        found["lxml: tree, text, links"] = by_lxml
    except ImportError:
        pass
    try:
        from bs4 import BeautifulSoup

        def by_soup(body: bytes) -> object:
            soup = BeautifulSoup(body, "lxml")
            return soup.get_text(" "), [a.get("href") for a in soup.find_all("a")]

        found["BeautifulSoup: tree, text, links"] = by_soup
    except ImportError:
        pass
    return found


async def throughput(bodies: list[bytes], *, workers: int) -> tuple[float, float]:
    """Pages a second through the pool, and ms of CPU a page in its workers."""
    pool = ParsePool(workers)
    jobs = [ParseJob(f"https://example.org/{number}", body) for number, body in enumerate(bodies)]
    await asyncio.gather(*(pool.parse(job) for job in jobs))
    ticks = sum(map(_ticks, pool.processes()))
    started = time.perf_counter()
    for _ in range(5):
        await asyncio.gather(*(pool.parse(job) for job in jobs))
    elapsed = time.perf_counter() - started
    used = (sum(map(_ticks, pool.processes())) - ticks) / os.sysconf("SC_CLK_TCK")
    await pool.close()
    return 5 * len(jobs) / elapsed, used / (5 * len(jobs)) * 1e3


def _ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


def main() -> None:
    if not WORKER_ENVIRONMENT.items() <= os.environ.items():  # read when a process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | WORKER_ENVIRONMENT)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    corpora = {"generated": [generated(seed) for seed in range(count)], "schools": recorded(count)}
    corpora = {name: bodies for name, bodies in corpora.items() if bodies}
    print(f"{'µs of CPU a page':34}" + "".join(f"{name:>12}" for name in corpora))
    sizes = [sum(map(len, bodies)) // len(bodies) for bodies in corpora.values()]
    print(f"{'bytes':34}" + "".join(f"{size:12}" for size in sizes))
    found: dict[str, dict[str, float]] = {name: {} for name in corpora}
    for name, function in stages().items():
        for corpus, bodies in corpora.items():
            found[corpus][name] = cost(function, bodies)
        print(f"{name:34}" + "".join(f"{found[corpus][name]:12.0f}" for corpus in corpora))
    for name, bodies in corpora.items():
        speed, used = asyncio.run(throughput(bodies, workers=1))
        found[name]["pool"] = 1000 * used
        print(f"pool, one worker, {name}: {speed:.0f} pages/s, {used:.2f} ms of worker CPU a page")
    print(
        json.dumps({name: {key: round(us, 1) for key, us in stage.items()} for name, stage in found.items()})
    )


if __name__ == "__main__":
    main()
