"""An endless site on loopback, in a thread: for crawls that other processes run.

It is a trap by its nature: crawl it with `trap_zones = false`.
"""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random


class _Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.strip("/")
        number = int(name) if name.isdigit() else 0
        links = "".join(f'<a href="/{2 * number + more}">owl {more}</a> ' for more in (1, 2))
        words = " ".join(f"w{Random(number).randrange(10**6)}{place}" for place in range(40))
        body = f"<title>Owl {number}</title><p>The barn owl is an owl. {words}</p>{links}".encode()
        self.send_response(404 if name == "robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endless_site() -> Iterator[str]:
    """Pages about owls, each with two links to others; the address of the first."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
