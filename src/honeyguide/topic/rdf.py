"""ODP/DMOZ dumps (`structure.rdf.u8`, `content.rdf.u8`), read as a stream.

The real files are gigabytes, and files of that name may come from anywhere: nothing is kept but the item
that is being read, entity declarations are refused (they are how small files become huge), and texts and
nesting have limits.

References:
    Open Directory RDF dump, http://www.dmoz.org/rdf/ (closed in 2017; mirrors keep the dumps).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from xml.parsers import expat  # entity declarations, the way to bombs, are refused below

from honeyguide.errors import TopicError
from honeyguide.topic.taxonomy import Item, Listed, TreeTopic

CHUNK: Final = 1 << 16
MAX_TEXT: Final = 100_000
"""Characters kept of one title or description."""
MAX_NESTING: Final = 50
CHINESE: Final = "Chinese_Simplified"
"""`<altlang r:resource="Chinese_Simplified_CN:Top/World/Chinese_Simplified_CN/...">` names the twin."""


def read_rdf(stream: BinaryIO, path: Path) -> Iterator[Item]:
    """Topics and listed pages in the order of the file.

    Raises:
        TopicError: Not well-formed, not an ODP dump, or hostile; names the file and the line.
    """
    handler = _Handler(path)
    while chunk := stream.read(CHUNK):
        yield from handler.feed(chunk, final=False)
    yield from handler.feed(b"", final=True)
    if not handler.met_rdf:
        raise TopicError(f"{path} is XML but no ODP dump; give structure.rdf.u8 or content.rdf.u8")


class _Handler:
    """Turns the parser's calls into items."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse_entity
        self._items: list[Item] = []
        self._depth = 0
        self._kind = ""
        self._about = ""
        self._fields: dict[str, str] = {}
        self._field = ""
        self._text: list[str] = []
        self._size = 0
        self._line = 0
        self.met_rdf = False

    def feed(self, data: bytes, *, final: bool) -> list[Item]:
        """Parse more bytes; the items completed by them."""
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise TopicError(
                f"{self._path}:{error.lineno}: not valid XML ({what}); fetch the file again or repair it"
            ) from None
        done, self._items = self._items, []
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        local = name.rpartition(":")[2]
        if self._depth == 1:
            self.met_rdf = local == "RDF"
        if self._depth > MAX_NESTING:
            raise self._refused(f"elements nested more than {MAX_NESTING} deep")
        if self._depth == 2:
            self._kind, self._fields = local, {}
            self._about = attributes.get("r:id", attributes.get("r:about", attributes.get("about", "")))
            self._line = self._parser.CurrentLineNumber
        elif self._depth == 3 and self._kind in ("Topic", "ExternalPage"):
            self._field, self._text, self._size = local, [], 0
            twin = attributes.get("r:resource", "")
            if local.startswith("altlang") and twin.startswith(CHINESE):
                self._fields.setdefault("chinese", _twin_path(twin))

    def _end(self, name: str) -> None:
        if self._depth == 3 and self._field:
            self._fields.setdefault(self._field, " ".join("".join(self._text).split()))
            self._field = ""
        elif self._depth == 2:
            self._finish()
        self._depth -= 1

    def _characters(self, text: str) -> None:
        if self._field and self._size < MAX_TEXT:
            self._text.append(text[: MAX_TEXT - self._size])
            self._size += len(text)

    def _finish(self) -> None:
        get = self._fields.get
        if self._kind == "Topic" and self._about:
            title = get("Title", "")
            found = TreeTopic(self._about, title, get("Description", ""), get("chinese", ""), self._line)
            self._items.append(found)
        elif self._kind == "ExternalPage" and self._about and get("topic"):
            page = Listed(get("topic", ""), self._about, get("Title", ""), get("Description", ""))
            self._items.append(page)
        self._kind = ""

    def _refuse_entity(self, *declaration: object) -> None:
        raise self._refused("it declares entities, as XML bombs do")

    def _refused(self, problem: str) -> TopicError:
        line = self._parser.CurrentLineNumber
        return TopicError(f"{self._path}:{line}: refused: {problem}; use a dump of the directory itself")


def _twin_path(resource: str) -> str:
    """`Chinese_Simplified_CN:Top/World/Chinese_Simplified_CN/体育` gives `体育`.

    Example:
        >>> _twin_path("Chinese_Simplified_CN:Top/World/Chinese_Simplified_CN/体育/篮球")
        '体育/篮球'
    """
    path = resource.partition(":")[2]
    parts = path.split("/")
    start = next((place + 1 for place, part in enumerate(parts) if part.startswith(CHINESE)), 0)
    return "/".join(parts[start:])
