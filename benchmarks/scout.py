"""What scout's priorities cost: CPU a page as the frontier grows, beside best-first, and memory a known URL.

    python benchmarks/scout.py [--pages 5000]

A made-up crawl in process: pages of 40 links (a quarter of them menus), half of them to new URLs, texts
of 300 words. Only the order works; no frontier, no page model.
"""

from __future__ import annotations

import argparse
import random
import time
import tracemalloc
from collections.abc import Sequence

from honeyguide.model import Link, Page, Verdict
from honeyguide.ordering.base import LinkOrder, RevisingOrder
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.scout import Scout
from honeyguide.text.tokens import Analyser
from honeyguide.web.url import url_id

WORDS = [f"word{number}" for number in range(5_000)]


class Flat:
    """A page model that finds all texts alike."""

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Half each."""
        return [0.5] * len(texts)


def made_up(pages: int) -> list[tuple[Page, Verdict]]:
    """Pages of a web of a hundred hosts that grows as it is crawled."""
    draw = random.Random(1)
    known = [f"https://h{number}.example/" for number in range(100)]
    menu = known[:10]
    found: list[tuple[Page, Verdict]] = []
    for number in range(pages):
        targets = list(menu)
        for _ in range(20):
            known.append(f"https://h{draw.randrange(100)}.example/{draw.choice(WORDS)}/{len(known)}.html")
            targets.append(known[-1])
        targets += draw.sample(known, 10)
        links = tuple(
            Link(
                url,
                url_id(url),
                " ".join(draw.choices(WORDS, k=3)),
                tag_path="body/nav/a" if i < 10 else "body/ul/li/a",
            )
            for i, url in enumerate(dict.fromkeys(targets))
        )
        url = known[number]
        text = " ".join(draw.choices(WORDS, k=300))
        score = draw.random()
        found.append((Page(url=url, id=url_id(url), text=text, links=links), Verdict(score, score > 0.5)))
    return found


def run(order: LinkOrder, crawl: list[tuple[Page, Verdict]]) -> list[float]:
    """CPU milliseconds a page for each fifth of the crawl."""
    fifth = max(1, len(crawl) // 5)
    took: list[float] = []
    reader = Analyser(("en",))
    revising = order if isinstance(order, RevisingOrder) else None
    for start in range(0, fifth * 5, fifth):
        spent = 0.0
        for page, verdict in crawl[start : start + fifth]:
            reader.terms(page.content)  # a page model has always read the text before
            began = time.process_time()
            order.learn(page, verdict)
            order.rank(page, verdict, page.links)
            if revising is not None:
                revising.revised()
            spent += time.process_time() - began
        took.append(1e3 * spent / fifth)
    return took


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=5_000)
    pages = parser.parse_args().pages
    crawl = made_up(pages)
    began = time.process_time()
    for page, _ in crawl[:500]:
        page.text.split()
        sorted(page.text)
    yardstick = 1e3 * (time.process_time() - began) / min(500, pages)
    print(f"{pages} pages, {pages * 20 + 100} known URLs; splitting and sorting a text: {yardstick:.3f} ms")
    print("order       ms a page in each fifth of the crawl        last / first")
    for name, order in (("best-first", BestFirst()), ("scout", Scout(Flat()))):
        took = run(order, crawl)
        print(f"{name:10}  {'  '.join(f'{each:7.3f}' for each in took)}   {took[-1] / took[0]:.2f}")
    tracemalloc.start()
    order = Scout(Flat())
    run(order, crawl[: min(pages, 2_000)])
    held, _ = tracemalloc.get_traced_memory()
    print(f"scout holds {held / 1e6:.0f} MB after {min(pages, 2_000)} pages; it grows to its bound only")


if __name__ == "__main__":
    main()
