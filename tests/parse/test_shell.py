"""Shells of applications, and pages that only look like them."""

from __future__ import annotations

import time

import pytest

from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.parse.shell import shell_sign


def sign(body: str) -> str:
    page = parse_page(ParseJob("https://example.org/", body.encode()))
    assert isinstance(page, Page)
    return page.shell


@pytest.mark.parametrize(
    "body",
    [
        '<title>App</title><body><div id="root"></div><script src=/static/main.js></script>',
        "<div id=app><!-- filled by Vue --></div><script type=module src=/assets/index.js></script>",
        "<body><app-root></app-root><script src=runtime.js></script>",
        '<div id="__next"></div><script>self.__next_f=[]</script><nav><a href=/a>Home</a></nav>',
        "<noscript>You need to enable JavaScript to run this app.</noscript><script src=a.js></script>",
        "<body><script src=a.js></script><script src=b.js></script>Loading...",
    ],
)
def test_shells(body: str) -> None:
    assert sign(body)


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"><p>'
        + "Owls hunt at night over open country. " * 30
        + "</div><script src=a.js></script>",
        "<p>Owls.</p>",
        '<div id="root"></div>',
        "<frameset cols=1><frame src=a></frameset><script>x()</script>",
        '<meta http-equiv="refresh" content="0; url=/home"><script>location="/home"</script>',
        "<ul>"
        + "".join(f"<li><a href=/{n}>owl {n}</a>" for n in range(9))
        + "</ul><script src=stats.js></script>",
        '<script type="application/ld+json">{}</script><p>Owls.',
    ],
)
def test_other_pages(body: str) -> None:
    assert sign(body) == ""


def test_a_page_made_to_take_long_does_not() -> None:
    hostile = b"<script>" + (b'<div id="root" ' + b" <!-- " * 3) * 20_000
    began = time.process_time()
    shell_sign(hostile, "", 0)
    shell_sign(b"<script>" + b"<noscript>" * 100_000, "", 0)
    assert time.process_time() - began < 3.0
