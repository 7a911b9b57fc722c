"""A disk that fills up or cannot be written: one clear line, and the crawl goes on once there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from archive_check import check_archive
from crawls import SPEC, TOPIC_NAME, WEB, finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.lab.webs.generated import seeds
from honeyguide.lab.webs.serve import start_server
from honeyguide.model import Outcome

VICTIM = Path(__file__).parents[1] / "support" / "victim.py"
LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = sys.argv[2:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
import asyncio
from honeyguide.cli.failure import explain
from victim import main
try:
    asyncio.run(main())
except Exception as error:
    print("honeyguide:", explain(error)[0], file=sys.stderr)
    sys.exit(explain(error)[1])
"""


def run_limited(folder: Path, pages: int, limit: int) -> tuple[int, list[str], str]:
    """A crawl whose files cannot grow beyond `limit` bytes. Exit status, pages reported, standard error."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(limit), str(VICTIM), str(folder), str(pages), "best-first"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.split("\n") if line.isdigit()], done.stderr


def check_whole(folder: Path) -> int:
    """The collection is consistent up to its last commit. Pages it holds."""
    with Collection.open(folder) as collection:
        assert collection.state.check() == []
        counts = collection.state.counts()
        pages = collection.state.page_count()
        assert counts.get(Outcome.FETCHED, 0) + counts.get(Outcome.NOINDEX, 0) == pages
        return pages


async def same_as_undisturbed(folder: Path, tmp_path: Path, pages: int) -> None:
    await finish(small_crawl(tmp_path / "undisturbed", max_pages=pages))
    held = []
    for place in (folder, tmp_path / "undisturbed"):
        with Collection.open(place) as collection:
            held.append([(page.url, page.digest) for page in collection.pages(relevant=None)])
    assert held[0] == held[1]
    for archive in (folder / "archive").glob("*.warc.gz"):
        assert check_archive(archive).records["response"] > 0


NO_ROOM = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from honeyguide.cli import main
sys.argv = ["honeyguide", *sys.argv[1:]]
sys.exit(main())
"""


def without_room(verb: str, folder: Path) -> tuple[int, str]:
    """A command that can write next to nothing. Exit status and standard error."""
    command = [sys.executable, "-c", NO_ROOM, verb, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("verb", ["status", "resume"])
async def test_nobody_is_told_to_move_a_collection_away_because_there_is_no_room(
    tmp_path: Path, verb: str
) -> None:
    """To read a state SQLite needs a file of its own beside it."""
    await finish(small_crawl(tmp_path / "crawl", max_pages=5))
    status, told = without_room(verb, tmp_path / "crawl")
    assert status == 2, told
    assert "disk" in told
    assert "move it away" not in told
    assert check_whole(tmp_path / "crawl") == 5


LONG = pytest.mark.slow


@pytest.mark.parametrize(
    "limit", [pytest.param(150_000, marks=LONG), 600_000, pytest.param(1_200_000, marks=LONG)]
)
async def test_files_that_cannot_grow(tmp_path: Path, limit: int) -> None:
    """RLIMIT_FSIZE: archive, state or index hits it first, depending on the size."""
    folder = tmp_path / "crawl"
    status, reported, said = run_limited(folder, 300, limit)
    assert status == 2, said
    assert said.count("\n") == 1, said
    assert said.startswith("honeyguide: ")
    assert "free" in said or "check the disk" in said, said
    assert check_whole(folder) >= len(reported)
    await finish(small_crawl(folder, max_pages=300))
    assert check_whole(folder) == 300
    await same_as_undisturbed(folder, tmp_path, 300)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MiB; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here; needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def topic_file(folder: Path, port: int, pages: int) -> Path:
    path = folder / "topic.toml"
    starts = ", ".join(f'"{url}"' for url in seeds(WEB, TOPIC_NAME, distance=2))
    words = ", ".join(f'"{word}"' for word in WEB.keywords(TOPIC_NAME)[:8])
    path.write_text(
        f'[topic]\nname = "{TOPIC_NAME}"\nkeywords = [{words}]\n'
        f"[crawl]\nseeds = [{starts}]\nmax_pages = {pages}\n"
        '[identity]\nuser_agent = "honeyguide-test/0.1 (+https://example.org/)"\n'
        "[politeness]\ndelay = 0.0\nip_delay = 0.0\nslow_factor = 0.0\nmax_retries = 0\n"
        f'[network]\nconnect_to = {{ "*" = "127.0.0.1:{port}" }}\n'
    )
    return path


def honeyguide(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "honeyguide", *words], capture_output=True, text=True, timeout=300, check=False
    )


def test_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    out = small_disk / "out"
    with start_server(SPEC) as server:
        topic = str(topic_file(tmp_path, server.port, 300))
        done = honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet")
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert "free" in done.stderr
        held = check_whole(out)
        again = honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet")
        assert again.returncode == 2, again.stderr  # still full: still one line, and nothing lost
        assert again.stderr.count("\n") == 1, again.stderr
        assert check_whole(out) >= held
        subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        done = honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet")
        assert done.returncode == 0, done.stderr
    assert check_whole(out) == 300


@pytest.mark.slow
def test_a_disk_that_becomes_read_only(tmp_path: Path, small_disk: Path) -> None:
    out = small_disk / "out"
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    with start_server(SPEC) as server:
        topic = str(topic_file(tmp_path, server.port, 60))
        assert honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet").returncode == 0
        subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
        done = honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet", "--max-pages", "100")
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert "Traceback" not in done.stderr
        assert honeyguide("status", str(out)).returncode == 0
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        done = honeyguide("crawl", topic, "--trust", "--out", str(out), "--quiet", "--max-pages", "100")
        assert done.returncode == 0, done.stderr
    assert check_whole(out) == 100
