"""What a collection knows of its shells and rendered pages."""

from __future__ import annotations

from typing import Final

import msgspec

from honeyguide.store.checked import reading
from honeyguide.store.state import State

RENDERING: Final = "rendering"
"""Setting of the state with `RenderFigures`."""
KEPT_HOSTS: Final = 1_000


class RenderFigures(msgspec.Struct):
    """What the state keeps of rendering (setting `rendering`)."""

    shells: int = 0
    """Pages whose HTML is a shell."""
    rendered: int = 0
    failed: int = 0
    """Pages that were to be rendered and could not be."""
    reasons: dict[str, int] = {}
    """Why not, with numbers."""
    needing: list[str] = []
    """Hosts that need a browser, the one found last at the end."""

    def needs(self, host: str) -> None:
        """Note a host."""
        if host not in self.needing:
            self.needing = [*self.needing, host][-KEPT_HOSTS:]

    def failure(self, reason: str) -> None:
        """Count a failure."""
        self.failed += 1
        if reason in self.reasons or len(self.reasons) < 50:
            self.reasons = {**self.reasons, reason: self.reasons.get(reason, 0) + 1}


def render_figures(state: State) -> RenderFigures:
    """The figures, as the last session left them."""
    known = state.setting(RENDERING)
    with reading("figures"):
        return msgspec.convert(known, RenderFigures) if known is not None else RenderFigures()
