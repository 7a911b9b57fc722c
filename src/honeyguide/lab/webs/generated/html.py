"""Plans as HTML: head, menu, main part with blocks, aside, footer."""

from __future__ import annotations

from functools import lru_cache

from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.generated.plan import Item, Plan, PlannedBlock
from honeyguide.lab.webs.generated.sites import Site, Sites
from honeyguide.lab.webs.generated.traps import entrance
from honeyguide.lab.webs.generated.vocabulary import Vocabulary

SESSION = "@session@"
"""Stands for the session id in a host's cached menu."""


class Writer:
    """Writes pages. Menus and footers are the same on every page of a host, so they are kept."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self.frame = lru_cache(maxsize=4096)(self._frame)
        self.menu = lru_cache(maxsize=4096)(self._menu)
        self.footer = lru_cache(maxsize=4096)(self._footer)

    def page(self, site: Site, plan: Plan, *, session: str = "", note: str = "") -> str:
        """The whole page. A note marks near copies: it changes a few words at both ends."""
        vocabularies = self._sites.vocabularies
        words = vocabularies[plan.topic].titles
        start = plan.key & 31
        robots = ", ".join(("noindex",) * plan.noindex + ("nofollow",) * plan.nofollow)
        head = [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>',
            plan.title.capitalize(),
            note,
            '</title>\n<meta name="description" content="',
            " ".join(words[start : start + 8]),
            '">\n',
        ]
        if robots:
            head.append(f'<meta name="robots" content="{robots}">\n')
        if plan.canonical:
            head.append(f'<link rel="canonical" href="{plan.canonical}">\n')
        before, after = self.frame(site.index)
        if session:
            before = before.replace(SESSION, session)
        draws = Draws(fingerprint(plan.key, 99))
        body = [_block(vocabularies[block.topic], block, draws) for block in plan.blocks]
        extra = f"<p>{plan.extra}</p>\n" if plan.extra else ""
        title = f"<main>\n<h1>{plan.title.capitalize()}</h1>\n{extra}"
        related = _list(plan.related)
        aside = f'</main>\n<aside class="related"><h3>More in this section</h3>\n{related}</aside>\n'
        return "".join((*head, before, title, *body, aside, f"<p>{note}</p>" if note else "", after))

    def _menu(self, index: int) -> tuple[Item, ...]:
        """The menu: home, sections, and the way into the host's trap."""
        site = self._sites.all[index]
        name = "visit" if site.disguised else "sid"
        tail = f"?{name}={SESSION}" if site.role == "session" else ""
        items = [Item("/" + tail, "Home")]
        items += [Item(f"/{slug}/{tail}", slug.replace("-", " ")) for slug in site.slugs]
        trap = entrance(site)
        return (*items, trap) if trap else tuple(items)

    def _footer(self, index: int) -> tuple[Item, ...]:
        """The footer: about, a private page, and partners, which are mostly off topic."""
        site = self._sites.all[index]
        items = [Item("/about.html", "About us"), Item("/private/login.html", "Log in", nofollow=True)]
        for other in site.partners:
            partner = self._sites.all[other]
            items.append(Item(f"http://{partner.name}/", partner.name))
        if site.role == "redirecting":
            items.append(Item("/go/loop-a", "Old home page"))
        return tuple(items)

    def _frame(self, index: int) -> tuple[str, str]:
        site = self._sites.all[index]
        brand = self._sites.vocabularies[site.topic].name
        before = (
            '<link rel="stylesheet" href="/style.css">\n</head>\n<body>\n<header><p class="brand">'
            f'{site.name}, {brand}</p></header>\n<nav class="menu">\n{_list(self.menu(index))}</nav>\n'
        )
        after = (
            f"<footer>\n{_list(self.footer(index))}<p>Copyright {site.name}</p></footer>\n</body>\n</html>\n"
        )
        return before, after


def _link(item: Item) -> str:
    href = item.href.replace("&", "&amp;") if "&" in item.href else item.href
    rel = ' rel="nofollow"' if item.nofollow else ""
    return f'<a href="{href}"{rel}>{item.anchor}</a>'


def _list(items: list[Item] | tuple[Item, ...]) -> str:
    if not items:
        return ""
    return "<ul>\n" + "".join(f"<li>{_link(item)}</li>\n" for item in items) + "</ul>\n"


def _block(vocabulary: Vocabulary, block: PlannedBlock, draws: Draws) -> str:
    items, sentences = block.items, vocabulary.sentences
    out = [f'<section class="block">\n<h2>{block.heading.capitalize()}</h2>\n']
    if block.listed:
        if block.sentences:
            out.append(f"<p>{sentences(draws, block.sentences)}</p>\n")
        out.append('<ul class="links">\n')
        out += [f"<li>{_link(item)}: {sentences(draws, 1)}</li>\n" for item in items]
        out.append("</ul>\n")
    else:
        # Two links a paragraph, each in the middle of its text.
        paragraphs = max(1, (len(items) + 1) // 2)
        each, over = divmod(block.sentences, paragraphs)
        for number in range(paragraphs):
            inner = " ".join(map(_link, items[2 * number : 2 * number + 2]))
            count = each + (number < over)
            text = sentences(draws, count)
            out.append(f"<p>{text} {inner} {sentences(draws, 1)}</p>\n" if inner else f"<p>{text}</p>\n")
    out.append("</section>\n")
    return "".join(out)
