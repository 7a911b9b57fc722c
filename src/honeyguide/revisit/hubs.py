"""How often a page brings a new page on topic: a Poisson rate, from few and short observations.

The rate is a gamma posterior: new pages on topic that were found on later visits of the page, by the time
over which it was observed, leaning on what pages of the collection bring on average.

References:
    J. Cho, H. Garcia-Molina, L. Page: Efficient crawling through URL ordering. WWW7, 1998 (hot pages as
    sources). A. Dasgupta, A. Ghosh, R. Kumar, C. Olston, S. Pandey, A. Tomkins: The discoverability of the
    Web. WWW 2007 (old pages are visited to find new ones).

Example:
    >>> import numpy as np
    >>> day = 86400.0
    >>> found = np.array([10.0, 0.0, 0.0])
    >>> rates = news_rates(found, np.array([10 * day, 10 * day, 0.0]), np.array([True, True, True]))
    >>> (rates * day).round(2).tolist()
    [0.83, 0.16, 0.48]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from honeyguide.revisit.base import Numbers

USUAL = 0.1 / (30 * 86400.0)
"""New pages on topic a second of a page of which nothing is known: one in ten months."""
LEAST_WATCHED = 86400.0


def news_rates(found: Numbers, watched: Numbers, hub: NDArray[np.bool_]) -> Numbers:
    """New pages on topic a second that each page brings.

    Args:
        found: Pages on topic that later visits of the page brought.
        watched: Seconds between its first visit and its last.
        hub: Whether a page on topic was ever found on it; others bring nothing until they do.
    """
    time = float(watched[hub].sum())
    average = (float(found[hub].sum()) + USUAL * LEAST_WATCHED) / (time + LEAST_WATCHED)
    average = average if time > 0 else USUAL
    # The prior counts as much as half of the time that hubs were watched on average.
    prior = max(time / max(int((hub & (watched > 0)).sum()), 1) / 2, LEAST_WATCHED)
    made: Numbers = np.where(hub, (found + average * prior) / (watched + prior), 0.0)
    return made
