"""A small application on loopback: a shell for every address, one script, and an interface with the texts."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from loopback import HTML

from honeyguide.lab.webs.served import Served

SHELL = (
    "<!doctype html><html><head><title>Owls</title><link rel=stylesheet href=/app.css>"
    "<link rel=canonical href=/></head>"
    '<body><div id="root"></div><img src=/logo.png><script src="/app.js"></script></body></html>'
)
SCRIPT = """
const root = document.getElementById('root');
async function show(path) {
  const answer = await fetch('/api' + path, {headers: {'X-Client': 'owls'}});
  if (!answer.ok) { root.textContent = 'Not found'; return; }
  const page = await answer.json();
  document.title = page.title;
  root.innerHTML = '<main><h1></h1><p></p><ul></ul></main>';
  root.querySelector('h1').textContent = page.title;
  root.querySelector('p').textContent = page.text;
  for (const link of page.links) {
    const item = document.createElement('li'), anchor = document.createElement('a');
    anchor.href = link.url; anchor.textContent = link.text;
    anchor.onclick = (event) => {
      event.preventDefault(); history.pushState(0, '', link.url); show(link.url);
    };
    item.append(anchor); root.querySelector('ul').append(item);
  }
}
show(location.pathname);
"""
TEXT = "The barn owl hunts at night over open country and finds its prey by ear. "
JSON = (("Content-Type", "application/json"),)


def texts(pages: int) -> dict[str, dict[str, object]]:
    """A start page that links to all others."""
    found: dict[str, dict[str, object]] = {
        "/": {
            "title": "All owls",
            "text": TEXT * 4,
            "links": [{"url": f"/owl/{n}", "text": f"barn owl {n}"} for n in range(1, pages)],
        }
    }
    for n in range(1, pages):
        found[f"/owl/{n}"] = {
            "title": f"Barn owl {n}",
            "text": f"Owl number {n} lives in barn {n * 7}. "
            + TEXT * 4
            + f" It has {n + 2} chicks called {n}.",
            "links": [{"url": "/", "text": "all owls"}],
        }
    return found


class Application:
    """Answers for `http://spa.example/`; call it with a URL."""

    def __init__(self, pages: int = 6) -> None:
        self._texts = texts(pages)
        self.more: dict[str, Served] = {}
        """Further addresses, by URL."""

    def write(self, path: str, text: str) -> None:
        """Change what a page says."""
        self._texts[path]["text"] = text

    def __call__(self, url: str) -> Served | None:
        if url in self.more:
            return self.more[url]
        path = urlsplit(url).path
        if path == "/robots.txt":
            return None
        if path == "/app.js":
            return Served(200, (("Content-Type", "text/javascript"),), SCRIPT.encode())
        if path == "/app.css":
            return Served(200, (("Content-Type", "text/css"),), b"body { color: black }")
        if path.startswith("/api"):
            page = self._texts.get(path.removeprefix("/api"))
            return Served(200, JSON, json.dumps(page).encode()) if page else None
        return Served(200, HTML, SHELL.encode())
