"""How many examples a property test tries."""

from __future__ import annotations

import os


def many(thorough: int) -> int:
    """All of them in `make lab`; a fifth in `make test`, which tries the same ones every time."""
    exploring = os.environ.get("HYPOTHESIS_PROFILE") == "explore"
    return thorough if exploring else thorough // 5
