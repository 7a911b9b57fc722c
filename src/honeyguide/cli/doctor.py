"""`honeyguide doctor`."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from honeyguide.cli.checkup import Check, check_installation, check_machine, check_proxy
from honeyguide.cli.environment import by_environment
from honeyguide.cli.output import fail, note, print_table
from honeyguide.config.load import load
from honeyguide.config.schema import IdentityTable, NetworkTable

_MARKS = {"ok": "ok", "warning": "warning", "failed": "FAILED"}


def doctor(topic: Path | None = None, /, *, folder: Path = Path(), json: bool = False) -> int:
    """Check this installation and machine, and say what to repair.

    Exits with status 1 when something essential fails.

    Args:
        topic: A topic file whose identity and proxy to check as well.
        folder: Where collections are to be written.
        json: Print JSON.
    """
    config = by_environment(load(topic)) if topic is not None else None
    identity = [_check_identity(config.identity)] if config is not None else []
    network = config.network if config is not None else NetworkTable()
    with Console(stderr=True).status("Checking..."):
        checks = [*check_installation(), *check_machine(folder)]
        checks += [*check_proxy(network.proxy, os.environ), *identity]
    rows = [{"check": c.name, "result": _MARKS[c.result], "found": c.found, "fix": c.fix} for c in checks]
    if json:
        rows = [{**row, "result": c.result} for row, c in zip(rows, checks, strict=True)]
    print_table(rows, ["check", "result", "found", "fix"], json=json)
    failed = [c.name for c in checks if c.result == "failed"]
    if failed and not json:
        fail(f"essential checks failed: {', '.join(failed)}")
    elif not json:
        note("All essential checks passed.")
    return 1 if failed else 0


def _check_identity(identity: IdentityTable) -> Check:
    if identity.has_contact:
        return Check("contact in user agent", "ok", identity.user_agent)
    fix = 'set user_agent = "honeyguide/0.1 (+https://...; you@...)" under [identity]'
    return Check("contact in user agent", "warning", identity.user_agent, fix)
