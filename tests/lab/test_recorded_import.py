"""Importing and recording: every way in, and bad input that leaves nothing behind."""

from __future__ import annotations

import asyncio
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from honeyguide.config.load import check_values
from honeyguide.errors import HoneyguideError
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.lab.webs.recorded import Recorded, WebError, open_web
from honeyguide.lab.webs.recorded.home import at_hand, find_web, webs_folder
from honeyguide.lab.webs.recorded.importing import import_archive
from honeyguide.lab.webs.recorded.manuals import MANUALS, import_manuals
from honeyguide.lab.webs.recorded.recording import record
from honeyguide.lab.webs.recorded.schools import import_schools
from honeyguide.lab.webs.recorded.serving import RecordedSite
from honeyguide.lab.webs.recorded.webkb import import_webkb
from honeyguide.lab.webs.serve import WebServer
from honeyguide.store.archive import ArchiveWriter, Exchange

ROOT = "http://www.one.example"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HONEYGUIDE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HONEYGUIDE_DATA", str(tmp_path / "nothing"))
    return tmp_path / "home"


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    writer = ArchiveWriter(tmp_path, prefix="one", software="test", clock=lambda: 0.0, seed="t")
    writer.write_exchange(Exchange(f"{ROOT}/", 1.0, HEAD, b"<title>One</title><a href=b.html>b</a>" * 5))
    writer.write_exchange(Exchange(f"{ROOT}/b.html", 1.0, HEAD, b"<title>B</title>owl"))
    writer.write_exchange(
        Exchange(f"{ROOT}/c.html", 2.0, HEAD, b"<title>B</title>owl", refers_to=(f"{ROOT}/b.html", 1.0))
    )
    writer.close()
    return (tmp_path / "one-00001.warc.gz").rename(tmp_path / "one.warc.gz")


def nothing_left(home: Path) -> bool:
    """Neither a web nor a temporary folder."""
    return not webs_folder().exists() or not list(webs_folder().iterdir())


def test_warc_with_labels(warc: Path, tmp_path: Path) -> None:
    labels = tmp_path / "any.tsv"
    labels.write_text(f"label\turl\nowls\t{ROOT}/b.html\nfront\t{ROOT}\n", encoding="utf-8")
    done = import_archive(warc, name="mine", labels=labels)
    assert (done.pages, done.labelled) == (3, 2)
    web = open_web("mine")
    assert web.labels == {f"{ROOT}/": ("front",), f"{ROOT}/b.html": ("owls",)}
    again = web.page(f"{ROOT}/c.html")  # a revisit record has no payload of its own
    assert again is not None
    assert again.title == "B"
    assert [one.name for one in at_hand()] == ["mine"]
    with pytest.raises(WebError, match="--replace"):
        import_archive(warc, name="mine")
    assert import_archive(warc, name="mine", replace=True).labelled == 0
    assert open_web("mine").labels == {}


def test_labels_beside_the_file_are_found(warc: Path) -> None:
    warc.with_name("one.labels.tsv").write_text(f"url\tsite\tlabel\n{ROOT}/\ts\tx\n", encoding="utf-8")
    assert import_archive(warc).name == "one"
    assert open_web("one").sites == dict.fromkeys((f"{ROOT}/", f"{ROOT}/b.html", f"{ROOT}/c.html"), "s")


def test_wacz_names_lead_nowhere(warc: Path, tmp_path: Path, home: Path) -> None:
    wacz = tmp_path / "web.wacz"
    with zipfile.ZipFile(wacz, "w") as archive:
        archive.writestr("datapackage.json", "{}")
        archive.write(warc, "archive/data.warc.gz")
        archive.writestr("../../escaped.warc.gz", warc.read_bytes())
        archive.writestr("archive/../../escaped2.warc.gz", warc.read_bytes())
    assert import_archive(wacz).pages == 3
    assert sorted(path.name for path in (webs_folder() / "web").iterdir()) == [
        "pages-00001.warc.gz",
        "web.json",
    ]
    assert not list(tmp_path.rglob("escaped*"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data[:-20], "ends inside a record"),
        (lambda data: b"this is not an archive at all", "one.warc.gz"),
        (lambda data: gzip.compress(b"nor this"), "one.warc.gz"),
        (lambda data: data[:60] + b"\xff" * 40 + data[100:], "one.warc.gz"),
        (lambda data: b"", "empty"),
        (lambda data: b"PK\x03\x04" + data[:100], "one.warc.gz"),
    ],
)
def test_bad_archives_leave_nothing(warc: Path, home: Path, spoil, message: str) -> None:  # type: ignore[no-untyped-def]
    warc.write_bytes(spoil(warc.read_bytes()))
    with pytest.raises(HoneyguideError) as caught:
        import_archive(warc, name="bad")
    assert message in str(caught.value)
    assert ".part" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert nothing_left(home)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (f"url\tsite\tlabel\n{ROOT}/zzz\ts\tx\n", "/zzz, not in the archive"),
        ("address\tlabel\nx\ty\n", "no column url"),
        (f"url\tsite\tlabel\n{ROOT}/\tx\n", "line 2"),
        ("url\tlabel\nnot a url\tx\n", "not a valid URL"),
        ("\x00\ufffd", "no column"),
    ],
)
def test_bad_label_tables_leave_nothing(
    warc: Path, home: Path, tmp_path: Path, table: str, message: str
) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text(table, encoding="utf-8")
    with pytest.raises(WebError) as caught:
        import_archive(warc, name="bad", labels=labels)
    assert message in str(caught.value)
    assert nothing_left(home)


def test_bad_wacz(tmp_path: Path, home: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as archive:
        archive.writestr("readme.txt", "no archive")
    with pytest.raises(WebError, match="is it a WACZ"):
        import_archive(tmp_path / "a.wacz")
    with pytest.raises(WebError, match="no such file"):
        import_archive(tmp_path / "missing.wacz")
    assert nothing_left(home)


def webkb_files() -> dict[str, bytes]:
    mime = b"Date: Tuesday, 26-Nov-96 18:07:47 GMT\nServer: NCSA/1.3\nContent-type: text/html\n\n"
    return {
        "webkb/course/cornell/http_^^www.cs.cornell.edu^Info^cs1.html": mime + b"<title>CS1</title>course",
        "webkb/department/cornell/http_^^www.cs.cornell.edu^": b"<title>CS</title><a href=Info/cs1.html>",
        "webkb/faculty/misc/http_^^www.x.edu:8080^~joe^": mime + b"<title>Joe</title>",
        "webkb/other/cornell/ftp_^^ftp.cs.cornell.edu^pub": b"listing",
        "webkb/README": b"the 4 universities",
        "webkb/course/cornell/.DS_Store": b"",
    }


@pytest.mark.parametrize("form", ["folder", "tar", "tgz"])
def test_webkb_original(tmp_path: Path, form: str) -> None:
    source = tmp_path / "original"
    if form == "folder":
        for name, data in webkb_files().items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(data)
    else:
        with tarfile.open(source, "w:gz" if form == "tgz" else "w") as archive:
            for name, data in webkb_files().items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    done = import_webkb(source)
    assert (done.pages, done.unfetchable) == (3, 1)
    web = open_web("webkb")
    assert web.labels["http://www.x.edu:8080/~joe/"] == ("faculty",)
    assert web.sites["http://www.cs.cornell.edu/"] == "cornell"
    assert web.links("http://www.cs.cornell.edu/") == ("http://www.cs.cornell.edu/Info/cs1.html",)
    page = web.page("http://www.cs.cornell.edu/Info/cs1.html")
    assert page is not None
    assert page.text == "course"


def test_webkb_of_something_else(tmp_path: Path, home: Path, warc: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(WebError, match="4 Universities"):
        import_webkb(tmp_path / "empty")
    with pytest.raises(WebError, match="no such file"):
        import_webkb(tmp_path / "nowhere")
    cut = tmp_path / "cut.tar.gz"
    with tarfile.open(cut, "w:gz") as archive:
        member = tarfile.TarInfo("webkb/course/a/http_^^a.edu^")
        member.size = 200_000
        archive.addfile(member, io.BytesIO(bytes(range(250)) * 800))
    cut.write_bytes(cut.read_bytes()[:600])
    with pytest.raises(WebError):
        import_webkb(cut)
    assert nothing_left(home)
    assert import_webkb(warc).pages == 3  # our own form is welcome too


def test_schools_folder(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pages = {
        "wp/index/subject.Science.Biology.Birds.htm": "<a href=../o/Owl.htm>O</a> <a href=../s/Search.htm>",
        "wp/index/subject.Art.htm": '<a href="../m/Monet.htm">Monet</a> <a href="../s/Search.htm">S</a>',
        "wp/index/subject.History.htm": '<a href="../m/Monet.htm">Monet</a> <a href="../s/Search.htm">S</a>',
        "wp/index/subject.Music.htm": '<a href="../s/Search.htm">S</a>',
        "wp/o/Owl.htm": "<title>Owl</title>",
        "wp/m/Monet.htm": "<title>Monet</title>",
        "wp/s/Search.htm": "<title>Search</title>",
        "wp/%/%C3%85land.htm": "<title>Aaland</title>",
    }
    for name, html in pages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(html, encoding="utf-8")
    import_schools(site)
    web = open_web("schools")
    assert web.labels == {
        "http://schools.example/wp/o/Owl.htm": ("Science/Biology/Birds",),
        "http://schools.example/wp/m/Monet.htm": ("Art", "History"),
    }
    assert "http://schools.example/wp/%25/%25C3%2585land.htm" in web
    (tmp_path / "empty").mkdir()
    with pytest.raises(WebError, match="wp/index"):
        import_schools(tmp_path / "empty", name="other")


def debian_package(path: Path, files: dict[str, bytes]) -> None:
    """A package as `dpkg-deb` makes it: an `ar` archive of two tars."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, body in files.items():
            member = tarfile.TarInfo(f"./usr/share/doc/{name}")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    members = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data.getvalue()}
    with path.open("wb") as file:
        file.write(b"!<arch>\n")
        for name, body in members.items():
            file.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(body):<10}`\n".encode())
            file.write(body + b"\n" * (len(body) % 2))


def test_manuals_from_debian_packages(tmp_path: Path, home: Path) -> None:
    for manual in MANUALS[:-1]:
        pages = {f"{manual.folder}index.html": b"<a href=sql-select.html>select</a>"}
        pages[f"{manual.folder}sql-select.html"] = b"<title>SELECT</title>"
        pages[f"{manual.folder}search.html"] = b"left out"
        pages[f"{manual.folder}_modules/code.html"] = b"left out"
        debian_package(tmp_path / f"{manual.package}_1.0_all.deb", pages)
    with pytest.raises(WebError, match="apt-get download python-requests-doc"):
        import_manuals(tmp_path)
    assert nothing_left(home)
    last = tmp_path / "usr" / "share" / "doc" / MANUALS[-1].folder  # unpacked, or installed, will do as well
    (last / "user").mkdir(parents=True)
    (last / "user" / "install.html").write_text("<title>Install</title>", encoding="utf-8")
    assert import_manuals(tmp_path).pages == 1 + 2 * (len(MANUALS) - 1) + 1
    web = open_web("manuals")
    assert len(web.links("https://manuals.example/index.html")) == len(MANUALS) - 1
    assert web.labels["https://www.postgresql.org/docs/15/sql-select.html"] == (
        "postgres/sql",
        "subject/sql-commands",
    )
    assert web.labels["https://requests.readthedocs.io/en/latest/user/install.html"] == ("requests/user",)
    (tmp_path / "git-doc_1.0_all.deb").write_bytes(b"!<arch>\nnonsense")
    with pytest.raises(WebError, match="Debian package"):
        import_manuals(tmp_path, name="other")


def test_record_a_collection_and_a_topic(warc: Path, tmp_path: Path) -> None:
    source = open_web(warc, cache=tmp_path / "cache")

    async def over_http() -> None:
        async with WebServer(RecordedSite(source)) as server:
            topic = {
                "topic": {"name": "owls", "keywords": ["owl"]},
                "crawl": {"seeds": [f"{ROOT}/", f"{ROOT}/c.html"]},
                "politeness": {"delay": 0.0, "ip_delay": 0.0},
                "network": {"allow_net": ["127.0.0.0/8"], "connect_to": {"*": f"127.0.0.1:{server.port}"}},
            }
            job = Crawl(check_values(topic), out=tmp_path / "collection")
            _ = [event async for event in job.run()]
            frozen = tmp_path / "collection" / "topic.toml"
            await asyncio.to_thread(record, frozen, "crawled", max_pages=2)

    run_here(over_http)
    record(tmp_path / "collection", "kept")
    kept: Recorded = open_web("kept")
    assert set(kept.urls) == set(source.urls)
    assert kept.labels[f"{ROOT}/"] == ("other",)
    assert kept.labels[f"{ROOT}/b.html"] == kept.labels[f"{ROOT}/c.html"] == ("owls",)
    assert kept.graph() == source.graph()
    assert len(open_web("crawled")) == 2
    assert sorted(path.name for path in webs_folder().iterdir()) == ["crawled", "kept"]
    with pytest.raises(WebError, match="not a collection"):
        record(tmp_path, "again")


def test_unknown_webs_say_where_to_get_them() -> None:
    with pytest.raises(WebError, match="lab import webkb PATH"):
        find_web("webkb")
    with pytest.raises(WebError, match="lab webs"):
        find_web("nonsense")
    with pytest.raises(WebError, match="no recorded web"):
        find_web("../../etc")
