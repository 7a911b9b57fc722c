"""Sitemaps and feeds, honest and hostile."""

from __future__ import annotations

import gzip
import resource
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from property_tests import many

from honeyguide.web import sitemap as web_sitemap
from honeyguide.web.sitemap import Entry, gunzip_limited, parse_sitemap

HOME = "https://www.example.org/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urls_of(body: bytes | str, url: str = HOME) -> list[str]:
    found = parse_sitemap(body.encode() if isinstance(body, str) else body, url)
    return [entry.url for entry in found.urls]


def test_urlset() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc> https://www.example.org/a&amp;b </loc><lastmod>2024-05-01</lastmod><priority>0.8</priority>
      </url>
      <url><loc><![CDATA[https://blog.example.org/b?utm_source=s]]></loc>
        <lastmod>2024-05-01T10:00:00+02:00</lastmod>
        <image:image><image:loc>https://www.example.org/i.png</image:loc></image:image><priority>7</priority></url>
      <url><loc>/relative</loc><lastmod>soon</lastmod></url>
      <url><loc>https://evil.example/</loc></url>
      <url><loc>https://www.example.org/a&amp;b</loc></url>
      <url><loc></loc></url><url/>
    </urlset>"""
    found = parse_sitemap(body.encode(), HOME)
    assert found.kind == "urlset"
    assert found.urls == (
        Entry("https://www.example.org/a&b", "2024-05-01", 0.8),
        Entry("https://blog.example.org/b", "2024-05-01T10:00:00+02:00", 0.5),
        Entry("https://www.example.org/relative", "", 0.5),
    )
    assert found.indexes == ()


def test_index() -> None:
    body = (
        f"<sitemapindex {NAMESPACE}><sitemap><loc>https://www.example.org/1.xml.gz</loc></sitemap>"
        "<sitemap><loc>https://other.net/2.xml</loc></sitemap></sitemapindex>"
    )
    found = parse_sitemap(gzip.compress(body.encode()), HOME)
    assert (found.kind, found.urls, found.indexes) == ("index", (), ("https://www.example.org/1.xml.gz",))


def test_rss() -> None:
    body = """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
      <link>https://www.example.org/</link><atom:link href="https://www.example.org/feed" rel="self"/>
      <item><title>x</title><link>https://www.example.org/1</link>
        <pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item>
      <item><guid>https://www.example.org/2</guid></item>
      <item><guid isPermaLink="false">https://www.example.org/3</guid></item></channel></rss>"""
    found = parse_sitemap(body.encode(), HOME)
    assert found.kind == "rss"
    assert found.urls == (
        Entry("https://www.example.org/1", "2024-05-01T10:00:00+00:00"),
        Entry("https://www.example.org/2"),
    )


def test_atom() -> None:
    body = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/>
      <entry><link rel="edit" href="/edit"/><link href="/1"/><updated>2024-05-01T10:00:00Z</updated></entry>
      <entry><link rel="alternate" href="/2"/></entry></feed>"""
    found = parse_sitemap(body.encode(), HOME)
    assert found.kind == "atom"
    assert found.urls == (
        Entry("https://www.example.org/1", "2024-05-01T10:00:00Z"),
        Entry("https://www.example.org/2"),
    )


def test_text() -> None:
    body = b"\xef\xbb\xbfhttps://www.example.org/a\r\n\r\nhttp://example.org/b\nnonsense\nhttps://evil.example/\n"
    found = parse_sitemap(body, HOME)
    assert found.kind == "text"
    assert [entry.url for entry in found.urls] == ["https://www.example.org/a", "http://example.org/b"]


@pytest.mark.parametrize(
    "body", [b"", b"   ", b"nonsense", b"<html><body>404</body></html>", b"{}", b"\x1f\x8bxx"]
)
def test_not_a_sitemap(body: bytes) -> None:
    assert parse_sitemap(body, HOME) == web_sitemap.Sitemap()


def test_utf16_and_leading_white_space() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>https://www.example.org/ü</loc></url></urlset>'
    assert urls_of(text.encode("utf-16")) == ["https://www.example.org/%C3%BC"]
    assert urls_of("\n <urlset><url><loc>/a</loc></url></urlset>") == ["https://www.example.org/a"]


def test_a_cut_document_keeps_what_came_before() -> None:
    assert urls_of("<urlset><url><loc>/a</loc></url><url><loc>/b") == ["https://www.example.org/a"]


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("TOPSECRET")
    uri = secret.as_uri()
    body = (
        f'<!DOCTYPE urlset [<!ENTITY x SYSTEM "{uri}"><!ENTITY % p SYSTEM "{uri}"> %p;]>'
        "<urlset><url><loc>https://www.example.org/&x;</loc></url></urlset>"
    )
    assert "TOPSECRET" not in repr(parse_sitemap(body.encode(), HOME))


def test_an_external_dtd_is_not_loaded(tmp_path: Path) -> None:
    dtd = tmp_path / "x.dtd"
    dtd.write_text('<!ENTITY y "leaked">')
    body = f'<!DOCTYPE urlset SYSTEM "{dtd.as_uri()}"><urlset><url><loc>/a&y;</loc></url></urlset>'
    assert "leaked" not in repr(parse_sitemap(body.encode(), HOME))


def test_entity_bombs_do_not_expand() -> None:
    """The parser allocates outside Python, so the process as a whole is measured."""
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    laughter = f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{laughs}]><urlset><url><loc>/&l9;</loc></url></urlset>'
    declared = f'<!DOCTYPE urlset [<!ENTITY q "{"q" * 50_000}">]>'
    quadratic = f"{declared}<urlset><url><loc>/{'&q;' * 20_000}</loc></url></urlset>"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for body in (laughter, quadratic):
        assert all(len(url) < 10_000 for url in urls_of(body))
    # Expanded, they would be 3 GB and 1 GB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_deep_nesting_ends_the_document() -> None:
    body = "<urlset><url><loc>/a</loc></url>" + "<url>" * 200_000
    assert urls_of(body) == ["https://www.example.org/a"]


def test_too_many_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_sitemap, "MAX_URLS", 100)
    many = "".join(f"<url><loc>/{number}</loc></url>" for number in range(500))
    assert len(urls_of(f"<urlset>{many}</urlset>")) == 100
    assert len(urls_of("\n".join(f"https://www.example.org/{number}" for number in range(500)))) == 100


def test_too_many_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_sitemap, "MAX_TAGS", 1000)
    assert urls_of(
        "<urlset><url><loc>/a</loc></url>" + "<x/>" * 2000 + "<url><loc>/b</loc></url></urlset>"
    ) == ["https://www.example.org/a"]


def test_a_gzip_bomb_stops_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    tracemalloc.start()
    try:
        assert len(gunzip_limited(bomb, 100_000)) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_gzip_of_several_members_and_damaged() -> None:
    two = gzip.compress(b"one") + gzip.compress(b"two")
    assert gunzip_limited(two, 100) == b"onetwo"
    assert gunzip_limited(two, 4) == b"onet"
    text = bytes(range(256))
    assert text.startswith(gunzip_limited(gzip.compress(text)[:200], 1000))
    assert len(gunzip_limited(gzip.compress(text)[:200], 1000)) > 100
    assert gunzip_limited(gzip.compress(b"x") * 100, 1000) == b"x" * web_sitemap.MAX_MEMBERS
    assert gunzip_limited(b"plain", 100) == b""


PIECES = st.sampled_from(
    [
        *(
            "<urlset>",
            "<url>",
            "<loc>",
            "</loc>",
            "</url>",
            "</urlset>",
            "<rss>",
            "<item>",
            "<link>",
            "<feed>",
            "<entry>",
        ),
        *(
            "<link href='/x'/>",
            "/a",
            "&amp;",
            "&x;",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<?x?>",
            "\0",
            "<!DOCTYPE a>",
        ),
    ]
)


@settings(max_examples=many(500), deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200), st.lists(PIECES, max_size=20).map(lambda pieces: "".join(pieces).encode())
    )
)
def test_never_fails(body: bytes) -> None:
    for entry in parse_sitemap(body, HOME).urls:
        assert ".example.org/" in entry.url or "//example.org/" in entry.url
