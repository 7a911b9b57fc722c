"""`honeyguide lab damage`."""

from __future__ import annotations

import asyncio
import http.client
import io
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from honeyguide.cli.crawl import taken_up
from honeyguide.cli.failure import explain
from honeyguide.cli.output import clean, note, print_facts
from honeyguide.errors import HoneyguideError
from honeyguide.lab.damage import FORMATS, Case, Trial, Use, make_subjects, take_up, try_cases
from honeyguide.ui.server import listen, make_server

TOKEN = "only-for-this-trial"  # noqa: S105 - of a portal on loopback, for a moment
PATHS = (
    "/", "/search?q=the", "/search?sort=score", "/page/1", "/page/2", "/review", "/review/decisions",
    "/directory", "/directory/hosts", "/links", "/exports", "/datasheet", "/metrics", "/healthz", "/readyz",
    "/api/v1/collections",
)  # fmt: skip
"""What a reader of the portal asks for."""


def damage(*, cases: int = 200, seed: int = 1, only: int | None = None, json: bool = False) -> None:
    """Spoil copies of a collection at random, and try every way to use what is left.

    Each case spoils one file (bits flipped, overwritten, cut, lost, replaced, forged, linked elsewhere) or
    exchanges two, then tries status, search, export, serve and resume. Each must work or say clearly what is
    wrong; nothing outside the collection may change, and nothing that was committed in another file be lost.

    Args:
        cases: How many to try.
        seed: The same seed gives the same cases.
        only: Try only the case of this number, and show what each command said.
        json: Print the figures as JSON.
    """
    with tempfile.TemporaryDirectory(prefix="honeyguide-damage-") as name:
        work = Path(name)
        trial = Trial(
            tuple(make_subjects(work / "sound")), VERBS, seed, work / "cases", loud=only is not None
        )
        broken: list[Case] = []
        kinds: Counter[str] = Counter()
        refused: Counter[str] = Counter()
        began = time.monotonic()
        for case in try_cases(trial, range(cases) if only is None else [only]):
            kinds[case.damage.kind] += 1
            refused.update(use.verb for use in case.uses if use.status)
            if case.broken:
                broken.append(case)
            if case.broken or only is not None:
                _tell(case, everything=only is not None)
            if (case.number + 1) % 50 == 0:
                note(f"{case.number + 1} cases, {len(broken)} broken, {time.monotonic() - began:.0f} s")
    tried = sum(kinds.values())
    facts: dict[str, object] = {
        "cases": tried,
        "held": tried - len(broken),
        "seed": seed,
        "kinds": dict(sorted(kinds.items())),
        "refused": {verb: refused[verb] for verb in VERBS},
    }
    print_facts(facts, json=json)
    if broken:
        numbers = ", ".join(str(case.number) for case in broken[:20])
        raise HoneyguideError(
            f"{len(broken)} cases broke a promise: {numbers};"
            f" see one with: honeyguide lab damage --seed {seed} --only N"
        )


def _tell(case: Case, *, everything: bool) -> None:
    told = [
        f"case {case.number} ({case.subject}): {case.damage}",
        *(f"  broken: {line}" for line in case.broken),
    ]
    if everything:
        told += [f"  {use.verb}: {use.status} {use.said}" for use in case.uses]
    print(clean("\n".join(told)), file=sys.stderr)


def _typed(*words: str) -> tuple[int, str]:
    """A command as a user types it."""
    from honeyguide.cli import main  # which imports the list of verbs, this one among them

    said, shown = io.StringIO(), io.StringIO()
    with redirect_stderr(said), redirect_stdout(shown):
        status = main(words)
    return status, said.getvalue().strip() + ("Traceback" if "Traceback" in shown.getvalue() else "")


def _status(folder: Path, _chance: random.Random) -> tuple[int, str]:
    return _typed("status", str(folder))


def _search(folder: Path, _chance: random.Random) -> tuple[int, str]:
    return _typed("search", str(folder), "the OR a")


def _export(folder: Path, chance: random.Random) -> tuple[int, str]:
    form = chance.choice(FORMATS)
    out = folder.parent / f"export.{form}"
    return _typed("export", str(folder), "--format", form, "--out", str(out), "--all-pages")


def _resume(folder: Path, _chance: random.Random) -> tuple[int, str]:
    """As `honeyguide resume`, with the generated web in place of the network."""
    try:
        return 0, take_up(taken_up(folder), folder)
    except Exception as error:
        traceback.print_exc()
        message, status = explain(error)
        return status, message


def _serve(folder: Path, _chance: random.Random) -> tuple[int, str]:
    """A portal on loopback, and a reader who asks for all its pages."""
    try:
        return asyncio.run(_read_portal(folder))
    except Exception as error:
        message, status = explain(error)
        return status, message


async def _read_portal(folder: Path) -> tuple[int, str]:
    with listen("127.0.0.1", 0) as bound:
        server = make_server([folder], token=TOKEN, host="127.0.0.1")
        running = asyncio.ensure_future(server.serve(sockets=[bound]))
        try:
            return await asyncio.to_thread(_ask, bound.getsockname()[1])
        finally:
            server.should_exit = True
            await running


def _ask(port: int) -> tuple[int, str]:
    worst, said = 0, ""
    for path in PATHS:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
        connection.close()
        if answer.status == 500 or "Traceback" in text:
            return 70, f"{path}: {answer.status} {text[-300:]}"
        if answer.status > 500 and not worst:
            worst, said = 2, f"{path}: {answer.status} {text[-300:]}"
    return worst, said


VERBS: dict[str, Use] = {
    "status": _status,
    "search": _search,
    "export": _export,
    "serve": _serve,
    "resume": _resume,
    "status again": _status,
    "search again": _search,
}
