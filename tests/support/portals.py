"""A running portal on loopback for tests, asked over real HTTP."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from honeyguide.ui.server import listen, make_server

TOKEN = "test-token-0123456789"


class Reply(NamedTuple):
    """What the portal answered."""

    status: int
    headers: Mapping[str, str]
    text: str


class RunningPortal:
    """A portal in a thread of this process."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.entrance = f"{self.url}/?token={TOKEN}"

    def ask(
        self,
        method: str,
        path: str,
        *,
        fields: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = TOKEN,
    ) -> Reply:
        """One request; with the token as a bearer's unless it is None."""
        sent = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        body = None
        if fields is not None:
            body = urlencode(fields)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            stream = named.get("content-type", "").startswith("text/event-stream")
            return Reply(answer.status, named, "" if stream else answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **options: object) -> Reply:
        """A page."""
        return self.ask("GET", path, **options)  # type: ignore[arg-type]

    def post(self, path: str, **fields: object) -> Reply:
        """Send a form."""
        return self.ask("POST", path, fields=fields)


@contextmanager
def running_portal(folder: Path | None, *, places: Sequence[Path] = ()) -> Iterator[RunningPortal]:
    """The portal on a folder, or on places for collections, until the block ends."""
    server = make_server([folder] if folder else [], token=TOKEN, host="127.0.0.1", places=places)
    bound = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield RunningPortal(bound.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(20)
        bound.close()


def ask_json(portal: RunningPortal, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """One request to the REST API: the status and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=60)
    headers = {"Host": f"127.0.0.1:{portal.port}", "Authorization": f"Bearer {TOKEN}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data)
