from __future__ import annotations

import hashlib
import io
import json
import math
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from honeyguide.errors import CollectionError
from honeyguide.store.models import Saved, read_saved, write_saved

SAMPLE = Saved(
    values={"name": "rocchio", "weights": [1, 2.5, None, True], "nested": {"ü": "网络"}, "low": -math.inf},
    arrays={
        "dense": np.arange(12, dtype=np.float32).reshape(3, 4),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "words": np.array(["owl", "神经网络", ""]),
        "bytes": np.array([b"ab", b"c"]),
        "empty": np.zeros((0, 5), dtype=np.int16),
        "scalar": np.array(3.5),
        "flags": np.array([True, False]),
        "no-letters": np.zeros(3, dtype="U0"),
        "a/../weird name": np.arange(3),
    },
)


def same(first: Saved, second: Saved) -> None:
    assert first.values == second.values
    assert list(first.arrays) == list(second.arrays)
    for name, array in first.arrays.items():
        other = second.arrays[name]
        assert other.shape == array.shape
        assert other.dtype.kind == array.dtype.kind
        np.testing.assert_array_equal(array, other)


def test_round_trip(tmp_path: Path) -> None:
    write_saved(tmp_path, "model", SAMPLE)
    again = read_saved(tmp_path, "model")
    same(SAMPLE, again)
    again.arrays["dense"][0, 0] = 9
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_equal_states_give_equal_files(tmp_path: Path) -> None:
    write_saved(tmp_path, "one", SAMPLE)
    write_saved(tmp_path, "two", SAMPLE)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
DTYPES = st.one_of(
    arrays_of.integer_dtypes(),
    arrays_of.floating_dtypes(sizes=(16, 32, 64)),
    arrays_of.boolean_dtypes(),
    arrays_of.unicode_string_dtypes(max_len=5),
    arrays_of.byte_string_dtypes(max_len=5),
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays_of.arrays(
        dtype, arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=4)
    )
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(st.text(max_size=6), JSON, max_size=3),
    arrays=st.dictionaries(st.text(max_size=6), ARRAYS, max_size=3),
)
def test_any_state_comes_back(tmp_path: Path, values: dict[str, object], arrays: dict[str, Any]) -> None:
    saved = Saved(values=values, arrays=arrays)
    write_saved(tmp_path, "any", saved)
    same(saved, read_saved(tmp_path, "any"))


@pytest.mark.parametrize("name", ["", "../up", "a/b", "..", ".hidden", "a\0b", "x" * 300, "a..b", "a.", "é"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CollectionError, match="is not a name"):
        write_saved(tmp_path, name, SAMPLE)
    with pytest.raises(CollectionError, match="is not a name"):
        read_saved(tmp_path, name)


@pytest.mark.parametrize(
    "saved",
    [
        Saved(arrays={"x": np.array([object()])}),
        Saved(arrays={"x": np.zeros(2, dtype=[("a", "i4")])}),
        Saved(arrays={"x": np.zeros(2, dtype="M8[s]")}),
        Saved(arrays={"\ud800": np.zeros(2)}),
        Saved(values={"x": object()}),
        Saved(values={"x": np.float32(1)}),
    ],
    ids=["object", "struct", "dates", "surrogate", "value", "numpy"],
)
def test_what_is_not_data_is_refused_and_the_old_file_stays(tmp_path: Path, saved: Saved) -> None:
    write_saved(tmp_path, "m", SAMPLE)
    with pytest.raises(CollectionError):
        write_saved(tmp_path, "m", saved)
    same(SAMPLE, read_saved(tmp_path, "m"))
    assert len(list(tmp_path.iterdir())) == 1


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="train it first"):
        read_saved(tmp_path, "none")
    with pytest.raises(CollectionError, match="check the folder"):
        write_saved(tmp_path / "nowhere", "m", SAMPLE)


def test_every_changed_byte_is_noticed_or_harmless(tmp_path: Path) -> None:
    small = Saved(values={"a": 1}, arrays={"x": np.arange(4.0)})
    write_saved(tmp_path, "m", small)
    path = tmp_path / "m.npz"
    data = path.read_bytes()
    refused = 0
    for place in range(0, len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 0x21
        path.write_bytes(changed)
        try:
            same(small, read_saved(tmp_path, "m"))
        except CollectionError:
            refused += 1
    assert refused > len(data) // 3 * 0.6
    for cut in (0, 1, 30, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(CollectionError):
            read_saved(tmp_path, "m")


def forge(
    path: Path, members: dict[str, bytes], *, version: int = 1, compression: int = zipfile.ZIP_STORED
) -> None:
    """A file whose manifest agrees with its hostile members."""
    facts = {
        name: {
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "array": "" if name == "values.json" else name,
        }
        for name, data in members.items()
    }
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("manifest.json", json.dumps({"format": version, "members": facts}))
        for name, data in members.items():
            archive.writestr(name, data)


def npy(header: str, body: bytes = b"") -> bytes:
    padded = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + body


class Canary:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return (exec, ("raise SystemExit('the pickle ran')",))


def object_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Canary()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        object_array(),
        pickle.dumps(Canary()),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1250000000,)}"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", b"12345678"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", b"12345678"),
        npy("{'descr': '<U0', 'fortran_order': False, 'shape': (99999999999999,)}"),
        npy("{'descr': '|V8', 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)" + " " * 20_000 + "}", b"12345678"),
        npy("__import__('os').system('true')"),
        npy("(" * 5000),
        b"",
        b"\x93NUMPY\x03\x00" + b"\xff" * 20,
    ],
    ids=[
        "object",
        "pickle",
        "10GB",
        "negative",
        "short",
        "empty-item",
        "void",
        "O",
        "long",
        "code",
        "deep",
        "none",
        "v3",
    ],
)
def test_forged_arrays_are_refused(tmp_path: Path, data: bytes) -> None:
    forge(tmp_path / "m.npz", {"values.json": b"{}", "00000.npy": data})
    with pytest.raises(CollectionError, match="train again"):
        read_saved(tmp_path, "m")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.text(alphabet="{}()[]',: descrfotan_hp<|fUO8-0123456789TrueFalse", max_size=80)
    | st.builds(
        "{{'descr': {!r}, 'fortran_order': {!r}, 'shape': {!r}}}".format,
        st.sampled_from(["<f8", "O", "V4", "<U3", "?", "M8[s]", [("a", "i4")], "f8,O", 5]),
        st.booleans() | st.none(),
        st.tuples(st.integers(-3, 2**70)) | st.just((2, 2)) | st.none(),
    ),
    body=st.binary(max_size=40),
)
def test_any_header_is_read_or_refused(tmp_path: Path, header: str, body: bytes) -> None:
    forge(tmp_path / "m.npz", {"values.json": b"{}", "00000.npy": npy(header, body)})
    try:
        (array,) = read_saved(tmp_path, "m").arrays.values()
    except CollectionError:
        return
    assert array.nbytes == len(body)


def test_forged_containers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    good = {"values.json": b"{}"}
    forge(path, good)
    assert read_saved(tmp_path, "m") == Saved()
    forge(path, good, version=2)
    with pytest.raises(CollectionError, match="format 2"):
        read_saved(tmp_path, "m")
    forge(path, {"values.json": b" " * 10_000_000 + b"{}"}, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(CollectionError, match="compressed"):
        read_saved(tmp_path, "m")
    for values in (b"[]", b"{", b"[" * 100_000, b"\xff"):
        forge(path, {"values.json": values})
        with pytest.raises(CollectionError):
            read_saved(tmp_path, "m")
    forge(path, {})
    with pytest.raises(CollectionError, match="members"):
        read_saved(tmp_path, "m")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../evil", b"x")
    with pytest.raises(CollectionError, match="members"):
        read_saved(tmp_path, "m")
    path.write_bytes(pickle.dumps(Canary()))
    with pytest.raises(CollectionError, match="damaged"):
        read_saved(tmp_path, "m")
