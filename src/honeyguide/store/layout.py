"""Where things are in a collection's folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain, require_folder, require_plain

FORMAT_VERSION = 1
_MARKER = "collection.json"
_MAX_MARKER_BYTES = 64 * 1024


class _Marker(msgspec.Struct, frozen=True):
    format: int
    software: str = ""


class Layout(msgspec.Struct, frozen=True):
    """The paths of one collection; nothing is read or written by making one."""

    root: Path

    @property
    def topic_file(self) -> Path:
        """What was asked."""
        return self.root / "topic.toml"

    @property
    def state_file(self) -> Path:
        """URLs, hosts, links, journal."""
        return self.root / "state.sqlite"

    @property
    def examples_file(self) -> Path:
        """What was known about the topic, as text; read and fetched once."""
        return self.root / "examples.json"

    @property
    def prepared_file(self) -> Path:
        """The examples with what was gathered before the crawl."""
        return self.root / "prepared.json"

    @property
    def archive_folder(self) -> Path:
        """WARC files."""
        return self.root / "archive"

    @property
    def index_file(self) -> Path:
        """Full text of the relevant pages."""
        return self.root / "index.sqlite"

    @property
    def models_folder(self) -> Path:
        """Arrays and JSON."""
        return self.root / "models"

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
    def create(cls, root: Path, *, software: str = "") -> Layout:
        """Make an empty collection in a new or empty folder; a `topic.toml` may be there already.

        Raises:
            CollectionError: There is a collection, or something else, in the folder.
        """
        layout = cls(root)
        if layout.marker_file.exists():
            raise CollectionError(f"{root} is a collection already; resume it, or choose another folder")
        if root.exists() and not root.is_dir():
            raise CollectionError(f"{root} is not a folder; choose another name")
        try:
            root.mkdir(parents=True, exist_ok=True)
            # What an interrupted `create` leaves is no obstacle to the next.
            others = {path.name for path in root.iterdir() if not path.name.startswith(f".{_MARKER}.")}
            others -= {"topic.toml", "archive", "models"}
            if others:
                raise CollectionError(
                    f"{root} holds other files ({min(others)}, ...); choose an empty folder"
                )
            layout.archive_folder.mkdir(exist_ok=True)
            layout.models_folder.mkdir(exist_ok=True)
        except OSError as error:
            raise CollectionError(f"{root}: {error.strerror}; choose a folder you can write to") from error
        with replacing(layout.marker_file) as temporary:
            temporary.write_bytes(
                msgspec.json.encode(_Marker(format=FORMAT_VERSION, software=software)) + b"\n"
            )
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
            marker = msgspec.json.decode(read_plain(layout.marker_file, _MAX_MARKER_BYTES), type=_Marker)
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise CollectionError(f"{layout.marker_file}: {error}; restore it from a copy") from error
        if marker.format > FORMAT_VERSION:
            raise CollectionError(
                f"{root} has collection format {marker.format}, this honeyguide reads up to {FORMAT_VERSION};"
                " use a newer honeyguide"
            )
        for folder in (layout.archive_folder, layout.models_folder):
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


def is_collection(root: Path) -> bool:
    """Whether a folder says that it is one."""
    return Layout(root).marker_file.is_file()
