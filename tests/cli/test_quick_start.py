"""Starting without a topic file, seeds from files, and failures that do not stick."""

from __future__ import annotations

import gzip
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from warm import run_command

from honeyguide.cli import main
from honeyguide.errors import TopicError
from honeyguide.topic.seed_list import read_seeds


class Owls(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<title>Owls</title><p>The owl and the strix: an owl is a bird, a strix is an owl.</p>"
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Owls)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_after_a_run_that_could_not_connect_the_same_command_tries_again(
    site: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "crawl",
        site,
        "--keywords",
        "owl",
        "strix",
        "--out",
        str(tmp_path / "owls"),
        "--json",
        "--quiet",
    ]
    first = run_command(*words)
    assert first.returncode == 2
    assert "not a public address" in first.stderr
    assert main([*words, "--allow-net", "127.0.0.0/8"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 1
    # A collection with a page is gone on with, not begun anew.
    assert main([*words, "--allow-net", "127.0.0.0/8"]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 1


def test_example_pages_alone_are_a_topic(
    site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("owl.html").write_text("<title>Owls</title><p>The owl is a bird that hunts at night.</p>")
    net = ("--allow-net", "127.0.0.0/8", "--max-pages", "5", "--json", "--quiet")
    assert main(["crawl", site, "--examples", "owl.html", "--languages", "en", "de", *net]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["pages"], told["collection"]) == (1, "collections/owl")
    # Without seeds, a crawl begins at the examples that are addresses.
    assert main(["crawl", "--examples", site, "--out", "from-the-page", *net]) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == 1


def test_a_topic_file_elsewhere_names_its_examples_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics").mkdir()
    Path("owl.html").write_text("<p>An owl.")
    words = ("--examples", "owl.html", "https://example.invalid/owl", "--seeds", "https://example.invalid/")
    assert main(["topic", "new", "owls", *words, "--out", "topics/owls.toml"]) == 0
    assert main(["topic", "check", "topics/owls.toml"]) == 0
    capsys.readouterr()
    assert main(["crawl", "topics/owls.toml", "--quiet"]) == 2
    told = capsys.readouterr().err  # one example is enough, and who has just typed it is not asked for trust
    assert "warning: example https://example.invalid/owl was not used: " in told
    assert "no page was fetched" in told


def test_what_is_wrong_is_said_with_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seeds.txt").write_text("https://example.org/\n")
    for words, told in (
        (["crawl"], "name a topic file"),
        (["crawl", "https://example.org/"], "--keywords"),
        (
            ["crawl", "owls.toml", "--examples", "a.htm"],
            "owls.toml is a topic file: write there what --examp",
        ),
        (["crawl", "https://example.org/", "--examples", "none.htm"], "none.htm; check the path"),
        (["crawl", "--examples", "seeds.txt"], "no address to begin with"),
        (["crawl", "seeds.txt", "--keywords", "owl"], "--seeds-file seeds.txt"),
        (["crawl", "lists/none.txt", "--keywords", "owl"], "--seeds-file lists/none.txt"),
        (["crawl", "example.org/a.htm", "--keywords", "owl"], "write https://example.org/a.htm"),
        (["crawl", "example.org/a.txt", "--keywords", "owl"], "write https://example.org/a.txt"),
        (["crawl", "--keywords", "owl"], "no address to begin with"),
        (["crawl", "--keywords", "owl", "--seeds-file", "none.txt"], "check the name"),
    ):
        assert main(words) == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "# mine\nhttps://a.example/x\nhttps://b.example/?q=1&r=2\n",
        'name,address\nA,https://a.example/x\n"B, too",https://b.example/?q=1&r=2\n',
        '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><DT><A HREF="https://a.example/x">A</A>'
        '<DT><A HREF="https://b.example/?q=1&amp;r=2">B</A><DT><A HREF="javascript:alert(1)">C</A></DL>',
        "<?xml version='1.0'?><urlset><url><loc>https://a.example/x</loc></url>"
        "<url><loc> https://b.example/?q=1&amp;r=2 </loc></url></urlset>",
        "<?xml version='1.0'?><opml version='2.0'><body><outline text='A' htmlUrl='https://a.example/x' "
        "xmlUrl='https://a.example/feed'/><outline text='folder'><outline text='B' "
        "xmlUrl='https://b.example/?q=1&amp;r=2'/></outline></body></opml>",
        "<rss version='2.0'><channel><link>https://a.example/x</link><item><title>T</title>"
        "<link><![CDATA[https://b.example/?q=1&r=2]]></link></item></channel></rss>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='https://a.example/feed'/>"
        "<link href='https://a.example/x'/><entry><link rel='alternate' "
        "href='https://b.example/?q=1&amp;r=2'/></entry></feed>",
        '{"seeds": ["https:\\/\\/a.example\\/x", {"url": "https://b.example/?q=1&r=2"}]}',
        '{"url": "https://a.example/x"}\n{"url": "https://b.example/?q=1&r=2"}\n',
        "# Links\n\n- [A](https://a.example/x) and, of course, <https://b.example/?q=1&r=2>.\n",
        "Dear all,\nlook at https://a.example/x, and then at https://b.example/?q=1&r=2.\n",
    ],
    ids=["list", "csv", "bookmarks", "sitemap", "opml", "rss", "atom", "json", "jsonl", "markdown", "letter"],
)
def test_seeds_from_a_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text(text)
    assert read_seeds(tmp_path / "seeds") == ("https://a.example/x", "https://b.example/?q=1&r=2")


SEMICOLONS = "Name;Adresse;Preis\r\nA;https://a.example/x;1,5\r\nB;https://b.example/?q=1&r=2;2\r\n"


@pytest.mark.parametrize(
    "data",
    [
        SEMICOLONS.encode("utf-8-sig"),
        SEMICOLONS.replace(";", "\t").encode("utf-16"),
        gzip.compress(
            b"<urlset><url><loc>https://a.example/x</loc></url>"
            b"<url><loc>https://b.example/?q=1&amp;r=2</loc></url></urlset>"
        ),
    ],
    ids=["semicolons", "tabs in UTF-16", "gzip"],
)
def test_seeds_as_spreadsheets_and_servers_write_them(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(data)
    assert read_seeds(tmp_path / "seeds") == ("https://a.example/x", "https://b.example/?q=1&r=2")


def test_addresses_with_semicolons_are_a_list(tmp_path: Path) -> None:
    listed = ("https://a.example/x;y=1", "https://a.example/x;y=2")
    (tmp_path / "seeds").write_text("\n".join(listed))
    assert read_seeds(tmp_path / "seeds") == listed


@pytest.mark.parametrize("data", [b"PK\x03\x04https://a.example/ ", b"%PDF-1.4\nhttps://a.example/\n"])
def test_files_that_are_no_text_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(data)
    with pytest.raises(TopicError, match="save its addresses as"):
        read_seeds(tmp_path / "seeds")


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(gzip.compress(b"https://a.example/ " * 99)[:-12])
    with pytest.raises(TopicError, match="damaged gzip"):
        read_seeds(tmp_path / "seeds")


def test_a_file_without_addresses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("nothing here\n")
    with pytest.raises(TopicError, match="holds no web address"):
        read_seeds(tmp_path / "seeds")


def test_a_line_of_a_list_that_is_not_an_address_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("address\nhttps://a.example/\n# mine\nwww.b.example\n")
    with pytest.raises(TopicError, match=r"seeds: 'www.b.example' is not a web address; write https://"):
        read_seeds(tmp_path / "seeds")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "honeyguide" in capsys.readouterr().out


def test_an_option_by_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HONEYGUIDE_TOPIC_NEW_MAX_PAGES", "77")
    monkeypatch.chdir(tmp_path)
    assert main(["topic", "new", "owls", "--keywords", "owl"]) == 0
    assert "max_pages = 77" in Path("topic.toml").read_text()


def test_unknown_languages_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topic", "new", "owls", "--languages", "xq", "--out", str(tmp_path / "t.toml")]) == 2
    assert "not a language code" in capsys.readouterr().err
