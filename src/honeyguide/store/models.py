"""Learned state as data: arrays plus JSON, never pickle.

A saved state is one file `NAME.npz`: an uncompressed zip with `manifest.json` (format version; name,
size and SHA-256 of every other member), `values.json` and one `.npy` an array. One file can be replaced
atomically, and nothing in it can run. The digests tell damage, not forgery: whoever can write the file
can write the manifest. What protects against a forged file is that reading it can only give numbers,
strings and plain JSON, of no more bytes than the file has.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import reading

FORMAT_VERSION = 1
MAX_FILE_BYTES = 8 << 30
COPIED_AT_ONCE: Final = 1 << 20
"""Bytes, after which others have their turn."""
_MAX_MANIFEST_BYTES = 16 << 20
_MAX_HEADER_CHARACTERS = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\.[A-Za-z0-9_-]{1,50})*")
_KINDS = "?biufcUS"


class Saved(msgspec.Struct, frozen=True):
    """What a page model or a link order has learned."""

    values: dict[str, object] = {}
    """Plain JSON values."""
    arrays: dict[str, NDArray[np.generic]] = {}
    """Arrays of numbers or fixed-width strings; object arrays are refused."""


class _Member(msgspec.Struct, frozen=True):
    size: int
    sha256: str
    array: str = ""
    """Name of the array; empty for `values.json`."""


class _Manifest(msgspec.Struct, frozen=True):
    format: int
    members: dict[str, _Member]


class _Version(msgspec.Struct, frozen=True):
    format: int


def write_saved(folder: Path, name: str, saved: Saved) -> None:
    """Write `NAME.npz` in one step: afterwards the file is the old one or the new one, whole.

    JSON turns tuples into lists and keys into strings; infinite and NaN floats are kept.

    Raises:
        CollectionError: A bad name, an object or structured array, a value that is not JSON, a full disk.
    """
    write_encoded(folder, name, encode_saved(folder, name, saved))


class Encoded(NamedTuple):
    """What is going to be written. Nothing that changes `Saved` later on changes it."""

    values: bytes
    arrays: tuple[tuple[str, NDArray[np.generic]], ...]


def encode_saved(folder: Path, name: str, saved: Saved) -> Encoded:
    """The first half of `write_saved`.

    Raises:
        CollectionError: As `write_saved`.
    """
    path = _path(folder, name)
    for key, array in saved.arrays.items():
        _check_kind(path, key, array)
    return Encoded(_encode_values(path, saved.values), tuple(saved.arrays.items()))


def encoding(folder: Path, name: str, saved: Saved) -> Generator[None, None, Encoded]:
    """The same where the second half is a thread's, with pauses in which nothing may be learned.

    Arrays that somebody else holds, and may change, are copied: a hundred megabytes for a million URLs.

    Raises:
        CollectionError: As `write_saved`.
    """
    path = _path(folder, name)
    values = _encode_values(path, saved.values)
    arrays, copied = [], 0
    for key in saved.arrays:
        array = saved.arrays[key]
        _check_kind(path, key, array)
        # Two references are this name and the call's, one is the dict's: nobody else can change it then.
        if array.base is not None or sys.getrefcount(array) > 3:
            held, array = array, np.empty(array.shape, array.dtype)
            for part in _parts(held):
                if copied >= COPIED_AT_ONCE:
                    yield
                    copied = 0
                array[part] = held[part]
                copied += array[part].nbytes
        arrays.append((key, array))
    return Encoded(values, tuple(arrays))


def _parts(array: NDArray[np.generic]) -> Iterator[slice | tuple[()]]:
    """Which rows of an array to copy at a time: where they are fields of a table, that takes its time."""
    if not array.ndim:
        yield ()
        return
    rows = max(1, len(array) * COPIED_AT_ONCE // max(1, array.nbytes))
    for start in range(0, len(array), rows):
        yield slice(start, start + rows)


def write_encoded(folder: Path, name: str, encoded: Encoded) -> None:
    """The second half of `write_saved`.

    Raises:
        CollectionError: As `write_saved`.
    """
    path = _path(folder, name)
    parts = [("values.json", "", encoded.values)]
    for number, (key, array) in enumerate(encoded.arrays):
        parts.append((f"{number:05d}.npy", key, _encode_array(array)))
    members = {
        member: _Member(size=len(data), sha256=hashlib.sha256(data).hexdigest(), array=key)
        for member, key, data in parts
    }
    try:
        manifest = msgspec.json.encode(_Manifest(format=FORMAT_VERSION, members=members))
    except UnicodeEncodeError as error:
        raise CollectionError(f"{path}: array names must be text ({error}); rename the array") from error
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for member, data in (("manifest.json", manifest), *((member, data) for member, _, data in parts)):
            # A fixed date, so that equal states give equal files.
            archive.writestr(zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0)), data)


def read_saved(folder: Path, name: str) -> Saved:
    """Read what `write_saved` wrote; the arrays may be changed by the caller.

    Raises:
        CollectionError: Missing, damaged, of another version, or anything but plain arrays and JSON.
    """
    path = _path(folder, name)
    if not path.is_file():
        raise CollectionError(f"{path}: no saved state; train it first")
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        _refuse(path, f"larger than {MAX_FILE_BYTES >> 30} GiB")
    try:
        with reading(path) as file, zipfile.ZipFile(file) as archive:
            return _read(path, archive, size)
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise CollectionError(f"{path}: damaged ({error}); delete it and train again") from error


def _read(path: Path, archive: zipfile.ZipFile, size: int) -> Saved:
    listed = {entry.filename: entry for entry in archive.infolist()}
    if len(listed) != len(archive.infolist()) or "manifest.json" not in listed:
        _refuse(path, "not a saved state")
    for entry in listed.values():
        # Stored members cannot inflate to more than the file has.
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > size:
            _refuse(path, f"member {entry.filename!r} is compressed or larger than the file")
    if listed["manifest.json"].file_size > _MAX_MANIFEST_BYTES:
        _refuse(path, "its manifest is too large")
    manifest = _decode_manifest(path, archive.read("manifest.json"))
    if set(manifest.members) != set(listed) - {"manifest.json"} or "values.json" not in manifest.members:
        _refuse(path, "its members are not those of its manifest")
    values: dict[str, object] = {}
    arrays: dict[str, NDArray[np.generic]] = {}
    for member, facts in manifest.members.items():
        if listed[member].file_size != facts.size:
            _refuse(path, f"{member!r} has {listed[member].file_size} bytes, not {facts.size}")
        data = archive.read(member)
        if hashlib.sha256(data).hexdigest() != facts.sha256:
            _refuse(path, f"the digest of {member!r} does not match")
        if member == "values.json":
            values = _decode_values(path, data)
        elif facts.array in arrays:
            _refuse(path, f"array {facts.array!r} occurs twice")
        else:
            arrays[facts.array] = _decode_array(path, facts.array, data)
    return Saved(values=values, arrays=arrays)


def _path(folder: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise CollectionError(f"{name!r} is not a name for a saved state; use letters, digits and dashes")
    return folder / f"{name}.npz"


def _refuse(path: Path, reason: str) -> NoReturn:
    raise CollectionError(f"{path}: {reason}; delete it and train again")


def _encode_values(path: Path, values: dict[str, object]) -> bytes:
    try:
        return json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise CollectionError(
            f"{path}: values must be plain JSON ({error}); put arrays in `arrays`"
        ) from error


def _decode_values(path: Path, data: bytes) -> dict[str, object]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CollectionError(f"{path}: bad values ({error}); delete it and train again") from error
    if not isinstance(values, dict):
        _refuse(path, "its values are not an object")
    return values


def _decode_manifest(path: Path, data: bytes) -> _Manifest:
    try:
        version = msgspec.json.decode(data, type=_Version).format
        if version != FORMAT_VERSION:
            raise CollectionError(
                f"{path} has format {version}, this is format {FORMAT_VERSION};"
                " use the newer honeyguide or train again"
            )
        return msgspec.json.decode(data, type=_Manifest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise CollectionError(f"{path}: bad manifest ({error}); delete it and train again") from error


def _check_kind(path: Path, key: str, array: NDArray[Any]) -> None:
    if array.dtype.kind not in _KINDS or array.dtype.hasobject:
        raise CollectionError(
            f"{path}: array {key!r} is of {array.dtype}; save numbers or fixed-width strings"
        )


def _encode_array(array: NDArray[Any]) -> bytes:
    if array.dtype.itemsize == 0:
        array = array.astype(f"{array.dtype.kind}1")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _decode_array(path: Path, key: str, data: bytes) -> NDArray[np.generic]:
    """An array from `.npy` bytes, made only after its header agrees with the bytes there are."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(
            stream, max_header_size=_MAX_HEADER_CHARACTERS
        )
    except Exception as error:  # numpy hands a bad header to Python's parser and tokenizer: anything can come
        raise CollectionError(f"{path}: array {key!r}: {error}; delete it and train again") from error
    if version != (1, 0):
        _refuse(path, f"array {key!r} has an unknown header")
    if dtype.kind not in _KINDS or dtype.hasobject or dtype.itemsize == 0:
        _refuse(path, f"array {key!r} is of {dtype}, not of numbers or strings")
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        _refuse(path, f"array {key!r} of shape {shape} does not have as many bytes as its header says")
    flat: NDArray[np.generic] = np.frombuffer(bytearray(data[stream.tell() :]), dtype=dtype)
    return flat.reshape(shape, order="F" if fortran else "C")
