"""Calibrated: the chance that a person would say yes, from keywords, examples and what the crawl sees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.errors import CollectionError, TopicError
from honeyguide.model import BY_TEXT, Document, Examples, Page, UrlId, Verdict
from honeyguide.relevance.base import LinkWitness
from honeyguide.relevance.mixture import (
    Fit,
    Heap,
    Line,
    Linked,
    Texts,
    count_texts,
    fill,
    fit,
    part_of,
)
from honeyguide.relevance.tf_cosine import STEEPNESS, TfCosine
from honeyguide.store.models import Saved
from honeyguide.text.background import background
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser, Names, Numbered, Places
from honeyguide.web import url_id

Array = NDArray[np.float64]

SAMPLE: Final = 1000
"""Pages of the crawl that are remembered."""
MOST_TERMS: Final = 400
"""Different terms of a page that are remembered: the most frequent."""
MOST_VOCABULARY: Final = 150_000
LEAST_PAGES: Final = 20
"""Pages before the first fit."""
GROWTH: Final = 1.25
"""Fitted again when so many times as many pages have come, those of other shards among them."""
USUAL_PAGES: Final = 200.0
"""Pages of the web in general that the built-in table of common words stands for."""
COLD_PAGES: Final = 60.0
"""What is believed before any page was seen counts as much as so many pages."""
COMMON: Final = 1.6
"""Inverse document frequency in the crawl from which on a keyword counts in full: on a fifth of the pages."""
GOOD_CRAWL: Final = (0.2, 0.4)
"""Share of the pages on topic from which on those off topic begin to say how common a keyword is, and do."""
LONE_LIKENESS: Final = 0.2
"""Cosine that a page on topic is believed to have with a single example."""
TOP_TERMS: Final = 10
MOST_AGAINST: Final = 5
_STRANGE: Final = math.log(USUAL_PAGES / 0.5)
"""Inverse document frequency of a term never met, before there are pages."""
BELIEVED: Final = 4.0
"""Largest log odds from keywords or examples alone."""
NOTHING: Final = np.zeros(0, np.float32)
"""Known of the links to a page, where nobody can tell."""


class _Text(msgspec.Struct, frozen=True, array_like=True):
    """A text as the model remembers it."""

    id: int
    """Fingerprint of its address; 0 where it has none."""
    terms: NDArray[np.int64]
    """Numbers of its terms."""
    counts: Array
    """`1 + log(tf)` of each."""
    keywords: Array
    """Evidence for each keyword, 0..1."""
    words: float
    """Logarithm of one more than the number of its words."""
    links: NDArray[np.float32] = NOTHING
    """What was known of the links to it when the model was fitted last: a row of scores, or nothing."""


class _Read(NamedTuple):
    """A text as the analyser reads it: its most frequent terms."""

    names: Names
    """What the analyser's numbers stand for."""
    terms: NDArray[np.int32]
    """The analyser's numbers of the terms, in the order of their first occurrences."""
    counts: Array
    """`1 + log(tf)` of each."""
    keywords: Array
    """Evidence for each keyword, 0..1."""
    words: float
    """Logarithm of one more than the number of its words."""
    links: NDArray[np.float32] = NOTHING
    """What is known of the links to it: a row of scores, or nothing."""


class _Witness:
    """Who is asked about links, if anybody. Copies of a model ask the same one."""

    def __init__(self) -> None:
        self.asked: LinkWitness | None = None

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def rows(self, pages: Sequence[UrlId]) -> list[NDArray[np.float32]]:
        """What is known of the links to each page; nothing where that is nothing."""
        if self.asked is None or not pages:
            return [NOTHING] * len(pages)
        found = self.asked.evidence_of(pages)
        known = np.asarray(np.isfinite(found).all(axis=1)).tolist()
        return [row if there else NOTHING for row, there in zip(found, known, strict=True)]


_Learned = tuple[int, Fit | None, Array, Array, dict[int, float], int, list[float]]
"""What a fit leaves, with the number of pages at which the next is due."""


class _Fitted(msgspec.Struct, frozen=True):
    """A fit without its arrays."""

    scales: tuple[tuple[float, float], ...]
    gamma: float
    slope: float
    middle: float
    shift: float
    share: float
    by_words: tuple[float, float] = (0.0, 0.0)
    witnessed: float = 1.0
    linked: Linked | None = None

    @classmethod
    def of(cls, fit: Fit) -> _Fitted:
        """What is saved of a fit beside its arrays."""
        line = msgspec.structs.asdict(fit.line)
        return cls(
            fit.scales, fit.gamma, **line, by_words=fit.by_words, witnessed=fit.witnessed, linked=fit.linked
        )

    def fit(self, contrast: Array, likeness: Array, position: Array) -> Fit:
        """The fit again."""
        line = Line(self.slope, self.middle, self.shift, self.share)
        rest = (self.by_words, self.witnessed, self.linked)
        return Fit(contrast, likeness, self.scales, self.gamma, line, position, *rest)


class _Values(msgspec.Struct, frozen=True):
    """What is saved beside arrays."""

    languages: tuple[str, ...]
    segmenter: Segmenter
    has_keywords: bool
    words: dict[str, object]
    short: dict[str, object]
    labels: tuple[int, ...]
    taught: tuple[int, ...]
    seen: int
    due: int
    fitted_on: int
    typical: float
    keywords: tuple[float, ...]
    fit: _Fitted | None = None


class Calibrated:
    """Says how likely a person would call a page on topic, and moves its line with what the crawl sees.

    A page's place on the scale is the sum of three standardised numbers: its keyword score (the evidence of
    `tf-cosine`, where a keyword that most pages off topic contain counts less), the contrast of its words
    between pages that seem on topic and all others (Rocchio's feedback, from the crawl's own pages and any
    examples), and likeness to the examples (the more there are, the more it counts). Two normal distributions
    are fitted over all remembered pages; the line is the mean of theirs and the one that Lee and Liu's r²/Pr
    prefers, for which examples are held out. From a chance of one half on a page is on topic. So the
    threshold follows from the pages: where all pages mention the keywords, more is asked for.

    Before 20 pages have come, keywords and examples judge alone; what they believe then counts as 60 pages
    later on. The fit is repeated whenever the crawl has grown by a quarter, on at most 1,000 remembered pages
    (reservoir sampling). Pages without text are never on topic. Reviewed pages count as examples,
    and move the line.

    With `by_links`, what the order knows of the links to a page counts, too, where it can tell (`scout`): a
    regression says from their scores where the page stands, and is believed as far as it agrees with the
    words of the crawl's pages. What the page's own words say is kept as `Verdict.by_text`; orders learn from
    that, or they would believe what they said themselves.

    Args:
        threshold: On topic from this chance on.
        even_lengths: Take off what long pages gain by being long.
        by_links: Believe what the links to a page say.

    Example:
        >>> model = Calibrated().fit(Examples(keywords=("neural network", "backpropagation")))
        >>> page = Page(url="https://a.example/", id=1, text="Neural networks learn by backpropagation.")
        >>> model.judge(page).on_topic, model.judge_texts(["tax law"])
        (True, [0.0])

    References:
        J. J. Rocchio, "Relevance feedback in information retrieval", 1971. K. Nigam, A. McCallum, S. Thrun,
        T. Mitchell, "Text classification from labeled and unlabeled documents using EM", Machine Learning 39,
        2000. W. S. Lee, B. Liu, "Learning with positive and unlabeled examples using weighted logistic
        regression", ICML 2003. N. Otsu, "A threshold selection method from gray-level histograms", IEEE
        Transactions on Systems, Man, and Cybernetics 9, 1979. A. Blum, T. Mitchell, "Combining labeled and
        unlabeled data with co-training", COLT 1998. Z. C. Lipton, C. Elkan, B. Naryanaswamy,
        "Optimal thresholding of classifiers to maximize F1 measure", ECML PKDD 2014.
    """

    def __init__(self, *, threshold: float = 0.5, even_lengths: bool = True, by_links: bool = False) -> None:
        self.threshold = threshold
        self._even_lengths = even_lengths
        self._by_links = by_links
        self._words = TfCosine()
        self._short = TfCosine()
        self._has_keywords = False
        self._ready = False
        self._analyser = Analyser()
        self._vocabulary: dict[str, int] = {}
        self._sample: list[_Text] = []
        self._others: list[_Text] = []
        self._unread: Sequence[Saved] | None = None
        """What other shards shared since the last fit; the next one is the first to need it, and reads it."""
        self._seen_by_others = 0
        self._given: list[_Text] = []
        self._labels: list[int] = []
        self._taught: list[_Text] = []
        self._taught_labels: list[int] = []
        self._untaught: _Learned | None = None
        self._seen = self._fitted_on = 0
        self._due = LEAST_PAGES
        self._typical = LONE_LIKENESS
        self._fit: Fit | None = None
        self._idf: Array = np.zeros(0)
        self._likeness: Array = np.zeros(0)
        self._keywords: list[float] = []
        self._terms: list[str] = []
        self._usual: Array = np.zeros(0)
        """Pages of the web in general that have each term."""
        self._own: dict[int, float] = {}
        self._places = Places(self._vocabulary)
        self._last: tuple[Page, _Read] | None = None
        self._witness = _Witness()

    def hear_links(self, witness: LinkWitness) -> None:
        """Ask this one about links from now on, where `by_links` says so."""
        if self._by_links:
            self._witness.asked = witness

    def _begin(self) -> None:
        """Forget everything but whom to ask."""
        options = {"even_lengths": self._even_lengths, "by_links": self._by_links}
        witness = self._witness
        self.__dict__.update(type(self)(threshold=self.threshold, **options).__dict__)
        self._witness = witness

    def fit(self, examples: Examples) -> Self:
        """Take the topic from keywords (or a taxonomy path), examples, or both; background where given."""
        self._begin()
        self._analyser = Analyser(examples.languages)
        self._short = TfCosine().fit(examples)
        bare = Examples(
            keywords=examples.keywords,
            taxonomy=examples.taxonomy,
            languages=examples.languages,
            unlabelled=examples.unlabelled,
        )
        self._has_keywords = bool(examples.keywords or examples.taxonomy)
        self._words = TfCosine().fit(bare) if self._has_keywords else TfCosine()
        for documents, label in ((examples.positives, 1), (examples.negatives, -1)):
            for document in documents:
                self._given.append(self._remembered(document.title, document.text))
                self._labels.append(label)
        self._sample = [self._remembered(each.title, each.text) for each in examples.unlabelled[:SAMPLE]]
        self._seen = len(self._sample)
        self._ready = True
        self._refit()
        return self

    def judge(self, page: Page) -> Verdict:
        """The chance that a person would say yes, with the words for it; no text, no chance."""
        read = self._features(page)
        if not len(read.terms):
            return Verdict(0.0, False)
        beside = self._compared(read)
        odds, facts = self._odds(beside, read, page.id)
        score = _chance(odds)
        return Verdict(score, score >= self.threshold, self._reasons(beside, read.keywords, score), facts)

    def against(self, page: Page) -> list[tuple[str, float]]:
        """The words of a page that speak most against it, with their weights; none before the first fit."""
        read = self._features(page)
        if self._fit is None or not len(read.terms):
            return []
        names, weights = self._weights(read)
        parts = weights * self._fit.contrast[names]
        worst = np.argsort(parts, kind="stable")[:MOST_AGAINST]
        return [
            (self._terms[int(names[place])], -float(parts[place])) for place in worst if parts[place] < 0.0
        ]

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score anchors and contexts by keywords and the words of examples, moved by what reviews taught."""
        self._check()
        scores = self._short.judge_texts(texts)
        if not self._taught:
            return scores
        for place, text in enumerate(texts):
            read = self._frequent(self._analyser.numbered(text))
            if len(read.terms):
                names, weights = self._weights(read)
                odds = _believed(scores[place]) + self._lean(names, weights)
                scores[place] = _chance(odds)
        return scores

    def observe(self, page: Page, verdict: Verdict) -> bool:
        """Remember a page; True when the line has moved."""
        del verdict  # It is worked out again with the fit.
        read = self._features(page)
        if not len(read.terms):
            return False
        self._seen += 1
        text = self._numbered(page.id, read)
        if len(self._sample) < SAMPLE:
            self._sample.append(text)
        else:
            # Reservoir sampling with a fixed sequence: equal crawls remember equal pages.
            place = (self._seen * 2654435761) % (1 << 32) % self._seen
            if place < SAMPLE:
                self._sample[place] = text
        if self._all_seen < self._due:
            return False
        self._ask_about_links()
        self._refit()
        return True

    def remembered(self) -> list[tuple[UrlId, Verdict]]:
        """Pages of the crawl with the verdict they have now; none before the first fit."""
        found: list[tuple[UrlId, Verdict]] = []
        if self._fit is None:
            return found
        weights_of_keywords = self._keyword_weights
        for text, gain in zip(self._sample, self._gains([text.links for text in self._sample]), strict=True):
            if not text.id or not len(text.terms):
                continue
            position = self._own.get(text.id)
            if position is not None:  # the fit knows where it stands: nothing of its words is needed
                odds, facts = self._placed(position, gain, _keyword_score(text.keywords, weights_of_keywords))
            else:
                met = text.terms < len(self._idf)  # the fit knows nothing of terms that came later
                terms = text.terms[met]
                weights = text.counts[met] * self._idf[terms]
                weights = weights / (math.sqrt(float(weights @ weights)) or 1.0)
                odds, known = self._odds(self._beside(weights, terms), text, text.id)
                facts = {name: known[name] for name in (BY_TEXT,) if name in known}
            score = _chance(odds)
            found.append((text.id, Verdict(score, score >= self.threshold, facts=facts)))
        return found

    def shared(self, shards: int) -> Saved:
        """Pages it remembers by itself, for the same model in other shards: as many as they take.

        Args:
            shards: How many there are, this one among them.
        """
        self._check()
        texts = [text for text in self._sample if text.id][-_share(shards) :]
        words = list(self._vocabulary)
        used = np.zeros(len(words), np.bool_)
        for text in texts:
            used[text.terms] = True
        numbers = used.nonzero()[0]
        place = np.zeros(len(words), np.int64)
        place[numbers] = np.arange(len(numbers))
        named = "\n".join(words[number] for number in numbers.tolist())
        arrays: dict[str, NDArray[np.generic]] = {
            "vocabulary": np.frombuffer(named.encode("utf-8", "surrogatepass"), np.uint8),
            "ids": np.array([text.id for text in texts], np.int64),
            "sizes": np.array([len(text.terms) for text in texts], np.int64),
            "terms": place[np.concatenate([np.zeros(0, np.int64), *(text.terms for text in texts)])].astype(
                np.int32
            ),
            "counts": np.concatenate([np.zeros(0), *(text.counts for text in texts)]).astype(np.float32),
            "evidence": np.array([text.keywords for text in texts], np.float32).reshape(
                len(texts), len(self._keywords)
            ),
            "links": _rows([text.links for text in texts]),
        }
        return Saved(values={"seen": self._seen}, arrays=arrays)

    def join(self, others: Sequence[Saved]) -> bool:
        """Learn from the pages of other shards as well; True when that moved the line.

        Their pages count towards the next fit, and it is made when it is due: a shard that is dealt no pages
        would otherwise go on telling what its pages were worth long ago.

        Args:
            others: What each of them shares; takes the place of what was told before.

        Raises:
            ValueError: It is not what `shared` gives.
        """
        self._check()
        for told in others:
            self._check_told(told)
        self._unread = others
        self._seen_by_others = sum(msgspec.convert(told.values["seen"], int) for told in others)
        if self._all_seen < self._due:
            return False
        self._ask_about_links()
        self._refit()
        return True

    def _check_told(self, told: Saved) -> None:
        """ValueError when it is not what `shared` gives."""
        arrays = cast("dict[str, NDArray[Any]]", told.arrays)
        sizes, terms = arrays["sizes"], arrays["terms"]
        named = arrays["vocabulary"]
        words = int((named == ord("\n")).sum()) + 1 if len(named) else 0
        if len(terms) != sizes.sum() or terms.max(initial=-1) >= words or terms.min(initial=0) < 0:
            raise ValueError("texts of another shard have terms that it does not name")
        if arrays["evidence"].shape != (len(sizes), len(self._keywords)):
            raise ValueError("another shard has other keywords")
        if len(arrays["links"]) != len(sizes) or arrays["links"].ndim != 2:
            raise ValueError("another shard has texts without links")

    def _read_others(self) -> None:
        """Take in what other shards shared last, in place of what they had shared before."""
        others, self._unread = self._unread, None
        if others is None:
            return
        most, words = _share(len(others) + 1), len(self._vocabulary)
        self._others = [text for told in others for text in self._told(told, most)]
        if len(self._vocabulary) > words:
            self._places = Places(self._vocabulary)

    def _told(self, told: Saved, most: int) -> list[_Text]:
        """The latest texts of another shard, in the numbers of this one's vocabulary."""
        arrays = cast("dict[str, NDArray[Any]]", told.arrays)
        sizes, terms = arrays["sizes"], arrays["terms"]
        ends, ids = np.cumsum(sizes), arrays["ids"].tolist()
        held = {text.id: text for text in self._others}  # shards tell the same pages again and again
        latest = range(max(0, len(sizes) - most), len(sizes))
        new = [number for number in latest if ids[number] not in held]
        places = {number: terms[ends[number] - sizes[number] : ends[number]] for number in new}
        words = arrays["vocabulary"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        named = np.zeros(len(words), np.bool_)
        for found in places.values():
            named[found] = True
        numbers, place = self._vocabulary, np.zeros(len(words), np.int64)
        for word in named.nonzero()[0].tolist():
            place[word] = numbers.setdefault(words[word], len(numbers))
        for number in new:
            counts = arrays["counts"][ends[number] - sizes[number] : ends[number]].astype(np.float64)
            held[ids[number]] = _Text(
                ids[number],
                place[places[number]],
                counts,
                arrays["evidence"][number].astype(np.float64),
                _words(counts),
                _row(arrays["links"][number]),
            )
        return [held[ids[number]] for number in latest]

    def teach(self, accepted: Sequence[Document], rejected: Sequence[Document]) -> bool:
        """Take what people said instead of anything they said before."""
        self._check()
        documents = (*accepted, *rejected)
        links = {text.id: text.links for text in (*self._sample, *self._taught) if text.id}
        texts = [self._remembered(each.title, each.text, url=each.url) for each in documents]
        self._taught = [msgspec.structs.replace(text, links=links.get(text.id, NOTHING)) for text in texts]
        self._taught_labels = [1] * len(accepted) + [-1] * len(rejected)
        before = self._untaught
        if not documents and before is not None and before[0] == self._due:
            self._due, self._fit, self._idf, self._likeness, self._own, self._fitted_on, self._keywords = (
                before
            )
            self._last = None
            return True
        due, words = self._due, len(self._vocabulary)
        unspoiled = before if before is not None and before[0] == due else self._learned()
        self._refit()
        # The next fit comes when it would have come without them, and all undone means as it was before,
        # unless words were given other numbers.
        self._due = due
        self._untaught = unspoiled if len(self._vocabulary) >= words else None
        return True

    def _learned(self) -> _Learned:
        return (
            *(self._due, self._fit, self._idf, self._likeness),
            *(self._own, self._fitted_on, self._keywords),
        )

    @property
    def _all_seen(self) -> int:
        """Pages seen, here and in other shards."""
        return self._seen + self._seen_by_others

    @property
    def share(self) -> float:
        """Of the pages seen, those believed to be on topic; 0 before the first fit."""
        return self._fit.line.share if self._fit is not None else 0.0

    def save(self) -> Saved:
        """Remembered texts, the vocabulary and the last fit."""
        self._check()
        texts = [*self._sample, *self._given, *self._taught]
        found = self._fit
        values: dict[str, object] = {
            "languages": list(self._analyser.languages),
            "segmenter": self._analyser.segmenter,
            "has_keywords": self._has_keywords,
            "words": self._words.save().values if self._has_keywords else {},
            "short": self._short.save().values,
            "labels": self._labels,
            "taught": self._taught_labels,
            "seen": self._seen,
            "due": self._due,
            "fitted_on": self._fitted_on,
            "typical": self._typical,
            "keywords": self._keywords,
        }
        if found is not None:
            values["fit"] = msgspec.to_builtins(_Fitted.of(found))
        arrays: dict[str, NDArray[np.generic]] = {
            "vocabulary": np.frombuffer(
                "\n".join(self._vocabulary).encode("utf-8", "surrogatepass"), np.uint8
            ),
            "ids": np.array([text.id for text in texts], np.int64),
            "sizes": np.array([len(text.terms) for text in texts], np.int64),
            "terms": np.concatenate([np.zeros(0, np.int64), *(text.terms for text in texts)]),
            "counts": np.concatenate([np.zeros(0), *(text.counts for text in texts)]),
            "evidence": np.array([text.keywords for text in texts], np.float64).reshape(
                len(texts), len(self._keywords)
            ),
            "idf": self._idf,
            "likeness": self._likeness,
            "own": np.array(list(self._own.items()), np.float64).reshape(-1, 2)[:, 1],
            "own_ids": np.array(list(self._own), np.int64),
        }
        if self._by_links:
            arrays["links"] = _rows([text.links for text in texts])
        if found is not None:
            arrays |= {"contrast": found.contrast, "position": found.position}
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        try:
            self._load(saved)
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            raise CollectionError(f"the page model is damaged ({error!r}); fit it again") from error
        return self

    def _load(self, saved: Saved) -> None:
        self._begin()
        values = msgspec.convert(saved.values, _Values)
        arrays = cast("dict[str, NDArray[Any]]", saved.arrays)
        self._analyser = Analyser(values.languages, segmenter=values.segmenter)
        self._has_keywords = values.has_keywords
        self._words = TfCosine().load(Saved(values=values.words)) if values.has_keywords else TfCosine()
        self._short = TfCosine().load(Saved(values=values.short))
        self._keywords = list(values.keywords)
        vocabulary = arrays["vocabulary"].tobytes().decode("utf-8", "surrogatepass")
        self._vocabulary = {
            term: number for number, term in enumerate(vocabulary.split("\n") if vocabulary else ())
        }
        self._places = Places(self._vocabulary)
        if arrays["terms"].max(initial=-1) >= len(self._vocabulary):
            raise ValueError("a text has terms that are not in the vocabulary")
        links = arrays.get("links")  # where links are not asked, and in older collections, none
        texts: list[_Text] = []
        start = 0
        for number, size in enumerate(arrays["sizes"].tolist()):
            part = slice(start, start + size)
            start += size
            own = (arrays["terms"][part], arrays["counts"][part], arrays["evidence"][number])
            told = _row(links[number]) if links is not None else NOTHING
            texts.append(_Text(int(arrays["ids"][number]), *own, _words(own[1]), told))
        given = len(texts) - len(values.taught)
        pages = given - len(values.labels)
        self._sample, self._given, self._taught = texts[:pages], texts[pages:given], texts[given:]
        self._labels, self._taught_labels = list(values.labels), list(values.taught)
        self._seen, self._due, self._fitted_on = values.seen, values.due, values.fitted_on
        self._typical, self._idf, self._likeness = values.typical, arrays["idf"], arrays["likeness"]
        self._own = dict(zip(arrays["own_ids"].tolist(), arrays["own"].tolist(), strict=True))
        if values.fit is not None:
            self._fit = values.fit.fit(arrays["contrast"], self._likeness, arrays["position"])
        self._terms = list(self._vocabulary)
        self._ready = True

    def _check(self) -> None:
        if not self._ready:
            raise TopicError("the page model knows no topic yet; call fit or load first")

    # Reading texts.

    def _features(self, page: Page) -> _Read:
        """Counts of a page's terms and evidence for each keyword; the last page's are kept."""
        self._check()
        if self._last is None or self._last[0] is not page:
            read = self._read(page.title, page.content)
            self._last = (page, read._replace(links=self._links_to(page)))
        return self._last[1]

    def _links_to(self, page: Page) -> NDArray[np.float32]:
        """What is known of the links to a page, or to the address that led to it."""
        via = page.via
        asked = [page.id]
        if via is not None and via.source in ("redirect", "canonical"):
            asked.append(via.parent)
        return next((row for row in self._witness.rows(asked) if len(row)), NOTHING)

    def _read(self, title: str, text: str) -> _Read:
        read = self._analyser.numbered(title, text)
        found = self._frequent(read)
        if not self._has_keywords:
            return found
        return found._replace(keywords=np.array(self._words.evidence_of(read, self._analyser)))

    def _frequent(self, read: Numbered) -> _Read:
        """The most frequent terms where there are too many; of equally frequent ones, the first."""
        terms, weights, words = self._analyser.frequent(read.texts[::-1], MOST_TERMS)
        return _Read(read.names, terms, weights, np.zeros(0), math.log1p(words))

    def _remembered(self, title: str, text: str, url: str = "") -> _Text:
        return self._numbered(url_id(url) if url else 0, self._read(title, text))

    def _numbered(self, id_: int, read: _Read) -> _Text:
        terms = self._places.taken_in(read.names, read.terms, self._vocabulary)
        return _Text(id_, terms, read.counts, read.keywords, read.words, read.links)

    def _known(self, read: _Read) -> NDArray[np.int64]:
        """Numbers in the vocabulary, by numbers of the analyser; -1 for terms that it does not have."""
        return self._places.of(read.names, read.terms)

    def _weights(self, read: _Read) -> tuple[NDArray[np.int64], Array]:
        """Numbers of the terms that count and their parts of the text's unit vector."""
        numbers, values = self._known(read), read.counts
        known = (numbers >= 0) & (numbers < len(self._idf))
        strange = 0.0 if self._fit is not None else float((values[~known] ** 2).sum()) * _STRANGE**2
        numbers = numbers[known]
        values = values[known] * self._idf[numbers]
        length = math.sqrt(float(values @ values) + strange)
        return numbers, values / (length or 1.0)

    def _compared(self, read: _Read) -> _Beside:
        """A text beside what was learned."""
        learned = self._fit.contrast if self._fit is not None else self._likeness
        strange = 0.0 if self._fit is not None else _STRANGE**2
        text, beside = (read.terms, read.counts), (self._idf, self._likeness, learned)
        try:
            return compare(self._places.by_number(read.names), text, beside, strange, TOP_TERMS)
        except IndexError:  # a term that was not looked up yet
            self._known(read)
            return compare(self._places.by_number(read.names), text, beside, strange, TOP_TERMS)

    def _beside(self, weights: Array, names: NDArray[np.int64]) -> _Beside:
        """The same of a text that is remembered, after a fit."""
        assert self._fit is not None
        return _in_turn(weights * self._likeness[names]), _in_turn(weights * self._fit.contrast[names]), []

    # Judging.

    def _odds(self, beside: _Beside, text: _Read | _Text, id_: int) -> tuple[float, dict[str, float]]:
        keywords = text.keywords
        score = _keyword_score(keywords, self._keyword_weights)
        likeness, contrast, _ = beside
        facts = {"keywords": score, "likeness": likeness}
        if self._fit is None:
            return self._cold(score, likeness), facts
        found = self._fit
        position = self._own.get(id_) if id_ else None
        if position is None:
            parts = [(score, 1.0 if len(keywords) else 0.0), (contrast, 1.0), (likeness, found.gamma)]
            position = math.fsum(
                weight * (value - mean) / deviation
                for (value, weight), (mean, deviation) in zip(parts, found.scales, strict=True)
            )
            gain, mean = found.by_words
            if gain:
                position -= gain * (text.words - mean)
        odds, told = self._placed(position, self._gains([text.links])[0], score)
        return odds, facts | {"position": position} | told

    def _placed(self, position: float, gain: float, score: float) -> tuple[float, dict[str, float]]:
        """Log odds of a text at a place on the scale; where its links had a say, what it is without them.

        Args:
            position: By its words.
            gain: By its links; not a number where they have no say.
            score: By keywords alone.
        """
        found = self._fit
        assert found is not None
        by_text = self._joined(found.line.odds(position), score)
        if found.linked is None or math.isnan(gain):
            return by_text, {}
        odds = found.linked.line.odds(position + gain)
        return self._joined(odds, score), {BY_TEXT: _chance(by_text)}

    def _gains(self, links: Sequence[NDArray[np.float32]]) -> list[float]:
        """What texts gain by their links; not numbers where these have no say."""
        linked = self._fit.linked if self._fit is not None else None
        told = _rows(links)
        if linked is None or told.shape[1] != len(linked.scores) or not linked.scores:
            return [math.nan] * len(links)
        gained: list[float] = linked.gained(told).tolist()
        return gained

    def _joined(self, warm: float, score: float) -> float:
        """Log odds of a page by the fit, with what its keywords alone make believe."""
        found = self._fit
        assert found is not None
        # Likeness is now likeness beyond that of other pages: of what was believed before, keywords are left.
        trust = self._fitted_on / (self._fitted_on + COLD_PAGES) if self._has_keywords else 1.0
        # In a heap without a page on topic, one mention of a keyword is what parts two groups.
        trust *= found.witnessed
        return trust * warm + (1.0 - trust) * _believed(score)

    def _lean(self, names: NDArray[np.int64], weights: Array) -> float:
        """Log odds that the words of a short text add once people have spoken."""
        found = self._fit
        if found is None:
            return BELIEVED * float(weights @ self._likeness[names])
        (_, _), (_, first), (_, second) = found.scales
        lean = float(weights @ found.contrast[names]) / first
        lean += found.gamma * float(weights @ found.likeness[names]) / second
        return min(max(found.line.slope * lean, -BELIEVED), BELIEVED)

    def _cold(self, score: float, likeness: float) -> float:
        """Log odds from keywords and examples alone."""
        count = sum(label > 0 for label in self._labels)
        by_examples = -math.expm1(-2.0 * math.log(2.0) * max(0.0, likeness) / self._typical)
        if not self._has_keywords:
            return _believed(by_examples)
        trust = 0.5 * count / (count + 2.0)
        return (1.0 - trust) * _believed(score) + trust * _believed(by_examples)

    def _reasons(self, beside: _Beside, keywords: Array, score: float) -> tuple[tuple[str, float], ...]:
        """What speaks for the page, as shares of its score."""
        found: dict[str, float] = {}
        if len(keywords):
            parts: list[float] = (keywords * self._keyword_weights).tolist()
            for phrase, part in zip(self._words.phrases, parts, strict=True):
                if part > 0.0:
                    found[" ".join(phrase)] = 4.0 * part
        scale = 1.0 / self._fit.scales[1][1] if self._fit is not None else 1.0
        for number, part in beside[2]:
            term = self._terms[number]
            found[term] = found.get(term, 0.0) + scale * part
        total = math.fsum(found.values()) or 1.0
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        return tuple((term, math.floor(score * part / total * 1e9) / 1e9) for term, part in ranked)

    # Learning.

    def _ask_about_links(self) -> None:
        """What is known of the links to the remembered pages by now; more than when they were fetched."""
        for texts in (self._sample, self._taught):
            rows = self._witness.rows([text.id for text in texts])
            texts[:] = [
                msgspec.structs.replace(text, links=row) if len(row) else text
                for text, row in zip(texts, rows, strict=True)
            ]

    @property
    def _keyword_weights(self) -> Array:
        return np.array(self._keywords)

    def _refit(self) -> None:
        """Learn from everything remembered."""
        self._read_others()
        self._due = max(self._all_seen + 10, math.ceil(self._all_seen * GROWTH), LEAST_PAGES)
        self._last = None
        if len(self._vocabulary) > MOST_VOCABULARY:
            self._forget()
        self._terms = list(self._vocabulary)
        taught = {text.id for text in self._taught if text.id}
        pages = [text for text in self._remembered_pages() if text.id not in taught or not text.id]
        labels = [0] * len(pages) + self._labels + self._taught_labels
        texts = [*pages, *self._given, *self._taught]
        self._idf = self._frequencies(pages)
        width = len(self._words.topic) if self._has_keywords else 0
        evidence = np.array([text.keywords for text in texts], np.float64).reshape(len(texts), width)
        if self._has_keywords:
            self._keywords = self._weigh_keywords(evidence[: len(pages)]).tolist()
        heap = self._heap(texts, len(pages), labels)
        self._fit, self._own, self._fitted_on = None, {}, 0
        self._likeness = self._like(heap)
        if len(pages) < LEAST_PAGES:
            return
        told = np.array([False] * (len(pages) + len(self._given)) + [True] * len(self._taught), np.bool_)
        joined = partial(
            fit,
            heap,
            size=len(self._idf),
            taught=told,
            even_lengths=self._even_lengths,
            clear=self._clear(evidence[: len(pages)]),
        )
        self._fit = joined(self._scores(evidence) if self._has_keywords else None)
        if self._has_keywords:
            # In a good crawl the topic's words are common because the pages are on topic.
            on = self._fit.by_text()[: len(pages)]
            good = part_of(GOOD_CRAWL, float(on.mean()))
            if good:
                weights = self._weigh_keywords(evidence[: len(pages)], 1.0 - on)
                self._keywords = ((1.0 - good) * self._keyword_weights + good * weights).tolist()
                self._fit = joined(self._scores(evidence))
        self._likeness = self._fit.likeness
        self._fitted_on = self._all_seen
        self._own = {
            text.id: position
            for text, position in zip(texts, self._fit.position.tolist(), strict=True)
            if text.id
        }

    def _remembered_pages(self) -> list[_Text]:
        """Its own pages and those of other shards, no more than one model remembers."""
        if not self._others:
            return self._sample
        own = self._sample[-max(1, SAMPLE - len(self._others)) :]
        ids = {text.id for text in own}
        return [*own, *(text for text in self._others if text.id not in ids)]

    def _forget(self) -> None:
        """Drop terms that no remembered text has."""
        texts = [*self._sample, *self._others, *self._given, *self._taught]
        used = np.unique(np.concatenate([text.terms for text in texts]))
        place = np.full(len(self._vocabulary), -1)
        place[used] = np.arange(len(used))
        names = list(self._vocabulary)
        self._vocabulary = {names[number]: new for new, number in enumerate(used.tolist())}
        self._usual = np.zeros(0)
        self._places = Places(self._vocabulary)
        for group in (self._sample, self._others, self._given, self._taught):
            group[:] = [msgspec.structs.replace(text, terms=place[text.terms]) for text in group]

    def _frequencies(self, pages: Sequence[_Text]) -> Array:
        """Inverse document frequencies over pages and built-in table; terms of a single page do not count."""
        size = len(self._vocabulary)
        counts = np.zeros(size)
        count_texts([text.terms for text in pages], counts)
        if len(self._usual) < size:  # the vocabulary has grown
            table = background(self._analyser)
            new = [USUAL_PAGES * table.counts.get(each, 1) / table.documents
                   for each in self._terms[len(self._usual) :]]  # fmt: skip
            self._usual = np.append(self._usual, new)
        idf: Array = np.log((len(pages) + USUAL_PAGES + 1.0) / (counts + self._usual + 0.5))
        if len(pages) >= LEAST_PAGES:
            idf[counts < 2] = 0.0
        return np.maximum(idf, 0.0)

    def _weigh_keywords(self, evidence: Array, off: Array | None = None) -> Array:
        """The topic's weights, less for a keyword that is common on pages off topic.

        Args:
            evidence: For each keyword, a row a page.
            off: How likely each page is off topic; all are, where nothing is known.
        """
        pages = len(evidence) if off is None else float(off.sum())
        weights = np.array([weight for _, weight in self._words.topic])
        has = evidence > 0.0
        found = has.sum(axis=0) if off is None else (has * off[:, None]).sum(axis=0)
        table = background(self._analyser)
        usual = [USUAL_PAGES * min(table.counts.get(term, 1) for term in phrase) / table.documents
                 for phrase in self._words.phrases]  # fmt: skip
        rare = np.log(
            (pages + USUAL_PAGES + 1.0) / ((found if len(evidence) else 0.0) + np.array(usual) + 1.0)
        )
        return np.asarray(weights * np.clip(rare / COMMON, 0.0, 1.0))

    def _heap(self, texts: Sequence[_Text], pages: int, labels: Sequence[int]) -> Heap:
        ends = np.cumsum([len(text.terms) for text in texts], dtype=np.int64)
        size = int(ends[-1]) if len(ends) else 0
        found = Texts(ends, np.empty(size, np.int32), np.empty(size))
        ones = np.empty(len(texts))
        terms, counts = [text.terms for text in texts], [text.counts for text in texts]
        fill(terms, counts, self._idf, found.terms, found.values, ones)
        words = np.array([text.words for text in texts])
        links = _rows([text.links for text in texts]).astype(np.float64) if self._by_links else None
        return Heap(found, pages, np.array(labels, np.int8), ones, words, links)

    def _like(self, heap: Heap) -> Array:
        """Before the first fit: the words of positives against those of negatives."""
        size = len(self._idf)
        on, off = (heap.sure > 0).astype(np.float64), (heap.sure < 0).astype(np.float64)
        if not on.any():
            return np.zeros(size)
        weights = heap.total(on, size) / on.sum()
        if on.sum() > 1:
            others = (heap.times(heap.total(on, size)) - heap.squares)[heap.sure > 0] / (on.sum() - 1.0)
            self._typical = max(0.02, float(others.mean()))
        if off.any():
            weights -= heap.total(off, size) / off.sum()
        return np.asarray(weights)

    def _clear(self, evidence: Array) -> int:
        """Pages that are on topic by their keywords alone, however common these are."""
        weights = np.array([weight for _, weight in self._words.topic]) if self._has_keywords else np.zeros(0)
        return int((evidence @ weights >= math.log(2.0) / STEEPNESS).sum())

    def _scores(self, evidence: Array) -> Array:
        return np.asarray(-np.expm1(-STEEPNESS * (evidence @ self._keyword_weights)))


def _rows(links: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """What is known of links as one array; not numbers where nothing is."""
    width = max(map(len, links), default=0)
    found = np.full((len(links), width), np.nan, np.float32)
    for row, each in zip(found, links, strict=True):
        if len(each) == width:
            row[:] = each
    return found


def _row(told: NDArray[np.float32]) -> NDArray[np.float32]:
    """A row of such an array."""
    return told if len(told) and np.isfinite(told).all() else NOTHING


def _share(shards: int) -> int:
    """Pages of each shard that a model learns from: together no more than one model remembers."""
    return max(1, SAMPLE // shards)


_Beside = tuple[float, float, list[tuple[int, float]]]
"""Likeness, contrast, and the largest parts of the latter with the numbers of their terms."""


@compiled
def compare(
    known: NDArray[np.int64],
    text: tuple[NDArray[np.int32], Array],
    learned: tuple[Array, Array, Array],
    strange: float,
    most: int,
) -> _Beside:
    """A text beside two vectors over the vocabulary.

    Args:
        known: The vocabulary's numbers by those of the analyser; -1 for terms that it does not have.
        text: The analyser's numbers of its terms, and `1 + log(tf)` of each.
        learned: What each term of the vocabulary counts, likeness and contrast. Later terms do not count.
        strange: What other terms add to the text's squared length.
        most: Largest parts of the contrast that are wanted.
    """
    idf, likeness, contrast = learned
    terms, counts = text
    numbers = known[terms]
    if len(numbers) and numbers.min() < Places.ABSENT:
        raise IndexError("a term is not in the vocabulary")
    inside = (numbers >= 0) & (numbers < len(idf))
    values = counts[inside] * idf[numbers[inside]]
    square = _in_turn(values * values) + _in_turn(counts[~inside] * counts[~inside]) * strange
    weights, numbers = values / (math.sqrt(square) or 1.0), numbers[inside]
    parts = weights * contrast[numbers]
    places = np.argsort(-parts, kind="stable")[:most].tolist()
    best = [(int(numbers[place]), float(parts[place])) for place in places if parts[place] > 0.0]
    return _in_turn(weights * likeness[numbers]), _in_turn(parts), best


def _in_turn(values: Array) -> float:
    """The sum, added up one after the other: as C does, to the last bit."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0


def _keyword_score(keywords: Array, weights: Array) -> float:
    """The score of a page by keywords alone."""
    return -math.expm1(-STEEPNESS * float(keywords @ weights)) if len(keywords) else 0.0


def _words(counts: Array) -> float:
    """Logarithm of one more than the number of words, from `1 + log(tf)` of each."""
    return math.log1p(round(float(np.exp(counts - 1.0).sum())))


def _chance(odds: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * odds))


def _believed(score: float) -> float:
    """Log odds, not too sure."""
    low = 1.0 / (1.0 + math.exp(BELIEVED))
    score = min(max(score, low), 1.0 - low)
    return math.log(score / (1.0 - score))
