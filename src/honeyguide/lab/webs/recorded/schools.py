"""Wikipedia for Schools as a folder of pages: labels come from its subject pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import quote, unquote

from honeyguide.lab.webs.recorded.home import LABELS, WebError
from honeyguide.lab.webs.recorded.importing import Imported, import_archive, new_writer, store_web
from honeyguide.lab.webs.recorded.labels import write_rows
from honeyguide.model import Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.store.archive import Exchange
from honeyguide.web import canonical

HOST = "http://schools.example/"
PUBLISHED = 1_577_836_800.0
"""2020-01-01: the files have no dates of their own."""
MAX_FILE = 16 * 1024 * 1024
_SUBJECT = "wp/index/subject."
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"


def import_schools(path: Path, *, name: str = "schools", replace: bool = False) -> Imported:
    """Import the folder of the offline site (the one with `wp/`), or a WARC file with labels.

    Raises:
        WebError: The folder is not that of the site.
    """
    if path.is_file():
        return import_archive(path, name=name, replace=replace)
    root = next((one for one in (path, *sorted(path.glob("*"))) if (one / "wp" / "index").is_dir()), None)
    if root is None:
        raise WebError(f"{path}: no folder wp/index in it; give the folder of the offline site")

    def fill(folder: Path) -> None:
        writer = new_writer(folder)
        urls: set[str] = set()
        subjects: dict[str, list[str]] = {}
        for file in sorted((*root.rglob("*.htm"), *root.rglob("*.html"))):
            if not file.is_file() or file.is_symlink() or file.stat().st_size > MAX_FILE:
                continue
            place = file.relative_to(root).as_posix()
            url = HOST + quote(place, safe="/~!$&'()*+,;=:@")
            body = file.read_bytes()
            writer.write_exchange(Exchange(url, PUBLISHED, _HEAD % len(body), body))
            urls.add(canonical(url) or url)
            if label := subject_of(url):
                subjects[label] = links_of(url, body)
        writer.close()
        write_rows(folder / LABELS, label_rows(subjects, urls))

    return store_web(name, fill, origin=f"Wikipedia for Schools {path.resolve()}", replace=replace)


def subject_of(url: str) -> str:
    """The subject that a page of the index lists, or an empty string.

    Example:
        >>> subject_of("http://schools.example/wp/index/subject.Science.Biology.Birds.htm")
        'Science/Biology/Birds'
        >>> subject_of("http://schools.example/wp/b/Bird.htm")
        ''
    """
    place = unquote(url.removeprefix(HOST))
    if not place.startswith(_SUBJECT):
        return ""
    return place.removeprefix(_SUBJECT).rpartition(".")[0].replace(".", "/")


def links_of(url: str, body: bytes) -> list[str]:
    """Where a page links to."""
    page = parse_page(ParseJob(url, body, "text/html; charset=utf-8", main_text=False))
    return [link.url for link in page.links] if isinstance(page, Page) else []


def label_rows(subjects: dict[str, list[str]], urls: set[str]) -> list[tuple[str, str, str]]:
    """Rows of the label table: an article has the label of every subject page that lists it.

    Links that most subject pages have are their frame (search, imprint), not their list.
    """
    counts = Counter(url for found in subjects.values() for url in found)
    most = max(3, len(subjects) // 2)
    rows = {
        (url, "schools", subject)
        for subject, found in subjects.items()
        for url in found
        if url in urls and counts[url] <= most and not url.startswith(HOST + "wp/index/")
    }
    return sorted(rows)
