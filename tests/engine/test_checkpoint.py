"""Files of what the parts have learned."""

from __future__ import annotations

from pathlib import Path

from honeyguide.engine.budget import Tally
from honeyguide.engine.checkpoint import KEPT, Checkpoints
from honeyguide.model import Examples
from honeyguide.ordering.best_first import BestFirst
from honeyguide.relevance.tf_cosine import TfCosine
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
