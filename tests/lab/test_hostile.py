"""A real crawl over real sockets of every hostile case: each URL gets an outcome, and the right one."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest
from archive_check import check_archive
from loopback import config_for, crawl_all, outcome_of, outcomes

from honeyguide.collection.collection import Collection
from honeyguide.lab.webs.hostile import CASES, Case, HostileServer
from honeyguide.lab.webs.hostile.tls import server_name
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime

DEADLINE = 3.0
GIVE_UP = 2
EASY = ("options", "wrong-coding", "charset-lie")


def test_there_are_enough_and_all_are_described() -> None:
    assert len(CASES) >= 100
    groups = {case.group for case in CASES.values()}
    assert groups == {"time", "http", "bomb", "redirect", "page", "robots", "sitemap", "tls"}
    for case in CASES.values():
        assert case.outcomes
        assert Outcome.WAITING not in case.outcomes
        assert case.summary


def limits(**more: object) -> dict[str, dict[str, object]]:
    return {
        "crawl": {"concurrency": 150, "follow_sitemaps": True, "max_seconds": 100.0, "max_depth": 0, **more},
        "politeness": {
            "ip_at_once": 100,
            "backoff": 0.01,
            "give_up_after": GIVE_UP,
            "max_crawl_delay": 0.1,
        },
        "limits": {"deadline": DEADLINE, "parse_deadline": 2.0},
    }


@pytest.mark.slow  # its deadlines are real seconds: a busy machine cannot keep them
async def test_every_case_has_its_outcome_in_time(tmp_path: Path) -> None:
    started = time.monotonic()
    async with HostileServer() as server:
        seeds = [case.url for case in CASES.values()]
        config = config_for(seeds, {"*.localhost": f"127.0.0.1:{server.port}"}, **limits())
        crawl, _ = await crawl_all(config, tmp_path / "out")
        spent = time.monotonic() - started
        held = dict(server.held)
        asked = set(server.requests)
    assert crawl.reason == "nothing left to fetch", (crawl.reason, spent)
    wrong = {}
    for case in CASES.values():
        outcome, reason = outcome_of(tmp_path / "out", case.url)
        if outcome not in case.outcomes:
            wrong[case.name] = (outcome.name, reason)
    assert not wrong
    assert asked >= CASES.keys() - {"tls-reset"}
    # From the server's side: nobody was held much longer than the deadline (a busy machine apart).
    late = {name: seconds for name, seconds in held.items() if seconds > 2 * DEADLINE + 2}
    assert not late
    assert all(end.is_end for end in outcomes(tmp_path / "out").values())
    with Collection.open(tmp_path / "out") as collection:
        assert collection.state.check() == []
        texts = [page.title for page in collection.pages(relevant=None)]
    assert not [text for text in texts if "root:" in text or "evil" in text]
    for archive in (tmp_path / "out" / "archive").glob("*.warc.gz"):
        assert check_archive(archive).records["response"] > 10


SIZES = """
import asyncio, resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from loopback import config_for, crawl_all

async def main():
    seeds = Path(sys.argv[3]).read_text().split()
    tables = eval(Path(sys.argv[4]).read_text())
    config = config_for(seeds, {"*.localhost": sys.argv[2]}, **tables)
    await crawl_all(config, Path(sys.argv[5]))

asyncio.run(main())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


async def size_of_crawl(folder: Path, name: str, seeds: list[str], port: int) -> int:
    """MiB that a crawl in a process of its own took at most, parse workers apart."""
    (folder / f"{name}.seeds").write_text("\n".join(seeds))
    (folder / f"{name}.tables").write_text(repr(limits(concurrency=32)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SIZES, str(Path(__file__).parents[1] / "support"), f"127.0.0.1:{port}"),
        *(str(folder / f"{name}.seeds"), str(folder / f"{name}.tables"), str(folder / name)),
        stdout=subprocess.PIPE,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return int(said.decode().strip().splitlines()[-1])


@pytest.mark.slow
async def test_memory_stays_near_that_of_a_clean_crawl(tmp_path: Path) -> None:
    """Within 64 MiB, with every case asked ten times, as many at once as crawls do by default."""
    async with HostileServer() as server:
        clean = [f"http://good{n}.localhost/" for n in range(1000)]
        few = {name: case for name, case in CASES.items() if case.scope != "tls"}
        # Half a million links would be half a million known URLs, which is the frontier's memory to have.
        often = [name for name in few if name != "links"]
        hostile = [
            "http://links.localhost/",
            *(f"http://{name}.{n}.localhost/" for n in range(10) for name in often),
        ]
        before = await size_of_crawl(tmp_path, "clean", clean, server.port)
        after = await size_of_crawl(tmp_path, "hostile", hostile, server.port)
    assert after - before <= 64, (before, after)


@pytest.mark.parametrize("case", [CASES[name] for name in EASY], ids=EASY)
async def test_a_case_can_be_asked_without_a_crawler(case: Case) -> None:
    async with HostileServer() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET / HTTP/1.1\r\nHost: {case.name}.localhost:{server.port}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()
        await writer.wait_closed()


async def test_the_certificate_is_real_but_nobodys() -> None:
    context = ssl.create_default_context()
    async with HostileServer() as server:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection(
                "127.0.0.1", server.port, ssl=context, server_hostname="tls-self-signed.localhost"
            )


@pytest.mark.parametrize(
    "hello", [b"", b"\x16", b"\x16\x03\x01\x00\x05\x01\x00\x00\x00\x00", b"GET / HTTP/1.1\r\n\r\n"]
)
def test_what_is_no_handshake_names_no_host(hello: bytes) -> None:
    assert server_name(hello) == ""


def test_the_verb_lists_the_cases() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "honeyguide", "lab", "hostile", "--only-list"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in CASES:
        assert name in done.stdout
