"""A Ray that we start ourselves does without what nobody looks at, and leaves the environment as it was."""

from __future__ import annotations

import os

import pytest

from honeyguide.cluster.ray_cluster import UNWATCHED, Connection, import_ray


def test_what_nobody_looks_at_is_off_only_while_ray_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = UNWATCHED
    monkeypatch.setenv(first, "17")
    for name in others:
        monkeypatch.delenv(name, raising=False)
    seen: dict[str, str | None] = {}

    def init(**_: object) -> None:
        seen.update((name, os.environ.get(name)) for name in UNWATCHED)

    ray = import_ray()
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    Connection("")
    assert seen == UNWATCHED | {first: "17"}, "what a person has set stays"
    assert not os.environ.keys() & set(others)
