"""Files of what the parts have learned."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np
import pytest

from honeyguide.engine.budget import Tally
from honeyguide.engine.checkpoint import KEPT, Checkpoints
from honeyguide.errors import CollectionError
from honeyguide.model import Examples
from honeyguide.ordering.best_first import BestFirst
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.store.models import Saved, encoding, read_saved, write_encoded
from honeyguide.store.state import State


def test_only_the_newest_files_stay(tmp_path: Path) -> None:
    with State.open(None) as state:
        model = TfCosine().fit(Examples(keywords=("owl",)))
        checkpoints = Checkpoints(state, tmp_path, model, BestFirst())
        (tmp_path / "model-of-mine.npz").write_bytes(b"")
        for pages in range(0, 12_000, 1000):
            checkpoints.save(Tally(pages=pages))
        assert checkpoints.restore() == 11_000
    kept = {path.name for path in tmp_path.iterdir()}
    newest = range(12_000 - 1000 * KEPT, 12_000, 1000)
    assert kept == {"model-of-mine.npz", *(f"model-{pages}.npz" for pages in newest)}


class Counting(BestFirst):
    """An order that learns one number and hands its own array out."""

    def __init__(self) -> None:
        self.numbers = np.zeros(1000)

    def save(self) -> Saved:
        return Saved(values={"first": float(self.numbers[0])}, arrays={"numbers": self.numbers})


def test_what_is_written_beside_the_crawl_is_what_was_learned_until_then(tmp_path: Path) -> None:
    with State.open(None) as state:
        order = Counting()
        model = TfCosine().fit(Examples(keywords=("owl",)))
        checkpoints = Checkpoints(state, tmp_path, model, order)
        deque(checkpoints.begin(Tally(pages=1000)), maxlen=0)
        order.numbers += 1.0
        assert state.setting("checkpoint") is None  # not before it is whole, and somebody has looked
        checkpoints.settle(wait=True)
        assert state.setting("checkpoint") == 1000
        saved = read_saved(tmp_path, "order-1000")
        assert not saved.arrays["numbers"].any()
        deque(checkpoints.begin(Tally(pages=2000)), maxlen=0)
        checkpoints.save(Tally(pages=3000))  # waits for the one under way
        assert state.setting("checkpoint") == 3000
        assert read_saved(tmp_path, "order-2000").values == {"first": 1.0}


def test_large_arrays_are_copied_with_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields of a table lie far apart: to copy a hundred megabytes of them holds a crawl up."""
    monkeypatch.setattr("honeyguide.store.models.COPIED_AT_ONCE", 800)
    table = np.zeros(1000, np.dtype([("first", np.float64, (2,)), ("second", np.int32)]))
    table["first"] = np.random.default_rng(1).random((1000, 2))
    table["second"] = np.arange(1000)
    alone = np.array(7.5)
    arrays = {"first": table["first"], "second": table["second"], "empty": np.zeros((0, 3)), "alone": alone}
    taking, pauses = encoding(tmp_path, "order", Saved(arrays=arrays)), 0
    while True:
        try:
            next(taking)
        except StopIteration as end:
            encoded = end.value
            break
        pauses += 1
    assert 20 <= pauses <= 40
    before = {name: array.copy() for name, array in arrays.items()}
    table["first"] = 0.0
    write_encoded(tmp_path, "order", encoded)
    read = read_saved(tmp_path, "order").arrays
    assert all(np.array_equal(read[name], before[name]) for name in arrays)


def test_a_checkpoint_that_cannot_be_written_is_told_at_the_next_turn(tmp_path: Path) -> None:
    with State.open(None) as state:
        model = TfCosine().fit(Examples(keywords=("owl",)))
        checkpoints = Checkpoints(state, tmp_path / "gone", model, Counting())
        deque(checkpoints.begin(Tally(pages=1000)), maxlen=0)
        with pytest.raises(CollectionError, match="check the folder"):
            checkpoints.settle(wait=True)
        assert state.setting("checkpoint") is None
        checkpoints.settle(wait=True)
