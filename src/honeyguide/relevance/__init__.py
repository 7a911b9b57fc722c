"""Is this page on topic? One page model a file; `base.py` has the protocol, `checks.py` its contract.

Models are imported when they are first used: some need libraries that crawls with
another model do without.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from honeyguide.relevance.base import PageModel

if TYPE_CHECKING:
    from honeyguide.relevance.one_class import OneClassSVM
    from honeyguide.relevance.one_dnf import OneDNF, OneDNFC
    from honeyguide.relevance.pebl import PEBL
    from honeyguide.relevance.tfipndf import TfipndfTransformer
    from honeyguide.relevance.weighted_voting import PuVoting, WeightedVotingClassifier

BUILT_IN: dict[str, str] = {
    "calibrated": "honeyguide.relevance.calibrated:Calibrated",
    "combined-svm": "honeyguide.relevance.combined_svm:CombinedSvm",
    "content-svm": "honeyguide.relevance.content_svm:ContentSvm",
    "description-cosine": "honeyguide.relevance.description_cosine:DescriptionCosine",
    "estimator": "honeyguide.relevance.estimator:EstimatorModel",
    "evolved-knn": "honeyguide.relevance.evolved.knn:EvolvedKnn",
    "lsi": "honeyguide.relevance.lsi:Lsi",
    "layered-bayes": "honeyguide.relevance.layered_bayes:LayeredBayes",
    "okapi": "honeyguide.relevance.okapi:Okapi",
    "taxonomy-cosine": "honeyguide.relevance.taxonomy_cosine:TaxonomyCosine",
    "pu-voting": "honeyguide.relevance.weighted_voting:PuVoting",
    "tf-cosine": "honeyguide.relevance.tf_cosine:TfCosine",
    "vector-space": "honeyguide.relevance.vector_space:VectorSpace",
}
"""Where the page models are, by the name they have in `topic.toml`."""

_HOMES = {
    "OneClassSVM": "honeyguide.relevance.one_class",
    "OneDNF": "honeyguide.relevance.one_dnf",
    "OneDNFC": "honeyguide.relevance.one_dnf",
    "PEBL": "honeyguide.relevance.pebl",
    "PuVoting": "honeyguide.relevance.weighted_voting",
    "TfipndfTransformer": "honeyguide.relevance.tfipndf",
    "WeightedVotingClassifier": "honeyguide.relevance.weighted_voting",
}

__all__ = [
    "BUILT_IN",
    "PEBL",
    "OneClassSVM",
    "OneDNF",
    "OneDNFC",
    "PageModel",
    "PuVoting",
    "TfipndfTransformer",
    "WeightedVotingClassifier",
]


def __getattr__(name: str) -> object:
    """Import the public names on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'honeyguide.relevance' has no attribute {name!r}")
    return getattr(import_module(home), name)
