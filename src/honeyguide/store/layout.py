"""Where things are in a collection's folder."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain, require_folder, require_plain
from honeyguide.store.shards import FILE as MANIFEST
from honeyguide.store.shards import is_sharded
from honeyguide.trust import is_ours, seal

FORMAT_VERSION = 1
MERGED = "merged"
"""Folder of a collection of shards with what was merged of them (`collection.merging`)."""
_MARKER = "collection.json"
_UNFINISHED = (f".{_MARKER}.", ".topic.toml.")
_MAX_MARKER_BYTES = 64 * 1024


class _Marker(msgspec.Struct, frozen=True):
    format: int
    software: str = ""
    made: str = ""
    """A name that no other collection has."""
    seal: str = ""
    """Made of that name by the user whose collection it is (`honeyguide.trust`)."""
    reach: str = ""
    """Made by the same of what the topic file reaches, once that was agreed to."""


class Layout(msgspec.Struct, frozen=True):
    """The paths of one collection; nothing is read or written by making one."""

    root: Path

    @property
    def content(self) -> Path:
        """Where state, archive, index and models are: of a collection of shards, what was merged of them."""
        return self.root / MERGED if is_sharded(self.root) else self.root

    @property
    def lock_file(self) -> Path:
        """The file whose lock a running crawl holds (`store.lock`)."""
        return self.root / MANIFEST if is_sharded(self.root) else self.state_file

    @property
    def topic_file(self) -> Path:
        """What was asked."""
        return self.root / "topic.toml"

    @property
    def state_file(self) -> Path:
        """URLs, hosts, links, journal."""
        return self.content / "state.sqlite"

    @property
    def examples_file(self) -> Path:
        """What was known about the topic, as text; read and fetched once."""
        return self.content / "examples.json"

    @property
    def prepared_file(self) -> Path:
        """The examples with what was gathered before the crawl."""
        return self.content / "prepared.json"

    @property
    def archive_folder(self) -> Path:
        """WARC files."""
        return self.content / "archive"

    @property
    def index_file(self) -> Path:
        """Full text of the relevant pages."""
        return self.content / "index.sqlite"

    @property
    def models_folder(self) -> Path:
        """Arrays and JSON."""
        return self.content / "models"

    @property
    def directory_file(self) -> Path:
        """Subjects and hosts, as last made; can be made again."""
        return self.root / "directory.json"

    @property
    def exports_folder(self) -> Path:
        """Exports that the portal made; can be made again."""
        return self.root / "exports"

    @property
    def marker_file(self) -> Path:
        """Says that the folder is a collection, and of which version."""
        return self.root / _MARKER

    @classmethod
    def create(cls, root: Path, *, software: str = "", topic: str = "", reach: Sequence[str] = ()) -> Layout:
        """Make an empty collection in a new or empty folder; a `topic.toml` may be there already.

        The marker comes last: a folder that has one has all that a resume needs. What an interrupted
        `create` leaves behind does not stand in the way of the next.

        Args:
            root: The folder.
            software: Who makes it.
            topic: Text of the topic file, unless there is one.
            reach: What it reaches beyond its folder (`config.reach`), with the user's consent.

        Raises:
            CollectionError: There is a collection, or something else, in the folder; or it cannot be written.
        """
        layout = cls(root)
        if layout.marker_file.exists():
            raise CollectionError(f"{root} is already a collection; resume it, or choose another folder")
        if root.exists() and not root.is_dir():
            raise CollectionError(f"{root} is not a folder; choose another name")
        try:
            root.mkdir(parents=True, exist_ok=True)
            others = {path.name for path in root.iterdir() if not path.name.startswith(_UNFINISHED)}
            others -= {"topic.toml", "archive", "models", "shards.json"}
            if others:
                raise CollectionError(
                    f"{root} holds other files ({min(others)}, ...); choose an empty folder"
                )
            if topic and not layout.topic_file.exists():
                with replacing(layout.topic_file) as temporary:
                    temporary.write_text(topic, encoding="utf-8")
                failpoint("begin.topic")
            if not is_sharded(root):
                layout.archive_folder.mkdir(exist_ok=True)
                layout.models_folder.mkdir(exist_ok=True)
        except OSError as error:
            raise CollectionError(f"{root}: {error.strerror}; choose a folder you can write to") from error
        failpoint("begin.folders")
        layout._mark(software, reach)
        return layout

    @classmethod
    def open(cls, root: Path) -> Layout:
        """An existing collection.

        Raises:
            CollectionError: It is missing, no collection, or of a newer version.
        """
        layout = cls(root)
        if not root.exists():
            raise CollectionError(f"{root}: no such folder; check the name, or start a crawl to create it")
        if not layout.marker_file.is_file():
            raise CollectionError(f"{root} is not a collection (no {_MARKER}); check the name")
        try:
            marker = layout._marker()
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise CollectionError(f"{layout.marker_file}: {error}; restore it from a copy") from error
        if marker.format > FORMAT_VERSION:
            raise CollectionError(
                f"{root} has collection format {marker.format}, this honeyguide reads up to {FORMAT_VERSION};"
                " use a newer honeyguide"
            )
        for folder in () if is_sharded(root) else (layout.archive_folder, layout.models_folder):
            try:
                folder.mkdir(exist_ok=True)
            except OSError as error:
                if not folder.is_dir():
                    raise CollectionError(f"{root}: {error.strerror}; restore its folders") from error
        for folder in (layout.archive_folder, layout.models_folder, layout.exports_folder):
            require_folder(folder)
        for file in (layout.topic_file, layout.examples_file, layout.prepared_file, layout.directory_file):
            require_plain(file)
        return layout

    @classmethod
    def adopt(cls, root: Path, *, reach: Sequence[str] = ()) -> Layout:
        """An existing collection, which is this user's from now on.

        Args:
            root: Its folder.
            reach: What its topic file reaches, with the user's consent.

        Raises:
            CollectionError: As from `open`, or the folder cannot be written to.
        """
        layout = cls.open(root)
        if not (layout.is_ours and layout.allows(reach)):
            layout._mark(layout._marker().software, reach)
        return layout

    def allows(self, reach: Sequence[str]) -> bool:
        """Whether the user has agreed to all that the topic file of this collection reaches."""
        marker = self._marker()
        return is_ours(_agreed(marker.made, reach), marker.reach)

    @property
    def is_ours(self) -> bool:
        """Whether this user made the collection, or took it over."""
        marker = self._marker()
        return is_ours(marker.made, marker.seal)

    def require_ours(self) -> None:
        """CollectionError when the collection was made elsewhere: it is only to be read.

        A stranger's topic file and page model would decide what a crawl on this machine does.
        """
        if not self.is_ours:
            raise CollectionError(
                f"{self.root} was made elsewhere and is only read;"
                f" to go on with it or to review it, type: honeyguide trust {self.root}"
            )

    def _marker(self) -> _Marker:
        return msgspec.json.decode(read_plain(self.marker_file, _MAX_MARKER_BYTES), type=_Marker)

    def _mark(self, software: str, reach: Sequence[str]) -> None:
        made = secrets.token_hex(16)
        marker = _Marker(FORMAT_VERSION, software, made, seal(made), seal(_agreed(made, reach)))
        with replacing(self.marker_file) as temporary:
            temporary.write_bytes(msgspec.json.encode(marker) + b"\n")


def _agreed(made: str, reach: Sequence[str]) -> str:
    return "\0".join((made, "reach", *reach))


def is_begun(root: Path) -> bool:
    """Whether a folder was to become a collection when its crawl was killed: all but the marker is there."""
    layout = Layout(root)
    return layout.topic_file.is_file() and not layout.marker_file.exists() and not layout.state_file.exists()


def is_collection(root: Path) -> bool:
    """Whether a folder says that it is one."""
    return Layout(root).marker_file.is_file()
