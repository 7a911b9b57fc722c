"""Is this page on topic? One page model a file; `base.py` has the protocol, `checks.py` its contract."""

from __future__ import annotations

from honeyguide.relevance.base import PageModel
from honeyguide.relevance.combined_svm import CombinedSvm
from honeyguide.relevance.content_svm import ContentSvm
from honeyguide.relevance.description_cosine import DescriptionCosine
from honeyguide.relevance.estimator import EstimatorModel
from honeyguide.relevance.evolved.knn import EvolvedKnn
from honeyguide.relevance.layered_bayes import LayeredBayes
from honeyguide.relevance.lsi import Lsi
from honeyguide.relevance.okapi import Okapi
from honeyguide.relevance.one_class import OneClassSVM
from honeyguide.relevance.one_dnf import OneDNF, OneDNFC
from honeyguide.relevance.pebl import PEBL
from honeyguide.relevance.taxonomy_cosine import TaxonomyCosine
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.relevance.tfipndf import TfipndfTransformer
from honeyguide.relevance.vector_space import VectorSpace
from honeyguide.relevance.weighted_voting import PuVoting, WeightedVotingClassifier

BUILT_IN: dict[str, type[PageModel]] = {
    "combined-svm": CombinedSvm,
    "content-svm": ContentSvm,
    "description-cosine": DescriptionCosine,
    "estimator": EstimatorModel,
    "evolved-knn": EvolvedKnn,
    "lsi": Lsi,
    "layered-bayes": LayeredBayes,
    "okapi": Okapi,
    "taxonomy-cosine": TaxonomyCosine,
    "pu-voting": PuVoting,
    "tf-cosine": TfCosine,
    "vector-space": VectorSpace,
}
"""Page models by the name they have in `topic.toml`."""

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
