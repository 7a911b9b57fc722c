"""`honeyguide doctor`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from honeyguide.cli.checkup import Check, check_installation, check_machine
from honeyguide.cli.environment import by_environment
from honeyguide.cli.output import fail, note, print_table
from honeyguide.config.load import load

_MARKS = {"ok": "ok", "warning": "warning", "failed": "FAILED"}


def doctor(topic: Path | None = None, /, *, folder: Path = Path(), json: bool = False) -> int:
    """Check this installation and machine, and say what to repair.

    Exits with status 1 when something essential fails.

    Args:
        topic: A topic file whose identity to check as well.
        folder: Where collections are to be written.
        json: Print JSON.
    """
    identity = [_check_identity(topic)] if topic is not None else []
    with Console(stderr=True).status("Checking..."):
        checks = [*check_installation(), *check_machine(folder), *identity]
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


def _check_identity(topic: Path) -> Check:
    identity = by_environment(load(topic)).identity
    if identity.has_contact:
        return Check("contact in user agent", "ok", identity.user_agent)
    fix = 'set user_agent = "honeyguide/0.1 (+https://...; you@...)" under [identity]'
    return Check("contact in user agent", "warning", identity.user_agent, fix)
