"""Sitemaps that explode, read files, or go round. robots.txt of each host names the sitemap."""

from __future__ import annotations

import gzip

from honeyguide.lab.webs.hostile.bombs import bomb
from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_START = '<?xml version="1.0"?>'
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def _sitemap(name: str, summary: str, body: bytes | None, *, gz: bool = False) -> None:
    """A host whose home page is good and whose sitemap is this; None is a gzip bomb."""

    @case(name, summary, (Outcome.FETCHED,), group="sitemap", scope="all")
    async def _send(talk: Talk) -> None:
        if talk.path == "/robots.txt":
            ending = "xml.gz" if gz else "xml"
            await talk.answer(f"Sitemap: {talk.root}/sitemap.{ending}\n".encode(), kind="text/plain")
        elif talk.path.startswith("/sitemap"):
            data = bomb("gzip") if body is None else body
            data = data.replace(b"ROOT", talk.root.encode()) if body is not None and not gz else data
            await talk.answer(data, kind="application/xml")
        else:
            await talk.answer(owls())


def _urls(*addresses: str) -> str:
    entries = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f"<urlset {_SPACE}>{entries}</urlset>"


_entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
_sitemap("sitemap-bomb", "a sitemap that is a gzip bomb", None, gz=True)
_sitemap(
    "sitemap-laughs",
    "a billion laughs",
    f'{_START}<!DOCTYPE s [<!ENTITY l0 "owl">{_entities}]>{_urls("ROOT/&l9;")}'.encode(),
)
_sitemap(
    "sitemap-blowup",
    "one long entity used often",
    f'{_START}<!DOCTYPE s [<!ENTITY a "{"x" * 50_000}">]>{_urls("&a;" * 5_000)}'.encode(),
)
_sitemap(
    "sitemap-file",
    "an entity that reads /etc/passwd",
    f'{_START}<!DOCTYPE s [<!ENTITY f SYSTEM "file:///etc/passwd">]>{_urls("ROOT/&f;")}'.encode(),
)
_sitemap(
    "sitemap-dtd",
    "a document type loaded from elsewhere",
    f'{_START}<!DOCTYPE s SYSTEM "http://169.254.169.254/x.dtd">{_urls("ROOT/a")}'.encode(),
)
_sitemap(
    "sitemap-cycle",
    "an index that names itself",
    f"{_START}<sitemapindex {_SPACE}><sitemap><loc>ROOT/sitemap.xml</loc></sitemap>"
    f"<sitemap><loc>ROOT/sitemap2.xml</loc></sitemap></sitemapindex>".encode(),
)
_sitemap(
    "sitemap-deep", "200,000 nested elements", f"{_START}<urlset {_SPACE}>".encode() + b"<url>" * 200_000
)
_sitemap(
    "sitemap-foreign",
    "names pages of other sites",
    f"{_START}{_urls('http://169.254.169.254/', 'file:///etc/passwd')}".encode(),
)
_sitemap(
    "sitemap-cut",
    "gzip that breaks off",
    gzip.compress(f"<urlset {_SPACE}>".encode() * 999, mtime=0)[:-9],
    gz=True,
)
_sitemap("sitemap-garbage", "random bytes", bytes(range(256)) * 400)
