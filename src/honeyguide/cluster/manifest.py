"""`shards.json` as the cluster writes it; the format is `store.shards`, which readers of collections know."""

from __future__ import annotations

from honeyguide.store.shards import (
    FILE,
    FOLDER,
    MOST_SHARDS,
    VERSION,
    Manifest,
    is_sharded,
    load,
    new_manifest,
    require_count,
    save,
    shard_folder,
    shard_names,
)

__all__ = [
    "FILE",
    "FOLDER",
    "MOST_SHARDS",
    "VERSION",
    "Manifest",
    "is_sharded",
    "load",
    "new_manifest",
    "require_count",
    "save",
    "shard_folder",
    "shard_names",
]
