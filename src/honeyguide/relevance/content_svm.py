"""Content SVM: TF-IDF of the whole text with an RBF kernel, the baseline of the GP hybrid study."""

from __future__ import annotations

from functools import lru_cache

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

from honeyguide.relevance.estimator import EstimatorModel
from honeyguide.text.tokens import Analyser


class ContentSvm(EstimatorModel):
    """A support vector machine over title and text (LIBSVM through scikit-learn).

    Args:
        c: Cost of an error in training.
        gamma: Width of the kernel; None: one over the number of features times their variance.
        balance: Weigh the classes by their size.
        threshold: On topic from this score on; 0.5 is the separating plane.

    Example:
        >>> from honeyguide.model import Document, Examples
        >>> model = ContentSvm().fit(Examples(
        ...     positives=(Document("owls nest in trees"), Document("an owl hoots at night")),
        ...     negatives=(Document("income tax forms"), Document("tax office hours")),
        ... ))
        >>> owl, tax = model.judge_texts(["the owl", "the tax"])
        >>> owl > tax
        True

    References:
        Chih-Chung Chang, Chih-Jen Lin, "LIBSVM: a library for support vector machines", 2001.
    """

    def __init__(
        self, *, c: float = 1.0, gamma: float | None = None, balance: bool = True, threshold: float = 0.5
    ) -> None:
        super().__init__(content_svm(c=c, gamma=gamma, balance=balance), threshold=threshold)


def content_svm(*, c: float = 1.0, gamma: float | None = None, balance: bool = True) -> Pipeline:
    """The pipeline from texts to the machine."""
    vectors = TfidfVectorizer(analyzer=_terms, max_features=50_000)
    machine = SVC(
        C=c,
        kernel="rbf",
        gamma="scale" if gamma is None else gamma,
        class_weight="balanced" if balance else None,
    )
    return make_pipeline(vectors, machine)


def _terms(text: str) -> list[str]:
    # A function, since scikit-learn copies what it is given, and an analyser cannot be copied.
    return _analyser().terms(text)


@lru_cache(maxsize=1)
def _analyser() -> Analyser:
    return Analyser()
