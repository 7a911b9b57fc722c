"""The page model `pu-voting`: learns a topic from example pages alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.one_dnf import NoReliableNegatives, OneDNFC
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.relevance.weighted_voting import Voting, WeightedVotingClassifier, Weighting
from honeyguide.relevance.weighted_voting_early import LONGEST, EarlyPages
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser
from honeyguide.text.vectors import Vocabulary

USUAL_CONSTRAINT: Final = 0.2
TOP_TERMS: Final = 10
UNKNOWN: Final = -1000.0
"""The vote on a text without any known word: a score of 0."""
CONTRASTS: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0)
ENOUGH: Final = 50
"""Documents of U that the user must give for the crawl's own pages not to be used."""


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

    Parameters:
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
        """Take back what `save` gave; what is no linear model is trained again on the same documents."""
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
        return self._analyser.terms(f"{page.title}\n{page.main_text or page.text}")

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
