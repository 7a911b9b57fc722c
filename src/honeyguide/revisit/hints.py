"""A site's own word on when its pages changed: lastmod of sitemaps, dates of feeds.

A page that its site says has changed since the last visit is as good as known to be stale: it is worth as
much as one that has waited for several changes. A site may be wrong or lie; it can only bring a visit
forward.

References:
    sitemaps.org protocol 0.9, lastmod.

Example:
    >>> import numpy as np
    >>> waited = np.array([100.0, 100.0])
    >>> as_if_waited(waited, np.array([0.01, 0.01]), np.array([True, False])).tolist()
    [300.0, 100.0]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from honeyguide.revisit.base import Numbers

SURE = 3.0
"""Expected changes at which a page is stale for sure, or nearly (95 %)."""


def as_if_waited(waited: Numbers, rate: Numbers, told: NDArray[np.bool_]) -> Numbers:
    """Seconds that a page would have to wait to be as surely stale as it is said to be.

    Args:
        waited: Seconds since the last visit.
        rate: Changes a second.
        told: Whether the site says that it has changed since.
    """
    made: Numbers = np.where(told, np.maximum(waited, SURE / np.maximum(rate, 1e-300)), waited)
    return made
