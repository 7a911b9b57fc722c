"""Weighted voting of SVMs, each trained with more negatives than the one before (WVC)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, Self, TypeAlias

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.one_dnf import NoReliableNegatives, OneDNFC, checked_pair, counting_tags, shares
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.relevance.tfipndf import class_weighted, inverse_frequencies, weighted
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser
from honeyguide.text.vectors import Vocabulary

Weighting: TypeAlias = Literal["tfipndf", "tfidf"]
Voting: TypeAlias = Literal["soft", "hard", "last"]
Start: TypeAlias = Literal["1-dnfc", "all"]
Calibration: TypeAlias = Literal["slope", "pu"]

FOLDS = 3
LARGEST_SLOPE = 1e3
USUAL_SLOPE = 2.0
LEAST_RECALL = 0.6
"""Share of the positives above the line at least: with few of them, a line above nearly all looks best by
chance."""
USUAL_CONSTRAINT: Final = 0.2
TOP_TERMS: Final = 10
UNKNOWN: Final = -1000.0
"""The vote on a text without any known word: a score of 0."""
CONTRASTS: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
ENOUGH: Final = 50
"""Documents of U that the user must give for the crawl's own pages not to be used."""
LONGEST: Final = 2_000
"""Terms kept of one page."""
MILESTONES: Final = (50, 100, 200, 400, 800)
"""Numbers of pages at which a model is trained again."""
LEAST_TERMS: Final = 5


class WeightedVotingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Learns a class from some of its documents and from documents of unknown class.

    1-DNFC finds reliable negatives among the unlabelled documents. An SVM is trained on the positives and
    these; what it calls negative of the rest joins the negatives; and so on until nothing moves. Each
    SVM has the share of the positives that it gets right as its weight, so one that went too far and
    swallowed the topic has little to say. The answer is the weighted vote of all of them.

    `X` holds term counts, `y` two values: the larger marks positive documents, the other unlabelled ones.
    For raw texts put it behind a `CountVectorizer`. Training documents are weighed by TFIPNDF; what is
    judged by TF-IDF, also the positives on which an SVM is tried and the unlabelled documents that
    it sorts. N and n_i of the weights are counted over all of P and U, so that they stay as they are
    while documents move.

    Args:
        constraint: λ of 1-DNFC.
        contrast: That of 1-DNFC; 1 as in the paper.
        weighting: `tfipndf`, or `tfidf` for the comparison.
        voting: `soft` sums the margins of the SVMs (one number that ranks), `hard` their signs as
            the paper writes it, `last` takes the last SVM alone (PEBL).
        kernel: `linear` or `rbf`.
        C: Cost of an error, of the SVM.
        balanced: Let few positives weigh as much as many negatives; off as in the paper.
        min_df: Terms in fewer documents are not looked at.
        start: `1-dnfc`, or `all`: take every unlabelled document for negative.
        calibration: What is fitted to votes of SVMs on documents they did not see. `slope`: how fast
            chances change with the vote. `pu`: also where the line is drawn, at the vote with the largest
            `r^2 / Pr(above)`, r the share of positives above it and Pr that of the unlabelled documents
            (Lee and Liu), since an SVM with few positives draws it badly. None: nothing, for speed.
        max_iter: Rounds at most.
        random_state: Of the linear SVM's solver.

    Example:
        >>> X = np.array([[3, 1, 0, 0], [2, 0, 1, 0], [2, 1, 0, 1], [1, 0, 2, 1], [0, 1, 2, 3], [0, 0, 3, 1]])
        >>> model = WeightedVotingClassifier(min_df=1).fit(X, [1, 1, 1, 0, 0, 0])
        >>> model.predict([[2, 0, 0, 0], [0, 0, 0, 2]]).tolist()
        [1, 0]

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013,
        algorithm 3.
    """

    def __init__(
        self,
        constraint: float = 0.2,
        *,
        contrast: float = 1.0,
        weighting: Weighting = "tfipndf",
        voting: Voting = "soft",
        kernel: Literal["linear", "rbf"] = "linear",
        C: float = 1.0,  # noqa: N803
        balanced: bool = False,
        min_df: int = 5,
        start: Start = "1-dnfc",
        calibration: Calibration | None = "slope",
        max_iter: int = 50,
        random_state: int | None = 0,
    ) -> None:
        self.constraint = constraint
        self.contrast = contrast
        self.weighting = weighting
        self.voting = voting
        self.kernel = kernel
        self.C = C
        self.balanced = balanced
        self.min_df = min_df
        self.start = start
        self.calibration = calibration
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, known_negatives: Any = None, held_out: Any = None) -> Self:  # noqa: N803
        """Train on positive and unlabelled documents.

        Args:
            X: Term counts.
            y: Two values; the larger marks positives.
            known_negatives: Mask of the rows that are surely negative, whatever features they have.
            held_out: Mask of unlabelled rows that may well be positive: no SVM sees them, they only
                count where the line is drawn.

        Raises:
            NoReliableNegatives: 1-DNFC finds none at this λ; the message says which λ gives some.
        """
        X, positive, self.classes_ = checked_pair(self, X, y)  # noqa: N806
        self.idf_ = inverse_frequencies(X, self.min_df)
        sure, out = (
            np.zeros(X.shape[0], dtype=bool) if mask is None else np.asarray(mask, dtype=bool) & ~positive
            for mask in (known_negatives, held_out)
        )
        first = self._first_negatives(X, positive, sure, out)
        if not first.any():
            raise TopicError("there is no document to learn negatives from; give some background text")
        self.n_reliable_negatives_ = int(first.sum())
        self.estimators_, right, negative = self._rounds(X, positive, first, use=~out)
        self.n_iter_, self.n_negatives_ = len(self.estimators_), int(negative.sum())
        self.weights_ = self._say(right)
        if self.kernel == "linear":
            self.coef_ = self.weights_ @ np.stack([one.coef_[0] for one in self.estimators_])
            self.intercept_ = float(self.weights_ @ [one.intercept_[0] for one in self.estimators_])
        self.slope_, self.offset_ = USUAL_SLOPE, 0.0
        if self.calibration is not None:
            self._calibrate(X, positive, first, negative, out)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The vote; above zero is positive."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)  # noqa: N806
        return self._vote(weighted(X, self.idf_), self.estimators_, self.weights_) - self.offset_

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class with the larger vote."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The vote as a chance: `1 / (1 + exp(-slope * vote))`.

        0.5 is where `predict` changes sides.
        """
        check_is_fitted(self)
        chance = 0.5 * (1.0 + np.tanh(0.5 * self.slope_ * self.decision_function(X)))
        return np.stack((1.0 - chance, chance), axis=1)

    def _first_negatives(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        sure: NDArray[np.bool_],
        out: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        if self.start == "all":
            return ~positive & ~out
        rest = ~positive & ~sure & ~out
        negative = sure.copy()
        if not rest.any():
            return negative
        selector = OneDNFC(self.constraint, contrast=self.contrast).fit(
            X[positive | rest], positive[positive | rest]
        )
        selector.strength_[self.idf_ == 0.0] = 0.0  # Terms that are not looked at.
        if sure.any():  # There are negatives to begin with: finding no more is fine.
            negative[rest] = selector.least_constraints(X[rest]) <= self.constraint
        else:
            negative[rest] = selector.reliable_negatives(X[rest])
        return negative

    def _rounds(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        first: NDArray[np.bool_],
        *,
        use: NDArray[np.bool_],
    ) -> tuple[list[Any], list[float], NDArray[np.bool_]]:
        """Train, sort out, train again: the SVMs, their shares of P, and the negatives in the end."""
        positive, negative = positive & use, first & use
        machines: list[Any] = []
        right: list[float] = []
        judged = weighted(X, self.idf_)
        for _ in range(max(1, self.max_iter)):
            machines.append(self._train(X, positive, positive | negative))
            right.append(float(np.mean(_margins(machines[-1], judged[positive]) > 0.0)))
            left = np.flatnonzero(use & ~positive & ~negative)
            moved = left[_margins(machines[-1], judged[left]) <= 0.0] if len(left) else left
            if not len(moved):
                break
            negative[moved] = True
        return machines, right, negative

    def _say(self, right: list[float]) -> NDArray[np.float64]:
        """The weights of the votes."""
        if self.voting == "last":
            return np.asarray(np.eye(len(right))[-1])
        total = sum(right)
        # All may be wrong about every positive: then each has the same say.
        return np.array(right) / total if total else np.full(len(right), 1.0 / len(right))

    def _vote(self, rows: Any, machines: list[Any], say: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kernel == "linear" and self.voting != "hard":
            weights = say @ np.stack([one.coef_[0] for one in machines])
            offset = float(say @ [one.intercept_[0] for one in machines])
            return np.asarray(rows @ weights + offset, dtype=np.float64).ravel()
        heard = np.flatnonzero(say)
        votes = np.stack([_margins(machines[one], rows) for one in heard])
        if self.voting == "hard":
            votes = np.where(votes > 0.0, 1.0, -1.0)
        return np.asarray(say[heard] @ votes)

    def _train(self, X: Any, positive: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Any:  # noqa: N803
        """One SVM on some of the documents."""
        own, inside = X[rows], positive[rows]
        if self.weighting == "tfipndf":
            by_class = np.stack((shares(own[~inside]), shares(own[inside])))
            vectors = class_weighted(own, self.idf_, inside.astype(np.intp), by_class)
        else:
            vectors = weighted(own, self.idf_)
        class_weight = "balanced" if self.balanced else None
        machine: Any
        if self.kernel == "linear":
            machine = LinearSVC(
                C=self.C,
                class_weight=class_weight,
                random_state=self.random_state,
                max_iter=20_000,
                dual=True,
            )
        else:
            machine = SVC(kernel=self.kernel, C=self.C, class_weight=class_weight, gamma="scale")
        return machine.fit(vectors, inside.astype(np.intp))

    def _calibrate(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        first: NDArray[np.bool_],
        negative: NDArray[np.bool_],
        out: NDArray[np.bool_],
    ) -> None:
        """Fit slope and offset to votes on documents that were left out in training (three folds)."""
        fold_of = np.zeros(X.shape[0], dtype=np.intp)
        for group in (positive, first, ~positive & ~first):
            fold_of[group] = np.arange(group.sum()) % FOLDS
        votes = np.zeros(X.shape[0])
        if positive.sum() < FOLDS or first.sum() < FOLDS:
            votes[:] = self._vote(weighted(X, self.idf_), self.estimators_, self.weights_)
        else:
            for fold in range(FOLDS):
                aside = fold_of == fold
                machines, right, _ = self._rounds(X, positive, first, use=~aside & ~out)
                votes[aside] = self._vote(weighted(X[aside], self.idf_), machines, self._say(right))
        if self.calibration == "pu":
            self.offset_ = best_line(votes[positive], votes[~positive])
        known = positive | negative
        self.slope_ = _slope(votes[known] - self.offset_, positive[known])

    def __sklearn_tags__(self) -> Any:
        """Two classes, counts; poor where every document has every term."""
        return counting_tags(super().__sklearn_tags__())


def _margins(machine: Any, rows: Any) -> NDArray[np.float64]:
    return np.asarray(machine.decision_function(rows), dtype=np.float64)


def _slope(margins: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """The most likely slope, both classes counting alike."""
    signed = np.where(labels, margins, -margins)
    importance = np.where(labels, 0.5 / max(1, labels.sum()), 0.5 / max(1, (~labels).sum()))

    def loss(log_slope: float) -> float:
        return float(importance @ np.logaddexp(0.0, -np.exp(log_slope) * signed))

    best = minimize_scalar(loss, bounds=(np.log(0.5), np.log(LARGEST_SLOPE)), method="bounded")
    return float(np.exp(best.x))


def best_line(positives: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The value with the largest `r^2 / Pr(above)` between positives and documents of unknown class.

    References:
        Wee Sun Lee, Bing Liu, "Learning with positive and unlabeled examples using weighted logistic
        regression", ICML 2003 (the criterion).
    """
    values = np.unique(np.concatenate((positives, others)))
    if len(values) == 1:
        return float(values[0])
    middles = (values[1:] + values[:-1]) / 2.0
    recall = 1.0 - np.searchsorted(np.sort(positives), middles) / len(positives)
    above = len(others) - np.searchsorted(np.sort(others), middles)
    # Half a document more: none above does not prove that there is none.
    merit = np.where(recall >= LEAST_RECALL, recall**2 / (above + 0.5), 0.0)
    return float(middles[int(np.argmax(merit))])


class _Learned(msgspec.Struct, frozen=True):
    """What is learned beside the arrays."""

    intercept: float
    slope: float
    constraint: float
    """λ that was used."""
    contrast: float
    reliable: int
    negatives: int
    rounds: int
    early: int = 0
    """Pages of the crawl in U."""


class _Kept(msgspec.Struct, frozen=True):
    """What is saved beside the arrays."""

    languages: tuple[str, ...]
    segmenter: Segmenter
    addresses: tuple[str, ...]
    threshold: float
    learned: _Learned | None = None
    start: dict[str, object] | None = None


class PuVoting:
    """Judges pages by a weighted vote of SVMs, trained on example pages and text of unknown topic.

    The text of unknown topic (U) is the background that the user gives. With fewer than 50 documents of it
    the crawl's own pages are U: training takes place once 50, 100, 200 and 400 of them are there (and
    `EarlyPages` says how pages on topic are kept out of U). Until the first training `TfCosine` judges,
    by the words of the examples against a built-in table of common words. Negative examples join the
    negatives from the start. Words of the title count like words of the text.

    The score is the vote as a chance (0.5 where the vote changes sides). A text without any known word
    has score 0.

    Args:
        constraint: λ of 1-DNFC, taken as it is; None for 0.2 with as much contrast (see `OneDNF`) as it
            takes to find reliable negatives in a tenth of U.
        weighting: `tfipndf` or `tfidf`.
        voting: `soft`, `hard` or `last`; see `WeightedVotingClassifier`.
        kernel: `linear`, or `rbf` (slower by far).
        balanced: Let few positives weigh as much as many negatives.
        threshold: On topic from this score on.
        least_documents: Terms in fewer documents are not looked at; None for 5 (the paper's), fewer where
            there are few examples.
        early_pages: Pages of the crawl to learn from when there is no background; 0 for none.

    Example:
        >>> owls = ("the owl has soft wings", "barn owl and owl nest", "an owl hunts by night on wings")
        >>> model = PuVoting().fit(Examples(positives=tuple(map(Document, owls))))
        >>> owl, tax = model.judge_texts(["owl wings", "home page contact"])
        >>> owl > 0.5 > tax, model.describe()["judged by"]
        (True, 'words of the examples')

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013.
    """

    def __init__(
        self,
        *,
        constraint: float | None = None,
        weighting: Weighting = "tfipndf",
        voting: Voting = "soft",
        kernel: Literal["linear", "rbf"] = "linear",
        balanced: bool = True,
        threshold: float = 0.5,
        least_documents: int | None = None,
        early_pages: int = 400,
    ) -> None:
        self.threshold = threshold
        self._constraint = constraint
        self._weighting = weighting
        self._voting = voting
        self._kernel = kernel
        self._balanced = balanced
        self._least_documents = least_documents
        self._early_pages = early_pages
        self._analyser = Analyser()
        self._learned: _Learned | None = None
        self._vocabulary = Vocabulary(())
        self._idf: NDArray[np.float64] = np.zeros(0)
        self._coefficients: NDArray[np.float64] = np.zeros(0)
        self._machine: WeightedVotingClassifier | None = None
        self._start: TfCosine | None = None
        self._positives: list[list[str]] = []
        self._negatives: list[list[str]] = []
        self._unlabelled: list[list[str]] = []
        self._addresses: tuple[str, ...] = ()
        self._early = EarlyPages(most=0)
        self._accepted: list[list[str]] = []
        self._rejected: list[list[str]] = []

    def fit(self, examples: Examples) -> Self:
        """Learn from positives and background; negatives are welcome, not needed."""
        self._analyser = Analyser(examples.languages)
        self._positives = self._terms_of(examples.positives)
        if not self._positives:
            raise TopicError("no example page with text; add addresses or files to 'examples' in [topic]")
        distinct = {tuple(terms) for terms in self._positives}
        if len(distinct) < 2:
            raise TopicError(
                f"all {len(self._positives)} example pages are one document; give at least two different ones"
            )
        addresses = {each.url for each in examples.positives} - {""}
        self._addresses = tuple(sorted(addresses))
        self._negatives = self._terms_of(examples.negatives)
        own = [each for each in examples.unlabelled if each.url not in addresses]
        self._unlabelled = [terms for terms in self._terms_of(own) if tuple(terms) not in distinct]
        enough = len(self._unlabelled) + len(self._negatives) >= ENOUGH
        most = 0 if len(self._unlabelled) >= ENOUGH else self._early_pages
        self._early = EarlyPages(self._positives, addresses, most=most)
        self._start, self._learned = None, None
        self._accepted, self._rejected = [], []
        if enough or (not most and (self._unlabelled or self._negatives)):
            self._learn()
        else:
            self._start = TfCosine(threshold=self.threshold).fit(examples)
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and main text."""
        if self._start is not None:
            return self._start.judge(page)
        self._fitted()
        vote, shares = self._votes([self._page_terms(page)], explain=True)
        score = float(self._chances(vote)[0])
        return Verdict(score, score >= self.threshold, _as_shares(shares, score), {"vote": float(vote[0])})

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score texts, each as a page of its own, in one pass."""
        if self._start is not None:
            return self._start.judge_texts(texts)
        terms_of = self._analyser.terms
        self._fitted()
        vote, _ = self._votes([terms_of(text) for text in texts])
        scores: list[float] = self._chances(vote).tolist()
        return scores

    def observe(self, page: Page, verdict: Verdict) -> bool:
        """Keep an early page for U, and train when enough new ones are there."""
        early = self._early
        if early.full or not early.offer(self._page_terms(page), url=page.url):
            return False
        if self._start is not None:
            scores = self._start.judge_texts([" ".join(terms) for terms in early.documents])
        else:
            scores = self._chances(self._votes(early.documents)[0]).tolist()
        # A model that calls nearly everything on topic would leave nothing: half of the pages stay.
        early.held_out = np.array(scores) > max(self.threshold, float(np.median(scores)))
        self._learn()
        self._start = None
        return True

    def teach(self, accepted: Sequence[Document], rejected: Sequence[Document]) -> bool:
        """Train with reviewed pages as positives and true negatives; not before the first training."""
        if self._start is not None or not self._positives:
            return False
        self._accepted, self._rejected = self._terms_of(accepted), self._terms_of(rejected)
        self._learn()
        return True

    def describe(self) -> dict[str, object]:
        """How the model was trained, for people."""
        if self._start is not None:
            return {"judged by": "words of the examples", "early pages": len(self._early.documents)}
        learned = self._fitted()
        return {
            "judged by": "weighted voting",
            "early pages": learned.early,
            "constraint": learned.constraint,
            "contrast": learned.contrast,
            "reliable negatives": learned.reliable,
            "negatives": learned.negatives,
            "rounds": learned.rounds,
            "terms": len(self._vocabulary),
        }

    def save(self) -> Saved:
        """A linear model as its weights; another, or one still learning, with what it learns from."""
        values: dict[str, object] = {
            "languages": list(self._analyser.languages),
            "segmenter": self._analyser.segmenter,
            "addresses": list(self._addresses),
            "threshold": self.threshold,
        }
        arrays: dict[str, NDArray[np.generic]] = {}
        if self._start is not None:
            values["start"] = self._start.save().values
        else:
            values["learned"] = msgspec.to_builtins(self._fitted())
            arrays |= {
                "terms": _packed([self._vocabulary.terms]),
                "idf": self._idf,
                "coefficients": self._coefficients,
            }
        if self._start is not None or self._machine is not None or self._early.documents:
            arrays |= {
                "positives": _packed(self._positives),
                "negatives": _packed(self._negatives),
                "unlabelled": _packed(self._unlabelled),
                "early": _packed(self._early.documents),
                "held_out": self._early.held_out,
            }
        if self._accepted or self._rejected:
            arrays |= {"accepted": _packed(self._accepted), "rejected": _packed(self._rejected)}
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave; what is not a linear model is trained again on the same documents."""
        values, arrays = saved.values, saved.arrays
        known = msgspec.convert(values, _Kept)
        self.threshold, self._addresses = known.threshold, known.addresses
        self._analyser = Analyser(known.languages, segmenter=known.segmenter)
        self._early = EarlyPages(most=0)
        if "positives" in arrays:
            self._positives, self._negatives, self._unlabelled, early = (
                _unpacked(arrays[name]) for name in ("positives", "negatives", "unlabelled", "early")
            )
            most = 0 if len(self._unlabelled) >= ENOUGH else self._early_pages
            self._early = EarlyPages(self._positives, self._addresses, most=most)
            self._early.restore(early, arrays["held_out"].astype(np.bool_))
        self._accepted, self._rejected = (
            _unpacked(arrays[name]) if name in arrays else [] for name in ("accepted", "rejected")
        )
        self._start, self._learned = None, known.learned
        if known.learned is None:
            start = known.start or {}
            self._start = TfCosine(threshold=self.threshold).load(Saved(values=start))
        elif not self._folded:
            self._learn()
        else:
            self._vocabulary = Vocabulary(_unpacked(arrays["terms"])[0] if arrays["terms"].size else ())
            self._idf = arrays["idf"].astype(np.float64)
            self._coefficients = arrays["coefficients"].astype(np.float64)
        return self

    @property
    def _folded(self) -> bool:
        """Whether the vote is one linear function."""
        return self._kernel == "linear" and self._voting != "hard"

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _terms_of(self, documents: Sequence[Document]) -> list[list[str]]:
        found = (self._analyser.terms(f"{each.title}\n{each.text}")[:LONGEST] for each in documents)
        return [terms for terms in found if terms]

    def _page_terms(self, page: Page) -> list[str]:
        return self._analyser.terms(f"{page.title}\n{page.content}")

    def _learn(self) -> None:
        """Train on P, U and what is known to be negative."""
        early = self._early
        own = early.documents[: len(early.held_out)]
        positives = [*self._positives, *self._accepted]
        negatives = [*self._negatives, *self._rejected]
        documents = [*positives, *self._unlabelled, *own, *negatives]
        place = np.arange(len(documents))
        positive, known = place < len(positives), place >= len(documents) - len(negatives)
        out = np.zeros(len(documents), dtype=np.bool_)
        out[len(positives) + len(self._unlabelled) :][: len(own)] = early.held_out
        least = self._least_documents or min(5, max(1, len(self._positives) // 5))
        vocabulary = Vocabulary.of(documents, least_documents=least)
        counts = vocabulary.counts(documents)
        constraint, contrast = self._chosen(counts[~known & ~out], positive[~known & ~out])
        machine = WeightedVotingClassifier(
            constraint,
            contrast=contrast,
            calibration="pu",
            weighting=self._weighting,
            voting=self._voting,
            kernel=self._kernel,
            balanced=self._balanced,
            min_df=least,
        )
        try:
            machine.fit(counts, positive.astype(np.intp), known_negatives=known, held_out=out)
        except NoReliableNegatives as problem:
            raise TopicError(f"{problem} (option 'constraint' in [relevance])") from problem
        self._vocabulary, self._idf = vocabulary, machine.idf_
        self._machine = None if self._folded else machine
        self._coefficients = machine.coef_ if self._folded else np.zeros(0)
        self._learned = _Learned(
            intercept=machine.intercept_ - machine.offset_ if self._folded else 0.0,
            slope=machine.slope_,
            constraint=constraint,
            contrast=contrast,
            reliable=machine.n_reliable_negatives_,
            negatives=machine.n_negatives_,
            rounds=machine.n_iter_,
            early=len(own),
        )

    def _chosen(self, counts: Any, positive: NDArray[np.bool_]) -> tuple[float, float]:
        """λ and contrast: as asked for, or such that a tenth of U are reliable negatives."""
        if self._constraint is not None:
            return self._constraint, 1.0
        if positive.all():
            return USUAL_CONSTRAINT, 1.0
        for contrast in CONTRASTS:
            least = OneDNFC(contrast=contrast).fit(counts, positive.astype(np.intp))
            needed = float(np.quantile(least.least_constraints(counts[~positive]), 0.1, method="higher"))
            if needed <= USUAL_CONSTRAINT:
                return USUAL_CONSTRAINT, contrast
        return needed, CONTRASTS[-1]

    def _votes(
        self, documents: Sequence[Sequence[str]], *, explain: bool = False
    ) -> tuple[NDArray[np.float64], list[tuple[str, float]]]:
        """The vote on each document; on request what speaks for the first one, strongest first."""
        learned, column, width = self._fitted(), self._vocabulary.column, max(1, len(self._vocabulary))
        columns = [[column[term] for term in terms if term in column] for terms in documents]
        lengths = np.fromiter(map(len, columns), np.int64, len(columns))
        flat = np.array([one for each in columns for one in each], dtype=np.int64)
        # A document's equal terms, counted: one sort for all documents of the batch.
        keys, counts = np.unique(
            np.repeat(np.arange(len(columns)), lengths) * width + flat, return_counts=True
        )
        rows, places = np.divmod(keys, width)
        weights = counts * self._idf[places]
        norms = np.sqrt(np.bincount(rows, weights * weights, minlength=len(columns)))
        known = norms > 0.0
        if self._machine is not None:
            vote = self._machine.decision_function(self._vocabulary.counts(documents)) if columns else norms
            return np.where(known, vote, UNKNOWN), []
        gains = weights * self._coefficients[places]
        sums = np.bincount(rows, gains, minlength=len(columns))
        vote = np.where(known, sums / np.where(known, norms, 1.0) + learned.intercept, UNKNOWN)
        if not explain:
            return vote, []
        best = [i for i in np.argsort(-gains, kind="stable")[:TOP_TERMS] if gains[i] > 0.0]
        total = float(gains[gains > 0.0].sum()) or 1.0
        return vote, [(self._vocabulary.terms[places[i]], float(gains[i]) / total) for i in best]

    def _chances(self, vote: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * self._fitted().slope * vote)))


def _as_shares(shares: Sequence[tuple[str, float]], score: float) -> tuple[tuple[str, float], ...]:
    # Rounding down keeps the sum of the shares at or below the score.
    return tuple((term, math.floor(share * score * 1e9) / 1e9) for term, share in shares)


def _packed(documents: Sequence[Sequence[str]]) -> NDArray[np.generic]:
    """Documents as one array of bytes: terms hold no white space."""
    text = "\n".join(" ".join(terms) for terms in documents)
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


def _unpacked(array: NDArray[np.generic]) -> list[list[str]]:
    text = array.tobytes().decode("utf-8", "surrogatepass")
    return [line.split(" ") for line in text.split("\n")] if text else []


class EarlyPages:
    """The first pages of a crawl, for a model that has no other unlabelled text.

    A focused crawl starts among pages on topic, so its early pages are not a fair sample of the web: as
    they come they would teach a model that the topic's own words are nothing special. The example
    pages (by address) and pages with the same text as an example or an earlier page are not taken at all.
    Of the others, those that the model calls on topic at the time of a training are held out of it:
    they help to draw the line, and are never negatives (at most half of all pages, the best ones, are
    held out). Which ones that are is asked again at each training, of a model that knows more. Pages on
    topic that slip through all this are few, and 1-DNFC takes none for a
    reliable negative that has a positive feature.

    Args:
        positives: Terms of the example pages.
        addresses: Where the example pages are.
        most: Pages to keep; then no more are taken.

    Example:
        >>> early = EarlyPages([["owl", "nest"]], ["https://a.example/owl"], most=10)
        >>> early.offer(["tax", "form", "bank", "loan", "rate"], url="https://a.example/tax")
        False
        >>> len(early.documents)
        1
    """

    def __init__(
        self, positives: Iterable[Sequence[str]] = (), addresses: Iterable[str] = (), *, most: int = 400
    ) -> None:
        self.documents: list[list[str]] = []
        self.held_out: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        """Which documents the last training left out; as many as there were then."""
        self._most = most
        self._addresses = frozenset(addresses) - {""}
        self._seen = {_fingerprint(terms) for terms in positives}

    @property
    def full(self) -> bool:
        """Whether no more pages are taken."""
        return len(self.documents) >= self._most

    def offer(self, terms: Sequence[str], *, url: str) -> bool:
        """Take a page unless it is an example or a double. Whether it is time to train."""
        mark = _fingerprint(terms)
        few = len(terms) < LEAST_TERMS
        if self.full or few or url in self._addresses or mark in self._seen:
            return False
        self._seen.add(mark)
        self.documents.append(list(terms[:LONGEST]))
        return len(self.documents) in MILESTONES or self.full

    def restore(self, documents: Iterable[Sequence[str]], held_out: NDArray[np.bool_]) -> None:
        """Take back what was kept before."""
        for terms in documents:
            self.documents.append(list(terms))
            self._seen.add(_fingerprint(terms))
        self.held_out = held_out


def _fingerprint(terms: Sequence[str]) -> int:
    return xxhash.xxh3_64_intdigest(" ".join(terms[:LONGEST]).encode("utf-8", "surrogatepass"))
