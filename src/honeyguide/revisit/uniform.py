"""Every page equally often: what crawlers did before they learned, and what others are measured against.

References:
    J. Cho, H. Garcia-Molina: Effective page refresh policies for Web crawlers. ACM TODS 28(4), 2003.

Example:
    >>> import numpy as np
    >>> from honeyguide.revisit.base import Known
    >>> two = Known(np.array([1.0, 1.0]), np.array([1e-6, 1e-4]), np.zeros(2))
    >>> Uniform().intervals(two, 1e-4).tolist()
    [20000.0, 20000.0]
"""

from __future__ import annotations

import numpy as np

from honeyguide.revisit.base import LONGEST, SHORTEST, Known, Numbers


class Uniform:
    """The page that has waited longest goes first."""

    def intervals(self, pages: Known, budget: float) -> Numbers:
        """The same for all."""
        return np.full(len(pages.rate), np.clip(len(pages.rate) / max(budget, 1e-12), SHORTEST, LONGEST))

    def gain(self, pages: Known, waited: Numbers) -> Numbers:
        """How long it has waited."""
        return waited
