"""`honeyguide serve` and `crawl --ui` as real processes."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from crawls import SPEC, TOPIC_NAME, finish, small_crawl, small_topic
from warm import run_command

from honeyguide.collection.collection import Collection
from honeyguide.job.crawl import run_here
from honeyguide.lab.webs.serve import start_server
from honeyguide.store.lock import Lock, holder

pytestmark = pytest.mark.realtime

ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
}


@contextmanager
def started(*words: str, cwd: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "honeyguide", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, cwd=cwd,
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()


def status_of(address: str, *, token: bool = True) -> int:
    where = urlsplit(address)
    connection = http.client.HTTPConnection(str(where.hostname), int(where.port or 0), timeout=60)
    try:
        connection.request("GET", f"/metrics?{where.query}" if token else "/metrics")
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    run_here(lambda: finish(small_crawl(tmp_path / "made", max_pages=20)))
    return tmp_path / "made"


def test_serve_says_where_and_ends_in_order(collection: Path) -> None:
    with started("serve", str(collection), "--port", "0", "--no-open", "--json") as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        address = json.loads(told)["portal"]
        assert urlsplit(address).hostname == "127.0.0.1"
        assert status_of(address) == 303
        assert status_of(address, token=False) == 401
        where = urlsplit(address)
        with socket.create_connection((str(where.hostname), int(where.port or 0)), timeout=60) as reader:
            token = where.query.removeprefix("token=")
            head = f"GET /events HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n"
            reader.sendall(head.encode())
            assert b"event-stream" in reader.recv(4096)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")


def page_at(address: str) -> tuple[int, str]:
    """The page that a browser would show: the token becomes a cookie on the way."""
    where = urlsplit(address)
    connection = http.client.HTTPConnection(str(where.hostname), int(where.port or 0), timeout=60)
    connection.request("GET", where.path, headers={"Authorization": f"Bearer {where.query.split('=')[1]}"})
    answer = connection.getresponse()
    with closing(connection):
        return answer.status, answer.read().decode()


@pytest.mark.parametrize(
    ("words", "expected"), [((), "No collection yet"), (("later", "--new"), "What would count")]
)
def test_the_first_address_is_a_page_to_begin_with(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    options = ("--port", "0", "--no-open", "--json")
    with started("serve", *words, *options, cwd=tmp_path) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        address = json.loads(told)["portal"]
        while True:
            with suppress(ConnectionRefusedError):
                status, text = page_at(address)
                break
        assert status == 200
        assert expected in text
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_a_crawl_with_the_portal_beside_it(tmp_path: Path) -> None:
    topic = small_topic()
    with start_server(SPEC) as server:
        (tmp_path / "topic.toml").write_text(
            f"[topic]\nname = {TOPIC_NAME!r}\nkeywords = {list(topic.keywords)}\n"
            f"[crawl]\nseeds = {list(topic.seeds)}\nmax_pages = 15\nparse_workers = 1\n"
            f"[politeness]\ndelay = 0.0\nip_delay = 0.0\n"
            f'[network]\nconnect_to = {{ "*" = "127.0.0.1:{server.port}" }}\n'
        )
        out = tmp_path / "made"
        with started(
            "crawl", str(tmp_path / "topic.toml"), "--out", str(out), "--ui", "--quiet", "--trust"
        ) as process:
            assert process.stderr is not None
            address = ""
            for line in process.stderr:
                if line.startswith("portal: "):
                    address = line.removeprefix("portal: ").strip()
                if "stays open" in line:
                    break
            assert status_of(address) == 303
            with Collection.open(out) as collection:
                assert collection.status().pages == 15
            process.send_signal(signal.SIGINT)
            printed, _ = process.communicate(timeout=60)
            assert process.returncode == 0
            assert "budget of 15 pages is spent" in printed
            with pytest.raises(ConnectionRefusedError):
                status_of(address)


def test_who_holds_a_collection(tmp_path: Path) -> None:
    file = tmp_path / "state.sqlite"
    assert holder(file) == 0
    lock = Lock(file)
    assert holder(file) == os.getpid()
    lock.close()
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / "state.sqlite.lock").write_text(f"{ended.pid}\n")
    assert holder(file) == 0
    # A process that is younger than the file only has the number of the one that wrote it.
    (tmp_path / "state.sqlite.lock").write_text(f"{os.getpid()}\n")
    os.utime(tmp_path / "state.sqlite.lock", (1e9, 1e9))
    assert holder(file) == 0
    for text in ("", "nonsense", "-1", "9" * 30):
        (tmp_path / "state.sqlite.lock").write_text(text)
        assert holder(file) == 0


def test_an_empty_folder_says_how_to_begin_there(tmp_path: Path) -> None:
    done = run_command("serve", str(tmp_path), "--no-open")
    assert done.returncode == 2
    assert done.stderr == (
        f"honeyguide: {tmp_path} is empty; to begin one there, type: honeyguide serve {tmp_path} --new\n"
    )
