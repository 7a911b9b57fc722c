"""The encyclopaedia `schools` with the navigation of today's sites: about 280 more links on every page.

    python studies/heavy_navigation.py ../shared/data/webs/schools.warc.gz webs/schools-navigation.warc.gz

writes the web and its labels. Each page gets a side bar (40 pages, the same everywhere) and six boxes of 40
links below the text, two of them to pages of its own subject, four to other subjects. They are plain lists in
plain `div`s, as on most sites, and the same in every run.
"""

from __future__ import annotations

import gzip
import html
import random
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

SIDE_BAR = 40
BOX = 40
OWN_BOXES, OTHER_BOXES = 2, 4

_LENGTH = re.compile(rb"(?mi)^Content-Length: *(\d+)\r\n")


def records(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Head and block of each record of a WARC file."""
    with gzip.open(path) as file:
        while line := file.readline():
            head = line
            while (line := file.readline()).strip():
                head += line
            length = _LENGTH.search(head)
            if length is None:
                raise SystemExit(f"{path}: a record without a length; give a WARC file")
            yield head, file.read(int(length[1]))
            file.readline()
            file.readline()


def rewritten(head: bytes, block: bytes, side_bar: str, boxes: str) -> tuple[bytes, bytes]:
    """A record with a side bar before the page's body and boxes after it."""
    http, _, page = block.partition(b"\r\n\r\n")
    page = re.sub(rb"(?i)(<body[^>]*>)", lambda match: match[1] + side_bar.encode(), page, count=1)
    page = re.sub(rb"(?i)</body>", lambda _: boxes.encode() + b"</body>", page, count=1)
    http = _LENGTH.sub(b"", http + b"\r\n") + b"Content-Length: %d\r\n\r\n" % len(page)
    head = re.sub(rb"(?mi)^WARC-(?:Payload|Block)-Digest:[^\n]*\n", b"", head)
    return _LENGTH.sub(b"Content-Length: %d\r\n" % len(http + page), head), http + page


def links(urls: list[str]) -> str:
    """A list of links, each named by its address."""
    items = "".join(f'<li><a href="{html.escape(url)}">{html.escape(_title(url))}</a></li>' for url in urls)
    return f'<div class="box"><ul>{items}</ul></div>'


def main(source: Path, target: Path) -> None:
    """Write `target` and its labels."""
    labels = source.with_name(source.name.replace(".warc.gz", ".labels.tsv"))
    subjects: dict[str, list[str]] = defaultdict(list)
    subject_of: dict[str, str] = {}
    for line in labels.read_text().splitlines()[1:]:
        url, _, label = line.split("\t")
        subjects[label].append(url)
        subject_of.setdefault(url, label)
    names, everything = sorted(subjects), sorted(subject_of)
    side_bar = links(random.Random(0).sample(everything, SIDE_BAR))  # noqa: S311  Not a secret.
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        for head, block in records(source):
            found = re.search(rb"(?mi)^WARC-Target-URI: *(\S+)", head)
            record = (head, block)
            if found is not None and b"response" in head and b"<body" in block:
                url = found[1].decode()
                draws = random.Random(url)  # noqa: S311  Not a secret.
                boxes = [subjects[subject_of[url]]] * OWN_BOXES if url in subject_of else []
                boxes += [subjects[name] for name in draws.sample(names, OTHER_BOXES)]
                body = "".join(links(draws.sample(box, min(BOX, len(box)))) for box in boxes)
                record = rewritten(head, block, side_bar, body)
            out.write(gzip.compress(b"\r\n".join(record) + b"\r\n\r\n", 3, mtime=0))
    shutil.copyfile(labels, target.with_name(target.name.replace(".warc.gz", ".labels.tsv")))


def _title(url: str) -> str:
    return unquote(unquote(url.rsplit("/", 1)[-1])).removesuffix(".htm").replace("_", " ")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
