"""When to visit a page again: change rates, policies, hubs and hints. Pure arithmetic on arrays.

`change_rate.py` learns how often pages change from the visits so far, `hubs.py` how often they bring
something new, `hints.py` takes the site's own word. A policy (`base.py`) turns that into intervals:
`freshness.py` is the one that crawls use, `uniform.py` and `proportional.py` are what it is measured against.
"""

from honeyguide.revisit.base import Known, RevisitPolicy
from honeyguide.revisit.freshness import Freshness
from honeyguide.revisit.proportional import Proportional
from honeyguide.revisit.uniform import Uniform

POLICIES: dict[str, type[RevisitPolicy]] = {
    "gain": Freshness,
    "uniform": Uniform,
    "proportional": Proportional,
}
"""By the name that topic files and the lab use."""

__all__ = ["POLICIES", "Freshness", "Known", "Proportional", "RevisitPolicy", "Uniform"]
