"""`honeyguide report`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import note, print_facts, print_json, print_table, warn
from honeyguide.collection.collection import Collection
from honeyguide.collection.estimate import TOO_EARLY
from honeyguide.collection.report import report_of
from honeyguide.errors import MissingExtra
from honeyguide.model import Outcome


def report(
    folder: Path,
    /,
    *,
    out: Annotated[Path | None, OUT] = None,
    json: bool = False,
) -> None:
    """Print the figures of a crawl and draw its report.

    Args:
        folder: The collection.
        out: Picture (.png, .svg) or page (.html) to write; by default `report.png` in the collection
            where the extra `plots` is installed.
        json: Print JSON.
    """
    target = out or folder / "report.png"
    with Collection.open(folder) as collection:
        status = collection.status()
        told = report_of(collection)
        languages = Counter(page.language or "unknown" for page in collection.pages())
    drawn = told.pages > 0
    if drawn:
        try:
            # matplotlib is slow to load, and an extra
            from honeyguide.collection.report_figure import draw_report
        except ModuleNotFoundError:
            missing = MissingExtra("drawing pictures", "plots")
            if out is not None:
                raise missing from None
            note(str(missing))
            drawn = False
        else:
            try:
                draw_report(told, target)
            except OSError as error:  # a collection on a stick or a share is worth its figures
                if out is not None:
                    raise
                warn(f"no picture: {target}: {error.strerror or error}; name another place with --out")
                drawn = False
    recent = told.found[-1] - (told.found[-201] if told.pages > 200 else 0) if told.pages else 0
    facts: dict[str, object] = {
        "topic": told.topic,
        "pages": told.pages,
        "relevant": told.relevant,
        "harvest": round(told.relevant / told.pages, 4) if told.pages else 0.0,
        "harvest of the last 200": round(int(recent) / min(200, told.pages), 4) if told.pages else None,
        "breadth-first, estimated": round(float(told.breadth_first[-1])) if told.pages else None,
        "found": told.estimate.advice if told.estimate else TOO_EARLY,
        "unsure": told.uncertain.advice if told.uncertain else None,
        "requests": status.requests,
        "bytes": status.bytes,
        "seconds": round(status.seconds, 1),
        "waiting": status.waiting,
        "stopped": status.reason,
        "plot": str(target) if drawn else None,
    }
    hosts = {host.name: host.relevant for host in told.where if host.relevant}
    if json:
        more = {"outcomes": status.outcomes, "hosts": hosts, "languages": dict(languages.most_common())}
        print_json({**facts, **more})
        return
    print_facts(facts)
    rows = [
        {"outcome": Outcome[name.upper()].label, "URLs": count, "setting": Outcome[name.upper()].setting}
        for name, count in status.outcomes.items()
    ]
    print_table(rows, ["outcome", "URLs", "setting"], title="What became of the URLs")
    top = [{"host": name, "relevant pages": count} for name, count in list(hosts.items())[:10]]
    print_table(top, ["host", "relevant pages"], title="Hosts with most relevant pages")
