"""`honeyguide serve`."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cyclopts

from honeyguide.cli.output import note, print_facts
from honeyguide.errors import CollectionError, HoneyguideError, MissingExtra
from honeyguide.store.layout import Layout, is_collection

if TYPE_CHECKING:
    import uvicorn

USUAL_PORT = 8642
HOME = (Path(), Path("collections"))
"""Where collections are looked for when none is named; new ones begin in the last."""
TOKEN_VARIABLE = "HONEYGUIDE_TOKEN"  # noqa: S105 - a name


def serve(
    *folders: Path,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    no_open: bool = False,
    new: bool = False,
    json: bool = False,
    until_input_ends: Annotated[bool, cyclopts.Parameter(show=False)] = False,
) -> None:
    """Open the portal on a collection or several: watch the crawl, review, search, export.

    Args:
        folders: The collection, running or finished; or several; or a folder that holds collections. By
            default all collections of this folder and of its folder `collections`: the home page shows
            them and starts new crawls.
        host: Interface to listen on; any other than this machine's own needs --token.
        port: Port to listen on; 0 takes a free one. By default 8642, or a free one when that is taken.
        token: Secret that readers must know; by default a fresh one. Also read from HONEYGUIDE_TOKEN.
        no_open: Do not open a browser.
        new: The folder holds no collection yet: begin with the topic.
        json: Print where it listens as JSON.
        until_input_ends: End when standard input does: for the program that started this one.
    """
    try:
        from honeyguide.ui.server import Place, chosen_token, listen, make_server
        from honeyguide.ui.shelf import holds_collections
    except ImportError as error:
        raise MissingExtra("the portal", "ui") from error
    places = () if folders else HOME
    for folder in folders:
        if (new and not is_collection(folder)) or holds_collections(folder):
            continue
        if folder.is_dir() and not any(folder.iterdir()):
            hint = f"to begin one there, type: honeyguide serve {folder} --new"
            raise CollectionError(f"{folder} is empty; {hint}")
        Layout.open(folder)
    secret = chosen_token(host, token or os.environ.get(TOKEN_VARIABLE) or None)
    try:
        bound = listen(host, USUAL_PORT if port is None else port)
    except HoneyguideError:
        if port is not None:
            raise
        bound = listen(host, 0)
    place = Place(host, bound.getsockname()[1], secret)
    # A crawl that opens the portal beside itself is about to make its collection: nothing to be built.
    empty = new and len(folders) == 1 and not is_collection(folders[0]) and not until_input_ends
    entrance = place.entrance_to("topic" if empty else "")
    named = ", ".join(map(str, folders)) or f"all in {Path.cwd()} and its folder {HOME[-1]}"
    print_facts({"portal": entrance, "collection": named, "stop": "Ctrl-C"}, json=json)
    print(end="", flush=True)
    server = make_server(folders, token=secret, host=host, places=places)
    if not no_open:
        open_browser(entrance)
    try:
        asyncio.run(_serve(server, bound, until_input_ends=until_input_ends))
    finally:
        bound.close()


def open_browser(address: str) -> None:
    """Open the user's browser, where there is a screen for one: a text browser would take the terminal."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin":
        try:
            webbrowser.open(address)
        except webbrowser.Error as error:
            note(f"no browser could be opened ({error}); open the address above")


async def _serve(server: uvicorn.Server, bound: socket.socket, *, until_input_ends: bool) -> None:
    loop = asyncio.get_running_loop()

    def end() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    if until_input_ends:

        def wait() -> None:
            # Not by sys.stdin: Python cannot end while a thread waits in its buffer.
            while os.read(0, 4096):
                pass
            loop.call_soon_threadsafe(end)

        threading.Thread(target=wait, daemon=True).start()
    await server.serve(sockets=[bound])
