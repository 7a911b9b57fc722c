"""What the parser knows about HTML's elements."""

from __future__ import annotations

from typing import Final

BREAKING: Final = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "center",
            "dd",
            "details",
            "dialog",
        ),
        *("dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1"),
        *(
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "header",
            "hgroup",
            "hr",
            "legend",
            "li",
            "main",
            "menu",
            "nav",
            "ol",
        ),
        *(
            "p",
            "pre",
            "search",
            "section",
            "summary",
            "table",
            "tbody",
            "td",
            "tfoot",
            "th",
            "thead",
            "tr",
            "ul",
        ),
    )
)
"""Elements that start and end a line: text before and after them never runs together."""

SPACING: Final = frozenset(("br", "input", "option"))
"""Elements that separate words but not lines of text."""

HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))

SKIPPED: Final = frozenset(
    (
        *("script", "style", "template", "noscript", "noframes", "noembed", "svg", "select", "datalist"),
        *("textarea", "canvas", "audio", "video", "object", "applet"),
    )
)
"""Elements whose content is not text of the page: code, fallbacks for what browsers can do,
drawings, and form controls (a list of all countries says nothing about the page)."""

GROUPING: Final = frozenset(
    (
        *("article", "aside", "blockquote", "center", "dir", "div", "dl", "fieldset", "figure", "footer"),
        *("form", "header", "main", "menu", "nav", "ol", "p", "section", "table", "ul"),
    )
)
"""Elements whose links belong together: lists, tables, paragraphs, boxes."""

BOILERPLATE: Final = frozenset(("nav", "footer", "aside", "menu", "form", "dialog", "button"))
"""Elements that never hold the main text."""

FEED_TYPES: Final = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")
)

PAGE_TYPES: Final = frozenset(("", "text/html", "application/xhtml+xml"))

FOLLOWED_RELATIONS: Final = frozenset(
    (
        *("next", "prev", "previous", "first", "last", "start", "contents", "index", "toc", "chapter"),
        *("section", "subsection", "appendix", "glossary", "up", "home", "top", "alternate"),
    )
)
"""Relations of a `<link>` element that lead to pages."""
