"""What `honeyguide doctor` looks at. Each check tries the thing itself rather than its name."""

from __future__ import annotations

import importlib
import platform
import re
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import msgspec

from honeyguide.fetch.browser_program import OWN, PROGRAM, SANDBOX, find_browser, has_playwright, sandboxed
from honeyguide.fetch.proxy import ProxyTrouble, proxies_from
from honeyguide.native import native

MODULES = {
    "ada-url": "ada_url",
    "can-ada": "can_ada",
    "pystemmer": "Stemmer",
    "scikit-learn": "sklearn",
}
"""Modules of distributions that are called otherwise, by their name in small letters."""
OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING."""
LEAST_SPACE = 1024**3
LEAST_FILES = 256
ENOUGH_FILES = 1024


class Check(msgspec.Struct, frozen=True):
    """One finding."""

    name: str
    result: Literal["ok", "warning", "failed"]
    found: str
    fix: str = ""


class Requirement(msgspec.Struct, frozen=True):
    """A distribution that Honeyguide asks for."""

    name: str
    least: str
    extra: str


def requirements() -> list[Requirement]:
    """What the installed package says it needs on this system, extras included."""
    found = []
    for line in requires("honeyguide") or []:
        match = re.match(r"([\w.-]+)(?:\[.*?\])?\s*(?:>=\s*([\d.]+))?", line)
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if match and match[1] != "honeyguide" and not (sys.platform == "win32" and "!= 'win32'" in line):
            found.append(Requirement(match[1], match[2] or "0", extra[1] if extra else ""))
    return found


def check_installation() -> Iterator[Check]:
    """Python, dependencies and extras."""
    new_enough = sys.version_info >= (3, 11)
    yield Check(
        "Python",
        "ok" if new_enough else "failed",
        platform.python_version(),
        "" if new_enough else "use 3.11+",
    )
    needed = requirements()
    broken = [f"{one.name} ({problem})" for one in needed if not one.extra and (problem := _problem(one))]
    core = sum(not one.extra for one in needed)
    if broken:
        yield Check(
            "dependencies", "failed", ", ".join(broken), "pip install --upgrade --force-reinstall honeyguide"
        )
    else:
        yield Check("dependencies", "ok", f"all {core} import")
    yield _check_loop()
    yield _check_native()
    for extra in sorted({one.extra for one in needed} - {"", "all", "dev"}):
        absent = [one.name for one in needed if one.extra == extra and _installed(one) is None]
        if absent:
            fix = f"if you want it: pip install 'honeyguide[{extra}]'"
            yield Check(f"extra {extra}", "warning", f"not installed: {', '.join(absent)}", fix)
        else:
            yield Check(f"extra {extra}", "ok", "installed")
    if has_playwright():
        yield _check_browser()


def _check_browser() -> Check:
    """The browser for pages that need one, started once."""
    program = find_browser()
    if not program:
        fix = f"install Debian's package chromium, run `playwright install chromium`, or set {PROGRAM}"
        return Check("browser", "warning", "none found: pages that need one stay as they are", fix)
    if program == OWN:
        return Check("browser", "ok", "installed by Playwright")
    command = [program, "--version", *([] if sandboxed() else ["--no-sandbox"])]
    try:
        said = subprocess.run(command, capture_output=True, timeout=30, check=True, text=True)  # noqa: S603 - as set by the user
    except (OSError, subprocess.SubprocessError) as error:
        return Check("browser", "warning", f"{program} does not start: {error}", f"set {PROGRAM} to another")
    found = f"{program} ({said.stdout.partition(' built on ')[0].strip()[:60]})"
    if sandboxed():
        return Check("browser", "ok", f"{found}, in its sandbox")
    fix = f"crawl as another user than root, without {SANDBOX}=off"
    return Check("browser", "warning", f"{found}, without its sandbox", fix)


def _installed(requirement: Requirement) -> str | None:
    try:
        return version(requirement.name)
    except PackageNotFoundError:
        return None


def _problem(requirement: Requirement) -> str:
    """Why a distribution cannot be used, or an empty string."""
    have = _installed(requirement)
    if have is None:
        return "not installed"
    if _numbers(have) < _numbers(requirement.least):
        return f"{have} is older than {requirement.least}"
    try:
        with warnings.catch_warnings(action="ignore"):  # what a library thinks of itself is no fault of it
            importlib.import_module(MODULES.get(requirement.name.lower(), requirement.name))
    except Exception as error:  # a broken binary can fail in any way
        return f"does not import: {type(error).__name__}: {error}"
    return ""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _check_loop() -> Check:
    try:
        importlib.import_module("uvloop")
    except ImportError:
        return Check("uvloop", "warning", "absent: crawls take more processor time", "pip install uvloop")
    return Check("uvloop", "ok", version("uvloop"))


def _check_native() -> Check:
    if native is None:
        fix = "install a C compiler, then: pip install --force-reinstall --no-deps honeyguide"
        return Check("compiled part", "warning", "absent: parsing takes three times as long", fix)
    return Check("compiled part", "ok", "works")


def check_machine(folder: Path) -> Iterator[Check]:
    """Database, disk, network on loopback, processes and limits."""
    yield from _check_sqlite()
    yield from _check_folder(folder)
    yield _check_loopback()
    yield _check_processes()
    yield _check_files()


def _check_sqlite() -> Iterator[Check]:
    good = sqlite3.sqlite_version_info >= OLDEST_SQLITE
    fix = "" if good else "use a Python with SQLite 3.35 or newer"
    yield Check("SQLite", "ok" if good else "failed", sqlite3.sqlite_version, fix)
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        yield Check("SQLite full text (FTS5)", "ok", "works")
    except sqlite3.OperationalError as error:
        yield Check("SQLite full text (FTS5)", "failed", str(error), "use a Python whose SQLite has FTS5")
    finally:
        connection.close()


def _check_folder(folder: Path) -> Iterator[Check]:
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place) as stream:
            stream.write(b"x")
            stream.flush()
        yield Check("write permission", "ok", str(place))
    except OSError as error:
        yield Check(
            "write permission", "failed", f"{place}: {error.strerror}", "choose another folder with --folder"
        )
    free = shutil.disk_usage(place).free
    result: Literal["ok", "warning"] = "ok" if free >= LEAST_SPACE else "warning"
    fix = "" if result == "ok" else "free some space: 10,000 pages take about 1 GB"
    yield Check("disk space", result, f"{free / 1e9:.1f} GB free", fix)


def _check_loopback() -> Check:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(5)
            with socket.create_connection(server.getsockname(), timeout=5):
                server.accept()[0].close()
    except OSError as error:
        return Check("sockets", "failed", f"loopback: {error}", "allow this program to open sockets")
    return Check("sockets", "ok", "loopback works")


def check_proxy(setting: str, environ: Mapping[str, str]) -> Iterator[Check]:
    """The proxies that hosts are asked through, where there are any: whether somebody answers there."""
    try:
        proxies = proxies_from(setting, environ)
    except ProxyTrouble as trouble:
        yield Check("proxy", "failed", str(trouble), "set it right, or unset it")
        return
    for proxy in {
        one.address: one for one in (proxies and proxies.http, proxies and proxies.https) if one
    }.values():
        try:
            with socket.create_connection((proxy.host, proxy.port), timeout=5):
                yield Check("proxy", "ok", f"{proxy.address} ({proxy.named_by}) answers")
        except OSError as error:
            found = f"{proxy.address} ({proxy.named_by}): {error.strerror or error}"
            yield Check("proxy", "failed", found, "start it, or name another")


def _check_processes() -> Check:
    try:
        subprocess.run([sys.executable, "-c", "pass"], check=True, timeout=30)
    except (OSError, subprocess.SubprocessError) as error:
        return Check(
            "processes",
            "failed",
            str(error),
            "allow this program to start processes (pages are parsed there)",
        )
    return Check("processes", "ok", "can be started")


def _check_files() -> Check:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    fix = "raise the limit with: ulimit -n 4096"
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        return Check("open files", "failed", str(soft), fix)
    if soft != resource.RLIM_INFINITY and soft < ENOUGH_FILES:
        return Check("open files", "warning", str(soft), fix)
    return Check("open files", "ok", str(soft))
