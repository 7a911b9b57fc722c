"""The one protocol of this folder: how often is each page to be visited, and which goes first?"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SHORTEST = 3600.0
"""Seconds: nobody is visited more often than once an hour."""
LONGEST = 90 * 86400.0
"""Seconds: a page of the plan is looked at once a season, or a wrong estimate would never be put right."""


class Known(NamedTuple):
    """What a policy may know of pages, one place each."""

    weight: Numbers
    """Relevance of the page: what it is worth that its copy is the same as the page."""
    rate: Numbers
    """Changes a second."""
    news: Numbers
    """New pages on topic a second that are found on this page first."""


class RevisitPolicy(Protocol):
    """Shares out visits. Stateless: what was learned is in `Known`."""

    def intervals(self, pages: Known, budget: float) -> Numbers:
        """Seconds between two visits of each page.

        Args:
            pages: What is known of them.
            budget: Visits a second, all pages together.
        """
        ...

    def gain(self, pages: Known, waited: Numbers) -> Numbers:
        """What a visit now is worth; the largest goes first.

        Args:
            pages: What is known of them.
            waited: Seconds since the last visit of each.
        """
        ...
