"""A page that needs no tree is written out as its tree would be; any other is left to the tree builder."""

from __future__ import annotations

import random

import pytest
from selectolax.lexbor import LexborHTMLParser

from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
from honeyguide.native import native
from honeyguide.parse.html import read_page, read_tidy_page

pytestmark = pytest.mark.skipif(native is None, reason="the C part is not built here")

WHOLE = "<!DOCTYPE html>\n<html>\n<head><title>T</title></head>\n<body>{}</body>\n</html>\n"
TIDY = (
    "", "\n", "words", "<p>one</p>\n<p>two</p>", "a &amp; b & c > d \" ' \u00a0&nbsp;&quot;",
    "&copy; &mdash; &#39; &#x2019; &#233; \u6f22", "<a href='/x?a=1&b=2&amp;c' title=\"a<b>c\">x</a>",
    "<DIV CLASS=x hidden data-a='\"'>y</DIV>", "<br><br/><img src=/i.png /><hr>", "a\r\nb\rc",
    "<ul>\n<li>a</li>\n<li><p>b</p><ul><li>c</li></ul></li></ul>", "<dl><dt>a</dt><dd>b</dd></dl>",
    "<table>\n<tr><td>a</td></tr>\n</table>", "<b><table><tbody><tr><th>a</th></tr></tbody></table></b>",
    "<table><caption>c</caption><colgroup><col></colgroup><thead><tr><th>a</th></tr></thead></table>",
    "<b><b><b><b>x</b></b></b></b>", "<h1><span>a</span></h1><h2>b</h2>", "<pre>\n\n x</pre>",
    "<select><option>a</option><optgroup label=x><option>b</option></optgroup></select>",
    "<script>if (a < b && c) d('</b>')</script>", "<script><!--\na\n//--></script>", "<style>a > b</style>",
    "<noscript><p>a & b</noscript >", "<textarea>a &lt; b</textarea>", "<iframe src=/f></iframe>",
    "<!-- a -- b - -->", "<form><button>a</button></form><form></form>", "<label>a<input value=1></label>",
)  # fmt: skip
LEFT_ALONE = (
    "<p>a<p>b", "<p><div>a</div></p>", "<p><ul></ul></p>", "<a href=/x><a href=/y>a</a></a>",
    "<b><i>a</b></i>", "<li>a<li>b</li></li>", "<ul><li><div><li>a</li></div></li></ul>",
    "<dd><span><dt>a</dt></span></dd>", "<h1><h2>a</h2></h1>", "<table>a<tr><td>b</td></tr></table>",
    "<table><tr><p>a</p></tr></table>", "<table><tr><td>a</td></tr><tbody></tbody></table>", "<div/>",
    "</p>", "</br>", "<image>", "<svg></svg>", "<form><form></form></form>",
    "<button><button>a</button></button>", "<title>a</title>", "a < b", "&bogus;", "&amp", "&#0;", "&#150;",
    "\x00", "<a a=1 a=2>a</a>", "<a b=c'd>a</a>", "<!-->", "<!-- a --!> b -->", "<!x>", "<?x>",
    "<script><!--<script></script>--></script>", "<textarea>\na</textarea>", "<select><p>a</p></select>",
    "<frameset></frameset>", "<nobr>a</nobr>", "<template>a</template>", "<div>a", "<body>",
    "<option>a</option>", "</body>a<body>", "<td>a</td>",
)  # fmt: skip


def tree(html: str) -> str | None:
    root = LexborHTMLParser(html.encode("utf-8", "replace"), options=1, scripting=True).root
    return None if root is None else root.html


def tidied(html: str) -> str | None:
    assert native is not None
    return native.tidied(html)


@pytest.mark.parametrize("body", TIDY)
def test_is_what_the_tree_builder_writes(body: str) -> None:
    html = WHOLE.format(body)
    assert tidied(html) == tree(html)


@pytest.mark.parametrize("body", LEFT_ALONE)
def test_what_a_tree_builder_changes_is_left_to_it(body: str) -> None:
    assert tidied(WHOLE.format(body)) is None


@pytest.mark.parametrize(
    "html",
    [
        "<html><head></head><body>a</body></html>",
        "<!-- a --><html><!-- b --><head>\n</head> <body></body>",
        "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'><html lang=en><head></head><body class=x>a</body>",
        *("<html><head></head><body>a</body></html>\n<!-- b -->\n", "<html><head></head><body>a</body>"),
    ],
)
def test_around_the_body(html: str) -> None:
    assert tidied(html) == tree(html) != None  # noqa: E711 - all three are equal


@pytest.mark.parametrize(
    "html",
    [
        *("", "a", "<p>a</p>", "<html><body>a</body></html>", "<html><head></head>a<body></body></html>"),
        *("<html><head><p>a</p></head><body></body></html>", "<html><head></head><body></body>a</html>"),
        "<html><head></head><body></body><!-- a --></html>",
    ],
)
def test_a_root_that_has_to_be_put_right(html: str) -> None:
    assert tidied(html) is None


NAMES = (
    "a", "b", "span", "em", "p", "div", "ul", "ol", "li", "dl", "dt", "dd", "h1", "h2", "table", "tbody",
    "tr", "td", "th", "caption", "form", "button", "select", "option", "pre", "section", "address", "label",
    "center", "br", "hr", "img", "input", "meta", "script", "style", "textarea", "svg", "nobr", "object",
    "ruby", "Div",
)  # fmt: skip
EMPTY = frozenset(("br", "hr", "img", "input", "meta"))
ATTRIBUTES = (
    "", "", "", " a=b", ' href="/x?a&b=1&amp;c"', " c='d \"e\"'", " hidden", " x=1 X=2", "/", ' t="&lt;"',
)  # fmt: skip
TEXTS = (
    "x", " ", "\n", "a & b", "&amp;", "&nbsp;", "1 > 0", "\u00a0", "&eacute;", "\r\n", "&rsquo;",
    "<!-- c -->", "<",
)  # fmt: skip


def tangle(chance: random.Random, depth: int = 0) -> str:
    """Markup that is in order more often than not."""
    parts = []
    for _ in range(chance.randint(0, 3)):
        if chance.random() < 0.4 or depth > 5:
            parts.append(chance.choice(TEXTS))
            continue
        name = chance.choice(NAMES)
        inner = "" if name in EMPTY else tangle(chance, depth + 1)
        if name == "table" and chance.random() < 0.8:
            inner = f"<tr><td>{inner}</td></tr>"
        elif name in ("ul", "ol") and chance.random() < 0.8:
            inner = f"<li>{inner}</li>"
        end = "" if name in EMPTY or chance.random() < 0.02 else f"</{name}>"
        parts.append(f"<{name}{chance.choice(ATTRIBUTES)}>{inner}{end}")
    return "".join(parts)


def test_of_many_tangles_none_is_written_otherwise() -> None:
    chance, tidy = random.Random(8), 0
    for _ in range(20_000):
        html = WHOLE.format(tangle(chance))
        written = tidied(html)
        if written is not None:
            assert written == tree(html), html
            tidy += 1
    assert 2_000 < tidy < 19_000


def test_notes_of_a_page_are_the_same_with_and_without_a_tree() -> None:
    web = GeneratedWeb(WebSpec(pages=140, hosts=11, words_per_page=200, gzip=0.0))
    read = 0
    for url in web.pages():
        html = web.get(url).body.decode("utf-8", "replace")
        notes = read_tidy_page(html, blocks=True)
        if notes is not None:
            assert notes == read_page(LexborHTMLParser(html, options=1, scripting=True), blocks=True)
            read += 1
    assert read > 20
