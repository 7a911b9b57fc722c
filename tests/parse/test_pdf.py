from __future__ import annotations

import builtins
import io
from types import ModuleType

import pytest

from honeyguide.model import Outcome, Page
from honeyguide.parse.base import ParseFailure, ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.parse.pdf import MAX_PAGES, parse_pdf

pypdf = pytest.importorskip("pypdf")
pdf_annotations = pytest.importorskip("pypdf.annotations")

URL = "https://example.org/paper.pdf"


def document(
    pages: int = 1,
    *,
    text: str = "Owls hunt at night",
    link: str = "",
    title: str = "On owls",
    drawn: str = "",
) -> bytes:
    """A small PDF file written by hand, so that it has text."""
    writer = pypdf.PdfWriter()
    generic = pypdf.generic
    font = generic.DictionaryObject(
        {
            generic.NameObject("/Type"): generic.NameObject("/Font"),
            generic.NameObject("/Subtype"): generic.NameObject("/Type1"),
            generic.NameObject("/BaseFont"): generic.NameObject("/Helvetica"),
        }
    )
    for number in range(pages):
        page = writer.add_blank_page(300, 300)
        stream = generic.DecodedStreamObject()
        stream.set_data(
            drawn.encode() if drawn else f"BT /F1 12 Tf 10 100 Td ({text} {number}) Tj ET".encode()
        )
        page[generic.NameObject("/Contents")] = writer._add_object(stream)
        page[generic.NameObject("/Resources")] = generic.DictionaryObject(
            {generic.NameObject("/Font"): generic.DictionaryObject({generic.NameObject("/F1"): font})}
        )
    if link:
        writer.add_annotation(0, pdf_annotations.Link(rect=(0, 0, 50, 50), url=link))
    writer.add_metadata({"/Title": title})
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_text_title_links() -> None:
    page = parse_page(ParseJob(URL, document(link="http://Example.org/owl#x"), "application/pdf"))
    assert isinstance(page, Page)
    assert page.title == "On owls"
    assert page.text == "Owls hunt at night 0"
    assert [link.url for link in page.links] == ["http://example.org/owl"]


DRAWN = (
    "BT /F1 9 Tf 10 280 Td (Journal of Birds 12, 2026) Tj ET"
    " BT /F1 1 Tf 22 0 0 22 10 200 Tm (The barn owl) Tj ET"
    " BT /F1 1 Tf 22 0 0 22 10 170 Tm (in Northern Europe) Tj ET"
    " BT /F1 12 Tf 10 100 Td (A. Strix and B. Tyto) Tj ET"
)


@pytest.mark.parametrize(
    ("named", "drawn", "title"),
    [
        ("Owls of Europe", DRAWN, "Owls of Europe"),
        ("Microsoft Word - owls_final.doc", DRAWN, "The barn owl in Northern Europe"),
        ("untitled", DRAWN, "The barn owl in Northern Europe"),
        ("", DRAWN, "The barn owl in Northern Europe"),
        (
            "",
            "BT /F1 9 Tf 10 280 Td (12) Tj ET BT /F1 9 Tf 10 200 Td (Owls hunt at night.) Tj ET",
            "Owls hunt at night.",
        ),
        ("", "BT /F1 9 Tf 10 280 Td (12) Tj ET", ""),
    ],
)
def test_titles_that_tell_nothing_are_looked_for_on_the_first_page(
    named: str, drawn: str, title: str
) -> None:
    page = parse_pdf(ParseJob(URL, document(title=named, drawn=drawn), "application/pdf"))
    assert isinstance(page, Page)
    assert page.title == title


def test_words_that_lines_part_are_whole() -> None:
    lines = (
        "The noctur-",
        "nal owls of South-",
        "America, 1980-",
        "1990, the Wald-",
        "kauz - ",
        "and more",
    )
    drawn = "BT /F1 12 Tf 14 TL 10 280 Td " + " T* ".join(f"({line}) Tj" for line in lines) + " ET"
    page = parse_page(ParseJob(URL, document(drawn=drawn), "application/pdf"))
    assert isinstance(page, Page)
    assert "nocturnal owls of South- America, 1980- 1990, the Waldkauz - and more" in page.text


def test_pages_are_limited() -> None:
    page = parse_pdf(ParseJob(URL, document(MAX_PAGES + 5), "application/pdf"))
    assert isinstance(page, Page)
    assert page.text.endswith(f"night {MAX_PAGES - 1}")


def test_time_is_limited() -> None:
    seconds = iter(range(1000))
    page = parse_pdf(ParseJob(URL, document(20), "application/pdf"), clock=lambda: float(next(seconds)))
    assert isinstance(page, Page)
    assert page.text.endswith("night 3")


@pytest.mark.parametrize("body", [b"", b"%PDF-1.4", b"%PDF-1.7\n" + b"\x00" * 500, document()[:200]])
def test_broken_documents(body: bytes) -> None:
    answer = parse_pdf(ParseJob(URL, body, "application/pdf"))
    assert isinstance(answer, ParseFailure)
    assert answer.outcome == Outcome.PARSE_FAILED


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without_pypdf(name: str, *args: object, **options: object) -> ModuleType:
        if name == "pypdf":
            raise ImportError(name)
        return original(name, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_pypdf)
    answer = parse_pdf(ParseJob(URL, document(), "application/pdf"))
    assert isinstance(answer, ParseFailure)
    assert "pip install 'honeyguide[pdf]'" in answer.detail
