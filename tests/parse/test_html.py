# ruff: noqa: RUF001 - texts in other scripts are the point here
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.model import Link, Outcome, Page
from honeyguide.parse.base import ParseFailure, ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.web.url import url_id

URL = "https://example.org/dir/page.html"


def parsed(body: str | bytes, content_type: str = "text/html; charset=utf-8", **options: object) -> Page:
    raw = body if isinstance(body, bytes) else body.encode()
    page = parse_page(ParseJob(URL, raw, content_type, **options))  # type: ignore[arg-type]
    assert isinstance(page, Page), page
    return page


def links(body: str) -> list[str]:
    return [link.url for link in parsed(body).links]


def test_title_description_headings() -> None:
    page = parsed(
        "<title> Owls \n of the <b>north</title><meta name=Description content=' All about\towls. '>"
        "<h1>One</h1><h2>Two <a href=x>linked</a></h2><h3> </h3><svg><title>icon</title></svg>"
    )
    assert page.title == "Owls of the <b>north"
    assert page.description == "All about owls."
    assert page.headings == ("One", "Two linked")


def test_text_is_what_a_reader_sees() -> None:
    page = parsed(
        "<p>One<p>two <b>th</b>ree<script>no()</script><style>no{}</style><template>no</template>"
        "<noscript>no</noscript><div hidden>no</div><div style='color:red; DISPLAY : none'>no</div>"
        "<ul><li>four<li>five</ul>six<br>seven<!-- no --><table><tr><td>eight<td>nine</table>"
        "<select><option>no</select>&amp;\u00a0\u3000ten"
    )
    assert page.text == "One two three four five six seven eight nine & ten"


@pytest.mark.parametrize("scan", ["tidy", "tree"])
def test_words_with_soft_hyphens_and_zero_width_spaces_are_whole(scan: str) -> None:
    broken = "" if scan == "tidy" else "<p>a<p>b"
    page = parsed(
        "<html><head><title>Der Wald&shy;kauz</title><meta name=description content='Ein Vo&shy;gel'></head>"
        "<body><h1>Schleier\u00adeule</h1><p>Der Wald&shy;kauz, die Eu&#173;le, ow\u200bl\u200b, bar\u2060n"
        f" &shy; owl\ufeff</p><p><a href='/a\u00adb'>Uhu&ZeroWidthSpace;s</a></p>{broken}</body></html>"
    )
    assert page.title == "Der Waldkauz"
    assert page.description == "Ein Vogel"
    assert page.headings == ("Schleiereule",)
    assert page.text.startswith("Schleiereule Der Waldkauz, die Eule, owl, barn owl Uhus")
    assert [(link.url, link.anchor) for link in page.links] == [("https://example.org/a%C2%ADb", "Uhus")]
    assert "Waldkauz" in page.main_text
    # Joiners that a script needs stay.
    assert parsed("<p>\u0645\u06cc\u200c\u062e\u0648").text == "\u0645\u06cc\u200c\u062e\u0648"


def test_control_characters_steer_no_terminal() -> None:
    page = parsed(
        "<title>\x1b]0;owl\x07s\x9b2J</title>"
        "<p>a\x1b[31m b\x85c\x1fd<a href=/\x1ba>\x1b[2Jx</a><img alt='\x08y'>"
    )
    assert page.title == "]0;owls2J"
    assert page.text == "a[31m b c d[2Jx"
    assert [(link.url, link.anchor) for link in page.links] == [("https://example.org/%1Ba", "[2Jx")]
    assert parsed("owl\x1b[31m\x00s", "text/plain").text == "owl[31ms"


def test_hidden_elements_keep_their_links() -> None:
    page = parsed("<div hidden>secret <a href=/a>word</a></div>shown")
    assert page.text == "shown"
    assert [(link.url, link.anchor) for link in page.links] == [("https://example.org/a", "word")]


def test_links_of_all_kinds() -> None:
    page = parsed(
        "<head><link rel=next href=/next><link rel=alternate type=application/rss+xml href=/feed>"
        "<link rel=alternate type='application/json+oembed' href=/oembed><link rel=sitemap href=/map.xml>"
        "<link rel=stylesheet href=/s><meta http-equiv=Refresh content='5; URL=/refresh'></head>"
        "<a href=a>A</a><map><area href=/area alt=Area></map><iframe src=/iframe></iframe>"
        "<a href=/news.rss>rss</a><a href=/sitemap_index.xml>map</a>"
    )
    assert [(link.url.removeprefix("https://example.org"), link.kind) for link in page.links] == [
        ("/next", "link"),
        ("/feed", "feed"),
        ("/map.xml", "sitemap"),
        ("/dir/a", "a"),
        ("/area", "area"),
        ("/iframe", "iframe"),
        ("/news.rss", "feed"),
        ("/sitemap_index.xml", "sitemap"),
        ("/refresh", "refresh"),
    ]
    assert page.links[4].anchor == "Area"


def test_frames_are_links() -> None:
    page = parsed("<frameset><frame src=left.html><frame src=right.html></frameset>")
    assert [link.kind for link in page.links] == ["frame", "frame"]


def test_a_link_in_full() -> None:
    page = parsed(
        "<body><div><ul><li>See <a href='../b?utm_source=x#f' rel='NoFollow'>the  B</a> page</ul></div>"
    )
    assert page.links == (
        Link(
            url="https://example.org/b",
            id=url_id("https://example.org/b"),
            anchor="the B",
            context="See the B page",
            tag_path="body/div/ul/li/a",
            nofollow=True,
            group=1,
        ),
    )


def test_links_are_grouped_by_list_and_paragraph() -> None:
    page = parsed(
        "<body><a href=0>a</a><div><ul></ul><p>See <a href=1>b</a> and <b><a href=2>c</a></b></p>"
        "<ul><li><a href=3>d</a><li><a href=4>e</a><ul><li><a href=5>f</a></ul><li><a href=6>g</a></ul></div>"
        "<div hidden><ul><li><a href=7>h</a></ul></div>"
        "<table><tr><td><a href=8>i</a><td><a href=9>j</a></table>"
    )
    assert [link.group for link in page.links] == [0, 1, 1, 2, 2, 3, 2, 4, 5, 5]


def test_repeated_targets_are_joined() -> None:
    page = parsed(
        "<p>x <a href=/a rel=nofollow>one</a></p><p><a href=/b>B</a></p><p>y <a href=/a#f>two</a></p>"
    )
    first, second = page.links
    assert (first.anchor, first.context, first.position) == ("one two", "x one y two", 0)
    assert not first.nofollow
    assert second.position == 1


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title> &nbsp; </title><p>Text<h1>Owls of <i>Europe</i></h1><h2>More</h2>", "Owls of Europe"),
        ("<h1> </h1><h2>Second</h2>", "Second"),
        ("<title>Owls</title><h1>Welcome</h1>", "Owls"),
        ("<p>Neither", ""),
    ],
)
def test_a_page_without_a_title_is_called_by_its_heading(body: str, title: str) -> None:
    assert parsed(body).title == title


def test_anchor_falls_back_to_image_and_title() -> None:
    page = parsed(
        "<a href=/a><img alt='An owl'></a><a href=/b title='The b'></a><a href=/c><img alt=no>Text</a>"
    )
    assert [link.anchor for link in page.links] == ["An owl", "The b", "Text"]


def test_context_is_cut_around_the_anchor() -> None:
    words = " ".join(f"word{number}" for number in range(500))
    (link,) = parsed(f"<p>{words} before <a href=/a>anchor</a> after {words}</p>").links
    assert len(link.context) <= 302
    assert " before anchor after " in link.context
    assert link.context.startswith("word")


def test_base_applies_to_all_links() -> None:
    body = "<a href=a>A</a><base href='//other.example/x/'><base href=/second/><a href=b>B</a>"
    assert links(body) == ["https://other.example/x/a", "https://other.example/x/b"]


@pytest.mark.parametrize(
    "href",
    [
        "#top",
        "javascript:void(0)",
        "mailto:a@example.org",
        "page.html",
        "/a.JPG",
        "/x.zip?y",
        "data:,x",
        "http://[",
    ],
)
def test_what_is_no_link(href: str) -> None:
    assert links(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize(
    "href", ["/wiki/File:A.jpg", "/a.php?f=x.jpg", "/paper.pdf", "/v1.2", "http://a.gz/"]
)
def test_what_may_be_a_page(href: str) -> None:
    assert len(links(f'<a href="{href}">x</a>')) == 1


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href=/other>", "https://example.org/other"),
        ("<link rel='Canonical' href='page.html#x'>", ""),
        ("<link rel=canonical href='javascript:x'>", ""),
        ("<body><link rel=canonical href=/other>", ""),
    ],
)
def test_canonical(head: str, canonical: str) -> None:
    assert parsed(head).canonical == canonical


@pytest.mark.parametrize(
    ("head", "tags", "noindex", "nofollow"),
    [
        ("", (), False, False),
        ("<meta name=robots content='NOINDEX, follow'>", (), True, False),
        ("<meta name=Honeyguide content=none>", (), True, True),
        ("<meta name=otherbot content=none>", (), False, False),
        ("", ("noindex",), True, False),
        ("", ("otherbot: noindex", "nofollow"), False, True),
    ],
)
def test_robots(head: str, tags: tuple[str, ...], noindex: bool, nofollow: bool) -> None:
    page = parsed(head, robots_tags=tags)
    assert (page.noindex, page.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    ("codec", "text", "language"),
    [
        ("gb2312", "今天的天气非常好，我们一起去公园里散步，看看那里的花和树。", "zh"),
        ("gbk", "這是一個用繁體中文寫的網頁，內容是關於鳥類的生活和習性。", "zh"),
        ("big5", "這是一個用繁體中文寫的網頁，內容是關於鳥類的生活和習性。", "zh"),
        ("shift_jis", "これは日本語で書かれたページです。鳥の生活について説明しています。", "ja"),
        (
            "windows-1251",
            "Это страница на русском языке о жизни птиц и о том, что они едят зимой в лесу.",
            "ru",
        ),
    ],
)
def test_charsets(codec: str, text: str, language: str) -> None:
    raw = f"<html><head><meta charset={codec}><title>{text[:6]}</title></head><p>{text}</p>".encode(codec)
    page = parsed(raw, "text/html")
    assert page.text == text
    assert page.title == text[:6].strip()
    assert page.language == language
    body = f"<p>{text}</p>".encode(codec)
    assert parsed(body, f"text/html; charset={codec}").text == text


def test_header_beats_meta_and_mark_beats_header() -> None:
    lying = "<meta charset=windows-1251><p>naïve café".encode()
    assert parsed(lying, "text/html; charset=utf-8").text == "naïve café"
    marked = b"\xef\xbb\xbf" + "<p>naïve café".encode()
    assert parsed(marked, "text/html; charset=windows-1251").text == "naïve café"
    assert parsed("<p>naïve café".encode("utf-16"), "text/html; charset=latin-1").text == "naïve café"


def test_undecodable_bytes_do_not_fail() -> None:
    assert "caf" in parsed(b"<p>caf\xe9\xff\xfe", "text/html; charset=utf-8").text


def test_language_by_text_then_by_attribute() -> None:
    german = "Die Eule ist ein nachtaktiver Vogel, der in vielen Ländern der Erde vorkommt und Mäuse jagt."
    assert parsed(f"<html lang=en><p>{german}").language == "de"
    assert parsed("<html lang=pt-BR><p>42").language == "pt"
    assert parsed("<html lang='nonsense'><p>42").language == ""


def test_plain_text() -> None:
    page = parsed(b"An owl\n\n  in   the <b> tree\n", "text/plain")
    assert (page.title, page.text, page.content_type) == ("An owl", "An owl in the <b> tree", "text/plain")
    assert page.main_text == page.text


def test_xhtml() -> None:
    page = parsed(
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title>T</title></head>"
        "<body><p>Text <a href='a'/></p></body></html>",
        "application/xhtml+xml",
    )
    assert (page.title, page.text, len(page.links)) == ("T", "Text", 1)


@pytest.mark.parametrize("kind", ["image/png", "application/json", "video/mp4", "text/css"])
def test_other_types_are_no_pages(kind: str) -> None:
    answer = parse_page(ParseJob(URL, b"<p>x", kind))
    assert isinstance(answer, ParseFailure)
    assert answer.outcome == Outcome.NOT_A_PAGE


def test_pictures_that_claim_to_be_html() -> None:
    answer = parse_page(ParseJob(URL, b"\x89PNG\r\n\x1a\n", "text/html"))
    assert isinstance(answer, ParseFailure)
    assert answer.outcome == Outcome.NOT_A_PAGE


def test_body_facts() -> None:
    page = parsed(b"<p>one two three four")
    assert page.digest == "sha1:H3NDW3RD4X66BQ6U3CSX7PHAFHCBYZKK"
    assert page.bytes == 21
    assert page.simhash == parsed(b"<div>one two three four</div>").simhash != 0
    assert page.id == url_id(URL)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["text/html", "text/plain", "text/html; charset=utf-16", ""]))
def test_never_raises_on_bytes(body: bytes, kind: str) -> None:
    assert isinstance(parse_page(ParseJob(URL, body, kind, blocks=True)), Page | ParseFailure)


fragments = st.lists(
    st.sampled_from(
        [
            "<a",
            "href=/x>",
            "</a>",
            "<p>",
            "<table>",
            "<tr>",
            "<td>",
            "</table>",
            "<b>",
            "</b>",
            "<div",
            "hidden>",
            "</div>",
            "<svg>",
            "</svg>",
            "<math>",
            "<select>",
            "<option>",
            "</select>",
            "<template>",
            "</template>",
            "<base",
            "href=//[>",
            "<meta>",
            "<frameset>",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "text",
            "&amp;",
            "&#0;",
            "<h1>",
            "</h1>",
            "<iframe",
            "src=/y>",
            "</iframe>",
            "<title>",
            "</title>",
            "\x00",
            "�",
            "<",
            ">",
            "</p>",
            "<body>",
            "<html>",
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(fragments)
def test_never_raises_on_markup(body: str) -> None:
    page = parse_page(ParseJob(URL, body.encode("utf-8", "surrogatepass"), blocks=True))
    assert isinstance(page, Page)
    assert page.text == " ".join(page.text.split())
    assert " ".join(block.text for block in page.blocks if block.text) == page.text
