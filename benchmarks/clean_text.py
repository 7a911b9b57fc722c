"""Which extractor gives the cleanest Markdown: `python benchmarks/clean_text.py`.

The pages are generated here, so every sentence is labelled by construction: each carries a word of its own
that occurs nowhere else, and belongs to the content or to the boilerplate around it (menus, banners,
teasers, comments, footers). Eight layouts are imitated: HTML5 article, anonymous `div`s, a table layout of
the 1990s, a documentation site, a forum thread, a shop, a wiki and a short notice. They are our own and no
sample of the web: the figures compare extractors with each other, no more.

Printed for each extractor: recall (content sentences kept), precision (kept sentences that are content),
F1, and the share of headings, list items, table cells, links and code lines that come out marked as such.
It needs `trafilatura readability-lxml markdownify html-to-markdown justext lxml_html_clean`.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

WORDS = [
    "the",
    "a",
    "of",
    "and",
    "in",
    "to",
    "is",
    "was",
    "with",
    "for",
    "that",
    "by",
    "it",
    "on",
    "as",
    "at",
    "from",
    "this",
    "an",
    "are",
    "which",
    "their",
    "has",
    "more",
    "than",
    "when",
    "into",
    "owl",
    "barn",
    "night",
    "field",
    "mouse",
    "hunting",
    "nest",
    "feather",
    "wood",
    "river",
    "tower",
    "species",
    "young",
    "female",
    "male",
    "season",
    "winter",
    "summer",
    "length",
    "weight",
    "colour",
    "voice",
    "range",
    "forest",
    "farmland",
    "egg",
    "prey",
    "silent",
    "flight",
    "eye",
    "face",
    "disc",
    "population",
    "decline",
    "study",
]


@dataclass
class Labels:
    """What a page holds, by the words that stand for it."""

    content: list[str] = field(default_factory=list)
    boilerplate: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


class Writer:
    """Makes sentences with a word of their own, and remembers on which side each stands."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.labels = Labels()
        self._number = 0

    def _own(self) -> str:
        self._number += 1
        letters = "bcdfghklmnprstvz"
        number, word = self._number + 4096, ""
        while number:
            number, place = divmod(number, 16)
            word += letters[place] + "aeiou"[place % 5]
        return word

    def sentence(self, words: int = 0, *, boilerplate: bool = False) -> str:
        own = self._own()
        (self.labels.boilerplate if boilerplate else self.labels.content).append(own)
        chosen = self.random.choices(WORDS, k=(words or self.random.randint(9, 22)) - 1)
        chosen.insert(len(chosen) // 2, own)
        return " ".join(chosen).capitalize() + ("." if len(chosen) > 5 else "")

    def paragraph(self) -> str:
        text = " ".join(self.sentence() for _ in range(self.random.randint(2, 5)))
        if self.random.random() < 0.4:
            own = self._own()
            self.labels.content.append(own)
            self.labels.links.append((own, f"https://example.org/{own}"))
            text += f' See <a href="/{own}">the {own} page</a> for the details of that study.'
        return f"<p>{text}</p>"

    def heading(self, level: int) -> str:
        text = self.sentence(4)
        self.labels.headings.append(self.labels.content[-1])
        return f"<h{level}>{text}</h{level}>"

    def bullets(self, tag: str = "ul") -> str:
        parts = []
        for _ in range(self.random.randint(3, 6)):
            parts.append(f"<li>{self.sentence(7)}</li>")
            self.labels.items.append(self.labels.content[-1])
        return f"<{tag}>{''.join(parts)}</{tag}>"

    def table(self) -> str:
        def cell(tag: str) -> str:
            text = self.sentence(3)
            self.labels.cells.append(self.labels.content[-1])
            return f"<{tag}>{text}</{tag}>"

        rows = ["".join(cell("th") for _ in range(3))]
        rows += ["".join(cell("td") for _ in range(3)) for _ in range(self.random.randint(2, 4))]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"

    def code(self) -> str:
        lines = []
        for _ in range(3):
            own = self._own()
            self.labels.content.append(own)
            self.labels.code.append(own)
            lines.append(f"    {own} = read('{own}.txt')")
        return "<pre><code>def main():\n" + "\n".join(lines) + "\n</code></pre>"

    def body(self, *, rich: bool = True) -> str:
        parts = [self.paragraph()]
        for _ in range(self.random.randint(2, 3)):
            parts += [self.heading(2), self.paragraph(), self.paragraph()]
            if rich:
                parts.append(self.random.choice([self.bullets, self.table, self.code])())
        return "\n".join(parts)

    def menu(self, entries: int = 8) -> str:
        lines = "".join(
            f'<li><a href="/m{i}">{self.sentence(3, boilerplate=True)}</a></li>' for i in range(entries)
        )
        return f"<ul>{lines}</ul>"

    def teasers(self) -> str:
        return "".join(
            f'<div><a href="/t{i}">{self.sentence(8, boilerplate=True)}</a></div>' for i in range(4)
        )

    def boiler(self, words: int = 0) -> str:
        return self.sentence(words, boilerplate=True)


def article(w: Writer) -> str:
    return (
        f"<header><nav>{w.menu()}</nav></header><main><article>{w.heading(1)}{w.body()}</article></main>"
        f'<aside class="related">{w.teasers()}</aside><footer><p>{w.boiler()}</p>{w.menu(4)}</footer>'
    )


def divs(w: Writer) -> str:
    return (
        f'<div id="top">{w.menu()}</div><div class="cookie-banner"><p>{w.boiler(14)}</p></div>'
        f'<div class="c1"><div class="c2">{w.heading(1)}{w.body()}</div>'
        f'<div class="sidebar">{w.teasers()}</div></div>'
        f'<div class="bottom">{w.boiler()} {w.menu(5)}</div>'
    )


def nineties(w: Writer) -> str:
    text = w.body(rich=False).replace("<h2>", "<p><b>").replace("</h2>", "</b></p>")
    w.labels.headings.clear()
    return (
        f'<table width="100%"><tr><td colspan=2>{w.boiler(6)}</td></tr><tr><td width=150>{w.menu()}</td>'
        f'<td><font face="Arial">{text}{w.bullets()}</font></td></tr>'
        f"<tr><td colspan=2><font size=1>{w.boiler()}</font></td></tr></table>"
    )


def documentation(w: Writer) -> str:
    return (
        f'<div class="sphinxsidebar"><div class="toctree">{w.menu(14)}</div></div>'
        f'<div class="document"><div class="body" role="main"><section>{w.heading(1)}'
        f"{w.paragraph()}{w.code()}"
        f"{w.body()}{w.table()}</section></div></div>"
        f'<div class="footer">{w.boiler(8)}</div><div class="prev-next">{w.menu(2)}</div>'
    )


def forum(w: Writer) -> str:
    posts = ""
    for _ in range(5):
        posts += f'<div class="post"><div class="author">{w.boiler(3)}</div>'
        posts += f'<div class="message">{w.paragraph()}</div>'
        posts += f'<div class="signature">{w.boiler(8)}</div></div>'
    return (
        f'<div class="navbar">{w.menu()}</div>{w.heading(1)}<div class="thread">{posts}</div>'
        f'<div class="online">{w.boiler(12)}</div>'
    )


def shop(w: Writer) -> str:
    return (
        f'<header>{w.menu(10)}</header><div class="product">{w.heading(1)}'
        f'<div class="description">{w.paragraph()}'
        f'{w.bullets()}{w.table()}</div></div><div class="also-bought">{w.teasers()}{w.teasers()}</div>'
        f'<div class="newsletter"><p>{w.boiler(14)}</p></div><footer>{w.menu(12)}</footer>'
    )


def wiki(w: Writer) -> str:
    contents = w.menu(6)
    return (
        f'<div id="content" class="mw-body">{w.heading(1)}<div class="mw-parser-output">{w.paragraph()}'
        f'<div id="toc" class="toc">{contents}</div>{w.body()}{w.table()}</div></div>'
        f'<div id="mw-navigation">{w.menu(10)}</div><div id="footer"><p>{w.boiler()}</p></div>'
    )


def notice(w: Writer) -> str:
    return (
        f"<nav>{w.menu(6)}</nav><div>{w.heading(1)}<p>{w.sentence(16)}</p><p>{w.sentence(12)}</p></div>"
        f"<footer>{w.boiler(6)}</footer>"
    )


LAYOUTS: tuple[Callable[[Writer], str], ...] = (
    article, divs, nineties, documentation, forum, shop, wiki, notice,
)  # fmt: skip


def by_trafilatura(html: str, **options: object) -> str:
    import trafilatura

    return trafilatura.extract(  # type: ignore[no-any-return]
        html, url="https://example.org/", output_format="markdown", include_links=True, include_tables=True,
        include_comments=False, with_metadata=False, deduplicate=False, **options,
    ) or ""  # fmt: skip


def by_honeyguide(html: str) -> str:
    from honeyguide.parse.markdown import to_markdown

    return to_markdown(html.encode(), url="https://example.org/", content_type="text/html; charset=utf-8")


def by_readability(html: str) -> str:
    from markdownify import markdownify
    from readability import Document

    return str(markdownify(Document(html, url="https://example.org/").summary(), heading_style="ATX"))


def by_resiliparse(html: str) -> str:
    from markdownify import markdownify
    from resiliparse.extract.html2text import extract_plain_text

    kept = extract_plain_text(html, preserve_formatting="minimal_html", main_content=True, links=True)
    return str(markdownify(kept, heading_style="ATX"))


def by_whole_page(html: str) -> str:
    import html_to_markdown

    made = html_to_markdown.convert(html)
    return made if isinstance(made, str) else str(made["content"] if isinstance(made, dict) else made.content)


def by_justext(html: str) -> str:
    import justext

    found = justext.justext(html.encode(), justext.get_stoplist("English"))
    return "\n\n".join(each.text for each in found if not each.is_boilerplate)


EXTRACTORS: dict[str, Callable[[str], str]] = {
    "honeyguide (export)": by_honeyguide,
    "trafilatura": by_trafilatura,
    "trafilatura, recall": lambda html: by_trafilatura(html, favor_recall=True),
    "trafilatura, precision": lambda html: by_trafilatura(html, favor_precision=True),
    "readability + markdownify": by_readability,
    "resiliparse + markdownify": by_resiliparse,
    "justext": by_justext,
    "html-to-markdown, no extraction": by_whole_page,
}


def score(text: str, labels: Labels) -> dict[str, tuple[int, int]]:
    """Hits and out of how many, by measure."""
    present = set(re.findall(r"[a-z]+", text.lower()))
    lines = text.lower().splitlines()
    fenced, code = False, []
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            code.append(line)
    joined = {
        "headings": [line for line in lines if line.startswith("#")],
        "items": [line for line in lines if re.match(r"\s*([-*+]|\d+\.)\s", line)],
        "cells": [line for line in lines if "|" in line],
        "code": code,
    }
    kept, noise = present & set(labels.content), present & set(labels.boilerplate)
    figures = {
        "recall": (len(kept), len(labels.content)),
        "precision": (len(kept), len(kept) + len(noise)),
        "links": (sum(f"/{own})" in text.replace(" ", "") for own, _ in labels.links), len(labels.links)),
    }
    for name, found in joined.items():
        words = set(re.findall(r"[a-z]+", "\n".join(found)))
        wanted = getattr(labels, name)
        figures[name] = (len(words & set(wanted)), len(wanted))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--pages", type=int, default=20, help="pages of each layout")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    pages = []
    for place, layout in enumerate(LAYOUTS):
        for number in range(chosen.pages):
            writer = Writer(chosen.seed * 100_003 + place * 1009 + number)
            title = "Owls of the north"
            made = layout(writer)
            head = f'<meta charset="utf-8"><title>{title}</title>'
            html = f'<!doctype html><html lang="en"><head>{head}</head><body>{made}</body></html>'
            pages.append((html, writer.labels))
    measures = ("recall", "precision", "headings", "items", "cells", "links", "code")
    print(f"{len(pages)} generated pages, {len(LAYOUTS)} layouts, seed {chosen.seed}\n")
    print(f"{'extractor':34}{'F1':>7}" + "".join(f"{name:>10}" for name in measures) + f"{'ms/page':>10}")
    for name, extract in EXTRACTORS.items():
        totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        try:
            extract(pages[0][0])
        except ImportError as error:
            print(f"{name:34}  not installed ({error.name})")
            continue
        begun = time.perf_counter()
        texts = [extract(html) for html, _ in pages]
        spent = time.perf_counter() - begun
        for text, (_, labels) in zip(texts, pages, strict=True):
            for measure, (hits, of) in score(text, labels).items():
                totals[measure][0] += hits
                totals[measure][1] += of
        share = {key: hits / of if of else 0.0 for key, (hits, of) in totals.items()}
        both = share["recall"] + share["precision"]
        f1 = 2 * share["recall"] * share["precision"] / both if both else 0.0
        cells = "".join(f"{share[measure]:10.3f}" for measure in measures)
        print(f"{name:34}{f1:7.3f}{cells}{1000 * spent / len(pages):10.1f}")


if __name__ == "__main__":
    main()
