"""Parts that were handed over from Python: no topic file names them, so the state does."""

from __future__ import annotations

from typing import Final

from honeyguide.config.registry import Kind
from honeyguide.store.state import State

OWN_PARTS: Final = "own_parts"


def own_parts(state: State) -> dict[Kind, str]:
    """Names of the page model and the link order that the user brought along, where they did."""
    held = state.setting(OWN_PARTS)
    if not isinstance(held, dict):
        return {}
    kinds: tuple[Kind, ...] = ("relevance", "ordering")
    return {kind: str(held[kind]) for kind in kinds if kind in held}
