"""The topic-token table: how topics are spelled in addresses.

Four kinds of spelling, as Chinese addresses show them: full English, abbreviated English, full Pinyin
and the first letters of Pinyin. The built-in table is our own work; a user's own tables lie on top of it,
and labels that no table knows are spelled as they are and in Pinyin.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, Self, TypeAlias, get_args

import msgspec

from honeyguide.errors import TopicError
from honeyguide.topic.pinyin import full_pinyin, is_chinese

Kind: TypeAlias = Literal["english", "abbreviation", "pinyin", "initials"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
BUILT_IN: Final = Path(__file__).with_name("topic_tokens.tsv")
_NOT_A_LETTER = re.compile(r"[\W_]+")


class Spellings(msgspec.Struct, frozen=True):
    """How one topic is spelled in addresses; several spellings a kind, or none."""

    topic: str
    english: tuple[str, ...] = ()
    abbreviation: tuple[str, ...] = ()
    pinyin: tuple[str, ...] = ()
    initials: tuple[str, ...] = ()
    chinese: tuple[str, ...] = ()
    """Names of the topic in Chinese."""

    def of(self, kind: Kind) -> tuple[str, ...]:
        """The spellings of one kind."""
        found: tuple[str, ...] = getattr(self, kind)
        return found

    def all(self) -> dict[str, Kind]:
        """Every spelling with its kind; the first kind counts where one occurs twice."""
        found: dict[str, Kind] = {}
        for kind in KINDS:
            for token in self.of(kind):
                found.setdefault(token, kind)
        return found


class Mapping(msgspec.Struct, frozen=True):
    """One line of a user's table: a token stands for a topic."""

    token: str
    topic: str
    kind: Kind = "english"


def squeezed(text: str) -> str:
    """A name as it may stand in an address: lower case, letters and digits only.

    Example:
        >>> squeezed("Real_Estate")
        'realestate'
    """
    return _NOT_A_LETTER.sub("", unicodedata.normalize("NFKC", text[:200]).lower())


class TokenTable:
    """Topics with their spellings, found by English or Chinese name and by token.

    Example:
        >>> table = built_in_table()
        >>> table.find("体育").pinyin, table.topic_of("lanqiu")
        (('tiyu',), 'Basketball')
    """

    def __init__(self, entries: Iterable[Spellings]) -> None:
        self.entries: dict[str, Spellings] = {entry.topic: entry for entry in entries}
        self._names: dict[str, str] = {}
        self._tokens: dict[str, str] = {}
        for entry in self.entries.values():
            for name in (entry.topic, *entry.chinese):
                self._names.setdefault(squeezed(name), entry.topic)
            for token in entry.all():
                self._tokens.setdefault(token, entry.topic)

    def __len__(self) -> int:
        """Number of topics."""
        return len(self.entries)

    def find(self, name: str) -> Spellings | None:
        """The entry of a topic, by its English or Chinese name."""
        topic = self._names.get(squeezed(name))
        return self.entries[topic] if topic else None

    def topic_of(self, token: str) -> str | None:
        """The topic that a whole token stands for."""
        return self._tokens.get(token.lower())

    def with_mappings(self, mappings: Sequence[Mapping]) -> TokenTable:
        """This table with a user's tokens on top: a token that stood for another topic is moved."""
        entries = dict(self.entries)
        for one in mappings:
            known = self.find(one.topic)
            topic = known.topic if known else one.topic
            for other in [entry for entry in entries.values() if one.token in entry.all()]:
                entries[other.topic] = _without(other, one.token)
            entry = entries.get(topic, Spellings(topic, english=_own_spelling(topic)))
            changed = {one.kind: (*entry.of(one.kind), one.token)}
            entries[topic] = msgspec.structs.replace(entry, **changed)
        return TokenTable(entries.values())

    def spell(self, names: Sequence[str]) -> Spellings:
        """How a label, given in one or more languages, is spelled in addresses.

        A label in no table is spelled as it is (in all its languages) and in full Pinyin.

        Raises:
            MissingExtra: A Chinese name needs Pinyin, and pypinyin is not installed.
        """
        own = tuple(dict.fromkeys(name for each in names if (name := squeezed(each))))
        for each in names:
            if entry := self.find(each):
                english = (*entry.english, *(name for name in own if name not in entry.all()))
                return msgspec.structs.replace(entry, english=tuple(dict.fromkeys(english)))
        pinyin = (full_pinyin(name) for name in own if is_chinese(name))
        return Spellings(names[0] if names else "", english=own, pinyin=tuple(filter(None, pinyin)))


def _own_spelling(topic: str) -> tuple[str, ...]:
    return (squeezed(topic),) if squeezed(topic) else ()


def _without(entry: Spellings, token: str) -> Spellings:
    kept = {kind: tuple(one for one in entry.of(kind) if one != token) for kind in KINDS}
    return msgspec.structs.replace(entry, **kept)


@lru_cache(maxsize=1)
def built_in_table() -> TokenTable:
    """The table that comes with the program."""
    lines = BUILT_IN.read_text(encoding="utf-8").splitlines()
    entries = []
    for line in lines[1:]:
        topic, chinese, english, abbreviation, pinyin, initials = line.split("\t")
        entries.append(
            Spellings(
                topic,
                english=tuple(english.split()),
                abbreviation=tuple(abbreviation.split()),
                pinyin=tuple(pinyin.split()),
                initials=tuple(initials.split()),
                chinese=tuple(chinese.split()),
            )
        )
    return TokenTable(entries)


class UserTable(msgspec.Struct, frozen=True):
    """A user's tokens, as they stand in a file of lines `token<TAB>topic<TAB>kind`."""

    path: Path
    mappings: tuple[Mapping, ...] = ()

    @classmethod
    def read(cls, path: Path, *, missing_ok: bool = False) -> Self:
        """Read a table; `#` begins a comment, `kind` may be left out.

        Raises:
            TopicError: The file cannot be read, a line is wrong, or a token stands in it twice.
        """
        if missing_ok and not path.exists():
            return cls(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise TopicError(
                f"cannot read the token table {path}: {error.strerror}; check the path"
            ) from None
        except UnicodeDecodeError:
            raise TopicError(f"{path} is not UTF-8 text; save the token table as UTF-8") from None
        seen: dict[str, tuple[int, str]] = {}
        mappings = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            one = _mapping(line, f"{path}:{number}")
            if one.token in seen:
                first, topic = seen[one.token]
                raise TopicError(
                    f"{path}:{number}: token {one.token!r} is mapped twice, to {topic!r} on line {first} and "
                    f"to {one.topic!r} here; remove one of the lines"
                )
            seen[one.token] = (number, one.topic)
            mappings.append(one)
        return cls(path, tuple(mappings))

    def text(self) -> str:
        """The file's text."""
        head = "# token\ttopic\tkind (english, abbreviation, pinyin or initials)\n"
        return head + "".join(f"{one.token}\t{one.topic}\t{one.kind}\n" for one in self.mappings)


def _mapping(line: str, where: str) -> Mapping:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
        raise TopicError(f"{where}: a line is token, topic and kind, parted by tabs; correct it")
    kind = cells[2] if len(cells) == 3 and cells[2] else "english"
    return check_mapping(cells[0], cells[1], kind, where=f"{where}: ")


def check_mapping(token: str, topic: str, kind: str = "english", *, where: str = "") -> Mapping:
    """A mapping from what a user wrote. Raises `TopicError` when it cannot be one."""
    if kind not in KINDS:
        raise TopicError(f"{where}{kind!r} is not a kind of spelling; choose from: {', '.join(KINDS)}")
    clean = squeezed(token)
    if not clean or clean != token.lower():
        raise TopicError(f"{where}{token!r} is not a token; write letters and digits only, such as 'lanqiu'")
    if not topic.strip() or not topic.isprintable():
        raise TopicError(f"{where}the topic of {token!r} is empty; name one, such as 'Basketball'")
    return Mapping(clean, topic.strip(), kind)


def layered(paths: Iterable[Path], *, personal: Path | None = None) -> TokenTable:
    """The built-in table, then the personal one where it exists, then further ones on top.

    Raises:
        TopicError: A table cannot be used.
    """
    table = built_in_table()
    tables = [UserTable.read(path) for path in paths]
    if personal is not None:
        tables.insert(0, UserTable.read(personal, missing_ok=True))
    for one in tables:
        if one.mappings:
            table = table.with_mappings(one.mappings)
    return table
