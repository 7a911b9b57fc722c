"""`honeyguide lab import`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from honeyguide.cli.output import note, print_facts
from honeyguide.lab.webs.recorded.home import WebError
from honeyguide.lab.webs.recorded.importing import Imported, import_archive
from honeyguide.lab.webs.recorded.manuals import import_manuals
from honeyguide.lab.webs.recorded.schools import import_schools
from honeyguide.lab.webs.recorded.webkb import import_webkb


def import_web(
    kind: Literal["webkb", "schools", "manuals", "warc", "wacz"],
    path: Path,
    /,
    *,
    labels: Path | None = None,
    name: str | None = None,
    mount: tuple[str, ...] = (),
    replace: bool = False,
    json: bool = False,
) -> None:
    """Import a recorded web. It appears whole, or not at all.

    Args:
        kind: What the files are: the 4 Universities set, Wikipedia for Schools, packages of ten
            manuals from Debian, or any archive.
        path: The original tar or folder (for manuals, one with the packages), or the WARC or WACZ file.
        labels: Table with columns url, site and label, for an archive; by default NAME.labels.tsv beside it.
        name: What to call the web; by default the kind, or the file's name.
        mount: A path prefix that links have and recorded addresses lack, such as /en-US.
        replace: Replace a web of the same name.
        json: Print what was imported as JSON.
    """
    if kind in ("warc", "wacz"):
        done = import_archive(path, name=name, labels=labels, mounts=mount, replace=replace)
    elif labels is not None or mount:
        raise WebError(f"--labels and --mount are for warc and wacz; `import {kind}` needs neither")
    elif kind == "webkb":
        done = import_webkb(path, name=name or kind, replace=replace)
    elif kind == "manuals":
        done = import_manuals(path, name=name or kind, replace=replace)
    else:
        done = import_schools(path, name=name or kind, replace=replace)
    show_imported(done, json=json)


def show_imported(done: Imported, *, json: bool) -> None:
    """Print what an import or a recording gave."""
    facts: dict[str, object] = {
        "web": done.name,
        "pages": done.pages,
        "labelled": done.labelled,
        "same address twice": done.collisions,
        "not of the web": done.unfetchable,
        "folder": str(done.folder),
    }
    print_facts(facts, json=json)
    if not json:
        note(f"next: honeyguide lab info {done.name}")
