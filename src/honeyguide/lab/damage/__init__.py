"""Damaged collections: one file of a collection is spoilt at random, and everything is tried on what is left.

`honeyguide lab damage --seed 1` runs it. A case is its seed and number, so each can be tried again alone.
"""

from honeyguide.lab.damage.spoiling import KINDS, Damage, spoil
from honeyguide.lab.damage.subject import FORMATS, Subject, make_subjects, take_up
from honeyguide.lab.damage.trial import Case, Trial, Use, Used, try_cases

__all__ = [
    "FORMATS", "KINDS", "Case", "Damage", "Subject", "Trial", "Use", "Used",
    "make_subjects", "spoil", "take_up", "try_cases",
]  # fmt: skip
