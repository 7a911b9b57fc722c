"""`crawl()` in a real Jupyter kernel: progress in place, and the stop button."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawls import SPEC, TOPIC_NAME, small_topic

from honeyguide import Collection
from honeyguide.lab.webs.serve import start_server

manager = pytest.importorskip("jupyter_client.manager")
pytestmark = pytest.mark.realtime


@pytest.fixture
def topic(tmp_path: Path) -> Iterator[Path]:
    held = small_topic()
    with start_server(SPEC) as server:
        file = tmp_path / "topic.toml"
        file.write_text(
            f"[topic]\nname = {TOPIC_NAME!r}\nkeywords = {list(held.keywords)}\n"
            f"[crawl]\nseeds = {list(held.seeds)}\n[politeness]\ndelay = 0.2\nip_delay = 0.0\n"
            f'[network]\nallow_net = ["127.0.0.0/8"]\nconnect_to = {{ "*" = "127.0.0.1:{server.port}" }}\n'
        )
        yield file


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    held, client = manager.start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    yield held, client
    client.stop_channels()
    held.shutdown_kernel(now=True)


def messages(client: Any, seconds: float = 60.0) -> Iterator[dict[str, Any]]:
    """What the kernel says until it is idle again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        message = client.get_iopub_msg(timeout=seconds)
        yield message
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return


def printed(client: Any, code: str) -> str:
    client.execute(code)
    return "".join(
        message["content"]["text"] for message in messages(client) if message["msg_type"] == "stream"
    )


def test_progress_is_one_box_and_interrupting_the_cell_stops_the_crawl(
    topic: Path, kernel: tuple[Any, Any]
) -> None:
    held, client = kernel
    client.execute("from honeyguide import crawl\ncrawl('topic.toml', out='owls', max_pages=100000)")
    boxes, drawings, failed = 0, [], ""
    for message in messages(client):
        kind, content = message["msg_type"], message["content"]
        boxes += kind == "display_data"
        if kind == "update_display_data":
            drawings.append(content["data"]["text/html"])
            if len(drawings) == 2:
                held.interrupt_kernel()
        if kind == "error":
            failed = content["ename"]
    assert boxes == 1
    assert failed == "KeyboardInterrupt"
    assert "<progress" in drawings[0]
    assert "interrupted" in drawings[-1]
    left = printed(client, "import threading; print([one.name for one in threading.enumerate()])")
    assert "honeyguide-crawl" not in left
    with Collection.open(topic.parent / "owls") as collection:
        status = collection.status()
    assert (status.running, status.reason) == (False, "interrupted")
    asked = printed(
        client, "print(crawl('topic.toml', out='owls', max_pages=2, progress=False).status().pages)"
    )
    assert int(asked) >= 2
