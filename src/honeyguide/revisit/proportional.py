"""The more often a page changes, the more often it is visited. Plausible, and worse than uniform.

Cho and Garcia-Molina prove that visiting in proportion to change rates is never fresher than visiting all
pages equally often: visits go to pages that are stale again at once.

References:
    J. Cho, H. Garcia-Molina: Effective page refresh policies for Web crawlers. ACM TODS 28(4), 2003.

Example:
    >>> import numpy as np
    >>> from honeyguide.revisit.base import Known
    >>> two = Known(np.array([1.0, 1.0]), np.array([1e-5, 3e-5]), np.zeros(2))
    >>> Proportional().intervals(two, 1e-4).round().tolist()
    [40000.0, 13333.0]
"""

from __future__ import annotations

import numpy as np

from honeyguide.revisit.base import LONGEST, SHORTEST, Known, Numbers


class Proportional:
    """Visits in proportion to changes."""

    def intervals(self, pages: Known, budget: float) -> Numbers:
        """Intervals in proportion to the time between changes."""
        share = pages.rate / max(float(pages.rate.sum()), 1e-300)
        made: Numbers = np.clip(1.0 / np.maximum(share * budget, 1e-12), SHORTEST, LONGEST)
        return made

    def gain(self, pages: Known, waited: Numbers) -> Numbers:
        """How many changes are to be expected since the last visit."""
        return pages.rate * waited
